import { expect, onTestFinished, test, vi } from 'vitest'
import { StoreOutage } from './store-outage.ts'
import { SharedStreamPlaces } from './stream-places.ts'

test('many places of one identity are renewed in parts, and a place that was given back is not', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const renewed: number[] = []
  const leases = {
    take: async () => true,
    renew: async (_: string, names: readonly string[]) => void renewed.push(names.length),
    release: async () => {},
  }
  const places = new SharedStreamPlaces(
    leases,
    new StoreOutage(
      async () => 1,
      () => {},
    ),
  )
  onTestFinished(() => places.stop())
  const taken = await Promise.all(Array.from({ length: 250 }, () => places.take('acme', 1_000)))
  await vi.advanceTimersByTimeAsync(5_000)
  expect(renewed).toEqual([100, 100, 50])
  for (const giveBack of taken.slice(1)) giveBack?.()
  renewed.length = 0
  await vi.advanceTimersByTimeAsync(5_000)
  expect(renewed).toEqual([1])
  taken[0]?.()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(renewed).toEqual([1])
})

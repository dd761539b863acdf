import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Outage } from './outage.ts'
import { sharedProofs } from './shared-proofs.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const hour = 3_600_000

function start() {
  const until = new Map<string, number>()
  const calls = { restOf: 0, add: 0 }
  const store = { isLost: false }
  const answer = async <T>(what: keyof typeof calls, work: () => T): Promise<T> => {
    calls[what]++
    if (store.isLost) throw new Error('lost')
    return work()
  }
  const shared = {
    restOf: (identity: string) => answer('restOf', () => Math.max(0, (until.get(identity) ?? 0) - performance.now())),
    add: (identity: string, lifetime: number) => answer('add', () => void until.set(identity, performance.now() + lifetime)),
  }
  const outage = new Outage(
    async () => {
      if (store.isLost) throw new Error('lost')
      return 1
    },
    () => {},
  )
  const replica = () => sharedProofs(shared, outage)
  return { replica, outage, calls, store }
}

it('asks the store once for whom another replica has proven, and no longer than he is proven there', async () => {
  const { replica, calls } = start()
  const [one, other] = [replica(), replica()]
  await one.add('a')
  await vi.advanceTimersByTimeAsync(hour / 2)
  for (let time = 0; time < 5; time++) expect(await other.has('a')).toBe(true)
  expect(calls.restOf).toBe(1)
  await vi.advanceTimersByTimeAsync(hour / 2)
  expect(await other.has('a')).toBe(false)
  expect(await one.has('a')).toBe(false)
})

it('tells the store at most once a minute', async () => {
  const { replica, calls } = start()
  const proofs = replica()
  for (let time = 0; time < 5; time++) await proofs.add('a')
  expect(calls.add).toBe(1)
  await vi.advanceTimersByTimeAsync(60_000)
  await proofs.add('a')
  expect(calls.add).toBe(2)
})

it('knows while the store is lost whom it knew, asks for nobody, and tells it afterwards', async () => {
  const { replica, outage, calls, store } = start()
  const proofs = replica()
  store.isLost = true
  await proofs.add('a')
  expect(outage.state).toBe('local')
  expect(await proofs.has('a')).toBe(true)
  await proofs.add('a')
  expect(await proofs.has('b')).toBe(false)
  expect(calls).toEqual({ restOf: 0, add: 1 })
  store.isLost = false
  await vi.advanceTimersByTimeAsync(2_000)
  expect(outage.state).toBe('shared')
  await proofs.add('a')
  expect(await replica().has('a')).toBe(true)
})

it('knows the last 50,000 without the store, never more than 100,000, and reads the others again', async () => {
  const { replica, calls } = start()
  const proofs = replica()
  for (let at = 0; at <= 100_000; at++) await proofs.add(`identity ${at}`)
  expect(await proofs.has('identity 50001')).toBe(true)
  expect(calls.restOf).toBe(0)
  expect(await proofs.has('identity 0')).toBe(true)
  expect(calls.restOf).toBe(1)
})

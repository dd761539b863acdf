import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { StoreOutage, sharedVerifiedKeys } from './store-outage.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const hour = 3_600_000

function start() {
  const expiresAt = new Map<string, number>()
  const calls = { remainingMs: 0, add: 0 }
  const store = { isLost: false }
  const respond = async <T>(what: keyof typeof calls, work: () => T): Promise<T> => {
    calls[what]++
    if (store.isLost) throw new Error('lost')
    return work()
  }
  const shared = {
    remainingMs: (identity: string) =>
      respond('remainingMs', () => Math.max(0, (expiresAt.get(identity) ?? 0) - performance.now())),
    add: (identity: string, lifetimeMs: number) =>
      respond('add', () => void expiresAt.set(identity, performance.now() + lifetimeMs)),
  }
  const outage = new StoreOutage(
    async () => {
      if (store.isLost) throw new Error('lost')
      return 1
    },
    () => {},
  )
  const replica = () => sharedVerifiedKeys(shared, outage)
  return { replica, outage, calls, store }
}

it('reads the store once for a key that another replica verified, and caches it no longer than the store does', async () => {
  const { replica, calls } = start()
  const [one, other] = [replica(), replica()]
  await one.add('a')
  await vi.advanceTimersByTimeAsync(hour / 2)
  for (let time = 0; time < 5; time++) expect(await other.has('a')).toBe(true)
  expect(calls.remainingMs).toBe(1)
  await vi.advanceTimersByTimeAsync(hour / 2)
  expect(await other.has('a')).toBe(false)
  expect(await one.has('a')).toBe(false)
})

it('updates the store at most once a minute', async () => {
  const { replica, calls } = start()
  const verifiedKeys = replica()
  for (let time = 0; time < 5; time++) await verifiedKeys.add('a')
  expect(calls.add).toBe(1)
  await vi.advanceTimersByTimeAsync(60_000)
  await verifiedKeys.add('a')
  expect(calls.add).toBe(2)
})

it('while the store is lost it uses its cache, sends nothing, and updates the store afterwards', async () => {
  const { replica, outage, calls, store } = start()
  const verifiedKeys = replica()
  store.isLost = true
  await verifiedKeys.add('a')
  expect(outage.state).toBe('local')
  expect(await verifiedKeys.has('a')).toBe(true)
  await verifiedKeys.add('a')
  expect(await verifiedKeys.has('b')).toBe(false)
  expect(calls).toEqual({ remainingMs: 0, add: 1 })
  store.isLost = false
  await vi.advanceTimersByTimeAsync(2_000)
  expect(outage.state).toBe('shared')
  await verifiedKeys.add('a')
  expect(await replica().has('a')).toBe(true)
})

it('caches the last 50,000, never more than 100,000, and reads the others again', async () => {
  const { replica, calls } = start()
  const verifiedKeys = replica()
  for (let at = 0; at <= 100_000; at++) await verifiedKeys.add(`identity ${at}`)
  expect(await verifiedKeys.has('identity 50001')).toBe(true)
  expect(calls.remainingMs).toBe(0)
  expect(await verifiedKeys.has('identity 0')).toBe(true)
  expect(calls.remainingMs).toBe(1)
})

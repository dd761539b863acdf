import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { memoryBudgets } from '../../adapters/memory.ts'
import { StoreOutage } from '../access/store-outage.ts'
import { type Budgets, budgetFallback } from './budget-limit.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const [limit, replicas] = [27, 3]

/** A shared store that can be lost and emptied. */
function sharedStore() {
  const clock = (): number => performance.now()
  const store = { isLost: false, dataId: 1, budgets: memoryBudgets(clock) }
  const fail = (): never => {
    throw new Error('lost')
  }
  const shared: Budgets = {
    reserve: async (...args) => (store.isLost ? fail() : store.budgets.reserve(...args)),
  }
  return {
    async replica() {
      const outage = new StoreOutage(
        async () => (store.isLost ? fail() : store.dataId),
        () => {},
      )
      const budgets = budgetFallback({
        shared,
        local: memoryBudgets(clock),
        processes: { among: () => replicas },
        outage,
        observe: () => {},
      })
      await outage.start()
      return { budgets, outage }
    },
    disconnect() {
      store.isLost = true
    },
    restore({ isEmptied }: { readonly isEmptied: boolean }) {
      store.isLost = false
      if (!isEmptied) return
      store.dataId++
      store.budgets = memoryBudgets(clock)
    },
  }
}

async function start() {
  const store = sharedStore()
  const all = [await store.replica(), await store.replica(), await store.replica()] as const
  const granted: number[] = []
  /** Every replica reserves until it is refused, once a second for this number of seconds. */
  const flood = async (seconds: number): Promise<number> => {
    const before = granted.length
    for (let second = 0; second < seconds; second++) {
      for (const { budgets } of all) {
        for (let call = 0; call < 2 * limit; call++) {
          if ((await budgets.reserve('alpha', limit)).isGranted) granted.push(performance.now())
        }
      }
      await vi.advanceTimersByTimeAsync(1_000)
    }
    return granted.length - before
  }
  const maxInAnyMinute = (): number =>
    Math.max(...granted.map((from) => granted.filter((at) => at >= from && at - from < 60_000).length))
  return { store, all, flood, maxInAnyMinute }
}

it('while the store is available only it counts', async () => {
  const { flood, maxInAnyMinute } = await start()
  expect(await flood(130)).toBe(3 * limit)
  expect(maxInAnyMinute()).toBe(limit)
})

it('R19: a loss rejects no call: each replica has its share at once, whatever was used before', async () => {
  const { store, all, flood } = await start()
  await flood(1)
  store.disconnect()
  for (const { budgets } of all) {
    expect(await budgets.reserve('alpha', limit)).toMatchObject({ isGranted: true, remaining: limit / replicas - 1 })
  }
  expect(await flood(59)).toBe(limit - replicas)
  expect(await flood(60)).toBe(limit)
})

it('a share below one call is none', async () => {
  const { store, all } = await start()
  store.disconnect()
  expect((await all[0].budgets.reserve('alpha', replicas - 1)).isGranted).toBe(false)
})

it('a store that kept its data is used again at once', async () => {
  const { store, all, flood } = await start()
  for (let call = 0; call < 5; call++) await all[0].budgets.reserve('alpha', limit)
  store.disconnect()
  await flood(5)
  store.restore({ isEmptied: false })
  await vi.advanceTimersByTimeAsync(500)
  expect(await flood(3)).toBe(limit - 5)
})

it('a store that comes back empty does not count alone until a minute after its loss', async () => {
  const { store, flood } = await start()
  await flood(1)
  store.disconnect()
  await flood(10)
  store.restore({ isEmptied: true })
  await vi.advanceTimersByTimeAsync(500)
  expect(await flood(40)).toBe(0)
})

it.each([
  { isEmptied: true, loss: 2 },
  { isEmptied: true, loss: 100 },
  { isEmptied: false, loss: 2 },
  { isEmptied: false, loss: 100 },
])('R19: no minute has more than two budgets, however often the store is lost ($loss s, emptied: $isEmptied)', async (given) => {
  const { store, flood, maxInAnyMinute } = await start()
  for (let time = 0; time < 4; time++) {
    await flood(7 + 21 * time)
    store.disconnect()
    await flood(given.loss)
    store.restore(given)
    await flood(30)
  }
  expect(await flood(200)).toBeGreaterThanOrEqual(2 * limit)
  expect(maxInAnyMinute()).toBeLessThanOrEqual(2 * limit)
})

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Budgets } from './budget.ts'
import { budgetFallback } from './budget-fallback.ts'
import { memoryBudgets } from './memory-budgets.ts'
import { Outage } from './outage.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const [limit, replicas] = [12, 3]

/** A store that replicas share, and that can be lost and emptied. */
function sharedStore() {
  const clock = (): number => performance.now()
  const store = { isLost: false, generation: 1, budgets: memoryBudgets(clock) }
  const fail = (): never => {
    throw new Error('lost')
  }
  const shared: Budgets = {
    reserve: async (...args) => (store.isLost ? fail() : store.budgets.reserve(...args)),
  }
  return {
    async replica() {
      const outage = new Outage(
        async () => (store.isLost ? fail() : store.generation),
        () => {},
      )
      const budgets = budgetFallback({ shared, local: memoryBudgets(clock), replicas, outage })
      await outage.start()
      return { budgets, outage }
    },
    lose() {
      store.isLost = true
    },
    mend({ isEmptied }: { readonly isEmptied: boolean }) {
      store.isLost = false
      if (!isEmptied) return
      store.generation++
      store.budgets = memoryBudgets(clock)
    },
  }
}

async function start() {
  const store = sharedStore()
  const all = [await store.replica(), await store.replica(), await store.replica()] as const
  const granted: number[] = []
  /** Every replica asks until it is refused, once a second for so many seconds. */
  const flood = async (seconds: number): Promise<number> => {
    const before = granted.length
    for (let second = 0; second < seconds; second++) {
      for (const { budgets } of all) {
        for (let call = 0; call < 2 * limit; call++) {
          if ((await budgets.reserve('alpha', limit, 'a')).isGranted) granted.push(performance.now())
        }
      }
      await vi.advanceTimersByTimeAsync(1_000)
    }
    return granted.length - before
  }
  const mostInAnyMinute = (): number =>
    Math.max(...granted.map((from) => granted.filter((at) => at >= from && at - from < 60_000).length))
  return { store, all, flood, mostInAnyMinute }
}

it('while the store is there it alone counts', async () => {
  const { flood, mostInAnyMinute } = await start()
  expect(await flood(130)).toBe(3 * limit)
  expect(mostInAnyMinute()).toBe(limit)
})

it('a lost store grants nothing for a minute, then each replica has its part', async () => {
  const { store, all, flood, mostInAnyMinute } = await start()
  await flood(1)
  store.lose()
  expect(await flood(60)).toBe(0)
  expect(await all[0].budgets.reserve('alpha', limit, 'a')).toMatchObject({ isGranted: true, remaining: limit / replicas - 1 })
  expect(await flood(59)).toBe(limit - 1)
  expect(mostInAnyMinute()).toBe(limit)
})

it('tells when it may grant again', async () => {
  const { store, all } = await start()
  store.lose()
  expect(await all[0].budgets.reserve('alpha', limit, 'a')).toEqual({ isGranted: false, remaining: 0, retryAfter: 60 })
  await vi.advanceTimersByTimeAsync(20_000)
  expect((await all[0].budgets.reserve('alpha', limit, 'a')).retryAfter).toBe(40)
})

it('a part below one call is none', async () => {
  const { store, all } = await start()
  store.lose()
  await all[0].budgets.reserve('alpha', replicas - 1, 'a')
  await vi.advanceTimersByTimeAsync(61_000)
  expect((await all[0].budgets.reserve('alpha', replicas - 1, 'a')).isGranted).toBe(false)
})

it('after a short loss that emptied nothing it counts again at once', async () => {
  const { store, all, flood, mostInAnyMinute } = await start()
  for (let call = 0; call < 5; call++) await all[0].budgets.reserve('alpha', limit, 'a')
  store.lose()
  expect(await flood(5)).toBe(0)
  store.mend({ isEmptied: false })
  expect(await flood(3)).toBe(limit - 5)
  expect(mostInAnyMinute()).toBe(limit - 5)
})

it.each([
  { isEmptied: true, loss: 2 },
  { isEmptied: true, loss: 100 },
  { isEmptied: false, loss: 100 },
])('no minute sees more than the budget, however often the store is lost ($loss s, emptied: $isEmptied)', async (given) => {
  const { store, flood, mostInAnyMinute } = await start()
  for (let time = 0; time < 3; time++) {
    await flood(70)
    store.lose()
    await flood(given.loss)
    store.mend(given)
    await flood(30)
  }
  expect(await flood(200)).toBeGreaterThanOrEqual(2 * limit)
  expect(mostInAnyMinute()).toBe(limit)
})

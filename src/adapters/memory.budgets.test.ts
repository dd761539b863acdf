import { beforeEach, describe, expect, it } from 'vitest'
import { workMs } from '../../test/support/work.ts'
import { FairSlidingWindow, memoryBudgets } from './memory.ts'

const minute = 60_000

let window: FairSlidingWindow
let now: number
beforeEach(() => {
  window = new FairSlidingWindow()
  now = 1_000_000
})

/** How many of this number of calls are granted now. */
function reserveMany(consumer: string | undefined, calls: number, limit = 30): number {
  return Array.from({ length: calls }, () => window.reserve(limit, consumer, now)).filter(({ isGranted }) => isGranted).length
}

describe('a single consumer', () => {
  it('leaves a fifth to the next one', () => {
    expect(reserveMany('greedy', 40)).toBe(24)
    expect(reserveMany('next', 1)).toBe(1)
  })

  it('gets all of a budget below ten calls', () => {
    expect(reserveMany('alone', 10, 9)).toBe(9)
  })

  it('gets the remaining calls, and the time until there are more', () => {
    expect(window.reserve(2, 'a', now)).toEqual({ isGranted: true, remaining: 1, retryAfter: 0 })
    now += 10_000
    expect(window.reserve(2, 'a', now)).toEqual({ isGranted: true, remaining: 0, retryAfter: 0 })
    now += 20_000
    expect(window.reserve(2, 'a', now)).toEqual({ isGranted: false, remaining: 0, retryAfter: 31 })
  })

  it('gets the time until the next call is free', () => {
    for (let call = 0; call < 24; call++) {
      reserveMany('a', 1)
      now += 1_000
    }
    now += 1_000
    expect(window.reserve(30, 'a', now)).toEqual({ isGranted: false, remaining: 6, retryAfter: 36 })
    now += 36_000
    expect(reserveMany('a', 2)).toBe(1)
  })

  it('gets back each call a minute after it was made', () => {
    reserveMany('a', 24)
    now += minute
    expect(reserveMany('a', 1)).toBe(0)
    now += 1
    expect(reserveMany('a', 30)).toBe(24)
  })
})

describe('the last fifth', () => {
  it('goes to consumers that hold less than an equal share, and never more than the limit to all', () => {
    expect(reserveMany('greedy', 30)).toBe(24)
    expect(reserveMany('a', 3)).toBe(3)
    expect(reserveMany('b', 10)).toBe(3)
    expect(reserveMany('c', 1)).toBe(0)
    expect(reserveMany('greedy', 1)).toBe(0)
  })

  it('is rounded up with several consumers', () => {
    reserveMany('b', 1, 6)
    expect(reserveMany('a', 6, 6), 'a share is three, and two are left').toBe(3)
    expect(reserveMany('b', 6, 6)).toBe(2)
  })

  it('depends only on the consumers of the last minute', () => {
    reserveMany('b', 1)
    reserveMany('c', 1)
    expect(reserveMany('a', 40), 'a share is ten: what is not kept').toBe(22)
    now += minute + 1_000
    reserveMany('b', 1)
    expect(reserveMany('a', 40), 'a share is fifteen').toBe(23)
  })

  it('counts refused callers as consumers', () => {
    reserveMany('a', 40)
    reserveMany('b', 6)
    expect(reserveMany('c', 1)).toBe(0)
    now += minute + 1
    for (const consumer of ['a', 'b', 'c']) reserveMany(consumer, 1)
    expect(reserveMany('b', 40)).toBe(21)
    expect(reserveMany('c', 40)).toBe(6)
  })
})

it('without consumers a window is first come, first served', () => {
  expect(reserveMany(undefined, 40)).toBe(30)
})

it('with more consumers than calls each may have one', () => {
  for (let at = 0; at < 20; at++) expect(reserveMany(`consumer ${at}`, 1, 20), `consumer ${at}`).toBe(1)
  expect(reserveMany('late', 1, 20)).toBe(0)
})

it('a decision costs the same for 10, 5,000 and 100,000 consumers', async () => {
  const costOf = async (consumers: number): Promise<number> => {
    const shared = new FairSlidingWindow()
    const names = Array.from({ length: consumers }, (_, at) => `consumer ${at}`)
    const runCalls = (calls: number): void => {
      for (let call = 0; call < calls; call++) {
        now += minute / 100_000
        shared.reserve(600, names[call % consumers], now)
      }
    }
    runCalls(consumers)
    return (await workMs(() => runCalls(20_000))) / 20_000
  }
  await costOf(10)
  const [fastest, many, slowest] = [await costOf(10), await costOf(5_000), await costOf(100_000)]
  // In milliseconds. Ten thousand times as many consumers: a loop over them would be far beyond.
  expect(many, `${fastest} and ${many}`).toBeLessThan(Math.max(50 * fastest, 0.02))
  expect(slowest, `${fastest} and ${slowest}`).toBeLessThan(Math.max(50 * fastest, 0.02))
})

describe('is idle', () => {
  it('only without grants and consumers in the last minute', () => {
    expect(window.isIdle(now)).toBe(true)
    reserveMany('a', 1)
    expect(window.isIdle(now + minute)).toBe(false)
    expect(window.isIdle(now + minute + 1)).toBe(true)
  })
})

describe('budgets in memory', () => {
  const reserve = memoryBudgets(() => now).reserve

  it('are one for each bucket', async () => {
    const calls = ['one', 'one', 'two'].map((bucket) => reserve(bucket, 1, 'a'))
    expect((await Promise.all(calls)).map(({ isGranted }) => isGranted)).toEqual([true, false, true])
  })

  it('forget idle buckets past 10,000, and no others', async () => {
    const { reserve } = memoryBudgets(() => now)
    await reserve('used', 1, 'a')
    for (let at = 0; at < 9_999; at++) await reserve(`idle ${at}`, 1, 'a')
    now += minute - 1
    for (let at = 0; at < 10; at++) await reserve(`new ${at}`, 1, 'a')
    expect((await reserve('used', 1, 'a')).isGranted).toBe(false)
    expect((await reserve('idle 1', 1, 'a')).isGranted).toBe(false)
    now += 2
    for (let at = 10; at < 5_000; at++) await reserve(`new ${at}`, 1, 'a')
    expect((await reserve('new 0', 1, 'a')).isGranted).toBe(false)
  })
})

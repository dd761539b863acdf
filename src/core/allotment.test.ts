import { beforeEach, describe, expect, it } from 'vitest'
import { Allotment } from './allotment.ts'
import { memoryBudgets } from './memory-budgets.ts'

const minute = 60_000

let allotment: Allotment
let now: number
beforeEach(() => {
  allotment = new Allotment()
  now = 1_000_000
})

/** How many of so many calls are granted, now. */
function ask(asker: string | undefined, calls: number, limit = 30): number {
  return Array.from({ length: calls }, () => allotment.reserve(limit, asker, now)).filter(({ isGranted }) => isGranted).length
}

describe('one asker alone', () => {
  it('leaves a fifth to the next one', () => {
    expect(ask('greedy', 40)).toBe(24)
    expect(ask('next', 1)).toBe(1)
  })

  it('gets all of a budget below ten calls', () => {
    expect(ask('alone', 10, 9)).toBe(9)
  })

  it('is told what is left, and when there is more', () => {
    expect(allotment.reserve(2, 'a', now)).toEqual({ isGranted: true, remaining: 1, retryAfter: 0 })
    now += 10_000
    expect(allotment.reserve(2, 'a', now)).toEqual({ isGranted: true, remaining: 0, retryAfter: 0 })
    now += 20_000
    expect(allotment.reserve(2, 'a', now)).toEqual({ isGranted: false, remaining: 0, retryAfter: 31 })
  })

  it('is told when the next call comes back', () => {
    for (let call = 0; call < 24; call++) {
      ask('a', 1)
      now += 1_000
    }
    now += 1_000
    expect(allotment.reserve(30, 'a', now)).toEqual({ isGranted: false, remaining: 6, retryAfter: 36 })
    now += 36_000
    expect(ask('a', 2)).toBe(1)
  })

  it('gets back each call a minute after it was made', () => {
    ask('a', 24)
    now += minute
    expect(ask('a', 1)).toBe(0)
    now += 1
    expect(ask('a', 30)).toBe(24)
  })
})

describe('the last fifth', () => {
  it('goes to askers who hold less than an equal share, and never more than the limit to all', () => {
    expect(ask('greedy', 30)).toBe(24)
    expect(ask('a', 3)).toBe(3)
    expect(ask('b', 10)).toBe(3)
    expect(ask('c', 1)).toBe(0)
    expect(ask('greedy', 1)).toBe(0)
  })

  it('is rounded up where there are several askers', () => {
    ask('b', 1, 6)
    expect(ask('a', 6, 6), 'a share is three, and two are left').toBe(3)
    expect(ask('b', 6, 6)).toBe(2)
  })

  it('asks by the askers of the last minute alone', () => {
    ask('b', 1)
    ask('c', 1)
    expect(ask('a', 40), 'a share is ten: what is not kept').toBe(22)
    now += minute + 1_000
    ask('b', 1)
    expect(ask('a', 40), 'a share is fifteen').toBe(23)
  })

  it('counts those who are refused as askers', () => {
    ask('a', 40)
    ask('b', 6)
    expect(ask('c', 1)).toBe(0)
    now += minute + 1
    for (const asker of ['a', 'b', 'c']) ask(asker, 1)
    expect(ask('b', 40)).toBe(21)
    expect(ask('c', 40)).toBe(6)
  })
})

it('without askers a window is first come, first served', () => {
  expect(ask(undefined, 40)).toBe(30)
})

it('more askers than calls: each may have one', () => {
  for (let at = 0; at < 20; at++) expect(ask(`asker ${at}`, 1, 20), `asker ${at}`).toBe(1)
  expect(ask('late', 1, 20)).toBe(0)
})

it('a decision costs the same for 10, 5,000 and 100,000 askers', () => {
  const costOf = (askers: number): number => {
    const crowded = new Allotment()
    const names = Array.from({ length: askers }, (_, at) => `asker ${at}`)
    const play = (calls: number): void => {
      for (let call = 0; call < calls; call++) {
        now += minute / 100_000
        crowded.reserve(600, names[call % askers], now)
      }
    }
    play(askers)
    const start = performance.now()
    play(20_000)
    return (performance.now() - start) / 20_000
  }
  costOf(10)
  const [few, many, most] = [10, 5_000, 100_000].map(costOf) as [number, number, number]
  // In milliseconds. Ten thousand times as many askers: a loop over them would be far beyond.
  expect(many, `${few} and ${many}`).toBeLessThan(Math.max(50 * few, 0.02))
  expect(most, `${few} and ${most}`).toBeLessThan(Math.max(50 * few, 0.02))
})

describe('is idle', () => {
  it('only where nothing is held and nobody asked in the last minute', () => {
    expect(allotment.isIdle(now)).toBe(true)
    ask('a', 1)
    expect(allotment.isIdle(now + minute)).toBe(false)
    expect(allotment.isIdle(now + minute + 1)).toBe(true)
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

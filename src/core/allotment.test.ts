import { beforeEach, describe, expect, it } from 'vitest'
import { Allotment, memoryBudgets } from './allotment.ts'

const minute = 60_000

let allotment: Allotment
let now: number
beforeEach(() => {
  allotment = new Allotment()
  now = 1_000_000
})

/** How many of so many calls are granted, now. */
function ask(caller: string, calls: number, limit = 6): number {
  return Array.from({ length: calls }, () => allotment.reserve(limit, caller, now)).filter(({ isGranted }) => isGranted).length
}

describe('one caller alone', () => {
  it('gets all there is in a minute, and no more', () => {
    expect(ask('greedy', 10)).toBe(6)
  })

  it('is told what is left, and when there is more', () => {
    expect(allotment.reserve(2, 'a', now)).toEqual({ isGranted: true, remaining: 1, retryAfter: 0 })
    now += 10_000
    expect(allotment.reserve(2, 'a', now)).toEqual({ isGranted: true, remaining: 0, retryAfter: 0 })
    now += 20_000
    expect(allotment.reserve(2, 'a', now)).toEqual({ isGranted: false, remaining: 0, retryAfter: 31 })
  })

  it('gets back each call a minute after it was made', () => {
    ask('a', 6)
    now += minute
    expect(ask('a', 1)).toBe(0)
    now += 1
    expect(ask('a', 10)).toBe(6)
  })
})

describe('a greedy one beside another', () => {
  it('keeps the other from nothing but what came too late', () => {
    expect(ask('greedy', 6)).toBe(6)
    expect(ask('other', 1)).toBe(0)
  })

  it('leaves what comes free to whoever was refused, as much as he asks for', () => {
    ask('greedy', 6)
    ask('other', 2)
    now += minute + 1
    expect(ask('greedy', 6)).toBe(4)
    expect(ask('other', 6)).toBe(2)
  })

  it('leaves him at most an equal share', () => {
    ask('greedy', 6)
    ask('other', 6)
    now += minute + 1
    expect(ask('greedy', 6)).toBe(3)
    expect(ask('other', 6)).toBe(3)
  })

  it('keeps nothing for one who was never refused', () => {
    ask('other', 2)
    now += minute + 1
    expect(ask('greedy', 6)).toBe(6)
  })

  it('remembers what he asked in the minute before, and not what he asked before that', () => {
    ask('greedy', 6)
    ask('other', 2)
    now += 1.5 * minute
    expect(ask('greedy', 6), 'the minute before').toBe(4)
    now += 2 * minute
    expect(ask('greedy', 6), 'longer ago').toBe(6)
  })

  it('keeps for as long as he keeps asking, and five minutes more', () => {
    ask('greedy', 6)
    ask('other', 1)
    for (let asked = 0; asked < 4; asked++) {
      now += minute + 1
      expect(ask('greedy', 6)).toBe(5)
      expect(ask('other', 1)).toBe(1)
    }
    now += 5 * minute
    ask('other', 1)
    expect(ask('greedy', 6), 'he was not refused for five minutes').toBe(5)
    now += minute + 1
    ask('other', 1)
    now += 1
    expect(ask('greedy', 5), 'nothing is kept for him now').toBe(5)
  })
})

it('three callers share by three', () => {
  ask('a', 6)
  ask('b', 6)
  ask('c', 6)
  now += minute + 1
  expect([ask('a', 6), ask('b', 6), ask('c', 6)]).toEqual([2, 2, 2])
})

it('everybody may have at least one, though there are more callers than calls', () => {
  ask('a', 1, 1)
  ask('b', 1, 1)
  now += minute + 1
  expect([ask('b', 1, 1), ask('a', 1, 1)]).toEqual([1, 0])
})

describe('is idle', () => {
  it('only where nothing is held or remembered', () => {
    expect(allotment.isIdle).toBe(true)
    ask('a', 1)
    expect(allotment.isIdle).toBe(false)
    now += minute + 1
    allotment.forget(now)
    expect(allotment.isIdle, 'what was asked a minute before is remembered').toBe(false)
    now += minute
    allotment.forget(now)
    expect(allotment.isIdle).toBe(true)
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
    for (let at = 0; at < 9_999; at++) await reserve(`idle ${at}`, 1, 'a')
    now += 3 * minute
    await reserve('used', 1, 'a')
    await reserve('one more', 1, 'a')
    expect((await reserve('used', 1, 'a')).isGranted).toBe(false)
    expect((await reserve('idle 1', 1, 'a')).isGranted).toBe(true)
  })
})

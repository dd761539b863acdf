import { expect, it } from 'vitest'
import { BlockedCallers } from './operation-breaker.ts'

const random = (): number => 0

function failing(caller: string, times: number, failures: BlockedCallers, now: number): boolean[] {
  return Array.from({ length: times }, () => failures.add(caller, now))
}

it('returns whether a caller has failed five times in a row', () => {
  const failures = new BlockedCallers()
  expect(failing('a', 4, failures, 0)).toEqual([false, false, false, false])
  failures.clear('a', 0)
  expect(failing('a', 5, failures, 0)).toEqual([false, false, false, false, true])
  expect(failing('b', 1, failures, 0)).toEqual([false])
})

it('blocks it longer each time that it fails again, and no other caller', () => {
  const failures = new BlockedCallers()
  let now = 0
  failing('a', 5, failures, now)
  const remaining: number[] = []
  for (let hold = 0; hold < 3; hold++) {
    failures.block('a', now, random)
    failures.block('a', now, random)
    remaining.push(failures.remainingMs('a', now))
    expect([failures.isAnyBlocked(() => now), failures.remainingMs('b', now)]).toEqual([true, 0])
    now += failures.remainingMs('a', now)
    expect(failures.isAnyBlocked(() => now)).toBe(false)
    expect(failures.add('a', now), 'one failure is enough').toBe(true)
  }
  expect(remaining).toEqual([30_000, 60_000, 90_000])
  failures.clear('a', now)
  failing('a', 5, failures, now)
  failures.block('a', now, random)
  expect(failures.remainingMs('a', now)).toBe(30_000)
})

it('does not block a caller with a success meanwhile', () => {
  const failures = new BlockedCallers()
  failing('a', 5, failures, 0)
  failures.clear('a', 0)
  failures.block('a', 0, random)
  expect(failures.remainingMs('a', 0)).toBe(0)
})

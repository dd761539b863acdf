import { expect, it } from 'vitest'
import { CallerFailures } from './caller-failures.ts'

const random = (): number => 0

function failing(caller: string, times: number, failures: CallerFailures, now: number): boolean[] {
  return Array.from({ length: times }, () => failures.add(caller, now))
}

it('tells when a caller has failed five times in a row', () => {
  const failures = new CallerFailures()
  expect(failing('a', 4, failures, 0)).toEqual([false, false, false, false])
  failures.clear('a', 0)
  expect(failing('a', 5, failures, 0)).toEqual([false, false, false, false, true])
  expect(failing('b', 1, failures, 0)).toEqual([false])
})

it('holds it back longer each time that it fails again, and nobody else', () => {
  const failures = new CallerFailures()
  let now = 0
  failing('a', 5, failures, now)
  const lefts: number[] = []
  for (let hold = 0; hold < 3; hold++) {
    failures.hold('a', now, random)
    failures.hold('a', now, random)
    lefts.push(failures.left('a', now))
    expect([failures.isAnyHeld(now), failures.left('b', now)]).toEqual([true, 0])
    now += failures.left('a', now)
    expect(failures.isAnyHeld(now)).toBe(false)
    expect(failures.add('a', now), 'one failure is enough').toBe(true)
  }
  expect(lefts).toEqual([30_000, 60_000, 90_000])
  failures.clear('a', now)
  failing('a', 5, failures, now)
  failures.hold('a', now, random)
  expect(failures.left('a', now)).toBe(30_000)
})

it('does not hold back one that was answered meanwhile', () => {
  const failures = new CallerFailures()
  failing('a', 5, failures, 0)
  failures.clear('a', 0)
  failures.hold('a', 0, random)
  expect(failures.left('a', 0)).toBe(0)
})

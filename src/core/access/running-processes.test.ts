import { beforeEach, describe, expect, it } from 'vitest'
import { RunningProcesses } from './running-processes.ts'

const windowMs = 60_000
let now: number
let lostAt: number
const start = (configured: number, mayMissOthers?: { readonly ownProcesses: number }): RunningProcesses =>
  new RunningProcesses({ configured, lostAt: () => lostAt, clock: () => now, ...(mayMissOthers && { mayMissOthers }) })
beforeEach(() => {
  now = 1_000
  lostAt = Number.NEGATIVE_INFINITY
})

/** Figures every five seconds, for so many seconds. */
function seeFor(seconds: number, count: number, ...all: readonly RunningProcesses[]): void {
  for (let passed = 0; passed < seconds; passed += 5) {
    for (const processes of all) processes.see(count)
    now += 5_000
  }
}

it('is the configured number until the ledger was read', () => {
  expect(start(6).among(windowMs)).toBe(6)
})

it('is the number of those that were seen before the loss, fewer or more than configured', () => {
  const [six, one] = [start(6), start(1)]
  seeFor(30, 2, six, one)
  lostAt = now
  expect([six.among(windowMs), one.among(windowMs)]).toEqual([2, 2])
})

it('stays the last known number while the ledger is away too', () => {
  const processes = start(6)
  seeFor(30, 2, processes)
  lostAt = now
  now += 3_600_000
  expect(processes.among(windowMs)).toBe(2)
})

it('falls only when the window is over in which one that left may have used its share', () => {
  const processes = start(6)
  seeFor(30, 3, processes)
  lostAt = now
  processes.see(3)
  seeFor(55, 2, processes)
  expect(processes.among(windowMs)).toBe(3)
  seeFor(15, 2, processes)
  expect(processes.among(windowMs)).toBe(2)
})

it('forgets at once one that left before the loss, and counts a new one at once', () => {
  const processes = start(6)
  seeFor(30, 3, processes)
  seeFor(15, 2, processes)
  lostAt = now
  expect(processes.among(windowMs)).toBe(2)
  processes.see(4)
  expect(processes.among(windowMs)).toBe(4)
})

describe('a process that starts while the store is lost', () => {
  it('takes its share of the configured number, until the windows are over in which the others did not count it', () => {
    lostAt = now
    const processes = start(6)
    seeFor(65, 2, processes)
    expect(processes.among(windowMs)).toBe(6)
    seeFor(5, 2, processes)
    expect(processes.among(windowMs)).toBe(2)
  })

  it('takes the larger number where more are seen than configured', () => {
    lostAt = now
    const processes = start(1)
    processes.see(3)
    expect(processes.among(windowMs)).toBe(3)
  })

  it('is counted by all others if the loss comes eight seconds after its first figures', () => {
    const processes = start(6)
    processes.see(2)
    now += 7_000
    lostAt = now
    expect(processes.among(windowMs)).toBe(6)
    now += 1_000
    lostAt = now
    expect(processes.among(windowMs)).toBe(2)
  })
})

it('alone in a file it counts as configured: others may have files of their own', () => {
  const processes = start(4, { ownProcesses: 1 })
  seeFor(30, 1, processes)
  lostAt = now
  expect(processes.among(windowMs)).toBe(4)
  processes.see(2)
  expect(processes.among(windowMs)).toBe(2)
})

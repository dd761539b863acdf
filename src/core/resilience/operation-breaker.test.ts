import { expect, it } from 'vitest'
import type { BreakerState } from '../../domain/observation.ts'
import { BlockedCallers, Circuit } from './operation-breaker.ts'

const settings = { consecutiveFailures: 5, baseEjectionTime: 30, maxEjectionTime: 300 }

const random = (): number => 0

function failing(caller: string, times: number, failures: BlockedCallers, now: number): boolean[] {
  return Array.from({ length: times }, () => failures.add(caller, now))
}

it('returns whether a caller has failed five times in a row', () => {
  const failures = new BlockedCallers(settings)
  expect(failing('a', 4, failures, 0)).toEqual([false, false, false, false])
  failures.clear('a', 0)
  expect(failing('a', 5, failures, 0)).toEqual([false, false, false, false, true])
  expect(failing('b', 1, failures, 0)).toEqual([false])
})

it('blocks it longer each time that it fails again, and no other caller', () => {
  const failures = new BlockedCallers(settings)
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
  const failures = new BlockedCallers(settings)
  failing('a', 5, failures, 0)
  failures.clear('a', 0)
  failures.block('a', 0, random)
  expect(failures.remainingMs('a', 0)).toBe(0)
})

function rig(random = 0) {
  let now = 1_000_000
  const states: BreakerState[] = []
  const circuit = new Circuit({ settings, clock: () => now, random: () => random, onState: (state) => void states.push(state) })
  const advance = (seconds: number): void => {
    now += seconds * 1000
  }
  return { circuit, states, advance }
}

it('U15: is open for 30 s, 60 s, 90 s … if the trial fails, and 300 s at most', () => {
  const { circuit, advance } = rig()
  circuit.open()
  const remaining: number[] = []
  for (let opening = 0; opening < 12; opening++) {
    remaining.push(circuit.remainingMs / 1000)
    advance(circuit.remainingMs / 1000)
    expect(circuit.remainingMs).toBe(0)
    expect(circuit.tryHalfOpen()).toBe(true)
    circuit.open()
  }
  expect(remaining).toEqual([30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 300, 300])
})

it('U15: a tenth of it is random, so that replicas do not retry at once', () => {
  const { circuit } = rig(1)
  circuit.open()
  expect(circuit.remainingMs).toBe(27_000)
})

it('U20: for a provider that recovers only for moments it is open longer each time', () => {
  const { circuit, advance } = rig()
  const remaining: number[] = []
  for (let openAndClose = 0; openAndClose < 4; openAndClose++) {
    circuit.open()
    remaining.push(circuit.remainingMs / 1000)
    advance(circuit.remainingMs / 1000)
    circuit.tryHalfOpen()
    circuit.close()
    expect(circuit.state).toBe('closed')
    advance(2)
  }
  expect(remaining).toEqual([30, 60, 90, 120])
})

it('forgets one opening for every 30 s that it stays closed', () => {
  const { circuit, advance } = rig()
  circuit.open()
  advance(30)
  circuit.tryHalfOpen()
  circuit.open()
  advance(60)
  circuit.tryHalfOpen()
  circuit.close()
  advance(61)
  circuit.open()
  expect(circuit.remainingMs).toBe(30_000)
})

it('one call is the trial, and if it has no result another one may be', () => {
  const { circuit, advance, states } = rig()
  expect(circuit.tryHalfOpen()).toBe(false)
  circuit.open()
  advance(30)
  expect(circuit.tryHalfOpen()).toBe(true)
  circuit.reopen()
  expect([circuit.state, circuit.remainingMs]).toEqual(['open', 0])
  circuit.tryHalfOpen()
  circuit.close()
  expect(states).toEqual(['open', 'halfOpen', 'open', 'halfOpen', 'closed'])
})

import { expect, it } from 'vitest'
import type { BreakerState } from '../../domain/observation.ts'
import { Circuit } from './operation-breaker.ts'

function rig(random = 0) {
  let now = 1_000_000
  const states: BreakerState[] = []
  const circuit = new Circuit({ clock: () => now, random: () => random, onState: (state) => void states.push(state) })
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

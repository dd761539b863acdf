import { expect, it } from 'vitest'
import type { BreakerState } from '../domain/observation.ts'
import { Circuit } from './circuit.ts'

function rig(random = 0) {
  let now = 1_000_000
  const states: BreakerState[] = []
  const circuit = new Circuit({ clock: () => now, random: () => random, onState: (state) => void states.push(state) })
  const pass = (seconds: number): void => {
    now += seconds * 1000
  }
  return { circuit, states, pass }
}

it('U15: is open for 30 s, 60 s, 90 s … where it is not well again, and 300 s at most', () => {
  const { circuit, pass } = rig()
  circuit.open()
  const lefts: number[] = []
  for (let opening = 0; opening < 12; opening++) {
    lefts.push(circuit.left / 1000)
    pass(circuit.left / 1000)
    expect(circuit.left).toBe(0)
    expect(circuit.begin()).toBe(true)
    circuit.open()
  }
  expect(lefts).toEqual([30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 300, 300])
})

it('U15: leaves a tenth of it to chance, so that replicas do not come back at once', () => {
  const { circuit } = rig(1)
  circuit.open()
  expect(circuit.left).toBe(27_000)
})

it('U20: a provider that is well for moments is left alone longer each time', () => {
  const { circuit, pass } = rig()
  const lefts: number[] = []
  for (let flap = 0; flap < 4; flap++) {
    circuit.open()
    lefts.push(circuit.left / 1000)
    pass(circuit.left / 1000)
    circuit.begin()
    circuit.close()
    expect(circuit.state).toBe('closed')
    pass(2)
  }
  expect(lefts).toEqual([30, 60, 90, 120])
})

it('forgets one opening for every 30 s that it stays closed', () => {
  const { circuit, pass } = rig()
  circuit.open()
  pass(30)
  circuit.begin()
  circuit.open()
  pass(60)
  circuit.begin()
  circuit.close()
  pass(61)
  circuit.open()
  expect(circuit.left).toBe(30_000)
})

it('one call finds out, and where it finds out nothing another one may', () => {
  const { circuit, pass, states } = rig()
  expect(circuit.begin()).toBe(false)
  circuit.open()
  pass(30)
  expect(circuit.begin()).toBe(true)
  circuit.giveUp()
  expect([circuit.state, circuit.left]).toEqual(['open', 0])
  circuit.begin()
  circuit.close()
  expect(states).toEqual(['open', 'halfOpen', 'open', 'halfOpen', 'closed'])
})

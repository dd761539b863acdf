import { expect, it } from 'vitest'
import type { Context, SwapService } from '../domain/operations.ts'
import { SequenceClock, sequenced } from './sequence.ts'

const start = Date.parse('2026-03-01T10:00:00Z')
const hour = 3_600_000
let now = start
const clock = (): number => now

it('each is greater than the one before, whatever the wall clock does', () => {
  const sequences = new SequenceClock(clock)
  const given = [0, 0, -hour, 1, hour].map((jump) => {
    now += jump
    return sequences.next()
  })
  expect(given).toEqual(given.toSorted((a, b) => a - b))
  expect(new Set(given).size).toBe(5)
})

it('L41: what another process gave is taken note of', () => {
  now = start
  const [one, other] = [new SequenceClock(clock), new SequenceClock(() => now + hour)]
  const theirs = other.next()
  expect(one.next()).toBeLessThan(theirs)
  one.observe(theirs)
  one.observe(undefined)
  expect(one.next()).toBeGreaterThan(theirs)
})

it('L41: where the clock of another process was wrong by more than seconds, what comes in now is later', () => {
  now = start
  const sequences = new SequenceClock(clock)
  const asked = sequences.next()
  expect(sequences.align(asked, undefined)).toBe(asked)
  expect(sequences.align(asked, asked + 5_000_000)).toBe(asked)
  const far = asked + 5_000_000 + hour * 1_000
  expect(sequences.align(asked, far)).toBeGreaterThan(far)
  expect(sequences.align(undefined, far + 10_000_000)).toBeUndefined()
  expect(sequences.next()).toBeGreaterThan(far + 10_000_000)
})

it('an answer has the sequence of the moment at which its request went up', async () => {
  const sequences = new SequenceClock(clock)
  const replies: (() => void)[] = []
  const service = {
    call: () => new Promise((resolve) => void replies.push(() => resolve({ body: {} }))),
  } as unknown as SwapService
  const layered = sequenced(sequences)(service)
  const answers = [1, 2].map(() => layered.call('getTransaction', { id: 'x' }, {} as Context))
  for (const reply of replies.toReversed()) reply()
  const [first, second] = await Promise.all(answers)
  expect(first?.sequence).toBeLessThan(second?.sequence ?? 0)
})

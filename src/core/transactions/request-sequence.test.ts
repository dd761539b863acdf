import { expect, it } from 'vitest'
import type { Context, SwapService } from '../../domain/service.ts'
import { SequenceClock } from '../clock.ts'
import { numberRequests } from './save-observed.ts'

const start = Date.parse('2026-03-01T10:00:00Z')
const hour = 3_600_000
let now = start
const clock = (): number => now

it('each sequence is greater than the one before, whatever the wall clock does', () => {
  const sequences = new SequenceClock(clock)
  const sequencesGiven = [0, 0, -hour, 1, hour].map((clockJump) => {
    now += clockJump
    return sequences.next()
  })
  expect(sequencesGiven).toEqual(sequencesGiven.toSorted((a, b) => a - b))
  expect(new Set(sequencesGiven).size).toBe(5)
})

it('L41: a sequence of another process is observed', () => {
  now = start
  const [one, other] = [new SequenceClock(clock), new SequenceClock(() => now + hour)]
  const otherSequence = other.next()
  expect(one.next()).toBeLessThan(otherSequence)
  one.observe(otherSequence)
  one.observe(undefined)
  expect(one.next()).toBeGreaterThan(otherSequence)
})

it('L41: if the clock of another process was wrong by more than seconds, the current response is the later one', () => {
  now = start
  const sequences = new SequenceClock(clock)
  const sent = sequences.next()
  expect(sequences.align(sent, undefined)).toBe(sent)
  expect(sequences.align(sent, sent + 5_000_000)).toBe(sent)
  const far = sent + 5_000_000 + hour * 1_000
  expect(sequences.align(sent, far)).toBeGreaterThan(far)
  expect(sequences.align(undefined, far + 10_000_000)).toBeUndefined()
  expect(sequences.next()).toBeGreaterThan(far + 10_000_000)
})

it('a response has the sequence of the moment at which its request was sent', async () => {
  const sequences = new SequenceClock(clock)
  const resolvers: (() => void)[] = []
  const service = {
    call: () => new Promise((resolve) => void resolvers.push(() => resolve({ body: {} }))),
  } as unknown as SwapService
  const numbered = numberRequests(sequences)(service)
  const responses = [1, 2].map(() => numbered.call('getTransaction', { id: 'x' }, {} as Context))
  for (const reply of resolvers.toReversed()) reply()
  const [first, second] = await Promise.all(responses)
  expect(first?.sequence).toBeLessThan(second?.sequence ?? 0)
})

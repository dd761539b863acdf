import { beforeEach, expect, it } from 'vitest'
import { AskerVotes } from './asker-votes.ts'

let votes: AskerVotes
let now: number
beforeEach(() => {
  votes = new AskerVotes()
  now = 1_000_000
})

const fail = (...askers: readonly string[]): void => {
  for (const asker of askers) votes.addFailure(asker, now)
}
const answer = (...askers: readonly string[]): void => {
  for (const asker of askers) votes.addAnswer(asker, now)
}

it('one asker is not enough, however often it fails', () => {
  for (let call = 0; call < 1_000; call++) fail('a')
  expect(votes.isAgainst(now)).toBe(false)
})

it('two are, where they are more than half of those who called', () => {
  fail('a', 'b')
  expect(votes.isAgainst(now)).toBe(true)
  answer('c')
  expect(votes.isAgainst(now)).toBe(true)
  answer('d')
  expect(votes.isAgainst(now)).toBe(false)
  fail('e')
  expect(votes.isAgainst(now)).toBe(true)
})

it('who met an answer in the last 30 seconds did not meet only failures', () => {
  answer('a')
  now += 29_000
  fail('a', 'b')
  expect(votes.isAgainst(now)).toBe(false)
  now += 1_000
  fail('a')
  expect(votes.isAgainst(now)).toBe(true)
  answer('a')
  expect(votes.isAgainst(now)).toBe(false)
})

it('who has not called for 30 seconds does not count', () => {
  fail('a', 'b')
  now += 30_000
  fail('b')
  expect(votes.isAgainst(now)).toBe(false)
  answer('c', 'd', 'e')
  now += 31_000
  fail('a', 'b')
  expect(votes.isAgainst(now)).toBe(true)
})

it('a call costs the same for 10 and for 100,000 askers', () => {
  const costOf = (askers: number): number => {
    const crowd = new AskerVotes()
    const names = Array.from({ length: askers }, (_, at) => `asker ${at}`)
    const play = (calls: number): void => {
      for (let call = 0; call < calls; call++) {
        now += 0.1
        const name = names[call % askers] as string
        if (call % 3) crowd.addAnswer(name, now)
        else crowd.addFailure(name, now)
        crowd.isAgainst(now)
      }
    }
    play(askers)
    const start = performance.now()
    play(20_000)
    return (performance.now() - start) / 20_000
  }
  costOf(10)
  const [few, most] = [costOf(10), costOf(100_000)]
  expect(most, `${few} and ${most} ms`).toBeLessThan(Math.max(50 * few, 0.02))
})

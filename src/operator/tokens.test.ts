import { beforeEach, expect, it } from 'vitest'
import { Fault } from '../domain/fault.ts'
import type { Observation } from '../domain/observation.ts'
import { TokenCheck } from './tokens.ts'

let now: number
let waiting: { readonly milliseconds: number; readonly end: () => void }[]
let observations: Observation[]
let check: TokenCheck
beforeEach(() => {
  now = 0
  waiting = []
  observations = []
  check = new TokenCheck({
    tokens: () => ({ alice: 'right' }),
    clock: () => now,
    wait: (milliseconds) => new Promise((resolve) => waiting.push({ milliseconds, end: () => resolve(undefined) })),
    observe: (observation) => observations.push(observation),
  })
})

/** The kind of the refusal, once it is there. */
function guess(address: string): { kind: string | undefined } {
  const answer: { kind: string | undefined } = { kind: undefined }
  check.authenticate('Bearer wrong', address).catch((reason) => {
    answer.kind = Fault.from(reason).kind
  })
  return answer
}
const flush = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const guessTimes = async (address: string, times: number) => {
  const answers = Array.from({ length: times }, () => guess(address))
  await flush()
  return answers.map(({ kind }) => kind)
}

it('after ten wrong tokens in a minute an address is answered after a second', async () => {
  expect(await guessTimes('192.0.2.1', 10)).toEqual(Array.from({ length: 10 }, () => 'unauthorized'))
  const slow = guess('192.0.2.1')
  await flush()
  expect([slow.kind, waiting[0]?.milliseconds]).toEqual([undefined, 1_000])
  expect(guess('192.0.2.2').kind, 'another address').toBeUndefined()
  await flush()
  expect(waiting).toHaveLength(1)
  waiting[0]?.end()
  await flush()
  expect(slow.kind).toBe('limited')
  now = 60_000
  expect(await guessTimes('192.0.2.1', 1)).toEqual(['unauthorized'])
})

it('at most 20 wait at a time, of all addresses; the others are 429 at once', async () => {
  for (const address of ['192.0.2.1', '192.0.2.2']) {
    await guessTimes(address, 10)
    await guessTimes(address, 10)
  }
  expect(waiting).toHaveLength(20)
  expect(await guessTimes('192.0.2.1', 3)).toEqual(['limited', 'limited', 'limited'])
  waiting[0]?.end()
  await flush()
  expect(await guessTimes('192.0.2.2', 1)).toEqual([undefined])
})

it('a right token is never refused and never waits', async () => {
  await guessTimes('192.0.2.1', 100)
  expect(await check.authenticate('Bearer right', '192.0.2.1')).toMatchObject({ actor: 'alice' })
})

it('all wrong ones are counted, and the first of an address in a minute is logged; the addresses of a /64 are one', async () => {
  await guessTimes('192.0.2.1', 15)
  for (const host of ['1', '2', '3']) await guessTimes(`2001:db8::${host}`, 1)
  now = 60_000
  await guessTimes('192.0.2.1', 2)
  expect(observations).toHaveLength(20)
  const logged = observations.filter((observation) => observation.what === 'operatorTokenRefused' && observation.isFirst)
  expect(logged.map((observation) => 'address' in observation && observation.address)).toEqual([
    '192.0.2.1',
    '2001:db8:0:0',
    '192.0.2.1',
  ])
})

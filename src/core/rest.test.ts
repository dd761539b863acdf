import { expect, it } from 'vitest'
import { contextOf, type Scripted, scripted } from '../../test/support/service.ts'
import { Fault, type FaultKind } from '../domain/fault.ts'
import type { Observation } from '../domain/observation.ts'
import type { Op } from '../domain/operations.ts'
import { resting } from './rest.ts'

interface Rig {
  readonly provider: Scripted
  readonly observations: readonly Observation[]
  readonly ask: (op: Op) => Promise<unknown>
  readonly pass: (seconds: number) => void
  /** What the provider says from now on. */
  say: FaultKind | 'well'
  /** To the gateway's own reads, where that is something else. */
  ownSay?: FaultKind | 'well'
  retryAfter: number
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function rig(isOwnKey: boolean): Rig {
  let now = 0
  const observations: Observation[] = []
  const provider = scripted((_, { context }) => {
    const say = context.isOwn ? (made.ownSay ?? made.say) : made.say
    if (say === 'well') return 'well'
    throw new Fault(say, 'no', { provider: 'alpha', certain: true, retryAfter: made.retryAfter })
  })
  const observe = (observation: Observation): void => void observations.push(observation)
  const service = resting({ provider: 'alpha', isOwnKey, timeout: 10_000, clock: () => now, observe })(provider)
  const made: Rig = {
    provider,
    observations,
    ask: (op) => service.call(op, {} as never, contextOf()).catch((reason) => reason),
    pass: (seconds) => {
      now += seconds * 1000
    },
    say: 'well',
    retryAfter: 17,
  }
  return made
}

it('U12: a provider that has had enough rests for as long as it says, in that row of limits alone', async () => {
  const made = rig(true)
  made.say = 'limited'
  expect(await made.ask('getRate')).toMatchObject({ kind: 'limited' })
  made.say = 'well'
  made.pass(7)
  expect(await made.ask('listCurrencies')).toMatchObject({ kind: 'unavailable', retryAfter: 10, certain: true, elsewhere: true })
  expect([await made.ask('createTransaction'), await made.ask('getTransaction')]).toEqual(['well', 'well'])
  made.pass(9.9)
  expect(await made.ask('getRate')).toMatchObject({ retryAfter: 1 })
  made.pass(0.1)
  expect(await made.ask('getRate')).toBe('well')
  expect(made.observations[0]).toEqual({ what: 'rest', provider: 'alpha', reason: 'limited' })
})

it('U12: a Retry-After without end is not believed: after an hour the provider is asked again', async () => {
  const made = rig(true)
  made.say = 'limited'
  made.retryAfter = 999_999_999
  await made.ask('getRate')
  made.say = 'well'
  expect(await made.ask('getRate')).toMatchObject({ retryAfter: 3_600 })
  made.pass(3_600)
  expect(await made.ask('getRate')).toBe('well')
})

it("U12: what a provider says to a client's own key is about that client, and nobody else waits for it", async () => {
  const made = rig(false)
  made.say = 'limited'
  for (const op of ['createTransaction', 'getTransaction'] as const) expect(await made.ask(op)).toMatchObject({ kind: 'limited' })
  made.say = 'well'
  for (const op of ['createTransaction', 'getTransaction'] as const) expect(await made.ask(op)).toBe('well')
  made.say = 'limited'
  await made.ask('getRate')
  expect(await made.ask('getRate')).toMatchObject({ kind: 'unavailable' })
})

it("U30: our key counts as refused where the gateway's own read is refused: then the provider is left alone for 30 s", async () => {
  const made = rig(true)
  made.say = 'unauthorized'
  expect(await made.ask('createTransaction')).toMatchObject({ kind: 'unauthorized' })
  await settled()
  expect(made.provider.asked.at(-1)).toMatchObject({
    op: 'listTransactions',
    request: { page: 1, size: 1 },
    context: { isOwn: true },
  })
  expect(made.observations).toEqual([{ what: 'rest', provider: 'alpha', reason: 'keyRefused' }])
  for (const op of ['getRate', 'createTransaction', 'getTransaction'] as const) {
    expect(await made.ask(op)).toMatchObject({ kind: 'unavailable', retryAfter: 30 })
  }
  made.pass(30)
  expect(await made.ask('getTransaction')).toMatchObject({ kind: 'unauthorized' })
  await settled()
  expect(await made.ask('getTransaction')).toMatchObject({ kind: 'unavailable' })
})

it("U30: refusals of clients' calls alone are about these calls, and the gateway reads once in ten seconds", async () => {
  const made = rig(true)
  for (let call = 0; call < 50; call++) {
    made.say = 'unauthorized'
    made.ownSay = 'well'
    expect(await made.ask('createTransaction')).toMatchObject({ kind: 'unauthorized' })
    await settled()
  }
  expect(made.provider.asked.filter(({ context }) => context.isOwn)).toHaveLength(1)
  made.pass(10)
  await made.ask('createTransaction')
  expect(made.provider.asked.filter(({ context }) => context.isOwn)).toHaveLength(2)
  expect(made.observations).toEqual([])
})

it.each(['failed', 'timedOut', 'limited'] as const)(
  'U30: a read that ends otherwise (%s) says nothing of the key',
  async (kind) => {
    const made = rig(true)
    made.say = 'unauthorized'
    made.ownSay = kind
    await made.ask('createTransaction')
    await settled()
    expect(made.observations).toEqual([])
  },
)

it("U13: that a client's own key is refused says nothing of the provider", async () => {
  const made = rig(false)
  made.say = 'unauthorized'
  for (let n = 0; n < 10; n++) expect(await made.ask('getTransaction')).toMatchObject({ kind: 'unauthorized' })
})

import { expect, it } from 'vitest'
import { type Asked, contextOf, type Scripted, scripted } from '../../test/support/service.ts'
import { Fault, type FaultDetails, type FaultKind } from '../domain/fault.ts'
import type { Observation } from '../domain/observation.ts'
import type { Context, Op, SwapService } from '../domain/operations.ts'
import { breaking } from './breaker.ts'
import { stack } from './layer.ts'

interface Rig {
  readonly provider: Scripted
  /** Those of the provider's calls that the gateway made of its own accord. */
  readonly own: () => readonly Op[]
  readonly states: () => readonly string[]
  readonly observations: readonly Observation[]
  readonly pass: (seconds: number) => void
  readonly call: (op: Op, identity?: string, facts?: Partial<Context>) => Promise<unknown>
}

const timeout = 10_000

function rig(answer: (asked: Asked) => unknown, isOwnKey = true): Rig {
  let now = 0
  const observations: Observation[] = []
  const provider = scripted((_, asked) => answer(asked))
  const observe = (observation: Observation): void => void observations.push(observation)
  const options = { provider: 'alpha', timeout, isOwnKey, clock: () => now, random: () => 0, observe }
  const { admission, count } = breaking(options)
  const service: SwapService = stack([admission, count], provider)
  return {
    provider,
    own: () => provider.asked.filter(({ context }) => context.isOwn).map(({ op }) => op),
    states: () =>
      observations
        .filter((seen) => seen.what === 'breaker')
        .map(({ operation, state }) => `${operation} ${state}`)
        .slice(5),
    observations,
    pass: (seconds) => {
      now += seconds * 1000
    },
    call: (op, identity, facts) => {
      const caller = { address: '192.0.2.1', ...(identity !== undefined && { identity }) }
      return service.call(op, {} as never, contextOf({ caller, ...facts })).catch((reason) => reason)
    },
  }
}

const fail = (kind: FaultKind = 'failed', details: FaultDetails = {}): never => {
  throw new Fault(kind, 'no', details)
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** So many calls of one caller, and what comes of the last one's failure. */
async function callOften(made: Rig, op: Op, times: number, identity?: string): Promise<void> {
  for (let call = 0; call < times; call++) await made.call(op, identity)
  await settled()
}

const refusal = { kind: 'unavailable', certain: true, elsewhere: true, provider: undefined }

it.each([
  ['resets or answers 5xx', 'failed', {}],
  ['lies', 'unreadable', { provider: 'alpha' }],
  ['is silent', 'timedOut', {}],
] as const)(
  "U15: a provider that %s to one caller five times and then to the gateway's own read is left alone",
  async (_, kind, details) => {
    const made = rig(() => fail(kind, details))
    await callOften(made, 'getTransaction', 5, 'a')
    expect(made.own()).toEqual(['listTransactions'])
    expect(await made.call('getTransaction', 'b')).toMatchObject({ ...refusal, retryAfter: 30 })
    expect(made.states()).toEqual(['getTransaction open'])
    expect(made.observations.at(-1)).toEqual({ what: 'heldBack', provider: 'alpha', by: 'breaker' })
  },
)

it("U26: where the gateway's own read is answered the failures are that caller's: it alone is held back", async () => {
  const made = rig(({ op, context }) =>
    context.isOwn || op !== 'createTransaction' || context.caller.identity === 'b' ? 'well' : fail(),
  )
  await callOften(made, 'createTransaction', 5, 'a')
  expect(made.own()).toEqual(['listTransactions'])
  expect(await made.call('createTransaction', 'a')).toMatchObject({ ...refusal, retryAfter: 30 })
  expect(made.observations.at(-1)).toEqual({ what: 'heldBack', provider: 'alpha', by: 'caller' })
  expect(await made.call('getTransaction', 'a'), 'another operation').toBe('well')
  for (let call = 0; call < 20; call++) expect(await made.call('createTransaction', 'b')).toBe('well')
  made.pass(30)
  expect(await made.call('createTransaction', 'a')).toMatchObject({ kind: 'failed' })
  await settled()
  expect(await made.call('createTransaction', 'a')).toMatchObject({ retryAfter: 60 })
  expect(made.states()).toEqual([])
})

it("U26: the gateway's own read of quotes, and of all where keys are the providers', needs no key", async () => {
  const quotes = rig(({ context }) => (context.isOwn ? 'well' : fail()))
  await callOften(quotes, 'getRate', 5)
  expect(quotes.provider.asked.at(-1)).toMatchObject({ op: 'listCurrencies', context: { caller: { address: '' }, isOwn: true } })
  const passthrough = rig(({ context }) => (context.isOwn ? 'well' : fail()), false)
  await callOften(passthrough, 'listTransactions', 5, 'key')
  expect(passthrough.own()).toEqual(['listCurrencies'])
})

it('U26: one such read serves all for ten seconds', async () => {
  const made = rig(({ context }) => (context.isOwn || context.caller.identity?.startsWith('well') ? 'well' : fail()))
  for (let well = 0; well < 12; well++) await made.call('getRate', `well ${well}`)
  for (const name of ['a', 'b', 'c']) await callOften(made, 'getRate', 5, name)
  expect(made.own()).toEqual(['listCurrencies'])
  made.pass(10)
  await callOften(made, 'getRate', 5, 'd')
  expect(made.own()).toHaveLength(2)
})

it('U27: opens where two askers, and more than half of those who called, met only failures', async () => {
  const made = rig(({ context }) => (context.caller.identity?.startsWith('odd') ? fail() : 'well'))
  for (const name of ['a', 'b', 'c']) await made.call('getRate', name)
  for (const name of ['odd 1', 'odd 2', 'odd 3']) await made.call('getRate', name)
  expect(made.states()).toEqual([])
  await made.call('getRate', 'odd 4')
  expect(made.states()).toEqual(['getRate open'])
  expect(await made.call('getRate', 'a')).toMatchObject({ ...refusal, retryAfter: 30 })
  expect(await made.call('createTransaction', 'a'), 'each operation by itself').toBe('well')
})

it('U27: all callers without a key are one asker where keys are issued, and each address is held back alone', async () => {
  const made = rig(({ context }) => (context.isOwn || context.caller.address === '192.0.2.9' ? 'well' : fail()))
  const from = (address: string): Promise<unknown> => made.call('getRate', undefined, { caller: { address } })
  for (let host = 1; host <= 4; host++) await from(`192.0.2.${host}`)
  expect(made.states()).toEqual([])
  for (let call = 0; call < 5; call++) await from('192.0.2.1')
  await settled()
  expect(await from('192.0.2.1')).toMatchObject(refusal)
  expect(await from('192.0.2.9')).toBe('well')
})

it('U28: a provider that cannot be reached five times is left alone, whoever called', async () => {
  const made = rig(() => fail('unreachable', { certain: true }))
  await callOften(made, 'createTransaction', 5, 'a')
  expect(made.states()).toEqual(['createTransaction open'])
  expect(made.own()).toEqual([])
  expect(await made.call('createTransaction', 'b')).toMatchObject({ retryAfter: 30 })
})

it("U28: so is one that fails the gateway's own calls five times", async () => {
  const made = rig(() => fail())
  for (let call = 0; call < 5; call++) await made.call('listCurrencies', undefined, { isOwn: true })
  expect(made.states()).toEqual(['listCurrencies open'])
})

it.each([
  ['invalid', { provider: 'alpha', certain: true }],
  ['notFound', { provider: 'alpha', certain: true }],
  ['unauthorized', { provider: 'alpha', certain: true }],
  ['limited', { provider: 'alpha', certain: true }],
  ['failed', { provider: 'alpha', certain: true }], // another 4xx
  ['invalid', { certain: true }], // never sent
] as const)('U18: a thousand refusals (%s, %o) leave the breaker closed', async (kind, details) => {
  const made = rig(() => fail(kind, details))
  for (let n = 0; n < 1_000; n++) await made.call('createTransaction', `asker ${n % 5}`)
  expect(made.provider.asked).toHaveLength(1_000)
})

it('a question that had less than a fifth of the time says nothing of a silent provider', async () => {
  const made = rig(() => fail('timedOut'))
  for (let n = 0; n < 10; n++) await made.call('getRate', `asker ${n}`, { deadline: performance.now() + timeout * 0.19 })
  expect(made.provider.asked).toHaveLength(10)
})

it('a second try of the same question is no second failure of its caller', async () => {
  const made = rig(({ context }) => (context.isOwn ? 'well' : fail()))
  for (let n = 0; n < 4; n++) {
    await made.call('getRate', 'a')
    await made.call('getRate', 'a', { resends: 1 })
  }
  await settled()
  expect(made.own()).toEqual([])
})

it("U29: an open create breaker ends with one client's create, and with no read", async () => {
  let isWell = false
  const made = rig(() => (isWell ? 'well' : fail()))
  for (const name of ['a', 'b']) await made.call('createTransaction', name)
  expect(made.states()).toEqual(['createTransaction open'])
  isWell = true
  made.pass(30)
  const before = made.provider.asked.length
  expect(await made.call('getTransaction', 'a')).toBe('well')
  expect(await made.call('createTransaction', 'c')).toBe('well')
  expect(made.provider.asked.slice(before).map(({ op }) => op)).toEqual(['getTransaction', 'createTransaction'])
  expect(made.states()).toEqual(['createTransaction open', 'createTransaction halfOpen', 'createTransaction closed'])
})

it('U16: of many calls one finds out, and the others are refused at once', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  let isOpen = false
  const made = rig(() => (isOpen ? promise : fail()))
  for (const name of ['a', 'b']) await made.call('getRate', name)
  isOpen = true
  made.pass(30)
  const finding = made.call('getRate', 'a')
  const others = await Promise.all(Array.from({ length: 20 }, () => made.call('getRate', 'c')))
  expect(others.every((reason) => reason instanceof Fault && reason.retryAfter === 1)).toBe(true)
  expect(made.provider.asked).toHaveLength(3)
  resolve('well')
  await finding
  expect(await made.call('getRate', 'c')).toBe('well')
})

it('U29: one who found out and failed lets others go first the next time', async () => {
  const made = rig(({ context }) => (context.caller.identity === 'good' ? 'well' : fail()))
  for (const name of ['odd', 'other']) await made.call('createTransaction', name)
  made.pass(30)
  await made.call('createTransaction', 'odd')
  made.pass(60)
  expect(await made.call('createTransaction', 'odd')).toMatchObject({ ...refusal, retryAfter: 1 })
  expect(await made.call('createTransaction', 'good')).toBe('well')
  expect(made.states().at(-1)).toBe('createTransaction closed')
})

it('U15: the one who finds out and has to wait too long opens it again, whatever time it had', async () => {
  const made = rig(() => fail('timedOut'))
  for (const name of ['a', 'b']) await made.call('getRate', name)
  made.pass(30)
  await made.call('getRate', 'c', { deadline: performance.now() + 10 })
  expect(await made.call('getRate', 'c')).toMatchObject({ kind: 'unavailable', retryAfter: 60 })
})

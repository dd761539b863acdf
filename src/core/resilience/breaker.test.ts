import { describe, expect, it } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { contextOf, type RecordedCall, type Scripted, scripted } from '../../../test/support/service.ts'
import { resends } from '../../domain/call-options.ts'
import { withValue } from '../../domain/context-values.ts'
import { LookupTimeout } from '../../domain/failure-cause.ts'
import { Fault, type FaultDetails, type FaultKind } from '../../domain/fault.ts'
import type { Observation } from '../../domain/observation.ts'
import { type Context, type Op, operationNames, type SwapService } from '../../domain/service.ts'
import { compose } from '../layer.ts'
import type { ConfiguredProvider } from '../provider-scope.ts'
import { createBreaker } from './breaker.ts'

interface Rig {
  readonly provider: Scripted
  /** The gateway's own calls to the provider. */
  readonly healthChecks: () => readonly Op[]
  readonly states: () => readonly string[]
  readonly observations: readonly Observation[]
  readonly advance: (seconds: number) => void
  readonly call: (op: Op, identity?: string, overrides?: Partial<Context>, request?: object) => Promise<unknown>
}

const timeoutMs = 10_000

function rig(respond: (call: RecordedCall) => unknown, usesGatewayKey = true, configured: Partial<ConfiguredProvider> = {}): Rig {
  let now = 0
  const observations: Observation[] = []
  const provider = scripted((_, call) => respond(call))
  const observe = (observation: Observation): void => void observations.push(observation)
  const { admission, recorder } = createBreaker(providerScope({ timeoutMs, usesGatewayKey, configured, clock: () => now, observe }))
  const service: SwapService = compose([admission, recorder], provider)
  return {
    provider,
    healthChecks: () => provider.calls.filter(({ context }) => context.isGatewayCall).map(({ op }) => op),
    states: () =>
      observations
        .filter((observation) => observation.what === 'breaker')
        .map(({ operation, state }) => `${operation} ${state}`)
        .slice(operationNames.length),
    observations,
    advance: (seconds) => {
      now += seconds * 1000
    },
    call: (op, identity, overrides, request = {}) => {
      const caller = { address: '192.0.2.1', ...(identity !== undefined && { identity }) }
      return service.call(op, request as never, contextOf({ caller, ...overrides })).catch((reason) => reason)
    },
  }
}

const fail = (kind: FaultKind = 'failed', details: FaultDetails = {}): never => {
  throw new Fault(kind, 'no', details)
}
const flush = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Makes this number of calls of one caller, and waits for the health check after the last failure. */
async function callOften(testRig: Rig, op: Op, times: number, identity?: string): Promise<void> {
  for (let call = 0; call < times; call++) await testRig.call(op, identity)
  await flush()
}

const refusal = { kind: 'unavailable', effect: 'nothingSent', provider: undefined }

it.each([
  ['resets or returns 5xx', 'failed', {}],
  ['lies', 'unreadable', { provider: 'alpha' }],
  ['is silent', 'timedOut', {}],
] as const)(
  "U15: a provider that %s to one caller five times and then to the gateway's own read is left alone",
  async (_, kind, details) => {
    const testRig = rig(() => fail(kind, details))
    await callOften(testRig, 'getTransaction', 5, 'a')
    expect(testRig.healthChecks()).toEqual(['listTransactions'])
    expect(await testRig.call('getTransaction', 'b')).toMatchObject({ ...refusal, retryAfter: 1 })
    expect(testRig.states()).toEqual(['getTransaction open'])
    expect(testRig.observations.at(-1)).toEqual({ what: 'localRejection', provider: 'alpha', by: 'breaker' })
  },
)

it("U26: if the gateway's own read succeeds the failures are that caller's: it alone is blocked", async () => {
  const testRig = rig(({ op, context }) =>
    context.isGatewayCall || op !== 'createTransaction' || context.caller.identity === 'b' ? 'well' : fail(),
  )
  await callOften(testRig, 'createTransaction', 5, 'a')
  expect(testRig.healthChecks()).toEqual(['listTransactions'])
  expect(await testRig.call('createTransaction', 'a')).toMatchObject({ ...refusal, retryAfter: 30 })
  expect(testRig.observations.at(-1)).toEqual({ what: 'localRejection', provider: 'alpha', by: 'caller' })
  expect(await testRig.call('getTransaction', 'a'), 'another operation').toBe('well')
  for (let call = 0; call < 20; call++) expect(await testRig.call('createTransaction', 'b')).toBe('well')
  testRig.advance(30)
  expect(await testRig.call('createTransaction', 'a')).toMatchObject({ kind: 'failed' })
  await flush()
  expect(await testRig.call('createTransaction', 'a')).toMatchObject({ retryAfter: 60 })
  expect(testRig.states()).toEqual([])
})

it("U26: the gateway's own read for quotes, and for all operations if clients send the providers' keys, needs no key", async () => {
  const quotes = rig(({ context }) => (context.isGatewayCall ? 'well' : fail()))
  await callOften(quotes, 'getRate', 5)
  expect(quotes.provider.calls.at(-1)).toMatchObject({
    op: 'listCurrencies',
    context: { caller: { address: '' }, isGatewayCall: true },
  })
  const passthrough = rig(({ context }) => (context.isGatewayCall ? 'well' : fail()), false)
  await callOften(passthrough, 'listTransactions', 5, 'key')
  expect(passthrough.healthChecks()).toEqual(['listCurrencies'])
})

it('U26: one such read is used for all callers for ten seconds', async () => {
  const testRig = rig(({ context }) => (context.isGatewayCall || context.caller.identity?.startsWith('well') ? 'well' : fail()))
  for (let well = 0; well < 12; well++) await testRig.call('getRate', `well ${well}`)
  for (const name of ['a', 'b', 'c']) await callOften(testRig, 'getRate', 5, name)
  expect(testRig.healthChecks()).toEqual(['listCurrencies'])
  testRig.advance(10)
  await callOften(testRig, 'getRate', 5, 'd')
  expect(testRig.healthChecks()).toHaveLength(2)
})

it('U27: opens if two callers, and more than half of all, had only failures', async () => {
  const testRig = rig(({ context }) => (context.caller.identity?.startsWith('odd') ? fail() : 'well'))
  for (const name of ['a', 'b', 'c']) await testRig.call('getRate', name)
  for (const name of ['odd 1', 'odd 2', 'odd 3']) await testRig.call('getRate', name)
  expect(testRig.states()).toEqual([])
  await testRig.call('getRate', 'odd 4')
  expect(testRig.states()).toEqual(['getRate open'])
  expect(await testRig.call('getRate', 'a')).toMatchObject({ ...refusal, retryAfter: 1 })
  expect(await testRig.call('createTransaction', 'a'), 'each operation by itself').toBe('well')
})

it('U27: with issued keys all callers without a key are counted as one, and each address is blocked alone', async () => {
  const testRig = rig(({ context }) => (context.isGatewayCall || context.caller.address === '192.0.2.9' ? 'well' : fail()))
  const from = (address: string): Promise<unknown> => testRig.call('getRate', undefined, { caller: { address } })
  for (let host = 1; host <= 4; host++) await from(`192.0.2.${host}`)
  expect(testRig.states()).toEqual([])
  for (let call = 0; call < 5; call++) await from('192.0.2.1')
  await flush()
  expect(await from('192.0.2.1')).toMatchObject(refusal)
  expect(await from('192.0.2.9')).toBe('well')
})

it('U36: whoever has no verified key opens nothing, however many addresses and made-up keys fail', async () => {
  const testRig = rig(({ op, context }) => (context.isGatewayCall || op === 'listTransactions' ? 'well' : fail()), false)
  for (let host = 1; host <= 50; host++) await testRig.call('getRate', undefined, { caller: { address: `192.0.2.${host}` } })
  for (let key = 0; key < 50; key++) await testRig.call('createTransaction', `made up ${key}`)
  for (let key = 0; key < 50; key++) await testRig.call('getTransaction', `made up ${key}`)
  await flush()
  expect(testRig.states()).toEqual([])
  expect(testRig.healthChecks()).toEqual(['listCurrencies'])
})

it('U36: of the keys of a provider those count that it answered in the last hour, for all operations', async () => {
  const testRig = rig(({ op }) => (op === 'listTransactions' ? 'well' : fail()), false)
  for (const key of ['a', 'b']) await testRig.call('listTransactions', key)
  testRig.advance(3_599)
  await testRig.call('createTransaction', 'a')
  await testRig.call('getRate', 'a')
  expect(testRig.states()).toEqual([])
  await testRig.call('createTransaction', 'b')
  await testRig.call('getRate', 'b')
  expect(testRig.states()).toEqual(['createTransaction open', 'getRate open'])
  testRig.advance(1)
  for (const key of ['a', 'b']) await testRig.call('getTransaction', key)
  expect(testRig.states()).toHaveLength(2)
})

it('U36: an account with its key and without it is one', async () => {
  const testRig = rig(({ context }) => (context.isGatewayCall || context.caller.identity === 'honest' ? 'well' : fail()))
  for (let call = 0; call < 10; call++) {
    await testRig.call('getRate', 'honest')
    await testRig.call('getRate', 'odd')
    await testRig.call('getRate', undefined)
  }
  await flush()
  expect(testRig.states()).toEqual([])
  expect(await testRig.call('getRate', 'honest')).toBe('well')
})

it("U32: five failures in a row, of any callers, start one read of the gateway's own; only its failure opens the breaker", async () => {
  let isWell = true
  const testRig = rig(({ context }) => (context.isGatewayCall && isWell ? 'well' : fail()), false)
  const failOnce = (host: number): Promise<unknown> =>
    testRig.call('getRate', undefined, { caller: { address: `192.0.2.${host}` } })
  for (let host = 1; host <= 4; host++) await failOnce(host)
  await flush()
  expect(testRig.healthChecks()).toEqual([])
  await failOnce(5)
  await flush()
  expect(testRig.healthChecks()).toEqual(['listCurrencies'])
  expect(testRig.states()).toEqual([])
  isWell = false
  testRig.advance(10)
  for (let host = 6; host <= 10; host++) await failOnce(host)
  await flush()
  expect(testRig.healthChecks()).toHaveLength(2)
  expect(testRig.states()).toEqual(['getRate open'])
})

it("U32: swaps that the gateway's own gets cannot read open nothing", async () => {
  const testRig = rig(({ op }) => (op === 'getTransaction' ? fail('unreadable', { provider: 'alpha' }) : 'well'))
  for (let call = 0; call < 20; call++) await testRig.call('getTransaction', undefined, { isGatewayCall: true })
  await flush()
  expect(testRig.states()).toEqual([])
})

it('U32: a response to any caller begins the row anew', async () => {
  const testRig = rig(({ context }) => (context.isGatewayCall || context.caller.identity === 'honest' ? 'well' : fail()), false)
  for (const name of ['a', 'b', 'c', 'd', 'honest', 'a', 'b', 'c', 'd']) await testRig.call('getRate', name)
  await flush()
  expect(testRig.healthChecks()).toEqual([])
})

it.each(['1e16', '1e-19', `1.${'0'.repeat(18)}1`])(
  "U33: what fails for an amount of %s is that request's failure alone",
  async (amountIn) => {
    const testRig = rig(() => fail('unreadable', { provider: 'alpha' }))
    const ask = (op: Op, identity: string): Promise<unknown> => testRig.call(op, identity, {}, { amountIn })
    for (const identity of ['a', 'b', 'c']) {
      for (let call = 0; call < 5; call++) {
        await ask('getRate', identity)
        await ask('createTransaction', identity)
      }
    }
    await flush()
    expect(testRig.states()).toEqual([])
    expect(testRig.healthChecks()).toEqual([])
    expect(testRig.provider.calls).toHaveLength(30)
  },
)

it('U33: without a connection no amount is the cause', async () => {
  const testRig = rig(() => fail('unreachable', { effect: 'nothingSent' }))
  for (let call = 0; call < 5; call++) await testRig.call('getRate', 'a', {}, { amountIn: '1e40' })
  expect(testRig.states()).toEqual(['getRate open'])
})

describe('U34: a failed trial of an unverified caller', () => {
  let isWell: boolean
  const opened = async (op: Op): Promise<Rig> => {
    isWell = false
    const testRig = rig(
      (call) => (isWell && (call.context.isGatewayCall || call.context.caller.identity === 'good') ? 'well' : fail()),
      false,
    )
    for (let call = 0; call < 5; call++) await testRig.call(op, 'made up')
    await flush()
    expect(testRig.states()).toEqual([`${op} open`])
    testRig.advance(30)
    return testRig
  }

  it('closes the breaker of reads if the gateway can read', async () => {
    const testRig = await opened('getRate')
    isWell = true
    await testRig.call('getRate', 'made up')
    await flush()
    expect(testRig.states().at(-1)).toBe('getRate closed')
  })

  it('leaves it open if the gateway cannot', async () => {
    const testRig = await opened('getRate')
    await testRig.call('getRate', 'made up')
    await flush()
    expect(await testRig.call('getRate', 'other')).toMatchObject({ ...refusal, retryAfter: 1 })
  })

  it('leaves that of creates open for no longer, and other callers go first', async () => {
    const testRig = await opened('createTransaction')
    isWell = true
    for (const op of ['listTransactions', 'getRate'] as const) await testRig.call(op, 'good')
    await testRig.call('createTransaction', 'made up')
    await flush()
    expect(await testRig.call('createTransaction', 'another one')).toMatchObject({ ...refusal, retryAfter: 1 })
    expect(await testRig.call('createTransaction', 'good')).toBe('well')
    expect(testRig.states().at(-1)).toBe('createTransaction closed')
  })
})

it.each([
  [true, ['createTransaction open']],
  [false, []],
])('U31: a look-up without an answer counts if it has begun: %s', async (hasBegun, states) => {
  const testRig = rig(() => fail('unreachable', { effect: 'nothingSent', cause: new LookupTimeout(hasBegun) }))
  await callOften(testRig, 'createTransaction', 5, 'a')
  expect(testRig.states()).toEqual(states)
})

it('U28: opens after five failed connections in a row, of any callers', async () => {
  const testRig = rig(() => fail('unreachable', { effect: 'nothingSent' }))
  await callOften(testRig, 'createTransaction', 5, 'a')
  expect(testRig.states()).toEqual(['createTransaction open'])
  expect(testRig.healthChecks()).toEqual([])
  expect(await testRig.call('createTransaction', 'b')).toMatchObject({ retryAfter: 30 })
})

it("U28: opens after five failures in a row of the gateway's own calls", async () => {
  const testRig = rig(() => fail())
  for (let call = 0; call < 5; call++) await testRig.call('listCurrencies', undefined, { isGatewayCall: true })
  expect(testRig.states()).toEqual(['listCurrencies open'])
})

it.each([
  ['invalid', { provider: 'alpha', effect: 'refused' }],
  ['notFound', { provider: 'alpha', effect: 'refused' }],
  ['unauthorized', { provider: 'alpha', effect: 'refused' }],
  ['limited', { provider: 'alpha', effect: 'refused' }],
  ['failed', { provider: 'alpha', effect: 'refused' }], // another 4xx
  ['invalid', { effect: 'refused' }], // never sent
] as const)('U18: a thousand refusals (%s, %o) leave the breaker closed', async (kind, details) => {
  const testRig = rig(() => fail(kind, details))
  for (let n = 0; n < 1_000; n++) await testRig.call('createTransaction', `consumer ${n % 5}`)
  expect(testRig.provider.calls).toHaveLength(1_000)
})

it('the timeout of a request that had less than a fifth of the time does not count', async () => {
  const testRig = rig(() => fail('timedOut'))
  for (let n = 0; n < 10; n++) await testRig.call('getRate', `consumer ${n}`, { deadline: performance.now() + timeoutMs * 0.19 })
  expect(testRig.provider.calls).toHaveLength(10)
})

it('a failed retry is no second failure of its caller', async () => {
  const testRig = rig(({ context }) => (context.isGatewayCall ? 'well' : fail()))
  for (let n = 0; n < 4; n++) {
    await testRig.call('getRate', 'a')
    await testRig.call('getRate', 'a', withValue({}, resends, 1))
  }
  await flush()
  expect(testRig.healthChecks()).toEqual([])
})

it("U29: the trial of an open create breaker is one client's create, never a read", async () => {
  let isWell = false
  const testRig = rig(() => (isWell ? 'well' : fail()))
  for (const name of ['a', 'b']) await testRig.call('createTransaction', name)
  expect(testRig.states()).toEqual(['createTransaction open'])
  isWell = true
  testRig.advance(30)
  const before = testRig.provider.calls.length
  for (const op of ['getRate', 'getTransaction'] as const) expect(await testRig.call(op, 'a')).toBe('well')
  expect(await testRig.call('createTransaction', 'c')).toBe('well')
  expect(testRig.provider.calls.slice(before).map(({ op }) => op)).toEqual(['getRate', 'getTransaction', 'createTransaction'])
  expect(testRig.states()).toEqual(['createTransaction open', 'createTransaction halfOpen', 'createTransaction closed'])
})

it('U16: of many calls one is the trial, and the others are rejected at once', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  let isOpen = false
  const testRig = rig(() => (isOpen ? promise : fail()))
  for (const name of ['a', 'b']) await testRig.call('getRate', name)
  isOpen = true
  testRig.advance(30)
  const trial = testRig.call('getRate', 'a')
  const others = await Promise.all(Array.from({ length: 20 }, () => testRig.call('getRate', 'c')))
  expect(others.every((reason) => reason instanceof Fault && reason.retryAfter === 1)).toBe(true)
  expect(testRig.provider.calls).toHaveLength(3)
  resolve('well')
  await trial
  expect(await testRig.call('getRate', 'c')).toBe('well')
})

it('U29: a caller whose trial failed lets others go first the next time', async () => {
  const testRig = rig(({ context }) => (context.isGatewayCall || context.caller.identity === 'good' ? 'well' : fail()))
  for (const name of ['odd', 'other']) await testRig.call('createTransaction', name)
  testRig.advance(30)
  await testRig.call('createTransaction', 'odd')
  testRig.advance(60)
  expect(await testRig.call('createTransaction', 'odd')).toMatchObject({ ...refusal, retryAfter: 1 })
  expect(await testRig.call('createTransaction', 'good')).toBe('well')
  expect(testRig.states().at(-1)).toBe('createTransaction closed')
})

it('U15: a trial that times out opens it again, however short its deadline was', async () => {
  const testRig = rig(() => fail('timedOut'))
  for (const name of ['a', 'b']) await testRig.call('getRate', name)
  testRig.advance(30)
  await testRig.call('getRate', 'c', { deadline: performance.now() + 10 })
  expect(await testRig.call('getRate', 'c')).toMatchObject({ kind: 'unavailable', retryAfter: 1 })
})

describe('quotes and reads', () => {
  const ops = ['getRate', 'getTransaction', 'listTransactions', 'listCurrencies'] as const

  it.each(ops)('%s is probed each second with the next call, and is served as soon as one passes', async (op) => {
    let isWell = false
    const testRig = rig(() => (isWell ? 'well' : fail()))
    for (const name of ['a', 'b']) await testRig.call(op, name)
    expect(testRig.states()).toEqual([`${op} open`])
    for (let second = 0; second < 12; second++) {
      testRig.advance(1)
      const before = testRig.provider.calls.length
      for (const name of ['a', 'b', 'c', 'a', 'b', 'c']) await testRig.call(op, name)
      expect(testRig.provider.calls.length - before).toBe(1)
    }
    isWell = true
    testRig.advance(1)
    expect(await Promise.all(['a', 'b', 'c'].map((name) => testRig.call(op, name)))).toContain('well')
    expect(await testRig.call(op, 'd')).toBe('well')
  })

  it('a probe has a second, and a call after the open time has its own deadline', async () => {
    const testRig = rig(() => fail('timedOut'))
    for (const name of ['a', 'b']) await testRig.call('getRate', name)
    const timeLeft = async (): Promise<number> => {
      await testRig.call('getRate', 'a', { deadline: performance.now() + timeoutMs })
      return (testRig.provider.calls.at(-1)?.context.deadline ?? 0) - performance.now()
    }
    testRig.advance(1)
    expect(await timeLeft()).toBeLessThanOrEqual(1_000)
    testRig.advance(29)
    expect(await timeLeft()).toBeGreaterThan(9_000)
  })

  it('while a probe hangs there is no other', async () => {
    let hangs = false
    const testRig = rig(() => (hangs ? new Promise(() => {}) : fail()))
    for (const name of ['a', 'b']) await testRig.call('getRate', name)
    hangs = true
    testRig.advance(1)
    void testRig.call('getRate', 'a')
    const before = testRig.provider.calls.length
    for (let second = 0; second < 5; second++) {
      testRig.advance(1)
      expect(await testRig.call('getRate', 'b')).toMatchObject({ ...refusal, retryAfter: 1 })
    }
    expect(testRig.provider.calls).toHaveLength(before)
  })

  it('a caller whose calls alone fail cannot keep others out: of two the other probes next', async () => {
    const testRig = rig(({ context }) => (context.caller.identity === 'good' ? 'well' : fail()))
    for (const name of ['odd', 'other']) await testRig.call('getRate', name)
    testRig.advance(1)
    await testRig.call('getRate', 'odd')
    expect(await testRig.call('getRate', 'good')).toMatchObject(refusal)
    testRig.advance(1)
    expect(await testRig.call('getRate', 'odd')).toMatchObject(refusal)
    expect(await testRig.call('getRate', 'good')).toBe('well')
  })
})

describe('an open breaker of creates', () => {
  /** What the provider answers, by operation. */
  const opened = async (answered: ReadonlySet<Op>): Promise<Rig> => {
    let isWell = true
    const testRig = rig(({ op }) => (isWell && answered.has(op) ? 'well' : fail()))
    isWell = false
    for (const name of ['a', 'b']) await testRig.call('createTransaction', name)
    isWell = true
    testRig.advance(30)
    return testRig
  }
  const creates = ({ provider }: Rig): number => provider.calls.filter(({ op }) => op === 'createTransaction').length

  it.each([['getRate'], ['getTransaction'], ['listTransactions']] as const)('is not tried for %s alone', async (op) => {
    const testRig = await opened(new Set([op]))
    const before = creates(testRig)
    await testRig.call(op, 'a')
    for (let second = 0; second < 5; second++) {
      testRig.advance(1)
      expect(await testRig.call('createTransaction', 'a')).toMatchObject({ ...refusal, retryAfter: 1 })
    }
    expect(creates(testRig)).toBe(before)
  })

  it("is tried with a client's create once a quote and a read have passed, and the gateway makes those that no client does", async () => {
    const answered = new Set<Op>(['getRate', 'getTransaction', 'createTransaction', 'listTransactions'])
    const testRig = await opened(answered)
    expect(await testRig.call('createTransaction', 'a')).toBe('well')
    expect(testRig.healthChecks()).toEqual(['getRate', 'listTransactions'])
    const busy = await opened(answered)
    for (const op of ['getRate', 'getTransaction'] as const) await busy.call(op, 'a')
    expect(await busy.call('createTransaction', 'a')).toBe('well')
    expect(busy.healthChecks()).toEqual([])
  })

  it('stays open, with a growing pause, for a provider that answers all but creates', async () => {
    const testRig = await opened(new Set<Op>(['getRate', 'getTransaction', 'listTransactions']))
    const before = creates(testRig)
    for (let second = 0; second < 180; second++) {
      for (const op of ['getRate', 'getTransaction', 'createTransaction'] as const) await testRig.call(op, 'a')
      testRig.advance(1)
    }
    // After 60 and 90 seconds more.
    expect(creates(testRig) - before).toBe(3)
  })
})

it('opens after as many failures, and for as long, as is configured', async () => {
  const breaker = { consecutiveFailures: 2, baseEjectionTime: 5, maxEjectionTime: 8 }
  const testRig = rig(({ op }) => (op === 'createTransaction' ? fail('unreachable', { effect: 'nothingSent' }) : 'well'), true, {
    breaker,
  })
  await callOften(testRig, 'createTransaction', 2, 'a')
  expect(testRig.states()).toEqual(['createTransaction open'])
  const creates = (): number => testRig.provider.calls.filter(({ op }) => op === 'createTransaction').length
  for (const openSeconds of [5, 8, 8]) {
    expect(await testRig.call('createTransaction', 'b')).toMatchObject({ ...refusal, retryAfter: openSeconds })
    testRig.advance(openSeconds)
    const before = creates()
    await testRig.call('createTransaction', openSeconds === 5 ? 'b' : 'c')
    await testRig.call('createTransaction', 'd')
    expect(creates()).toBe(before + 1)
  }
})

it('a provider whose reads come and go each second, and whose creates fail, gets few creates, with growing pauses', async () => {
  let second = 0
  const testRig = rig(({ op }) => (op === 'createTransaction' || second % 2 === 0 ? fail() : 'well'))
  for (; second < 240; second++) {
    for (const name of ['a', 'b', 'c', 'd'])
      for (const op of ['getRate', 'getTransaction', 'createTransaction'] as const) await testRig.call(op, name)
    testRig.advance(1)
  }
  // Two open it; then after 30, 60 and 90 s.
  expect(testRig.provider.calls.filter(({ op }) => op === 'createTransaction')).toHaveLength(5)
})

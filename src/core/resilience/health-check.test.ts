import { expect, it, onTestFinished, vi } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { contextOf, type Scripted, scripted } from '../../../test/support/service.ts'
import { Fault, type FaultKind } from '../../domain/fault.ts'
import type { Observation } from '../../domain/observation.ts'
import type { Op } from '../../domain/service.ts'
import { AccountHealth, KeyCheck } from './health-check.ts'
import { cooldown } from './resilience.ts'

interface KeySettings {
  readonly listKey?: string
  readonly keyed?: readonly Op[]
}

interface Rig {
  readonly keyCheck: KeyCheck
  readonly provider: Scripted
  readonly observations: readonly Observation[]
  readonly send: (op: Op) => Promise<unknown>
  readonly advance: (seconds: number) => void
  /** The provider's response from now on. */
  response: FaultKind | 'well'
  /** Of one operation, if different. */
  responses: Partial<Record<Op, FaultKind | 'well'>>
  /** The response to the gateway's own reads, if different. */
  healthCheckResponse?: FaultKind | 'well'
  retryAfter: number
}

const flush = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const keyedAsInFormA: readonly Op[] = ['createTransaction', 'listTransactions', 'getTransaction']

function rig(usesGatewayKey: boolean, { keyed = keyedAsInFormA, listKey = '' }: KeySettings = {}): Rig {
  let now = 0
  const observations: Observation[] = []
  const provider = scripted((_, { op, context }) => {
    const own = testRig.responses[op] ?? testRig.response
    const response = context.isGatewayCall ? (testRig.healthCheckResponse ?? own) : own
    if (response === 'well') return { body: { id: 'x' } }
    throw new Fault(response, 'no', { provider: 'alpha', effect: 'refused', retryAfter: testRig.retryAfter })
  })
  const observe = (observation: Observation): void => void observations.push(observation)
  const configured = { listKey }
  const scope = providerScope({ configured, keyed: new Set(keyed), usesGatewayKey, clock: () => now, observe })
  const keyCheck = new KeyCheck(scope, new AccountHealth())
  const service = cooldown(scope, keyCheck, 1_000)(provider)
  const testRig: Rig = {
    provider,
    observations,
    send: (op) =>
      service.call(op, {} as never, contextOf()).then(
        () => 'well',
        (reason) => reason,
      ),
    keyCheck,
    advance: (seconds) => {
      now += seconds * 1000
    },
    response: 'well',
    responses: {},
    retryAfter: 17,
  }
  return testRig
}

it('U12: after a 429 there is a cooldown as long as Retry-After, for that policy alone', async () => {
  const testRig = rig(true)
  testRig.response = 'limited'
  expect(await testRig.send('getRate')).toMatchObject({ kind: 'limited' })
  testRig.response = 'well'
  testRig.advance(7)
  expect(await testRig.send('listCurrencies')).toMatchObject({
    kind: 'unavailable',
    retryAfter: 10,
    effect: 'nothingSent',
  })
  expect([await testRig.send('createTransaction'), await testRig.send('getTransaction')]).toEqual(['well', 'well'])
  testRig.advance(9.9)
  expect(await testRig.send('getRate')).toMatchObject({ retryAfter: 1 })
  testRig.advance(0.1)
  expect(await testRig.send('getRate')).toBe('well')
  expect(testRig.observations[0]).toEqual({ what: 'cooldown', provider: 'alpha', reason: 'limited' })
})

it('a create waits up to a second for the end of a cooldown, and no longer than that', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const testRig = rig(true)
  testRig.response = 'limited'
  testRig.retryAfter = 2
  await testRig.send('createTransaction')
  testRig.response = 'well'
  expect(await testRig.send('createTransaction')).toMatchObject({ kind: 'unavailable', retryAfter: 2 })
  testRig.advance(1)
  const awaited = testRig.send('createTransaction')
  testRig.advance(1)
  await vi.advanceTimersByTimeAsync(1_001)
  expect(await awaited).toBe('well')
})

it('a create that waited is not sent where the provider has asked for another pause', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const testRig = rig(true)
  testRig.response = 'limited'
  testRig.retryAfter = 1
  await testRig.send('createTransaction')
  const awaited = [testRig.send('createTransaction'), testRig.send('createTransaction')]
  testRig.advance(1)
  await vi.advanceTimersByTimeAsync(1_001)
  expect(await awaited[0]).toMatchObject({ kind: 'limited' })
  expect(await awaited[1]).toMatchObject({ kind: 'unavailable', retryAfter: 1 })
  expect(testRig.provider.calls).toHaveLength(2)
})

it('U12: a very long Retry-After is capped: after an hour the provider is called again', async () => {
  const testRig = rig(true)
  testRig.response = 'limited'
  testRig.retryAfter = 999_999_999
  await testRig.send('getRate')
  testRig.response = 'well'
  expect(await testRig.send('getRate')).toMatchObject({ retryAfter: 3_600 })
  testRig.advance(3_600)
  expect(await testRig.send('getRate')).toBe('well')
})

it("U12: a 429 to a client's own key starts no cooldown for other clients", async () => {
  const testRig = rig(false)
  testRig.response = 'limited'
  for (const op of ['createTransaction', 'getTransaction'] as const)
    expect(await testRig.send(op)).toMatchObject({ kind: 'limited' })
  testRig.response = 'well'
  for (const op of ['createTransaction', 'getTransaction'] as const) expect(await testRig.send(op)).toBe('well')
  testRig.response = 'limited'
  await testRig.send('getRate')
  expect(await testRig.send('getRate')).toMatchObject({ kind: 'unavailable' })
})

it("U30: the gateway's key counts as refused if its own read is refused: then there is a cooldown of 30 s", async () => {
  const testRig = rig(true)
  testRig.response = 'unauthorized'
  expect(await testRig.send('createTransaction')).toMatchObject({ kind: 'unauthorized' })
  await flush()
  expect(testRig.provider.calls.at(-1)).toMatchObject({
    op: 'listTransactions',
    request: { page: 1, size: 1 },
    context: { isGatewayCall: true },
  })
  expect(testRig.observations).toEqual([{ what: 'cooldown', provider: 'alpha', reason: 'keyRefused' }])
  for (const op of ['getRate', 'createTransaction', 'getTransaction'] as const) {
    expect(await testRig.send(op)).toMatchObject({ kind: 'unavailable', retryAfter: 30 })
  }
  testRig.advance(30)
  expect(await testRig.send('getTransaction')).toMatchObject({ kind: 'unauthorized' })
  await flush()
  expect(await testRig.send('getTransaction')).toMatchObject({ kind: 'unavailable' })
})

it("U30: refusals of clients' calls alone start no cooldown, and the gateway reads once in ten seconds", async () => {
  const testRig = rig(true)
  for (let call = 0; call < 50; call++) {
    testRig.response = 'unauthorized'
    testRig.healthCheckResponse = 'well'
    expect(await testRig.send('createTransaction')).toMatchObject({ kind: 'unauthorized' })
    await flush()
  }
  expect(testRig.provider.calls.filter(({ context }) => context.isGatewayCall)).toHaveLength(1)
  testRig.advance(10)
  await testRig.send('createTransaction')
  expect(testRig.provider.calls.filter(({ context }) => context.isGatewayCall)).toHaveLength(2)
  expect(testRig.observations).toEqual([])
})

it.each(['failed', 'timedOut', 'limited'] as const)(
  'U30: a read that ends otherwise (%s) is no sign of a refused key',
  async (kind) => {
    const testRig = rig(true)
    testRig.response = 'unauthorized'
    testRig.healthCheckResponse = kind
    await testRig.send('createTransaction')
    await flush()
    expect(testRig.observations).toEqual([])
  },
)

it("U13: a refusal of a client's own key starts no cooldown", async () => {
  const testRig = rig(false)
  testRig.response = 'unauthorized'
  for (let n = 0; n < 10; n++) expect(await testRig.send('getTransaction')).toMatchObject({ kind: 'unauthorized' })
})

it('U30: a list that is refused alone stops nothing: the provider counts as one without a list for ten minutes', async () => {
  const testRig = rig(true)
  testRig.responses = { listTransactions: 'unauthorized' }
  await testRig.send('createTransaction')
  await testRig.send('listTransactions')
  await flush()
  expect(await testRig.send('createTransaction')).toBe('well')
  expect(testRig.observations).toEqual([{ what: 'operationRefused', provider: 'alpha', operation: 'listTransactions' }])
  expect(testRig.keyCheck.isListRefused).toBe(true)
  testRig.advance(600)
  expect(testRig.keyCheck.isListRefused).toBe(false)
})

it('U30: where the list is refused anyway, a refused create is judged by a get of what the provider has', async () => {
  const testRig = rig(true)
  await testRig.send('createTransaction')
  testRig.responses = { listTransactions: 'unauthorized', createTransaction: 'unauthorized' }
  await testRig.send('listTransactions')
  await testRig.send('createTransaction')
  await flush()
  expect(testRig.provider.calls.at(-1)).toMatchObject({ op: 'getTransaction', request: { id: 'x' } })
  expect(await testRig.send('getTransaction')).toBe('well')
  testRig.responses = { ...testRig.responses, getTransaction: 'unauthorized' }
  testRig.advance(10)
  await testRig.send('createTransaction')
  await flush()
  expect(await testRig.send('getRate')).toMatchObject({ kind: 'unavailable', retryAfter: 30 })
})

it('U30: quotes with the key show that it is accepted; quotes without it show nothing', async () => {
  const outcomes = [true, false].map(async (isKeyed) => {
    const testRig = rig(true, { keyed: isKeyed ? ['getRate', ...keyedAsInFormA] : keyedAsInFormA })
    await testRig.send('getRate')
    testRig.responses = { listTransactions: 'unauthorized', createTransaction: 'unauthorized' }
    await testRig.send('createTransaction')
    await flush()
    return testRig.send('getRate')
  })
  expect(await Promise.all(outcomes)).toEqual(['well', expect.objectContaining({ kind: 'unavailable' })])
})

it('a list that has a key of its own says nothing about the other key', async () => {
  const testRig = rig(true, { listKey: 'of lists' })
  await testRig.send('getTransaction')
  testRig.responses = { listTransactions: 'unauthorized', createTransaction: 'unauthorized' }
  await testRig.send('createTransaction')
  await flush()
  expect(testRig.provider.calls.map(({ op }) => op)).toEqual(['getTransaction', 'createTransaction', 'getTransaction'])
  expect(await testRig.send('getRate')).toBe('well')
})

it('a provider without a list of transactions shows by its currencies that the key is refused, if they carry it', async () => {
  const testRig = rig(true, { keyed: ['listCurrencies', 'createTransaction'] })
  testRig.response = 'unauthorized'
  await testRig.send('createTransaction')
  await flush()
  expect(testRig.provider.calls.map(({ op }) => op)).toEqual(['createTransaction', 'listCurrencies'])
  expect(await testRig.send('getTransaction')).toMatchObject({ kind: 'unavailable', effect: 'nothingSent' })
})

it('without a call that could show it, a refused create stops nothing', async () => {
  const testRig = rig(true, { keyed: ['createTransaction'] })
  testRig.response = 'unauthorized'
  await testRig.send('createTransaction')
  await flush()
  expect(testRig.provider.calls).toHaveLength(1)
  expect(testRig.observations).toEqual([])
})

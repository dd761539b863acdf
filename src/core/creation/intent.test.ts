import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { beforeSend } from '../../domain/call-options.ts'
import { valueIn, withValue } from '../../domain/context-values.ts'
import { Fault } from '../../domain/fault.ts'
import type { Observation } from '../../domain/observation.ts'
import type { Caller, Context, SwapService } from '../../domain/service.ts'
import type { NewTransaction, Rate } from '../../domain/swap.ts'
import type { Intent, Ledger } from '../ports/ledger.ts'
import type { SentCreate } from './creation.ts'
import { freeKey, intent } from './intent.ts'

const now = Date.parse('2026-03-01T10:00:00Z')
const request = { codeFrom: 'BTC', codeTo: 'ETH', amountIn: '0.10' } as unknown as NewTransaction

let intents: Intent[]
let isBegun: boolean
let dropped: string[]
let quoted: string[]
let isKept: boolean
let markedUnknown: [string, number][]
let keptKeys: (string | undefined)[]
let observed: Observation[]
let sent: number
let references: (string | undefined)[]
let fault: Fault | undefined
beforeEach(() => {
  intents = []
  isBegun = true
  dropped = []
  quoted = []
  isKept = true
  markedUnknown = []
  keptKeys = []
  observed = []
  sent = 0
  references = []
  fault = undefined
})

/** Only the methods that are called here. */
const ledger = {
  begin: async (entry: Intent) => intents.push(entry) > 0 && isBegun,
  markQuoted: async (id: string) => quoted.push(id) > 0 && isKept,
  drop: async (id: string) => void dropped.push(id),
  markUnknown: async (id: string, nextCheckAt: number) => void markedUnknown.push([id, nextCheckAt]),
} as unknown as Ledger

const provider = {
  async call(_op: string, { reference }: NewTransaction, context: Context) {
    await valueIn(context, beforeSend)?.({ amountIn: '1', amountOut: '2' } as Rate)
    sent++
    references.push(reference)
    if (fault) throw fault
    return { body: { id: 'tx-1', depositAddress: 'bc1' }, provider: 'alpha' }
  },
} as unknown as SwapService

const scope = providerScope({
  ledger,
  clock: () => now,
  quotedFirst: new Set(['fixed' as const]),
  observe: (observation: Observation) => void observed.push(observation),
  pendingKeys: { keep: ({ key }: Caller) => void keptKeys.push(key) },
})
const send = intent(scope)

/** With ten seconds left. */
function contextWith(changed: Partial<Context> = {}): Context {
  const caller = { address: '', identity: 'acme', key: 'secret' }
  return { requestId: 'r', caller, deadline: performance.now() + 10_000, ...changed } as Context
}

function create(changed: Partial<Context> = {}): Promise<SentCreate> {
  return send(request, contextWith(changed), provider)
}

it('is in the ledger before the create is sent, with its owner and its request', async () => {
  const pair = { coinFrom: 'BTC', coinTo: 'ETH' }
  const { intent: id } = await create({
    pair: pair as unknown as Context['pair'] & object,
    ...withValue({}, freeKey, { idempotencyKey: { key: 'k', fingerprint: 'f' }, waitedMs: 0 }),
  })
  expect(intents).toMatchObject([
    { id, owner: 'acme', provider: 'alpha', attemptedAt: now, requested: { ...request, ...pair }, idempotencyKey: { key: 'k' } },
  ])
  expect([dropped, markedUnknown, keptKeys, observed]).toEqual([[], [], [], []])
})

it('L53: a create waits for the ledger for a second, with its look for the key; what is stored later is dropped, and nothing is sent', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const begun = Promise.withResolvers<boolean>()
  const slow = intent({ ...scope, journal: { ...ledger, begin: () => begun.promise } })
  let fault: unknown
  const context = withValue(contextWith(), freeKey, { idempotencyKey: { key: 'k', fingerprint: 'f' }, waitedMs: 400 })
  void slow(request, context, provider).catch((reason) => {
    fault = reason
  })
  await vi.advanceTimersByTimeAsync(599)
  expect(fault).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1)
  expect(fault).toMatchObject({ kind: 'unavailable', reason: 'ledger_unavailable', effect: 'refused' })
  expect([sent, dropped]).toEqual([0, []])
  begun.resolve(true)
  await vi.advanceTimersByTimeAsync(0)
  expect([sent, dropped.length]).toEqual([0, 1])
})

it('L13: is checked five seconds after its deadline if the process crashes', async () => {
  await create()
  const waitMs = (intents[0]?.nextCheckAt ?? 0) - now
  expect(waitMs).toBeGreaterThan(14_000)
  expect(waitMs).toBeLessThanOrEqual(15_001)
})

it('of a create that gets a quote of its own first, only the key is stored until it is sent', async () => {
  await create()
  await send({ ...request, rateType: 'fixed' } as NewTransaction, contextWith(), provider)
  expect(intents.map(({ isQuoting }) => isQuoting)).toEqual([false, true])
  expect(quoted).toEqual([intents[1]?.id])
})

it('its id goes up where the provider takes a reference, and the request that is kept has none', async () => {
  await create()
  const requestFields = { ...scope.capabilities.requestFields, createTransaction: new Set(['reference']) }
  await intent({ ...scope, capabilities: { ...scope.capabilities, requestFields } })(request, contextWith(), provider)
  expect(references).toEqual([undefined, intents[1]?.id])
  expect(intents.map(({ sent: words }) => words?.hasReference)).toEqual([undefined, true])
  expect(intents.map(({ requested }) => requested.reference)).toEqual([undefined, undefined])
})

describe('nothing is sent', () => {
  it('if the deadline was over before its quote, so that another create has the key', async () => {
    isKept = false
    const fixed = { ...request, rateType: 'fixed' } as NewTransaction
    await expect(send(fixed, contextWith(), provider)).rejects.toMatchObject({ kind: 'unavailable', effect: 'refused' })
    expect([sent, dropped]).toEqual([0, [intents[0]?.id]])
  })

  it('if the key has another create in progress', async () => {
    isBegun = false
    await expect(create()).rejects.toMatchObject({ kind: 'inProgress', effect: 'refused' })
    expect(sent).toBe(0)
  })

  it('for a caller without an identity', async () => {
    await expect(create({ caller: { address: '' } })).rejects.toMatchObject({ kind: 'internal' })
    expect([sent, intents]).toEqual([0, []])
  })
})

it('is dropped if nothing was created', async () => {
  fault = new Fault('invalid', 'no', { effect: 'refused' })
  await expect(create()).rejects.toBe(fault)
  expect([dropped, markedUnknown, keptKeys, observed]).toEqual([[intents[0]?.id], [], [], []])
})

it('stays if the outcome is unknown, and is checked in five seconds, with the key of the caller', async () => {
  fault = new Fault('timedOut', 'late')
  await expect(create()).rejects.toMatchObject({ kind: 'outcomeUnknown', cause: fault })
  expect(dropped).toEqual([])
  expect(markedUnknown).toEqual([[intents[0]?.id, now + 5_000]])
  expect(keptKeys).toEqual(['secret'])
  expect(observed).toEqual([{ what: 'create', provider: 'alpha', outcome: 'unknown' }])
})

it('throws the fault of the provider if the ledger fails too', async () => {
  const failing = { ...ledger, drop: () => Promise.reject(new Error('disk')), markUnknown: () => Promise.reject(new Error('disk')) }
  const broken = intent(providerScope({ ledger: failing, clock: () => now, hasList: () => false }))
  for (const effect of ['nothingSent', 'refused', 'maybe'] as const) {
    fault = new Fault('failed', 'no', { effect })
    const context = { requestId: 'r', caller: { address: '', identity: 'acme' }, deadline: performance.now() + 1 }
    const failure = await broken(request, context as Context, provider).catch((reason) => reason)
    expect(effect === 'maybe' ? failure.cause : failure).toBe(fault)
  }
})

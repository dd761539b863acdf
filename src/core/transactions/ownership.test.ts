import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { scripted } from '../../../test/support/service.ts'
import { valueIn } from '../../domain/context-values.ts'
import { Fault, standardFault } from '../../domain/fault.ts'
import type { Observation } from '../../domain/observation.ts'
import type { Context, ServiceResponse, SwapService } from '../../domain/service.ts'
import type { Transaction } from '../../domain/swap.ts'
import { sentWords } from '../assets/translate-assets.ts'
import type { FailedReads } from '../failed-reads.ts'
import { Freshness } from '../freshness.ts'
import type { Ledger, LedgerEntry } from '../ports/ledger.ts'
import { createdHereOnly, ownership } from './ownership.ts'

const now = Date.parse('2026-03-01T10:00:00Z')
const transaction = { id: 'tx-1', status: 'wait', amountIn: '1', createdAt: '2026-03-01T09:00:00Z' } as Transaction
const context = { caller: { address: '', identity: 'acme' }, clientCapabilities: {} } as Context

let entry: LedgerEntry | undefined
let providerResponse: () => Promise<ServiceResponse<'getTransaction'>>
let callCount: number
let upserted: string[]
let upsert: (owner: string) => Promise<undefined>
let observedSequences: Observation[]
/** Why reads failed. */
let failed: string[]
beforeEach(() => {
  entry = {
    transaction,
    derived: [],
    reportedAt: now - 30_000,
    fetchedAt: now - 30_000,
    owner: 'acme',
    provider: 'alpha',
    isCreated: true,
  }
  providerResponse = async () => ({ body: { ...transaction, status: 'sending' }, provider: 'alpha' })
  callCount = 0
  upserted = []
  upsert = async (owner) => void upserted.push(owner)
  observedSequences = []
  failed = []
})

const ledger = {
  find: async (owner: string) => (owner === 'acme' ? entry : undefined),
  upsert: (owner: string) => upsert(owner),
} as unknown as Ledger

const service = {
  call() {
    callCount++
    return providerResponse()
  },
} as unknown as SwapService

const observe = (observation: Observation): void => void observedSequences.push(observation)
const clock = (): number => now
const makeLayer = () => {
  const freshness = new Freshness({ refreshMs: 10_000, clock, steadyClock: clock })
  const failedReads = { note: (...[, , { kind }]: Parameters<FailedReads['note']>) => void failed.push(kind), end: () => false }
  return ownership(providerScope({ ledger, freshness, clock, observe, failedReads }))(service)
}
let layer = makeLayer()
beforeEach(() => {
  layer = makeLayer()
})
const get = (callerContext: Context = context): Promise<ServiceResponse<'getTransaction'>> =>
  layer.call('getTransaction', { id: 'tx-1' }, callerContext)

it("another owner's transaction is not found, and the provider is not called", async () => {
  await expect(get({ ...context, caller: { address: '', identity: 'other' } })).rejects.toMatchObject({ kind: 'notFound' })
  expect([callCount, observedSequences]).toEqual([0, []])
})

it('at a provider that takes no new swaps it is read with what its create has sent', async () => {
  const sent = { codeFrom: 'BTC', deposit: {} }
  entry = entry && { ...entry, sent }
  const provider = scripted((_, { context }) => ({ body: { ...transaction, ownAssets: valueIn(context, sentWords) } }))
  const { body } = await createdHereOnly(providerScope({ ledger }))(provider).call('getTransaction', { id: 'tx-1' }, context)
  expect(body.ownAssets).toBe(sent)
})

it('one that a person assigns while it is looked for is found', async () => {
  const assigned = entry
  entry = undefined
  const fault = async (): Promise<Fault> => {
    entry = assigned
    return standardFault('notFound')
  }
  const absentSwaps = { fault, mayBeNamed: async () => undefined }
  const freshness = new Freshness({ refreshMs: 10_000, clock, steadyClock: clock })
  const scope = providerScope({ ledger, freshness, clock, observe, absentSwaps, mayTakeBack: () => true })
  const response = await ownership(scope)(service).call('getTransaction', { id: 'tx-1' }, context)
  expect(response.body).toMatchObject({ id: 'tx-1', status: 'sending' })
})

it('an outdated transaction is read, stored and returned in its current state', async () => {
  const { body, derived } = await get()
  expect([body.status, derived, upserted]).toEqual(['sending', [], ['acme']])
  expect(observedSequences).toEqual([{ what: 'cache', cache: 'transaction', outcome: 'miss' }])
})

it('a fresh transaction is returned from the ledger, and its age is counted in seconds', async () => {
  entry = { ...(entry as LedgerEntry), fetchedAt: now - 9_999 }
  expect((await get()).body.status).toBe('wait')
  expect(callCount).toBe(0)
  expect(observedSequences).toEqual([{ what: 'cache', cache: 'transaction', outcome: 'hit', ageSeconds: 30 }])
})

describe('a get that finds what the ledger has', () => {
  const unchanged = async (facts: Partial<Transaction> = {}) => ({ body: { ...transaction, ...facts }, provider: 'alpha' })

  it('writes nothing, and makes the transaction fresh', async () => {
    providerResponse = () => unchanged()
    expect((await get()).body.status).toBe('wait')
    expect((await get()).body.status).toBe('wait')
    expect([callCount, upserted]).toEqual([1, []])
  })

  it('writes its time if a minute has passed', async () => {
    entry = { ...(entry as LedgerEntry), reportedAt: now - 60_000, fetchedAt: now - 60_000 }
    providerResponse = () => unchanged()
    await get()
    expect(upserted).toEqual(['acme'])
  })

  it.each<Partial<Transaction>>([{ txHashIn: '0x1' }, { amountOut: '2' as Transaction['amountOut'] }, { validUntil: 'later' }])(
    'but %o is written',
    async (facts) => {
      providerResponse = () => unchanged(facts)
      await get()
      expect(upserted).toEqual(['acme'])
    },
  )

  it('and that it is found again is written', async () => {
    entry = { ...(entry as LedgerEntry), missingSince: now - 10_000 }
    providerResponse = () => unchanged()
    await get()
    expect(upserted).toEqual(['acme'])
  })
})

it('concurrent gets share one request, and the next get sends another', async () => {
  const responses = await Promise.all([get(), get()])
  expect(responses.map(({ body }) => body.status)).toEqual(['sending', 'sending'])
  expect(callCount).toBe(1)
  expect(observedSequences.map((observation) => 'outcome' in observation && observation.outcome).toSorted()).toEqual([
    'miss',
    'shared',
  ])
  await get()
  expect(callCount).toBe(2)
})

describe('if the provider fails', () => {
  it('the last known state is returned, with its age', async () => {
    providerResponse = () => Promise.reject(new Fault('failed', 'broken'))
    expect(await get()).toMatchObject({ staleSeconds: 30, body: { status: 'wait' } })
    expect(observedSequences).toEqual([{ what: 'cache', cache: 'transaction', outcome: 'stale', ageSeconds: 30 }])
  })

  it('by returning another transaction, nothing of it is returned or stored, and the read has failed', async () => {
    providerResponse = async () => ({ body: { ...transaction, id: 'tx-2', depositAddress: 'theirs' }, provider: 'alpha' })
    expect(await get()).toMatchObject({ staleSeconds: 30, body: { id: 'tx-1' } })
    expect([upserted, failed]).toEqual([[], ['unreadable']])
  })

  it('by contradicting what was created, there is nothing to pay, also while the ledger fails', async () => {
    const created = { ...transaction, withdrawalAddress: 'mine', depositAddress: 'theirs' }
    entry = { ...(entry as LedgerEntry), transaction: created }
    providerResponse = async () => ({ body: { ...created, withdrawalAddress: 'yours' }, provider: 'alpha' })
    upsert = () => Promise.reject(new Error('down'))
    const { body, staleSeconds, doubt } = await get()
    expect([body.depositAddress, body.withdrawalAddress, staleSeconds, doubt]).toEqual([undefined, 'mine', 30, 'contradicted'])
  })

  it.each(['accessRefused', 'internal'] as const)('with %s the client gets that error', async (kind) => {
    providerResponse = () => Promise.reject(new Fault(kind, 'no'))
    await expect(get()).rejects.toMatchObject({ kind })
  })
})

describe('a final transaction', () => {
  const isFinalEntry = (facts: Partial<LedgerEntry> = {}): void => {
    entry = { ...(entry as LedgerEntry), transaction: { ...transaction, status: 'success' }, ...facts }
  }
  const silent = vi.fn(() => new Promise<never>(() => {}))
  const { find } = ledger
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] })
    silent.mockClear()
  })
  afterEach(() => {
    vi.useRealTimers()
    Object.assign(ledger, { find })
  })

  it('that was read within a minute is served to its owner while the ledger is silent, and to nobody else', async () => {
    isFinalEntry()
    expect((await get()).body.status).toBe('success')
    Object.assign(ledger, { find: silent })
    vi.advanceTimersByTime(59_999)
    expect((await get()).body.status).toBe('success')
    expect([silent.mock.calls.length, callCount]).toEqual([0, 0])
    void get({ ...context, caller: { address: '', identity: 'other' } })
    vi.advanceTimersByTime(1)
    void get()
    expect(silent.mock.calls).toEqual([
      ['other', 'alpha', 'tx-1'],
      ['acme', 'alpha', 'tx-1'],
    ])
  })

  it('of which the provider has not said all is read each time', async () => {
    isFinalEntry({ payoutMissingSince: now - 30_000 })
    await get()
    Object.assign(ledger, { find: silent })
    void get()
    expect(silent).toHaveBeenCalledOnce()
  })
})

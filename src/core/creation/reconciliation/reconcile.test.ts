import { beforeEach, describe, expect, test } from 'vitest'
import type { Amount } from '../../../domain/amount.ts'
import { Fault } from '../../../domain/faults/fault.ts'
import { AssetTable } from '../../../domain/swap/asset.ts'
import type { Capabilities } from '../../../domain/swap/capabilities.ts'
import type { Context, SwapService } from '../../../domain/swap/service.ts'
import type { Transaction, TransactionQuery } from '../../../domain/swap/swap.ts'
import type { Observation } from '../../../domain/telemetry/observation.ts'
import { createAssetNaming } from '../../assets/asset-naming.ts'
import { createService } from '../../layer.ts'
import type { Ledger, TransactionRecord, UnresolvedCreate } from '../../ledger.ts'
import { PendingCreateKeys } from '../pending-create-keys.ts'
import { ListScans } from './list-scans.ts'
import { reconcile } from './reconcile.ts'

const attemptedAt = Date.parse('2026-03-01T10:00:00Z')
const requested = {
  codeFrom: 'BTC',
  coinFrom: 'BTC',
  networkFrom: 'BTC',
  codeTo: 'USDTTRC20',
  coinTo: 'USDT',
  networkTo: 'TRX',
  amountIn: '0.10' as Amount,
  withdrawalAddress: 'TWithdraw',
  refundAddress: '0xAbC',
  rateType: 'float',
} as const
const lost: UnresolvedCreate = {
  intent: 'intent-1',
  owner: 'acme',
  provider: 'beta',
  requested,
  attemptedAt,
  checkCount: 0,
  nextCheckAt: attemptedAt + 5_000,
}
const createdTransaction: Transaction = {
  id: 'tx-1',
  status: 'confirmation',
  coinFrom: 'BTC',
  coinTo: 'USDT',
  networkTo: 'TRX',
  amountIn: '0.1' as Amount,
  createdAt: '2026-03-01T10:00:01Z',
  depositAddress: 'bc1q-deposit',
  withdrawalAddress: 'TWithdraw',
  refundAddress: '0xabc',
  rateType: 'float',
}

const asset = (coin: string, network: string, code: string) => ({ coin, network, code, name: coin, aliases: [], isDefault: false })
const table = new AssetTable([
  { coin: 'BTC', name: 'Bitcoin', assets: [asset('BTC', 'BTC', 'BTC')] },
  { coin: 'USDT', name: 'Tether', assets: [asset('USDT', 'TRX', 'USDTTRC20'), asset('USDT', 'ETH', 'USDTERC20')] },
])

interface World {
  unresolved: UnresolvedCreate[]
  rows: Transaction[]
  existingIds: Set<string>
  fails: boolean
  /** The page of the list that fails, and how. */
  failsOn?: number | undefined
  fault?: Fault
  isScheduled: boolean
  /** What the provider's lists can be asked for. */
  dates: readonly string[]
  /** Replaces the total that the list names. */
  total?: number
  /** What details say otherwise than the list. */
  details?: Partial<Transaction>
  /** Whether details cannot be had now. */
  hidesDetails?: boolean
  /** Whether the ledger lets a create end as not created. */
  ends: boolean
  /** Whether what is found has got an owner meanwhile. */
  isOthers: boolean
  now: number
}

let world: World
let bound: [string, TransactionRecord][]
let notCreated: [string, number][]
let scans: ListScans
let nextChecks: (number | undefined)[]
let checkCount: number[]
let competingQueries: number[]
let outcomes: string[]
let calls: Context[]
let queries: TransactionQuery[]
let detailed: string[]

beforeEach(() => {
  world = {
    unresolved: [lost],
    rows: [createdTransaction],
    existingIds: new Set(),
    fails: false,
    isScheduled: false,
    isOthers: false,
    ends: true,
    dates: ['dateFrom', 'dateTo'],
    now: attemptedAt + 5_000,
  }
  bound = []
  notCreated = []
  scans = new ListScans()
  nextChecks = []
  checkCount = []
  competingQueries = []
  outcomes = []
  calls = []
  queries = []
  detailed = []
})

/** As far as it is asked here. */
const ledger = {
  dueCreates: async (now: number, _: number, owners?: readonly string[]) =>
    world.unresolved.filter(({ nextCheckAt = Infinity, owner }) => nextCheckAt <= now && (!owners || owners.includes(owner))),
  ownersOfUnresolved: async () => [...new Set(world.unresolved.map(({ owner }) => owner))],
  scheduleNextCheck: async (unresolved: UnresolvedCreate, next: number | undefined) =>
    !world.isScheduled && nextChecks.push(next) > 0 && checkCount.push(unresolved.checkCount) > 0,
  unresolvedBetween: async (_: string, from: number, to: number) => {
    competingQueries = [from, to]
    return world.unresolved
  },
  existingIds: async () => world.existingIds,
  markNotCreated: async ({ intent }: UnresolvedCreate, windowMs: number) => world.ends && notCreated.push([intent, windowMs]) > 0,
  bindFound: async (intent: string, record: TransactionRecord) => bound.push([intent, record]) > 0 && !world.isOthers,
} as unknown as Ledger

const never = (): never => {
  throw new Error('not asked')
}
/** Lists say less than details. */
const service: SwapService = createService({
  getRate: never,
  listCurrencies: never,
  createTransaction: never,
  async listTransactions(query, context) {
    calls.push(context)
    queries.push(query)
    if (world.fails || query.page === world.failsOn) throw world.fault ?? new Fault('failed', 'broken')
    const items = world.rows.map(({ withdrawalAddress: _a, refundAddress: _b, rateType: _c, networkTo: _d, ...row }) => row)
    const { page, size } = query
    return { body: { items: items.slice((page - 1) * size, page * size), total: world.total ?? items.length } }
  },
  async getTransaction({ id }) {
    if (world.hidesDetails) throw new Fault('unavailable', 'no share')
    detailed.push(id)
    return { body: { ...(world.rows.find((row) => row.id === id) as Transaction), ...world.details } }
  },
})

const capabilities = {
  requestFields: { listTransactions: { has: (field: string) => world.dates.includes(field) } },
} as unknown as Capabilities

const run = (pendingKeys?: PendingCreateKeys, store: Ledger = ledger): Promise<void> =>
  reconcile({
    ledger: store,
    readers: new Map([['beta', { service, capabilities, naming: createAssetNaming(table, false, new Map()) }]]),
    scans,
    pendingKeys,
    windowMs: 86_400_000,
    clock: () => world.now,
    observe: (observation: Observation) =>
      void outcomes.push(`${observation.what} ${'outcome' in observation && observation.outcome}`),
  })

describe('L2: one transaction that fits', () => {
  test('is bound to whoever asked for it, with what was asked', async () => {
    await run()
    expect(bound).toMatchObject([
      [
        'intent-1',
        { transaction: { id: 'tx-1', status: 'confirmation', codeTo: 'USDTTRC20', networkTo: 'TRX', rateType: 'float' } },
      ],
    ])
    expect(bound[0]?.[1]).toMatchObject({ reportedAt: world.now, fetchedAt: world.now, transaction: { amountIn: '0.1' } })
    expect(outcomes).toEqual(['create found'])
  })

  test.each<[string, Partial<Transaction>]>([
    ['made two minutes before the attempt', { createdAt: '2026-03-01T09:58:00Z' }],
    ['made ten minutes after it', { createdAt: '2026-03-01T10:10:00Z' }],
    ['with a time that has no zone', { createdAt: '2026-03-01T10:00:00' }],
  ])('%s', async (_, record) => {
    world.rows = [{ ...createdTransaction, ...record }]
    await run()
    expect(bound).toHaveLength(1)
  })
})

describe('L3: it is never guessed', () => {
  test.each<[string, Partial<Transaction>]>([
    ['of another amount', { amountIn: '0.11' as Amount }],
    ['of another coin', { coinFrom: 'ETH' }],
    ['on another network', { networkTo: 'ETH' }],
    ['to another address', { withdrawalAddress: 'TOther' }],
    ['with another refund address', { refundAddress: '0xdef' }],
    ['of another rate type', { rateType: 'fixed' }],
    ['made longer before', { createdAt: '2026-03-01T09:57:59Z' }],
    ['made later', { createdAt: '2026-03-01T10:10:01Z' }],
  ])('a transaction %s is not taken', async (_, record) => {
    world.rows = [{ ...createdTransaction, ...record }]
    await run()
    expect(bound).toEqual([])
    expect(outcomes).toEqual(['create notFound'])
  })

  test.each<[string, Partial<Transaction>]>([
    ['when it was made', { createdAt: 'yesterday' }],
    ['where a refund goes', { refundAddress: undefined }],
    ['where it goes', { withdrawalAddress: undefined }],
    ['on which network', { networkTo: undefined }],
    ['of which rate type it is', { rateType: undefined }],
    ['of which coin it is', { coinFrom: undefined }],
  ])('L22: a transaction that does not tell %s may be it, and is not taken', async (_, record) => {
    world.rows = [{ ...createdTransaction, ...record }]
    await run()
    expect(bound).toEqual([])
    expect(outcomes).toEqual(['create ambiguous'])
  })

  test('of two that fit, none is taken', async () => {
    world.rows = [createdTransaction, { ...createdTransaction, id: 'tx-2' }]
    await run()
    expect(bound).toEqual([])
    expect(outcomes).toEqual(['create ambiguous'])
  })

  test('one that somebody has already does not count', async () => {
    world.rows = [createdTransaction, { ...createdTransaction, id: 'tx-2' }]
    world.existingIds = new Set(['tx-1'])
    await run()
    expect(bound).toMatchObject([['intent-1', { transaction: { id: 'tx-2' } }]])
  })

  test('one that two creates may have made is not taken', async () => {
    world.unresolved = [lost, { ...lost, intent: 'intent-2', owner: 'other', nextCheckAt: world.now + 1 }]
    await run()
    expect(bound).toEqual([])
    expect(outcomes).toEqual(['create ambiguous'])
  })

  test('one that another settles while this is looked for does not count', async () => {
    const competing = { ...lost, intent: 'intent-2', owner: 'other', nextCheckAt: world.now + 1 }
    world.unresolved = [lost, competing]
    const ledgerCompleting = { ...ledger, unresolvedBetween: async () => world.unresolved.splice(1) }
    ledgerCompleting.existingIds = async () => new Set(world.unresolved.length === 1 ? ['tx-1'] : [])
    await run(undefined, ledgerCompleting)
    expect(bound).toEqual([])
  })

  test('one that became another create while it was looked for is not bound, and what it came from stays unknown', async () => {
    world.isOthers = true
    await run()
    expect(outcomes).toEqual(['create duplicateId'])
    expect(nextChecks).toHaveLength(2)
  })

  test.each<[string, Partial<Transaction>]>([
    ['another amount', { amountIn: '0.11' as Amount }],
    ['another address', { withdrawalAddress: 'TOther' }],
  ])('one whose details tell %s than its row does not fit', async (_, details) => {
    world.details = details
    await run()
    expect(detailed).toEqual(['tx-1'])
    expect(outcomes).toEqual(['create notFound'])
  })

  test.each([
    [20, 2],
    [21, 0],
  ])('of %i that look alike %i are asked for, and none is taken', async (count, requested) => {
    world.rows = Array.from({ length: count }, (_, at) => ({ ...createdTransaction, id: `tx-${at}` }))
    await run()
    expect(detailed).toHaveLength(requested)
    expect(outcomes).toEqual(['create ambiguous'])
  })

  test('every create that may have made the same transaction is a rival', async () => {
    const late = { ...lost, intent: 'intent-2', attemptedAt: attemptedAt + 60_000 }
    world.unresolved = [late, lost]
    world.now = attemptedAt + 120_000
    await run()
    expect(competingQueries).toEqual([attemptedAt - 720_000, late.attemptedAt + 720_000])
  })

  test('a list that is longer than can be looked through tells nothing', async () => {
    world.dates = []
    world.total = 50_001
    await run()
    expect(outcomes).toEqual(['create lookupFailed'])
  })

  test('a list that breaks off before its end tells nothing', async () => {
    world.total = 2
    await run()
    expect(bound).toEqual([])
    expect(outcomes).toEqual(['create lookupFailed'])
  })

  test('a list that cannot be read tells nothing', async () => {
    world.fails = true
    await run()
    expect(bound).toEqual([])
    expect(outcomes).toEqual(['create lookupFailed'])
  })
})

describe('one reading of the list', () => {
  const another = { ...lost, intent: 'intent-2', owner: 'other', requested: { ...requested, withdrawalAddress: 'TOther' } }
  const otherTransaction = { ...createdTransaction, id: 'tx-2', withdrawalAddress: 'TOther' }

  test('serves all creates that are due', async () => {
    world.unresolved = [lost, another]
    world.rows = [createdTransaction, otherTransaction]
    await run()
    expect(bound).toMatchObject([
      ['intent-1', { transaction: { id: 'tx-1' } }],
      ['intent-2', { transaction: { id: 'tx-2' } }],
    ])
    const window = { dateFrom: '2026-03-01T09:58:00.000Z', dateTo: '2026-03-01T10:10:00.000Z', page: 1 }
    expect(queries).toMatchObject([window, window])
  })

  test('is one for each span of time, where lists can be asked for dates', async () => {
    const minute = 60_000
    world.now = attemptedAt + 60 * minute
    world.unresolved = [30, 12, 0].map((at) => ({ ...lost, attemptedAt: attemptedAt + at * minute }))
    await run()
    expect([...new Set(queries.map(({ dateFrom, dateTo }) => `${dateFrom} ${dateTo}`))]).toEqual([
      '2026-03-01T09:58:00.000Z 2026-03-01T10:22:00.000Z',
      '2026-03-01T10:28:00.000Z 2026-03-01T10:40:00.000Z',
    ])
  })

  test('is of everything, however long, where they cannot', async () => {
    world.dates = []
    const others = Array.from({ length: 6_000 }, (_, at) => ({ ...createdTransaction, id: `other-${at}`, amountIn: '7' as Amount }))
    world.rows = [...others, createdTransaction]
    await run()
    expect(bound).toHaveLength(1)
    expect(queries.map(({ page }) => page)).toEqual([...Array.from({ length: 61 }, (_, at) => at + 1), 1])
  })

  test('L66: does not serve creates that were made after it', async () => {
    world.dates = []
    world.rows = [createdTransaction, otherTransaction]
    world.hidesDetails = true
    await run()
    expect(outcomes).toEqual(['create lookupFailed'])
    const later = { ...another, attemptedAt: attemptedAt + 10_000, nextCheckAt: attemptedAt + 15_000 }
    const own = { ...otherTransaction, id: 'tx-3', createdAt: '2026-03-01T10:00:11Z' }
    Object.assign(world, {
      now: attemptedAt + 15_000,
      unresolved: [lost, later],
      rows: [own, createdTransaction, otherTransaction],
      hidesDetails: false,
    })
    await run()
    expect(bound).toMatchObject([['intent-1', { transaction: { id: 'tx-1' } }]])
    expect(outcomes.slice(1).toSorted()).toEqual(['create ambiguous', 'create found'])
  })

  test('is of one key, where each sees only its own', async () => {
    const pendingKeys = new PendingCreateKeys()
    world.unresolved = [lost, another]
    pendingKeys.keep({ address: '', identity: 'acme', key: 'secret' })
    pendingKeys.keep({ address: '', identity: 'other', key: 'secret-2' })
    await run(pendingKeys)
    expect([...new Set(calls.map(({ caller }) => caller.key))].toSorted()).toEqual(['secret', 'secret-2'])
  })
})

describe('when it is looked for', () => {
  beforeEach(() => {
    world.rows = []
  })

  test.each([
    [5, 30],
    [30, 120],
    [120, 600],
    [600, 600 + 3600],
    [20_000, 23_600],
    [590, 600],
    [596, 596 + 3600],
    [86_000, 86_400],
  ])('at %i s after the attempt without success: again at %s s', async (seconds, next) => {
    world.now = attemptedAt + seconds * 1000
    await run()
    expect(nextChecks.at(-1)).toEqual(next === undefined ? undefined : attemptedAt + next * 1000)
  })

  test('L28: where it ends as not created, the ledger is asked, and it is not looked for again', async () => {
    world.now = attemptedAt + 86_400_000
    await run()
    expect(notCreated).toEqual([['intent-1', 86_400_000]])
    expect(outcomes).toEqual(['create notCreated'])
    expect(nextChecks).toEqual([world.now + 15_000])
  })

  test('L28: before its time is over, nothing ends', async () => {
    world.now = attemptedAt + 86_399_999
    await run()
    expect([notCreated, outcomes]).toEqual([[], ['create notFound']])
    expect(nextChecks.at(-1)).toBe(attemptedAt + 86_400_000)
  })

  test('L28: where the ledger’s clock says that its time is not over, it is looked for again', async () => {
    Object.assign(world, { now: attemptedAt + 86_400_000, ends: false })
    await run()
    expect(outcomes).toEqual(['create notFound'])
    expect(nextChecks.at(-1)).toBe(world.now + 3_600_000)
  })

  test('L28: with a candidate it stays unknown, and waits for a person', async () => {
    world.now = attemptedAt + 86_400_000
    world.rows = [createdTransaction, { ...createdTransaction, id: 'tx-2' }]
    await run()
    expect([notCreated, outcomes]).toEqual([[], ['create ambiguous']])
    expect(nextChecks.at(-1)).toBeUndefined()
  })

  test('L28: what is found when its time is over is bound all the same', async () => {
    world.now = attemptedAt + 86_400_000
    world.rows = [createdTransaction]
    await run()
    expect(bound).toHaveLength(1)
  })

  test('L28: without a whole list it stays unknown, and is looked for hourly until there is one', async () => {
    Object.assign(world, { now: attemptedAt + 90_000_000, total: 1 })
    await run()
    expect([notCreated, outcomes]).toEqual([[], ['create lookupFailed']])
    expect(nextChecks.at(-1)).toBe(world.now + 3_600_000)
  })

  test('L28: a list that was begun to be read before its time was over does not count', async () => {
    world.dates = []
    world.rows = Array.from({ length: 150 }, (_, at) => ({ ...createdTransaction, id: `other-${at}`, amountIn: '7' as Amount }))
    world.now = attemptedAt + 86_399_000
    world.failsOn = 2
    await run()
    expect(outcomes).toEqual(['create lookupFailed'])
    Object.assign(world, { now: attemptedAt + 86_400_000, failsOn: undefined })
    queries.length = 0
    await run()
    expect(queries.map(({ page }) => page)).toEqual([1, 2, 1])
    expect(outcomes.at(-1)).toBe('create notCreated')
  })

  test('L28: whose time is over only while it is looked for does not end by that look', async () => {
    world.now = attemptedAt + 86_399_999
    const unresolvedBetween = async (): Promise<readonly UnresolvedCreate[]> => {
      world.now += 10
      return []
    }
    const slow = { ...ledger, unresolvedBetween }
    await run(undefined, slow)
    expect([notCreated, outcomes]).toEqual([[], ['create notFound']])
    await run()
    expect(outcomes.at(-1)).toBe('create notCreated')
  })

  test('L26: a list that is not whole yet is read on in the next look, as soon as there is a share for it', async () => {
    world.dates = []
    world.rows = [
      ...Array.from({ length: 150 }, (_, at) => ({ ...createdTransaction, id: `other-${at}`, amountIn: '7' as Amount })),
      createdTransaction,
    ]
    world.failsOn = 2
    world.fault = new Fault('unavailable', 'no share', { retryAfter: 7, unavailableCause: 'budget' })
    world.now = attemptedAt + 30_000
    await run()
    expect(nextChecks.at(-1)).toBe(world.now + 7_000)
    world.failsOn = undefined
    await run()
    expect(queries.map(({ page }) => page)).toEqual([1, 2, 2, 1])
    expect(bound).toHaveLength(1)
  })

  test('each look is counted', async () => {
    await run()
    expect(checkCount).toEqual([0, 1])
  })

  test.each<[string, () => void]>([
    ['where the list cannot be read', () => Object.assign(world, { fails: true })],
    ['where its provider is not configured any more', () => Object.assign(world, { unresolved: [{ ...lost, provider: 'gone' }] })],
  ])('%s, it is looked for again at its time', async (_, change) => {
    change()
    await run()
    expect(nextChecks).toEqual([world.now + 15_000, attemptedAt + 30_000])
  })

  test('a mistake of ours is none of the provider', async () => {
    world.rows = [createdTransaction]
    const broken = { ...ledger, bindFound: () => Promise.reject(new TypeError('a mistake')) }
    await expect(run(undefined, broken)).rejects.toThrow('a mistake')
    expect(outcomes).toEqual([])
  })

  test('L13: whoever takes the look and does not come back leaves it for soon', async () => {
    await run()
    expect(nextChecks[0]).toBe(world.now + 15_000)
  })

  test('what is found is not looked for again', async () => {
    world.rows = [createdTransaction]
    await run()
    expect(nextChecks).toEqual([world.now + 15_000])
  })

  test('what another process takes is left to it', async () => {
    world.isScheduled = true
    await run()
    expect(calls).toEqual([])
  })
})

describe('with keys that only clients have', () => {
  const caller = { address: '', identity: 'acme', key: 'secret' }

  test('nothing is asked without the key', async () => {
    await run(new PendingCreateKeys())
    expect(calls).toEqual([])
  })

  test('the key of the create is used while the process holds it', async () => {
    const pendingKeys = new PendingCreateKeys()
    pendingKeys.keep(caller)
    await run(pendingKeys)
    expect(calls[0]?.caller).toMatchObject({ identity: 'acme', key: 'secret' })
    world.unresolved = []
    await run(pendingKeys)
    expect(pendingKeys.owners).toEqual([])
  })

  test('after a restart it is looked for when the key calls again', async () => {
    const pendingKeys = new PendingCreateKeys()
    await run(pendingKeys)
    pendingKeys.capture({ address: '', identity: 'stranger', key: 'other' })
    expect(pendingKeys.owners).toEqual([])
    pendingKeys.capture(caller)
    await run(pendingKeys)
    expect(bound).toHaveLength(1)
  })
})

import { beforeEach, describe, expect, test } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import type { Amount } from '../../domain/amount.ts'
import { AssetTable } from '../../domain/asset.ts'
import { DepositInUse, Fault } from '../../domain/fault.ts'
import type { Observation } from '../../domain/observation.ts'
import type { Capabilities, Context, SwapService } from '../../domain/service.ts'
import type { Page, Transaction, TransactionQuery } from '../../domain/swap.ts'
import type { TimelineFact } from '../../domain/timeline.ts'
import { createAssetNaming } from '../assets/asset-naming.ts'
import type { Destination } from '../destination.ts'
import { createService } from '../layer.ts'
import type { DepositClaim, DepositHolder, Ledger, TransactionRecord, UnresolvedCreate } from '../ports/ledger.ts'
import type { JudgePolicies } from '../provider-scope.ts'
import { PendingCreateKeys } from './idempotency.ts'
import { ListScans } from './list-scan.ts'
import { OtherDeposits } from './other-deposits.ts'
import { mayBecomePayable } from './payable.ts'
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

const manyOthers = Array.from({ length: 150 }, (_, at): Transaction => {
  return { ...createdTransaction, id: `other-${at}`, amountIn: '7' as Amount, withdrawalAddress: `TOther${at}` }
})

const naming = () => createAssetNaming(table, { byCode: false }, new Map())
const asset = (coin: string, network: string, code: string) => ({ coin, network, code, name: coin, aliases: [], isDefault: false })
const table = new AssetTable([
  { coin: 'BTC', name: 'Bitcoin', assets: [asset('BTC', 'BTC', 'BTC')] },
  { coin: 'USDT', name: 'Tether', assets: [asset('USDT', 'TRX', 'USDTTRC20'), asset('USDT', 'ETH', 'USDTERC20')] },
])

interface World {
  unresolved: UnresolvedCreate[]
  /** At tags of other accounts. */
  elsewhere: UnresolvedCreate[]
  rows: Transaction[]
  unreadable: NonNullable<Page<Transaction>['unreadable']>
  existingIds: Set<string>
  fails: boolean
  /** The page of the list that fails, and how. */
  failsOn?: number | undefined
  fault?: Fault
  isScheduled: boolean
  /** Date parameters of the provider's lists. */
  dates: readonly string[]
  /** Replaces the total of the list. */
  total?: number
  /** Fields of the details that differ from the list. */
  details?: Partial<Transaction>
  /** Whether details are unavailable. */
  hidesDetails?: boolean
  /** Whether the ledger accepts that a create was not created. */
  ends: boolean
  /** Whether the match has got an owner meanwhile. */
  isOthers: boolean
  /** `providers.<name>.judge`. */
  policies: JudgePolicies
  /** Who has the deposit address. */
  holder?: DepositHolder
  /** The create whose result this process has. */
  deferred?: string
  now: number
}

let world: World
let bound: [string, TransactionRecord][]
let notCreated: [string, number][]
let mismatches: [string, string, readonly string[]][]
let scans: ListScans
let lookMs: Map<string, number>
let nextChecks: (number | undefined)[]
let checkCount: number[]
let candidates: (readonly string[])[]
let competingQueries: number[]
let outcomes: string[]
let searches: Observation[]
let noted: TimelineFact[]
let calls: Context[]
let queries: TransactionQuery[]
let detailed: string[]
let withheld: (readonly string[] | undefined)[]

beforeEach(() => {
  world = {
    unresolved: [lost],
    elsewhere: [],
    rows: [createdTransaction],
    unreadable: [],
    existingIds: new Set(),
    fails: false,
    isScheduled: false,
    isOthers: false,
    policies: refusing,
    ends: true,
    dates: ['dateFrom', 'dateTo'],
    now: attemptedAt + 5_000,
  }
  bound = []
  notCreated = []
  mismatches = []
  scans = new ListScans()
  lookMs = new Map()
  nextChecks = []
  checkCount = []
  candidates = []
  competingQueries = []
  outcomes = []
  searches = []
  noted = []
  calls = []
  queries = []
  detailed = []
  noted = []
  withheld = []
})

/** Only the methods that are called here. */
const ledger = {
  dropUnquoted: async () => {},
  dueCreates: async (now: number, _: number, owners?: readonly string[]) =>
    world.unresolved.filter(({ nextCheckAt = Infinity, owner }) => nextCheckAt <= now && (!owners || owners.includes(owner))),
  dueRefusedCreates: async () => [],
  ownersOfUnresolved: async () => [...new Set(world.unresolved.map(({ owner }) => owner))],
  beginCheck: async (unresolved: UnresolvedCreate, until: number) => {
    if (world.isScheduled) return undefined
    nextChecks.push(until)
    checkCount.push(unresolved.checkCount)
    return { ...unresolved, checkCount: unresolved.checkCount + 1, nextCheckAt: until }
  },
  scheduleNextCheck: async (
    unresolved: UnresolvedCreate,
    next: number | undefined,
    found?: readonly string[],
    held?: readonly string[],
  ) => {
    withheld.push(held)
    return (
      !world.isScheduled &&
      nextChecks.push(next) > 0 &&
      checkCount.push(unresolved.checkCount) > 0 &&
      (found === undefined || candidates.push(found) > 0)
    )
  },
  unresolvedBetween: async (_: string, from: number, to: number) => {
    competingQueries = [from, to]
    return world.unresolved
  },
  unresolvedElsewhere: async () => world.elsewhere,
  existingIds: async () => world.existingIds,
  markNotCreated: async ({ intent }: UnresolvedCreate, windowMs: number) => world.ends && notCreated.push([intent, windowMs]) > 0,
  markMismatch: async (intent: string, { id }: Transaction, fields: readonly string[]) => {
    mismatches.push([intent, id, fields])
  },
  bindFound: async (intent: string, record: TransactionRecord, claim: DepositClaim = {}) => {
    if (world.holder && !claim.givenUpBy && !claim.isShared) throw new DepositInUse()
    return bound.push([intent, record]) > 0 && !world.isOthers
  },
} as unknown as Ledger

const never = (): never => {
  throw new Error('not called')
}
/** Lists have fewer fields than details. */
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
    const unreadable = page === 1 ? world.unreadable : []
    const total = world.total ?? items.length + world.unreadable.length
    return { body: { items: items.slice((page - 1) * size, page * size), total, unreadable } }
  },
  async getTransaction({ id }) {
    if (world.hidesDetails) throw new Fault('unavailable', 'no share')
    detailed.push(id)
    return { body: { ...(world.rows.find((row) => row.id === id) as Transaction), ...world.details } }
  },
})

const capabilities = {
  pageSize: 100,
  hasExpectedAmount: true,
  requestFields: { listTransactions: { has: (field: string) => world.dates.includes(field) } },
} as unknown as Capabilities

const refusing = {
  depositAddress: 'refuse',
  depositMemo: 'refuse',
  amount: 'refuse',
  contract: 'refuse',
  network: 'refuse',
} as const
const destination = { url: 'https://one.test', form: 'A', timezone: 'UTC', account: null, key: null }

const run = (pendingKeys?: PendingCreateKeys, store: Ledger = ledger): Promise<void> =>
  reconcile({
    timelines: { note: (_, fact) => void noted.push(fact) },
    otherDeposits: new OtherDeposits({ depositHolder: async () => world.holder }, () => undefined),
    ledger: store,
    journal: store,
    deferredResults: { isDeferred: (intent) => intent === world.deferred },
    readers: new Map([
      [
        'beta',
        {
          service,
          capabilities,
          naming: naming(),
          destination,
          mayBecomePayable: mayBecomePayable(
            { ...providerScope().configured, judge: world.policies },
            providerScope({ currencyList: { naming: naming() } }).currencyList,
          ),
          policies: world.policies,
        },
      ],
    ]),
    scans,
    lookMs,
    searching: new Set(),
    pendingKeys,
    windowMs: 86_400_000,
    clock: () => world.now,
    observe(observation: Observation) {
      if (observation.what === 'search') searches.push(observation)
      else outcomes.push(`${observation.what} ${'outcome' in observation && observation.outcome}`)
    },
  })

const quoted: UnresolvedCreate = {
  ...lost,
  requested: { ...requested, rateType: 'fixed' },
  quote: { source: 'firm', amountIn: '0.1' as Amount, amountOut: '6000' as Amount },
}
const fixed = { ...createdTransaction, rateType: 'fixed', amountOut: '6000' } as Transaction

describe('what is found is judged as the response would have been', () => {
  test('at the price of the quote that binds it is bound', async () => {
    Object.assign(world, { unresolved: [quoted], rows: [fixed] })
    await run()
    expect([bound.map(([intent]) => intent), noted]).toEqual([['intent-1'], [expect.not.objectContaining({ price: 'unknown' })]])
  })

  test.each<[string, Partial<Transaction>]>([
    ['at half of it', { amountOut: '3000' as Amount }],
    ['without a price', { amountOut: undefined }],
  ])('%s it waits for a person, and nobody may pay for it meanwhile', async (_, facts) => {
    Object.assign(world, { unresolved: [quoted], rows: [{ ...fixed, ...facts }] })
    await run()
    expect([bound, mismatches, outcomes, withheld.at(-1)]).toEqual([[], [], ['create ambiguous'], ['tx-1']])
  })

  test('with the reference of the create, at half of it, it is the mismatch of the create', async () => {
    const sent = { coinFrom: 'BTC', coinTo: 'USDT', networkTo: 'TRX', hasReference: true } as const
    const row = { ...fixed, amountOut: '3000' as Amount, reference: 'intent-1' }
    Object.assign(world, { unresolved: [{ ...quoted, sent }], rows: [row] })
    await run()
    expect([bound, mismatches]).toEqual([[], [['intent-1', 'tx-1', ['amountOut']]]])
  })

  test.each<[string, Partial<Transaction>, boolean]>([
    ['another amount than its row', { amountIn: '0.05' as Amount }, false],
    ['another coin than its row', { coinTo: 'USDC' }, false],
    ['an address that its row does not have', { withdrawalAddress: 'TOther' }, true],
  ])('a transaction whose get names %s proves that the create made nothing: %s', async (_, details, isProof) => {
    Object.assign(world, { details, now: attemptedAt + 86_400_000 })
    await run()
    expect([bound, notCreated.length === 1]).toEqual([[], isProof])
    expect(candidates.at(-1) ?? []).toEqual(isProof ? [] : ['tx-1'])
  })

  test('of a refused create it is kept with what contradicts it', async () => {
    const kept: unknown[] = []
    const sent = { coinFrom: 'BTC', coinTo: 'USDT', networkTo: 'TRX', hasReference: true } as const
    Object.assign(world, { unresolved: [], rows: [{ ...fixed, amountOut: '3000' as Amount, reference: 'intent-1' }] })
    await run(undefined, {
      ...ledger,
      dueRefusedCreates: async () => [{ ...quoted, sent }],
      scheduleNextRefusedCheck: async () => true,
      keepRefused: async (_, { id }, contradicted) => kept.push([id, contradicted]) > 0,
    })
    expect(kept).toEqual([['tx-1', ['amountOut']]])
  })

  test('of a refused create it waits for a person at half the price, too, and nobody may pay for it', async () => {
    const kept: unknown[] = []
    Object.assign(world, { unresolved: [], rows: [{ ...fixed, amountOut: '3000' as Amount }], now: attemptedAt + 120_000 })
    await run(undefined, {
      ...ledger,
      dueRefusedCreates: async () => [quoted],
      scheduleNextRefusedCheck: async () => true,
      keepCandidates: async (_, ids, nobodys) => void kept.push([ids, nobodys]),
    })
    expect(kept).toEqual([[['tx-1'], ['tx-1']]])
  })

  test('by the amount to receive, for twice what was quoted, it waits for a person', async () => {
    const { amountIn: _, ...terms } = requested
    const create = { ...quoted, requested: { ...terms, amountOut: '6000' as Amount, rateType: 'fixed' as const } }
    Object.assign(world, { unresolved: [create], rows: [{ ...fixed, amountIn: '0.2' as Amount }] })
    await run()
    expect([bound, withheld.at(-1)]).toEqual([[], ['tx-1']])
  })

  test('a price that the operator only counts is bound and counted', async () => {
    const policies = { ...refusing, amount: 'count' }
    Object.assign(world, { unresolved: [quoted], rows: [{ ...fixed, amountOut: '3000' as Amount }], policies })
    await run()
    expect([bound.length, outcomes]).toEqual([1, ['judgement counted', 'create found']])
  })

  test('without a quote it is judged by the rest, and its timeline says so', async () => {
    await run()
    expect([bound.length, noted]).toEqual([1, [expect.objectContaining({ event: 'search', price: 'unknown' })]])
  })

  const holds = (facts: Partial<Transaction>): DepositHolder => {
    const transaction = { ...createdTransaction, id: 'another', status: 'wait', ...facts }
    const entry = { transaction, provider: 'beta', owner: 'bob', isCreated: true, derived: [], reportedAt: 0 } as const
    return { entry: entry as unknown as DepositHolder['entry'], takenAt: world.now - 1_000, now: world.now }
  }

  test('with the deposit address of another open swap it is a mismatch', async () => {
    world.holder = holds({})
    await run()
    expect([bound, mismatches]).toEqual([[], [['intent-1', 'tx-1', ['depositAddress']]]])
  })

  test('with the deposit address of a swap that has ended it is bound', async () => {
    world.holder = holds({ status: 'refunded' })
    await run()
    expect([bound.length, mismatches]).toEqual([1, []])
  })

  test('with the deposit address of another open swap it is bound where that is only counted', async () => {
    Object.assign(world, { holder: holds({}), policies: { ...refusing, depositAddress: 'count' } })
    await run()
    expect([bound.length, mismatches]).toEqual([1, []])
  })
})

describe('L2: one transaction that fits', () => {
  test('is bound to the owner of the create, with the requested fields', async () => {
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
    ['made two minutes before the create', { createdAt: '2026-03-01T09:58:00Z' }],
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
  ])('a transaction %s is not bound', async (_, record) => {
    world.rows = [{ ...createdTransaction, ...record }]
    await run()
    expect(bound).toEqual([])
    expect(outcomes).toEqual(['create notFound'])
  })

  test.each<[string, Partial<Transaction>]>([
    ['creation time', { createdAt: 'yesterday' }],
    ['refund address', { refundAddress: undefined }],
    ['withdrawal address', { withdrawalAddress: undefined }],
    ['network', { networkTo: undefined }],
    ['rate type', { rateType: undefined }],
    ['coin', { coinFrom: undefined }],
  ])('L22: a transaction without a readable %s may match, and is not bound', async (_, record) => {
    world.rows = [{ ...createdTransaction, ...record }]
    await run()
    expect(bound).toEqual([])
    expect(outcomes).toEqual(['create ambiguous'])
  })

  test('of two that match, none is bound', async () => {
    world.rows = [createdTransaction, { ...createdTransaction, id: 'tx-2' }]
    await run()
    expect(bound).toEqual([])
    expect(outcomes).toEqual(['create ambiguous'])
  })

  test('one that has an owner already does not count', async () => {
    world.rows = [createdTransaction, { ...createdTransaction, id: 'tx-2' }]
    world.existingIds = new Set(['tx-1'])
    await run()
    expect(bound).toMatchObject([['intent-1', { transaction: { id: 'tx-2' } }]])
  })

  test('one that two creates may have made is not bound', async () => {
    world.unresolved = [lost, { ...lost, intent: 'intent-2', owner: 'other', nextCheckAt: world.now + 1 }]
    await run()
    expect(bound).toEqual([])
    expect(outcomes).toEqual(['create ambiguous'])
  })

  const there = { url: 'https://two.test', form: 'B', timezone: 'UTC', account: null, key: 'digest' }
  test.each<[string, Partial<Destination>, Partial<Destination>, boolean]>([
    ['the same URL', { url: there.url }, {}, false],
    ['the same account', { account: 'one' }, { account: 'one' }, false],
    ['the same key, while one of them named an account', { key: 'digest' }, { account: 'one' }, false],
    ['the same key only', { key: 'digest' }, {}, true],
    ['nothing in common', {}, { account: 'one' }, true],
  ])(
    'one that a create at a tag with another account now may have made, by %s when they were sent',
    async (_, own, others, isBound) => {
      world.unresolved = [{ ...lost, destination: { ...destination, ...own } }]
      world.elsewhere = [{ ...lost, intent: 'intent-2', provider: 'gone', destination: { ...there, ...others } }]
      await run()
      expect(bound).toHaveLength(isBound ? 1 : 0)
    },
  )

  test('one that another create gets during the check does not count', async () => {
    const competing = { ...lost, intent: 'intent-2', owner: 'other', nextCheckAt: world.now + 1 }
    world.unresolved = [lost, competing]
    const ledgerCompleting = { ...ledger, unresolvedBetween: async () => world.unresolved.splice(1) }
    ledgerCompleting.existingIds = async () => new Set(world.unresolved.length === 1 ? ['tx-1'] : [])
    await run(undefined, ledgerCompleting)
    expect(bound).toEqual([])
  })

  test('one that was bound to another create during the check is not bound again, and this create stays unknown', async () => {
    world.isOthers = true
    await run()
    expect(outcomes).toEqual(['create duplicateId'])
    expect(nextChecks).toHaveLength(2)
  })

  test.each<[string, Partial<Transaction>]>([
    ['another amount', { amountIn: '0.11' as Amount }],
    ['another address', { withdrawalAddress: 'TOther' }],
  ])('one whose details have %s than its row does not match', async (_, details) => {
    world.details = details
    await run()
    expect(detailed).toEqual(['tx-1'])
    expect(outcomes).toEqual(['create notFound'])
  })

  test.each([
    [20, 2],
    [21, 0],
  ])('of %i equal candidates the details of %i are read, and none is bound', async (count, requested) => {
    world.rows = Array.from({ length: count }, (_, at) => ({ ...createdTransaction, id: `tx-${at}` }))
    await run()
    expect(detailed).toHaveLength(requested)
    expect(outcomes).toEqual(['create ambiguous'])
  })

  test('every create that may have made the same transaction competes', async () => {
    const late = { ...lost, intent: 'intent-2', attemptedAt: attemptedAt + 60_000 }
    world.unresolved = [late, lost]
    world.now = attemptedAt + 120_000
    await run()
    expect(competingQueries).toEqual([attemptedAt - 720_000, late.attemptedAt + 720_000])
  })

  test('a list that is too long proves nothing', async () => {
    world.dates = []
    world.total = 50_001
    await run()
    expect(outcomes).toEqual(['create lookupFailed'])
  })

  test('a list that ends before its total proves nothing', async () => {
    world.total = 2
    await run()
    expect(bound).toEqual([])
    expect(outcomes).toEqual(['create lookupFailed'])
  })

  test('a list that cannot be read proves nothing', async () => {
    world.fails = true
    await run()
    expect(bound).toEqual([])
    expect(outcomes).toEqual(['create lookupFailed'])
  })
})

describe('a reference of the provider', () => {
  const referenced: UnresolvedCreate = { ...lost, sent: { hasReference: true } }
  const day = 86_400_000
  const foreign = { ...createdTransaction, id: 'foreign', reference: 'intent-of-another-ledger' }
  beforeEach(() => {
    world.unresolved = [referenced]
  })

  test('names the transaction of each of two equal creates, and is not stored', async () => {
    world.unresolved = [referenced, { ...referenced, intent: 'intent-2' }]
    world.rows = ['intent-2', 'intent-1'].map((reference) => ({ ...createdTransaction, id: `of-${reference}`, reference }))
    await run()
    expect(bound.map(([intent, { transaction }]) => [intent, transaction.id, transaction.reference])).toEqual([
      ['intent-1', 'of-intent-1', undefined],
      ['intent-2', 'of-intent-2', undefined],
    ])
  })

  test('excludes the transaction that another ledger of the account has made: nothing was created here', async () => {
    world.rows = [foreign]
    world.now = attemptedAt + day
    await run()
    expect(bound).toEqual([])
    expect(notCreated).toEqual([['intent-1', day]])
  })

  test('is the only candidate beside rows that are equal and have none', async () => {
    world.rows = [createdTransaction, { ...createdTransaction, id: 'own', reference: 'intent-1' }]
    await run()
    expect(bound).toMatchObject([['intent-1', { transaction: { id: 'own' } }]])
  })

  test('makes it a mismatch if its transaction has other terms, whatever its amount', async () => {
    world.rows = [{ ...createdTransaction, reference: 'intent-1', amountIn: '7' as Amount, withdrawalAddress: 'TOther' }]
    await run()
    expect(bound).toEqual([])
    expect(mismatches).toEqual([['intent-1', 'tx-1', ['amountIn', 'withdrawalAddress']]])
  })

  test.each<[keyof JudgePolicies, Partial<Transaction>]>([
    ['amount', { amountIn: '7' as Amount }],
    ['network', { codeTo: 'USDTERC20', networkTo: 'ETH' }],
    ['contract', { ownAssets: { contractTo: 'TOther' } }],
  ])('binds one whose %s is another, if `judge` only counts that', async (kind, facts) => {
    world.unresolved = [{ ...lost, sent: { hasReference: true, contractTo: 'TToken' } }]
    world.rows = [{ ...createdTransaction, reference: 'intent-1', ...facts }]
    await run()
    expect([bound, mismatches]).toEqual([[], [expect.arrayContaining(['intent-1', 'tx-1'])]])
    world.policies = { ...refusing, [kind]: 'count' }
    await run()
    expect(bound).toMatchObject([['intent-1', { transaction: { id: 'tx-1' } }]])
    expect(outcomes).toEqual(['create contradicted', 'judgement counted', 'create found'])
  })

  test('never binds another coin or address', async () => {
    world.policies = { depositAddress: 'count', depositMemo: 'count', amount: 'count', contract: 'count', network: 'count' }
    for (const facts of [{ codeTo: 'BTC', coinTo: 'BTC', networkTo: 'BTC' }, { withdrawalAddress: 'TOther' }]) {
      world.rows = [{ ...createdTransaction, reference: 'intent-1', ...facts }]
      await run()
    }
    expect([bound.length, mismatches.length]).toEqual([0, 2])
  })

  test.each([
    ['days before the create', '2026-02-20T10:00:00Z'],
    ['days after it', '2026-03-09T10:00:00Z'],
  ])('is the transaction of its create with a time %s', async (_, createdAt) => {
    world.rows = [{ ...createdTransaction, createdAt, reference: 'intent-1' }]
    world.dates = []
    world.now = attemptedAt + day
    await run()
    expect([bound.length, notCreated]).toEqual([1, []])
  })

  test('that is held by another create is no proof that nothing was created', async () => {
    world.rows = [{ ...createdTransaction, reference: 'intent-1' }]
    world.existingIds = new Set(['tx-1'])
    world.now = attemptedAt + day
    await run()
    expect([bound, notCreated, outcomes]).toEqual([[], [], ['create ambiguous']])
  })

  test('is expected of every later row, once a list has shown one', async () => {
    world.rows = [{ ...foreign, amountIn: '9' as Amount, createdAt: '2026-03-01T09:59:30Z' }]
    await run()
    world.rows = [createdTransaction]
    await run()
    expect([bound, outcomes]).toEqual([[], ['create notFound', 'create notFound']])
  })

  test('is not expected of rows that are older than the first', async () => {
    world.rows = [{ ...foreign, amountIn: '9' as Amount, createdAt: '2026-03-01T10:00:02Z' }, createdTransaction]
    await run()
    expect(bound).toMatchObject([['intent-1', { transaction: { id: 'tx-1' } }]])
  })
})

describe('one read of the list', () => {
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
    const window = { dateFrom: '2026-03-01T09:43:00.000Z', dateTo: '2026-03-01T10:25:00.000Z', page: 1 }
    expect(queries).toMatchObject([window, window])
  })

  test('is one for each range of time, if lists can be filtered by date', async () => {
    const minute = 60_000
    world.now = attemptedAt + 90 * minute
    world.unresolved = [60, 12, 0].map((at) => ({ ...lost, attemptedAt: attemptedAt + at * minute }))
    await run()
    expect([...new Set(queries.map(({ dateFrom, dateTo }) => `${dateFrom} ${dateTo}`))]).toEqual([
      '2026-03-01T09:43:00.000Z 2026-03-01T10:37:00.000Z',
      '2026-03-01T10:43:00.000Z 2026-03-01T11:25:00.000Z',
    ])
  })

  test('is of all rows, however many, if they cannot', async () => {
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

  test('is per key, if each key lists only its own', async () => {
    const pendingKeys = new PendingCreateKeys()
    world.unresolved = [lost, another]
    pendingKeys.keep({ address: '', identity: 'acme', key: 'secret' })
    pendingKeys.keep({ address: '', identity: 'other', key: 'secret-2' })
    await run(pendingKeys)
    expect([...new Set(calls.map(({ caller }) => caller.key))].toSorted()).toEqual(['secret', 'secret-2'])
  })
})

describe('the time of a check', () => {
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
  ])('with a list of more than a page, at %i s after the create without success: again at %s s', async (seconds, next) => {
    world.rows = manyOthers
    world.now = attemptedAt + seconds * 1000
    await run()
    expect(outcomes).toEqual(['create notFound'])
    expect(nextChecks.at(-1)).toBe(attemptedAt + next * 1000)
  })

  test.each([
    [5, 15],
    [15, 30],
    [28, 45],
    [119, 135],
    [120, 180],
    [599, 660],
    [600, 900],
    [20_000, 20_100],
    [86_000, 86_100],
    [86_200, 86_400],
  ])('with a short list, at %i s after the create without success: sooner, at %s s', async (seconds, next) => {
    world.now = attemptedAt + seconds * 1000
    await run()
    expect(nextChecks.at(-1)).toBe(attemptedAt + next * 1000)
    expect(notCreated).toEqual([])
  })

  test.each<[string, () => object]>([
    ['a page that is full', () => ({ rows: manyOthers.slice(0, 100) })],
    ['a list that ends before its total', () => ({ rows: manyOthers.slice(0, 1), total: 5 })],
    ['a list that cannot be read', () => ({ fails: true })],
    ['what may be the create’s', () => ({ rows: [{ ...createdTransaction, amountIn: '0.1000000001' as Amount }] })],
  ])('%s brings no sooner check', async (_, change) => {
    Object.assign(world, change())
    await run()
    expect(nextChecks.at(-1)).toBe(attemptedAt + 30_000)
  })

  test('one reading of a short list is for all creates of a provider, whenever they were attempted', async () => {
    world.unresolved = Array.from({ length: 300 }, (_, at) => ({
      ...lost,
      intent: `intent-${at}`,
      attemptedAt: attemptedAt + 20 * at,
    }))
    world.now = attemptedAt + 12_000
    await run()
    expect(queries).toHaveLength(2)
    expect(new Set(nextChecks.slice(-300))).toEqual(new Set([attemptedAt + 30_000]))
  })

  test('L28: at the end of its window a create is marked as not created by the ledger, and is not checked again', async () => {
    world.now = attemptedAt + 86_400_000
    await run()
    expect(notCreated).toEqual([['intent-1', 86_400_000]])
    expect(outcomes).toEqual(['create notCreated'])
    expect(nextChecks).toEqual([world.now + 15_000])
  })

  test('L28: before the end of its window it is not marked', async () => {
    world.now = attemptedAt + 86_399_999
    await run()
    expect([notCreated, outcomes]).toEqual([[], ['create notFound']])
    expect(nextChecks.at(-1)).toBe(attemptedAt + 86_400_000)
  })

  test('L28: if its window is not over by the clock of the ledger, it is checked again', async () => {
    Object.assign(world, { now: attemptedAt + 86_400_000, ends: false })
    await run()
    expect(outcomes).toEqual(['create notFound'])
    expect(nextChecks.at(-1)).toBe(world.now + 3_600_000)
  })

  test('L28: with a candidate it stays unknown, and waits for the operator', async () => {
    world.now = attemptedAt + 86_400_000
    world.rows = [createdTransaction, { ...createdTransaction, id: 'tx-2' }]
    await run()
    expect([notCreated, outcomes]).toEqual([[], ['create ambiguous']])
    expect(nextChecks.at(-1)).toBeUndefined()
  })

  test('L28: a match at the end of its window is still bound', async () => {
    world.now = attemptedAt + 86_400_000
    world.rows = [createdTransaction]
    await run()
    expect(bound).toHaveLength(1)
  })

  test('L28: without a complete list it stays unknown, and is checked hourly until there is one', async () => {
    Object.assign(world, { now: attemptedAt + 90_000_000, total: 1 })
    await run()
    expect([notCreated, outcomes]).toEqual([[], ['create lookupFailed']])
    expect(nextChecks.at(-1)).toBe(world.now + 3_600_000)
  })

  test('L28: a list whose read began before the end of its window does not count', async () => {
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

  test('L28: a window that ends during a check does not end the create by that check', async () => {
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

  test('L26: an incomplete list is continued by the next check, as soon as there is a budget share for it', async () => {
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

  test('an incomplete list is continued by the next check after a refusal, and the check that could not read it is counted', async () => {
    world.dates = []
    world.unresolved = []
    world.rows = Array.from({ length: 150 }, (_, at) => ({ ...createdTransaction, id: `other-${at}`, amountIn: '7' as Amount }))
    const refused = { ...ledger, dueRefusedCreates: async () => [lost], scheduleNextRefusedCheck: async () => true }
    world.failsOn = 2
    await run(undefined, refused)
    expect(outcomes).toEqual(['create lookupFailed'])
    world.failsOn = undefined
    await run(undefined, refused)
    expect(queries.map(({ page }) => page)).toEqual([1, 2, 2, 1])
    expect(outcomes).toEqual(['create lookupFailed'])
  })

  test('for a refused create it is made again while the list cannot be read, until the end of the window', async () => {
    world.unresolved = []
    const scheduled: (number | undefined)[] = []
    const scheduleNextRefusedCheck: Ledger['scheduleNextRefusedCheck'] = async (_, next) => scheduled.push(next) > 0
    const refused = { ...ledger, dueRefusedCreates: async () => [lost], scheduleNextRefusedCheck }
    world.fails = true
    for (const afterMs of [180_000, 7_200_000, 86_400_000]) {
      world.now = attemptedAt + afterMs
      await run(undefined, refused)
    }
    const [, soon, , hourly, , never] = scheduled
    expect([soon, hourly, never]).toEqual([attemptedAt + 300_000, attemptedAt + 10_800_000, undefined])
  })

  test('no create is looked for whose result this process has', async () => {
    world.unresolved = [lost, { ...lost, intent: 'intent-2' }]
    world.rows = [{ ...createdTransaction, amountIn: '7' as Amount }]
    world.deferred = 'intent-1'
    await run()
    expect(checkCount).toEqual([0, 1])
  })

  test('how long a look took is known once the list could be read', async () => {
    world.fails = true
    await run()
    expect([...lookMs.keys()]).toEqual([])
    world.fails = false
    await run()
    expect([...lookMs.keys()]).toEqual(['beta'])
  })

  test('each check is counted', async () => {
    await run()
    expect(checkCount).toEqual([0, 1])
  })

  test.each<[string, () => void]>([
    ['if the list cannot be read', () => Object.assign(world, { fails: true })],
    ['if its provider is no longer configured', () => Object.assign(world, { unresolved: [{ ...lost, provider: 'gone' }] })],
  ])('%s, it is checked again at its time', async (_, change) => {
    change()
    await run()
    expect(nextChecks).toEqual([world.now + 15_000, attemptedAt + 30_000])
  })

  test('what fails in the gateway itself is counted and told once with its cause, and the create is checked again at its time', async () => {
    world.rows = [createdTransaction]
    world.unresolved = [lost, { ...lost, intent: 'intent-2' }]
    const mistake = new TypeError('a mistake')
    const broken = { ...ledger, existingIds: () => Promise.reject(mistake) }
    await run(undefined, broken)
    expect(outcomes).toEqual(['create lookupFailed', 'create lookupFailed'])
    const fault = expect.objectContaining({ kind: 'internal', cause: mistake })
    expect(searches).toEqual([{ what: 'search', provider: 'beta', result: 'failed', at: world.now, fault, creates: 2 }])
    expect(noted).toMatchObject([
      { event: 'search', outcome: 'lookup_failed', cause: 'internal' },
      { event: 'search', outcome: 'lookup_failed', cause: 'internal' },
    ])
    expect(nextChecks.slice(2)).toEqual([attemptedAt + 30_000, attemptedAt + 30_000])
  })

  test('one create whose result cannot be stored takes no other along', async () => {
    world.unresolved = [lost, { ...lost, intent: 'intent-2', requested: { ...requested, amountIn: '7' as Amount } }]
    world.rows = [createdTransaction, { ...createdTransaction, id: 'tx-2', amountIn: '7' as Amount }]
    const bindFound: Ledger['bindFound'] = (intent, record) =>
      intent === 'intent-1' ? Promise.reject(new TypeError('a mistake')) : ledger.bindFound(intent, record)
    await run(undefined, { ...ledger, bindFound })
    expect(bound.map(([intent]) => intent)).toEqual(['intent-2'])
    expect(searches).toMatchObject([{ result: 'failed', creates: 1 }])
  })

  test('a search that waits for the budget has not failed', async () => {
    world.fails = true
    world.fault = new Fault('unavailable', 'no share', { unavailableCause: 'budget', retryAfter: 60 })
    await run()
    expect(searches).toEqual([{ what: 'search', provider: 'beta', result: 'unfinished', at: world.now }])
  })

  test('a search that read the list says so', async () => {
    await run()
    expect(searches).toEqual([{ what: 'search', provider: 'beta', result: 'read', at: world.now }])
  })

  test('L13: a process that crashes during a check leaves it to another soon', async () => {
    await run()
    expect(nextChecks[0]).toBe(world.now + 15_000)
  })

  test('a create that was found is not checked again', async () => {
    world.rows = [createdTransaction]
    await run()
    expect(nextChecks).toEqual([world.now + 15_000])
  })

  test('a create that another process has leased is left to it', async () => {
    world.isScheduled = true
    await run()
    expect(calls).toEqual([])
  })
})

describe('a row that cannot be read, of another amount and address', () => {
  const {
    id: _,
    createdAt: __,
    status: ___,
    ...others
  } = { ...createdTransaction, amountIn: '7' as Amount, withdrawalAddress: 'TO' }
  const place = { id: 'odd', createdAt: createdTransaction.createdAt }
  beforeEach(() => {
    world.now = attemptedAt + 86_400_000
    world.rows = []
  })

  test.each<[string, Partial<Transaction>]>([
    ['without an id', { createdAt: place.createdAt }],
    ['without a time', { id: 'odd' }],
    ['with a time that cannot be read', { id: 'odd', createdAt: 'yesterday' }],
    ['without either', {}],
  ])('%s proves of no create that it made nothing, and a person sees it', async (_, fields) => {
    world.unreadable = [{ key: 'odd', fields: { ...others, ...fields } }]
    await run()
    expect([notCreated, outcomes]).toEqual([[], ['create ambiguous']])
    expect(candidates.at(-1)).toEqual(fields.id ? ['odd'] : [])
  })

  test('is no obstacle with both, or if another create has its id', async () => {
    world.unreadable = [{ key: 'odd', fields: { ...others, ...place } }]
    await run()
    expect(outcomes).toEqual(['create notCreated'])
    world.unreadable = [{ key: 'known', fields: { ...others, id: 'known' } }]
    world.existingIds = new Set(['known'])
    scans = new ListScans()
    await run()
    expect(outcomes).toEqual(['create notCreated', 'create notCreated'])
  })

  test('without a place does not keep the one that fits from being bound', async () => {
    world.rows = [createdTransaction]
    world.unreadable = [{ key: 'odd', fields: others }]
    await run()
    expect(outcomes).toEqual(['create found'])
  })
})

describe('with keys that only clients have', () => {
  const caller = { address: '', identity: 'acme', key: 'secret' }

  test('nothing is read without the key', async () => {
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

  test('after a restart it is checked when a request with the key arrives', async () => {
    const pendingKeys = new PendingCreateKeys()
    await run(pendingKeys)
    pendingKeys.capture({ address: '', identity: 'stranger', key: 'other' })
    expect(pendingKeys.owners).toEqual([])
    pendingKeys.capture(caller)
    await run(pendingKeys)
    expect(bound).toHaveLength(1)
  })
})

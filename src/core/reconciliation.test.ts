import { beforeEach, describe, expect, test } from 'vitest'
import type { Amount } from '../domain/amount.ts'
import { AssetTable } from '../domain/asset.ts'
import { Fault } from '../domain/fault.ts'
import type { Observation } from '../domain/observation.ts'
import type { Context, SwapService } from '../domain/operations.ts'
import type { Transaction, TransactionQuery } from '../domain/swap.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import { answers } from './layer.ts'
import type { Facts, Ledger, Open } from './ledger.ts'
import { ListReadings } from './list-readings.ts'
import { naming } from './naming.ts'
import { reconcile } from './reconciliation.ts'
import { WaitingKeys } from './waiting-keys.ts'

const attemptedAt = Date.parse('2026-03-01T10:00:00Z')
const asked = {
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
const lost: Open = {
  intent: 'intent-1',
  owner: 'acme',
  provider: 'beta',
  asked,
  attemptedAt,
  looks: 0,
  lookAt: attemptedAt + 5_000,
}
const made: Transaction = {
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

const asset = (coin: string, network: string, code: string) => ({ coin, network, code, name: coin, aliases: [], isStandard: false })
const table = new AssetTable([
  { coin: 'BTC', name: 'Bitcoin', assets: [asset('BTC', 'BTC', 'BTC')] },
  { coin: 'USDT', name: 'Tether', assets: [asset('USDT', 'TRX', 'USDTTRC20'), asset('USDT', 'ETH', 'USDTERC20')] },
])

interface World {
  open: Open[]
  rows: Transaction[]
  held: Set<string>
  fails: boolean
  /** The page of the list that fails, and how. */
  failsOn?: number | undefined
  fault?: Fault
  isTaken: boolean
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
let settled: [string, Facts][]
let ended: [string, number][]
let readings: ListReadings
let taken: (number | undefined)[]
let looks: number[]
let rivalsAskedFor: number[]
let counted: string[]
let calls: Context[]
let queries: TransactionQuery[]
let detailed: string[]

beforeEach(() => {
  world = {
    open: [lost],
    rows: [made],
    held: new Set(),
    fails: false,
    isTaken: false,
    isOthers: false,
    ends: true,
    dates: ['dateFrom', 'dateTo'],
    now: attemptedAt + 5_000,
  }
  settled = []
  ended = []
  readings = new ListReadings()
  taken = []
  looks = []
  rivalsAskedFor = []
  counted = []
  calls = []
  queries = []
  detailed = []
})

/** As far as it is asked here. */
const ledger = {
  due: async (now: number, _: number, owners?: readonly string[]) =>
    world.open.filter(({ lookAt = Infinity, owner }) => lookAt <= now && (!owners || owners.includes(owner))),
  waitingOwners: async () => [...new Set(world.open.map(({ owner }) => owner))],
  take: async (open: Open, next: number | undefined) => !world.isTaken && taken.push(next) > 0 && looks.push(open.looks) > 0,
  openBetween: async (_: string, from: number, to: number) => {
    rivalsAskedFor = [from, to]
    return world.open
  },
  held: async () => world.held,
  end: async ({ intent }: Open, span: number) => world.ends && ended.push([intent, span]) > 0,
  bindFound: async (intent: string, facts: Facts) => settled.push([intent, facts]) > 0 && !world.isOthers,
} as unknown as Ledger

const never = (): never => {
  throw new Error('not asked')
}
/** Lists say less than details. */
const service: SwapService = answers({
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

const said = { asks: { listTransactions: { has: (field: string) => world.dates.includes(field) } } } as unknown as Vocabulary

const run = (keys?: WaitingKeys, store: Ledger = ledger): Promise<void> =>
  reconcile({
    ledger: store,
    readers: new Map([['beta', { service, said, naming: naming(table, false, new Map()) }]]),
    readings,
    keys,
    span: 86_400_000,
    clock: () => world.now,
    observe: (observation: Observation) =>
      void counted.push(`${observation.what} ${'outcome' in observation && observation.outcome}`),
  })

describe('L2: one transaction that fits', () => {
  test('is bound to whoever asked for it, with what was asked', async () => {
    await run()
    expect(settled).toMatchObject([
      [
        'intent-1',
        { transaction: { id: 'tx-1', status: 'confirmation', codeTo: 'USDTTRC20', networkTo: 'TRX', rateType: 'float' } },
      ],
    ])
    expect(settled[0]?.[1]).toMatchObject({ seenAt: world.now, readAt: world.now, transaction: { amountIn: '0.1' } })
    expect(counted).toEqual(['create found'])
  })

  test.each<[string, Partial<Transaction>]>([
    ['made two minutes before the attempt', { createdAt: '2026-03-01T09:58:00Z' }],
    ['made ten minutes after it', { createdAt: '2026-03-01T10:10:00Z' }],
    ['with a time that has no zone', { createdAt: '2026-03-01T10:00:00' }],
  ])('%s', async (_, facts) => {
    world.rows = [{ ...made, ...facts }]
    await run()
    expect(settled).toHaveLength(1)
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
  ])('a transaction %s is not taken', async (_, facts) => {
    world.rows = [{ ...made, ...facts }]
    await run()
    expect(settled).toEqual([])
    expect(counted).toEqual(['create notFound'])
  })

  test.each<[string, Partial<Transaction>]>([
    ['when it was made', { createdAt: 'yesterday' }],
    ['where a refund goes', { refundAddress: undefined }],
    ['where it goes', { withdrawalAddress: undefined }],
    ['on which network', { networkTo: undefined }],
    ['of which rate type it is', { rateType: undefined }],
    ['of which coin it is', { coinFrom: undefined }],
  ])('L22: a transaction that does not tell %s may be it, and is not taken', async (_, facts) => {
    world.rows = [{ ...made, ...facts }]
    await run()
    expect(settled).toEqual([])
    expect(counted).toEqual(['create ambiguous'])
  })

  test('of two that fit, none is taken', async () => {
    world.rows = [made, { ...made, id: 'tx-2' }]
    await run()
    expect(settled).toEqual([])
    expect(counted).toEqual(['create ambiguous'])
  })

  test('one that somebody has already does not count', async () => {
    world.rows = [made, { ...made, id: 'tx-2' }]
    world.held = new Set(['tx-1'])
    await run()
    expect(settled).toMatchObject([['intent-1', { transaction: { id: 'tx-2' } }]])
  })

  test('one that two creates may have made is not taken', async () => {
    world.open = [lost, { ...lost, intent: 'intent-2', owner: 'other', lookAt: world.now + 1 }]
    await run()
    expect(settled).toEqual([])
    expect(counted).toEqual(['create ambiguous'])
  })

  test('one that another settles while this is looked for does not count', async () => {
    const rival = { ...lost, intent: 'intent-2', owner: 'other', lookAt: world.now + 1 }
    world.open = [lost, rival]
    const settles = { ...ledger, openBetween: async () => world.open.splice(1) }
    settles.held = async () => new Set(world.open.length === 1 ? ['tx-1'] : [])
    await run(undefined, settles)
    expect(settled).toEqual([])
  })

  test('one that became another create while it was looked for is not bound, and what it came from stays unknown', async () => {
    world.isOthers = true
    await run()
    expect(counted).toEqual(['create takenId'])
    expect(taken).toHaveLength(2)
  })

  test.each<[string, Partial<Transaction>]>([
    ['another amount', { amountIn: '0.11' as Amount }],
    ['another address', { withdrawalAddress: 'TOther' }],
  ])('one whose details tell %s than its row does not fit', async (_, details) => {
    world.details = details
    await run()
    expect(detailed).toEqual(['tx-1'])
    expect(counted).toEqual(['create notFound'])
  })

  test.each([
    [20, 2],
    [21, 0],
  ])('of %i that look alike %i are asked for, and none is taken', async (count, asked) => {
    world.rows = Array.from({ length: count }, (_, at) => ({ ...made, id: `tx-${at}` }))
    await run()
    expect(detailed).toHaveLength(asked)
    expect(counted).toEqual(['create ambiguous'])
  })

  test('every create that may have made the same transaction is a rival', async () => {
    const late = { ...lost, intent: 'intent-2', attemptedAt: attemptedAt + 60_000 }
    world.open = [late, lost]
    world.now = attemptedAt + 120_000
    await run()
    expect(rivalsAskedFor).toEqual([attemptedAt - 720_000, late.attemptedAt + 720_000])
  })

  test('a list that is longer than can be looked through tells nothing', async () => {
    world.dates = []
    world.total = 50_001
    await run()
    expect(counted).toEqual(['create notSeen'])
  })

  test('a list that breaks off before its end tells nothing', async () => {
    world.total = 2
    await run()
    expect(settled).toEqual([])
    expect(counted).toEqual(['create notSeen'])
  })

  test('a list that cannot be read tells nothing', async () => {
    world.fails = true
    await run()
    expect(settled).toEqual([])
    expect(counted).toEqual(['create notSeen'])
  })
})

describe('one reading of the list', () => {
  const another = { ...lost, intent: 'intent-2', owner: 'other', asked: { ...asked, withdrawalAddress: 'TOther' } }
  const theirs = { ...made, id: 'tx-2', withdrawalAddress: 'TOther' }

  test('serves all creates that are due', async () => {
    world.open = [lost, another]
    world.rows = [made, theirs]
    await run()
    expect(settled).toMatchObject([
      ['intent-1', { transaction: { id: 'tx-1' } }],
      ['intent-2', { transaction: { id: 'tx-2' } }],
    ])
    const window = { dateFrom: '2026-03-01T09:58:00.000Z', dateTo: '2026-03-01T10:10:00.000Z', page: 1 }
    expect(queries).toMatchObject([window, window])
  })

  test('is one for each span of time, where lists can be asked for dates', async () => {
    const minute = 60_000
    world.now = attemptedAt + 60 * minute
    world.open = [30, 12, 0].map((at) => ({ ...lost, attemptedAt: attemptedAt + at * minute }))
    await run()
    expect([...new Set(queries.map(({ dateFrom, dateTo }) => `${dateFrom} ${dateTo}`))]).toEqual([
      '2026-03-01T09:58:00.000Z 2026-03-01T10:22:00.000Z',
      '2026-03-01T10:28:00.000Z 2026-03-01T10:40:00.000Z',
    ])
  })

  test('is of everything, however long, where they cannot', async () => {
    world.dates = []
    const others = Array.from({ length: 6_000 }, (_, at) => ({ ...made, id: `other-${at}`, amountIn: '7' as Amount }))
    world.rows = [...others, made]
    await run()
    expect(settled).toHaveLength(1)
    expect(queries.map(({ page }) => page)).toEqual([...Array.from({ length: 61 }, (_, at) => at + 1), 1])
  })

  test('L66: does not serve creates that were made after it', async () => {
    world.dates = []
    world.rows = [made, theirs]
    world.hidesDetails = true
    await run()
    expect(counted).toEqual(['create notSeen'])
    const later = { ...another, attemptedAt: attemptedAt + 10_000, lookAt: attemptedAt + 15_000 }
    const own = { ...theirs, id: 'tx-3', createdAt: '2026-03-01T10:00:11Z' }
    Object.assign(world, { now: attemptedAt + 15_000, open: [lost, later], rows: [own, made, theirs], hidesDetails: false })
    await run()
    expect(settled).toMatchObject([['intent-1', { transaction: { id: 'tx-1' } }]])
    expect(counted.slice(1).toSorted()).toEqual(['create ambiguous', 'create found'])
  })

  test('is of one key, where each sees only its own', async () => {
    const keys = new WaitingKeys()
    world.open = [lost, another]
    keys.hold({ address: '', identity: 'acme', key: 'secret' })
    keys.hold({ address: '', identity: 'other', key: 'secret-2' })
    await run(keys)
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
    expect(taken.at(-1)).toEqual(next === undefined ? undefined : attemptedAt + next * 1000)
  })

  test('L28: where it ends as not created, the ledger is asked, and it is not looked for again', async () => {
    world.now = attemptedAt + 86_400_000
    await run()
    expect(ended).toEqual([['intent-1', 86_400_000]])
    expect(counted).toEqual(['create notCreated'])
    expect(taken).toEqual([world.now + 15_000])
  })

  test('L28: before its time is over, nothing ends', async () => {
    world.now = attemptedAt + 86_399_999
    await run()
    expect([ended, counted]).toEqual([[], ['create notFound']])
    expect(taken.at(-1)).toBe(attemptedAt + 86_400_000)
  })

  test('L28: where the ledger’s clock says that its time is not over, it is looked for again', async () => {
    Object.assign(world, { now: attemptedAt + 86_400_000, ends: false })
    await run()
    expect(counted).toEqual(['create notFound'])
    expect(taken.at(-1)).toBe(world.now + 3_600_000)
  })

  test('L28: with a candidate it stays unknown, and waits for a person', async () => {
    world.now = attemptedAt + 86_400_000
    world.rows = [made, { ...made, id: 'tx-2' }]
    await run()
    expect([ended, counted]).toEqual([[], ['create ambiguous']])
    expect(taken.at(-1)).toBeUndefined()
  })

  test('L28: what is found when its time is over is bound all the same', async () => {
    world.now = attemptedAt + 86_400_000
    world.rows = [made]
    await run()
    expect(settled).toHaveLength(1)
  })

  test('L28: without a whole list it stays unknown, and is looked for hourly until there is one', async () => {
    Object.assign(world, { now: attemptedAt + 90_000_000, total: 1 })
    await run()
    expect([ended, counted]).toEqual([[], ['create notSeen']])
    expect(taken.at(-1)).toBe(world.now + 3_600_000)
  })

  test('L28: a list that was begun to be read before its time was over does not count', async () => {
    world.dates = []
    world.rows = Array.from({ length: 150 }, (_, at) => ({ ...made, id: `other-${at}`, amountIn: '7' as Amount }))
    world.now = attemptedAt + 86_399_000
    world.failsOn = 2
    await run()
    expect(counted).toEqual(['create notSeen'])
    Object.assign(world, { now: attemptedAt + 86_400_000, failsOn: undefined })
    queries.length = 0
    await run()
    expect(queries.map(({ page }) => page)).toEqual([1, 2, 1])
    expect(counted.at(-1)).toBe('create notCreated')
  })

  test('L28: whose time is over only while it is looked for does not end by that look', async () => {
    world.now = attemptedAt + 86_399_999
    const openBetween = async (): Promise<readonly Open[]> => {
      world.now += 10
      return []
    }
    const slow = { ...ledger, openBetween }
    await run(undefined, slow)
    expect([ended, counted]).toEqual([[], ['create notFound']])
    await run()
    expect(counted.at(-1)).toBe('create notCreated')
  })

  test('L26: a list that is not whole yet is read on in the next look, as soon as there is a share for it', async () => {
    world.dates = []
    world.rows = [...Array.from({ length: 150 }, (_, at) => ({ ...made, id: `other-${at}`, amountIn: '7' as Amount })), made]
    world.failsOn = 2
    world.fault = new Fault('unavailable', 'no share', { retryAfter: 7, busyCause: 'budget' })
    world.now = attemptedAt + 30_000
    await run()
    expect(taken.at(-1)).toBe(world.now + 7_000)
    world.failsOn = undefined
    await run()
    expect(queries.map(({ page }) => page)).toEqual([1, 2, 2, 1])
    expect(settled).toHaveLength(1)
  })

  test('each look is counted', async () => {
    await run()
    expect(looks).toEqual([0, 1])
  })

  test.each<[string, () => void]>([
    ['where the list cannot be read', () => Object.assign(world, { fails: true })],
    ['where its provider is not configured any more', () => Object.assign(world, { open: [{ ...lost, provider: 'gone' }] })],
  ])('%s, it is looked for again at its time', async (_, change) => {
    change()
    await run()
    expect(taken).toEqual([world.now + 15_000, attemptedAt + 30_000])
  })

  test('a mistake of ours is none of the provider', async () => {
    world.rows = [made]
    const broken = { ...ledger, bindFound: () => Promise.reject(new TypeError('a mistake')) }
    await expect(run(undefined, broken)).rejects.toThrow('a mistake')
    expect(counted).toEqual([])
  })

  test('L13: whoever takes the look and does not come back leaves it for soon', async () => {
    await run()
    expect(taken[0]).toBe(world.now + 15_000)
  })

  test('what is found is not looked for again', async () => {
    world.rows = [made]
    await run()
    expect(taken).toEqual([world.now + 15_000])
  })

  test('what another process takes is left to it', async () => {
    world.isTaken = true
    await run()
    expect(calls).toEqual([])
  })
})

describe('with keys that only clients have', () => {
  const caller = { address: '', identity: 'acme', key: 'secret' }

  test('nothing is asked without the key', async () => {
    await run(new WaitingKeys())
    expect(calls).toEqual([])
  })

  test('the key of the create is used while the process holds it', async () => {
    const keys = new WaitingKeys()
    keys.hold(caller)
    await run(keys)
    expect(calls[0]?.caller).toMatchObject({ identity: 'acme', key: 'secret' })
    world.open = []
    await run(keys)
    expect(keys.owners).toEqual([])
  })

  test('after a restart it is looked for when the key calls again', async () => {
    const keys = new WaitingKeys()
    await run(keys)
    keys.hear({ address: '', identity: 'stranger', key: 'other' })
    expect(keys.owners).toEqual([])
    keys.hear(caller)
    await run(keys)
    expect(settled).toHaveLength(1)
  })
})

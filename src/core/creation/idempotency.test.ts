import { beforeEach, describe, expect, it } from 'vitest'
import type { Amount } from '../../domain/amount.ts'
import { AssetTable } from '../../domain/asset.ts'
import { valueIn } from '../../domain/context-values.ts'
import { Fault } from '../../domain/fault.ts'
import type { Context, ServiceResponse, SwapService } from '../../domain/service.ts'
import type { NewTransaction, Transaction } from '../../domain/swap.ts'
import type { IdempotencyKeyState, Ledger, TransactionRecord } from '../ports/ledger.ts'
import { idempotency, SentCreateKeys } from './idempotency.ts'
import { freeKey, inProgress } from './intent.ts'

const table = new AssetTable([
  {
    coin: 'USDT',
    name: 'Tether',
    assets: [
      { code: 'USDTTRC20', coin: 'USDT', name: 'Tether', network: 'TRX', aliases: ['TRON'], isDefault: false },
      { code: 'USDTERC20', coin: 'USDT', name: 'Tether', network: 'ETH', aliases: [], isDefault: false },
    ],
  },
])
const request = {
  codeFrom: 'BTC',
  codeTo: 'USDTTRC20',
  amountIn: '0.10',
  withdrawalAddress: 'T1',
  rateType: 'float',
} as NewTransaction
const transaction: Transaction = { id: 'tx-1', status: 'success', amountIn: '0.10' as Amount, createdAt: '2026-03-01T10:00:00Z' }
const first: TransactionRecord = {
  transaction: { ...transaction, status: 'wait' },
  quotedAmountOut: '9.9' as Amount,
  derived: [],
  reportedAt: 0,
}

/** The state of the key at each look-up. */
let states: (IdempotencyKeyState | undefined)[]
let lookups: [string, string][]
let contexts: Context[]
let fails: unknown
let address: Partial<Transaction>
let isStillBound: boolean
let isDeferred: boolean
beforeEach(() => {
  isDeferred = false
  isStillBound = true
  address = { depositAddress: 'bc1' }
  states = []
  lookups = []
  contexts = []
  fails = undefined
})

const ledger = {
  async findIdempotencyKey(owner: string, key: string) {
    lookups.push([owner, key])
    return states.shift()
  },
  noteShown: async () => isStillBound,
} as unknown as Ledger

const stores = {
  ledger,
  deferredResults: { isDeferred: () => isDeferred },
  lookMs: new Map([['alpha', 1_500]]),
  waits: { newest: async (_: string, __: string, open: IdempotencyKeyState) => open },
}

const service = {
  async call(op: string, _: unknown, context: Context) {
    contexts.push(context)
    if (fails) throw fails
    return { body: { ...transaction, ...address, id: `${op} response` } }
  },
} as unknown as SwapService

async function create(
  overrides: Partial<NewTransaction> = {},
  idempotencyKeyHeader: string | undefined = 'key-1',
): Promise<ServiceResponse<'createTransaction'>> {
  const context = { requestId: 'r', caller: { address: '', identity: 'acme' }, idempotencyKeyHeader } as Context
  return idempotency(
    stores,
    table,
    new SentCreateKeys(() => 0),
  )(service).call('createTransaction', { ...request, ...overrides } as NewTransaction, context)
}

/** The fingerprint of this request. */
async function fingerprint(overrides: Partial<NewTransaction> = {}): Promise<string> {
  await create(overrides)
  return valueIn(contexts.at(-1) ?? {}, freeKey)?.idempotencyKey.fingerprint ?? ''
}

const done = async (changed: Partial<Extract<IdempotencyKeyState, { state: 'done' }>> = {}): Promise<IdempotencyKeyState> => {
  const entry = { transaction, owner: 'acme', provider: 'alpha', derived: [], reportedAt: 0, isCreated: true }
  return { intent: 'i', state: 'done', fingerprint: await fingerprint(), entry, first, ...changed }
}

it('without a key every create is sent', async () => {
  const context = { requestId: 'r', caller: { address: '', identity: 'acme' } } as Context
  const layer = idempotency(stores, table, new SentCreateKeys(() => 0))
  await layer(service).call('createTransaction', request, context)
  expect(lookups).toEqual([])
  expect(contexts[0]).toBe(context)
})

it('a new key is stored with the request', async () => {
  await create()
  expect(lookups).toEqual([['acme', 'key-1']])
  expect(valueIn(contexts[0] ?? {}, freeKey)?.idempotencyKey).toMatchObject({
    key: 'key-1',
    fingerprint: expect.stringContaining('USDTTRC20'),
  })
})

it('a result that the ledger shows before it has confirmed it is none yet', async () => {
  isDeferred = true
  states = [await done()]
  await expect(create()).rejects.toMatchObject({ kind: 'inProgress', retryAfter: 2 })
})

it('a swap that a person takes back while its response is written is not shown', async () => {
  isStillBound = false
  states = [await done({ first: undefined })]
  await expect(create()).rejects.toMatchObject({ kind: 'inProgress', reason: 'ledger_restored' })
})

describe('a key that was used', () => {
  it('gets its first response, and the provider is not called', async () => {
    states = [await done()]
    contexts = []
    const response = await create()
    expect(response).toMatchObject({ provider: 'alpha', replay: {}, body: { status: 'wait', amountOut: '9.9' } })
    expect(contexts).toEqual([])
  })

  it('gets the current state if the operator bound it', async () => {
    states = [await done({ first: undefined })]
    contexts = []
    const response = await create()
    expect(response).toEqual({
      provider: 'alpha',
      replay: {},
      derived: [],
      body: { ...transaction, ...address, id: 'getTransaction response' },
    })
    expect(contexts).toHaveLength(1)
  })

  it('gets no response yet if the operator bound it and there is no deposit address', async () => {
    states = [await done({ first: undefined })]
    address = {}
    await expect(create()).rejects.toMatchObject({ kind: 'inProgress' })
  })

  const soon = Date.now() + 30_000
  it.each<[string, object, object]>([
    ['runs', { state: 'open', isRunning: true, nextCheckAt: soon }, { kind: 'inProgress', reason: 'in_progress', retryAfter: 2 }],
    [
      'will be looked for',
      { state: 'open', isRunning: false, nextCheckAt: soon },
      { reason: 'in_progress', retryAfter: expect.closeTo(33, -1) },
    ],
    [
      'is looked for',
      { state: 'open', isRunning: false, isBeingChecked: true, nextCheckAt: soon },
      { reason: 'in_progress', retryAfter: 2 },
    ],
    ['must be looked for by now', { state: 'open', isRunning: false, nextCheckAt: 1 }, { reason: 'in_progress', retryAfter: 2 }],
    ['needs a person', { state: 'open', isRunning: false, nextCheckAt: undefined }, { reason: 'needs_person', retryAfter: 3600 }],
    ['contradicts the request', { state: 'mismatch' }, { replayed: true }],
  ])('gets no response while it %s', async (_, state, fault) => {
    const known = await fingerprint()
    contexts = []
    states = [{ fingerprint: known, provider: 'alpha', ...state } as IdempotencyKeyState]
    await expect(create()).rejects.toMatchObject(fault)
    expect(contexts).toEqual([])
  })

  it('is refused for another request', async () => {
    states = [await done({ fingerprint: await fingerprint({ amountIn: '0.2' as Amount }) })]
    await expect(create()).rejects.toMatchObject({ kind: 'reusedKey' })
  })
})

it.each([
  ['alpha', 8],
  ['beta', 6],
])(
  'an unknown outcome at %s is worth asking about after the first look, as long as the last one took',
  async (provider, retryAfter) => {
    fails = new Fault('outcomeUnknown', 'lost', { provider })
    await expect(create()).rejects.toMatchObject({ kind: 'outcomeUnknown', retryAfter })
  },
)

describe('L6: of two at the same time', () => {
  it('the later one gets the response of the first, once it is known', async () => {
    const winner = await done()
    states = [undefined, winner]
    fails = inProgress()
    expect(await create()).toMatchObject({ replay: {}, body: { status: 'wait' } })
  })

  it('the later one is inProgress if the first has given up its key', async () => {
    fails = inProgress()
    await expect(create()).rejects.toBe(fails)
    expect(lookups).toHaveLength(2)
  })

  it('any other failure is thrown, and the key is not looked up again', async () => {
    fails = new TypeError('a mistake')
    await expect(create()).rejects.toBe(fails)
    expect(lookups).toHaveLength(1)
  })
})

describe('L5: the same request', () => {
  const byCode = { codeTo: 'USDTTRC20', coinTo: undefined, networkTo: undefined }
  it.each<[string, Partial<NewTransaction>, Partial<NewTransaction>]>([
    ['in the names of either form', byCode, { codeTo: undefined, coinTo: 'usdt', networkTo: 'tron' }],
    ['with the amount written otherwise', { amountIn: '0.10' as Amount }, { amountIn: '0.1' as Amount }],
    ['of an unknown asset', { codeTo: 'XYZ' }, { codeTo: 'xyz' }],
    [
      'of an unknown asset, by its network',
      { codeTo: undefined, coinTo: 'XYZ', networkTo: 'Q' },
      { codeTo: undefined, coinTo: 'xyz', networkTo: 'q' },
    ],
  ])('%s', async (_, one, other) => {
    expect(await fingerprint(one)).toBe(await fingerprint(other))
  })
})

describe('L5: a repeat in another spelling is the same request', () => {
  const xAddress = 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu'
  const classic = 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59'
  const ethereum = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
  const replayed = async (one: Partial<NewTransaction>, other: Partial<NewTransaction>): Promise<boolean> => {
    states = [await done({ fingerprint: await fingerprint(one) })]
    return create(other).then(
      ({ replay }) => replay !== undefined,
      () => false,
    )
  }

  it.each<[string, Partial<NewTransaction>, Partial<NewTransaction>]>([
    ['of an address', { withdrawalAddress: ethereum }, { withdrawalAddress: ethereum.toLowerCase() }],
    ['of a refund address', { refundAddress: ethereum }, { refundAddress: ethereum.toUpperCase().replace('0X', '0x') }],
    ['with the tag in its address', { withdrawalAddress: xAddress }, { withdrawalAddress: classic, withdrawalExtraId: '1' }],
    ['with the tag beside its address', { refundAddress: classic, refundExtraId: '1' }, { refundAddress: xAddress }],
  ])('%s', async (_, one, other) => {
    expect(await replayed(one, other)).toBe(true)
  })

  it.each<[string, Partial<NewTransaction>, Partial<NewTransaction>]>([
    ['of another tag', { withdrawalAddress: xAddress }, { withdrawalAddress: classic, withdrawalExtraId: '2' }],
    ['without the tag', { withdrawalAddress: xAddress }, { withdrawalAddress: classic }],
    ['without the refund address', { refundAddress: ethereum }, {}],
    ['of another amount', { withdrawalAddress: ethereum }, { withdrawalAddress: ethereum.toLowerCase(), amountIn: '1' as Amount }],
    ['of another memo', { withdrawalAddress: 'T1', withdrawalExtraId: '01' }, { withdrawalAddress: 'T1', withdrawalExtraId: '1' }],
  ])('and not one %s', async (_, one, other) => {
    expect(await replayed(one, other)).toBe(false)
  })
})

describe('L5: another request', () => {
  it.each<[string, Partial<NewTransaction>, Partial<NewTransaction>]>([
    ['on another network', { codeTo: 'USDTTRC20' }, { codeTo: 'USDTERC20' }],
    ['of another unknown code', { codeTo: 'XYZ' }, { codeTo: 'XYW' }],
    [
      'of another unknown coin',
      { codeTo: undefined, coinTo: 'XYZ', networkTo: 'Q' },
      { codeTo: undefined, coinTo: 'XYW', networkTo: 'Q' },
    ],
    [
      'on another unknown network',
      { codeTo: undefined, coinTo: 'XYZ', networkTo: 'Q' },
      { codeTo: undefined, coinTo: 'XYZ', networkTo: 'R' },
    ],
    [
      'on no network',
      { codeTo: undefined, coinTo: 'XYZ', networkTo: 'Q' },
      { codeTo: undefined, coinTo: 'XYZ', networkTo: undefined },
    ],
    [
      'L45: with the space elsewhere',
      { codeTo: undefined, coinTo: 'A B', networkTo: 'C' },
      { codeTo: undefined, coinTo: 'A', networkTo: 'B C' },
    ],
    ['L45: of one name with a space in it, or of two', { codeTo: 'A B' }, { codeTo: undefined, coinTo: 'A', networkTo: 'B' }],
    ['L45: of one name that looks like two', { codeTo: '["A","B"]' }, { codeTo: undefined, coinTo: '"A', networkTo: 'B"' }],
    ['of another rate type', {}, { rateType: 'fixed' }],
    ['to another address', {}, { withdrawalAddress: 'T2' }],
    ['with a refund address', {}, { refundAddress: 'T1' }],
    ['with an extra id', {}, { withdrawalExtraId: '1' }],
    ['with the same extra id for a refund', { withdrawalExtraId: '1' }, { refundExtraId: '1' }],
  ])('%s', async (_, one, other) => {
    expect(await fingerprint(one)).not.toBe(await fingerprint(other))
  })
})

it('L45: the fingerprints of stored keys stay the same', async () => {
  const fingerprintParts = async (overrides: Partial<NewTransaction>): Promise<unknown> => JSON.parse(await fingerprint(overrides))
  const commonTerms = ['0.1', 'T1', null, null, null, 'float']
  expect(await fingerprintParts({})).toEqual(['BTC', 'USDTTRC20', ...commonTerms])
  expect(await fingerprintParts({ codeTo: undefined, coinTo: 'xyz', networkTo: 'q' })).toEqual(['BTC', 'XYZ Q', ...commonTerms])
  expect(await fingerprintParts({ codeTo: undefined, coinTo: 'xyz', networkTo: 'é' })).toEqual(['BTC', 'xyz é', ...commonTerms])
})

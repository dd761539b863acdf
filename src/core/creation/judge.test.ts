import { beforeEach, describe, expect, it, test } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { memoryWinners } from '../../adapters/memory.ts'
import type { Amount } from '../../domain/amount.ts'
import { AssetTable } from '../../domain/asset.ts'
import { promisedAmounts } from '../../domain/call-options.ts'
import { withValue } from '../../domain/context-values.ts'
import type { Observation } from '../../domain/observation.ts'
import type { Context } from '../../domain/service.ts'
import type { NewTransaction, Transaction } from '../../domain/swap.ts'
import { createAssetNaming } from '../assets/asset-naming.ts'
import type { ConfiguredProvider, JudgePolicies } from '../provider-scope.ts'
import { usedFirmQuote } from '../quotes/firm-quotes.ts'
import { RecentQuotes } from '../quotes/quote-cache.ts'
import { type WinnerStore, winnerLifetimeMs } from '../routing/winners.ts'
import { judgeCreate } from './judge.ts'
import type { OtherDeposits } from './other-deposits.ts'
import { stillRefused } from './payable.ts'

const pattern = (source: string) => ({ source, matches: (text: string) => new RegExp(`^(?:${source})$`).test(text) })
const asset = { name: 'Coin', isDefault: false, aliases: [] }
const bitcoin = { pattern: pattern('1[A-Z]{5}|bitcoincash:q[a-z]{5}'), checksum: [] }
const table = new AssetTable([
  {
    coin: 'BTC',
    name: 'Bitcoin',
    assets: [{ ...asset, code: 'BTC', coin: 'BTC', network: 'BTC', address: bitcoin, memo: 'none' }],
  },
  {
    coin: 'XRP',
    name: 'XRP',
    assets: [{ ...asset, code: 'XRP', coin: 'XRP', network: 'XRP', memo: pattern('[0-9]{1,10}') }],
  },
  {
    coin: 'USDT',
    name: 'Tether',
    assets: [
      { ...asset, code: 'USDTTRC20', coin: 'USDT', network: 'TRX' },
      { ...asset, code: 'USDTERC20', coin: 'USDT', network: 'ETH' },
    ],
  },
])
const naming = createAssetNaming(table, { byCode: false }, new Map())
const refuseAll: JudgePolicies = {
  depositAddress: 'refuse',
  depositMemo: 'refuse',
  amount: 'refuse',
  contract: 'refuse',
  network: 'refuse',
}
const pairs = {
  BTC: { codeFrom: 'BTC', coinFrom: 'BTC', networkFrom: 'BTC', codeTo: 'USDTTRC20', coinTo: 'USDT', networkTo: 'TRX' },
  XRP: { codeFrom: 'XRP', coinFrom: 'XRP', networkFrom: 'XRP', codeTo: 'USDTTRC20', coinTo: 'USDT', networkTo: 'TRX' },
  /** The table lacks them, but has the network of the others. */
  ONBTC: { codeFrom: 'NEW', coinFrom: 'NEW', networkFrom: 'BTC', codeTo: 'USDTTRC20', coinTo: 'USDT', networkTo: 'TRX' },
  ONXRP: { codeFrom: 'NEW', coinFrom: 'NEW', networkFrom: 'XRP', codeTo: 'USDTTRC20', coinTo: 'USDT', networkTo: 'TRX' },
  NEW: { codeFrom: 'NEW', coinFrom: 'NEW', codeTo: 'USDTTRC20', coinTo: 'USDT', networkTo: 'TRX' },
}
const requested = {
  amountIn: '0.1' as Amount,
  withdrawalAddress: 'TWithdraw',
  refundAddress: '1REFUN',
  rateType: 'float',
} satisfies NewTransaction
const reported = { id: 'tx-1', amountIn: '0.1' as Amount, amountOut: '6000' as Amount, depositAddress: '1DEPOS', createdAt: '' }

const depositMemo = { networks: ['XRP'], isConfigured: false, usesFlags: false }
const otherDeposits = { claimAfter: async () => undefined } as unknown as OtherDeposits

let observations: Observation[] = []
let now = 0
let winners: WinnerStore
let quotes: RecentQuotes
beforeEach(() => {
  observations = []
  now = 1_000
  winners = memoryWinners(() => now, winnerLifetimeMs)
  quotes = new RecentQuotes(providerScope(), winners)
})

interface Case {
  readonly from?: keyof typeof pairs
  readonly request?: Partial<NewTransaction>
  readonly context?: Partial<Context>
  readonly contradicted?: readonly string[]
  readonly quotedAmount?: Amount
  readonly configured?: Partial<ConfiguredProvider>
  readonly routing?: { readonly maxDeviation: number; readonly refuseDeviation: boolean }
}

async function judge(
  facts: Partial<Transaction>,
  { from = 'BTC', request, context, configured, routing, contradicted = [], quotedAmount }: Case = {},
) {
  const scope = providerScope({
    observe: (observation) => observations.push(observation),
    currencyList: { naming },
    configured: { depositMemo, ...configured },
    accountTags: ['alpha', 'other'],
    routing: { maxDeviation: 0.1, refuseDeviation: false, roundAmounts: 'refuse', ...routing },
  })
  const judgeOne = judgeCreate(scope, quotes, otherDeposits)
  const response = { body: { ...reported, ...facts }, report: { quotedAmount } }
  const verified = { intent: 'intent-1', contradicted, response }
  return judgeOne(verified, { ...requested, ...request } as NewTransaction, { pair: pairs[from], ...context } as unknown as Context)
}

const outcomes = () =>
  Object.fromEntries(observations.flatMap((one) => (one.what === 'judgement' ? [[one.kind, one.outcome] as const] : [])))

describe('the deposit address', () => {
  test.each([
    ['an address of the network', {}],
    ['a prefix that the rule of the network has', { depositAddress: 'bitcoincash:qabcde' }],
  ])('%s passes', async (_, facts) => {
    const { contradicted, deposit } = await judge(facts)
    expect(contradicted).toEqual([])
    deposit?.observe(false)
    expect(outcomes()).toEqual({
      depositAddress: 'passed',
      depositMemo: 'passed',
      amount: 'passed',
      contract: 'passed',
      network: 'passed',
      quote: 'passed',
    })
  })

  test.each([
    ['of another network', '0x1234567890abcdef1234567890abcdef12345678'],
    ['cut off', '1DEP'],
    ['a word', 'pending'],
    ['a space', ' '],
    ['a sentence', 'Contact support'],
    ['markup', '<b>1DEPOS</b>'],
    ['with a letter of another script', '1DEPO\u0405'],
    ['a payment URI', 'bitcoin:1DEPOS'],
    ["the request's own refund address", '1REFUN'],
  ])('%s is refused, and no later step sees it as created', async (_, depositAddress) => {
    const { contradicted } = await judge({ depositAddress })
    expect(contradicted).toEqual(['depositAddress'])
    expect(outcomes()).toMatchObject({ depositAddress: 'refused', amount: 'passed' })
    expect(observations.find((one) => one.what === 'judgement')).toMatchObject({ network: 'BTC' })
  })

  it('that another swap may have is judged when the result is stored', async () => {
    const { contradicted, deposit } = await judge({})
    expect([contradicted, outcomes()]).toEqual([[], expect.not.objectContaining({ depositAddress: expect.anything() })])
    expect(deposit).toMatchObject({ isRefused: true, judgedIfTaken: [{ refused: ['depositAddress'] }, { refused: [] }] })
    expect(await deposit.claimAfter()).toBeUndefined()
    deposit.observe(true)
    expect(outcomes()).toMatchObject({ depositAddress: 'refused' })
  })

  it('that another swap may have is only counted where the operator says so', async () => {
    const configured = { judge: { ...providerScope().configured.judge, depositAddress: 'count' as const } }
    const { deposit } = await judge({}, { configured })
    deposit.observe(true)
    expect([deposit.isRefused, outcomes()]).toEqual([false, expect.objectContaining({ depositAddress: 'counted' })])
  })

  it('is counted at once where the result is refused for something else', async () => {
    const { deposit } = await judge({ amountIn: '9' as Amount })
    expect(outcomes()).toMatchObject({ depositAddress: 'passed', amount: 'refused' })
    deposit.observe(true)
    expect(outcomes()).toMatchObject({ depositAddress: 'passed' })
  })

  test.each([
    ['1ANOTHERFORM', []],
    ['bitcoin:1DEPOS', ['depositAddress']],
    ['Contact support', ['depositAddress']],
    ['1REFUN', ['depositAddress']],
  ])('without the rule of the network only that is off: %s', async (depositAddress, fields) => {
    expect((await judge({ depositAddress }, { configured: { addresses: 'unchecked' } })).contradicted).toEqual(fields)
  })

  it('of a coin that the table lacks has no rule', async () => {
    expect((await judge({ depositAddress: 'anything:else' }, { from: 'NEW' })).contradicted).toEqual(['depositAddress'])
    expect((await judge({ depositAddress: 'anything' }, { from: 'NEW' })).contradicted).toEqual([])
  })

  it('of a coin that the table lacks has the rule of its network', async () => {
    expect((await judge({}, { from: 'ONBTC' })).contradicted).toEqual([])
    expect((await judge({ depositExtraId: '7' }, { from: 'ONBTC' })).contradicted).toEqual([])
    expect((await judge({ depositAddress: 'pending' }, { from: 'ONBTC' })).contradicted).toEqual(['depositAddress'])
    const configured = { addresses: 'unchecked' } as const
    expect((await judge({ depositAddress: 'pending' }, { from: 'ONBTC', configured })).contradicted).toEqual([])
    expect((await judge({ depositExtraId: '7' }, { from: 'ONXRP' })).contradicted).toEqual([])
    expect((await judge({ depositExtraId: 'abc def' }, { from: 'ONXRP' })).contradicted).toEqual(['depositExtraId'])
  })

  it("may be the request's own with another memo", async () => {
    const request = { refundAddress: 'rShared', refundExtraId: '1' }
    const shared = { depositAddress: 'rShared', depositExtraId: '2', refundExtraId: '1' }
    expect((await judge(shared, { from: 'XRP', request })).contradicted).toEqual([])
    expect((await judge({ ...shared, depositExtraId: '1' }, { from: 'XRP', request })).contradicted).toEqual(['depositAddress'])
  })
})

describe('the deposit memo', () => {
  const address = { depositAddress: 'rShared' }
  test.each([
    ['that fits', 'XRP', '12', []],
    ['that is missing', 'XRP', undefined, ['depositExtraId']],
    ['that the network cannot have', 'XRP', 'abc def', ['depositExtraId']],
    ['on a network without memos', 'BTC', '12', ['depositExtraId']],
    ['that is missing where none is needed', 'BTC', undefined, []],
  ] as const)('%s', async (_, from, depositExtraId, fields) => {
    const { contradicted } = await judge({ ...(from === 'XRP' && address), depositExtraId }, { from })
    expect(contradicted).toEqual(fields)
  })
})

describe('the amounts', () => {
  test.each([
    ['are those of the request', {}, []],
    ['are rounded at the eighth place', { amountIn: '0.10000001' }, []],
    ['are rounded by a millionth', { amountIn: '0.1000001' }, []],
    ['are another amount sent', { amountIn: '10' }, ['amountIn']],
    ['are a little more', { amountIn: '0.1000002' }, ['amountIn']],
    ['are a negative amount sent', { amountIn: '-0.1' }, ['amountIn']],
    ['are a negative amount received', { amountOut: '-5' }, ['amountOut']],
  ])('%s', async (_, facts, fields) => {
    expect((await judge(facts as Partial<Transaction>)).contradicted).toEqual(fields)
  })

  it('say nothing where they are 0: the requested one counts, and the amount received is not known', async () => {
    const { response, contradicted } = await judge({ amountIn: '0' as Amount, amountOut: '0.0' as Amount })
    expect([contradicted, response.body.amountIn, response.body.amountOut]).toEqual([[], '0.1', undefined])
    expect(outcomes()).toMatchObject({ amount: 'tolerated' })
  })

  test.each([
    ['none', { amountOut: undefined }, undefined, ['amountOut']],
    ['0', { amountOut: '0' }, undefined, ['amountOut']],
    ['what was quoted', { amountOut: '6000' }, '6000', []],
    ['what was quoted, rounded', { amountOut: '5999.999' }, '6000', []],
    ['a tenth of the quote', { amountOut: '600' }, '6000', ['amountOut']],
    ['more than the quote', { amountOut: '6001' }, '6000', []],
  ])('at a fixed rate, %s received', async (_, facts, quotedAmount, fields) => {
    const request = { rateType: 'fixed' } as const
    const quoted = quotedAmount as Amount | undefined
    const own = await judge(facts as Partial<Transaction>, { request, ...(quoted && { quotedAmount: quoted }) })
    expect(own.contradicted).toEqual(fields)
    const firm = { id: 'quote-1', provider: 'alpha' }
    const promised = withValue({}, promisedAmounts, { quotedAmount: quoted })
    const firmly = await judge(facts as Partial<Transaction>, { request, context: withValue(promised, usedFirmQuote, firm) })
    expect(firmly.contradicted).toEqual(fields)
  })

  test.each([
    ['a little less than its caller saw', '5500', [], 'passed'],
    ['much less', '5399', ['amountOut'], 'refused'],
  ])('at a fixed rate without a quote of its own, %s received', async (_, amountOut, fields, outcome) => {
    const context = withValue({}, promisedAmounts, { quotedAmount: '6000' as Amount, worstAmount: '5400' as Amount })
    const request = { rateType: 'fixed' } as const
    const { contradicted, judged } = await judge({ amountOut: amountOut as Amount }, { request, context })
    expect(contradicted).toEqual(fields)
    expect(outcomes()).toMatchObject({ quote: outcome, amount: 'passed' })
    // The market may have moved: no suspension counts it.
    expect(judged?.flatMap(({ refused }) => refused)).toEqual([])
  })

  test.each([
    [0.1, false, [], ['belowQuote']],
    [0.1, true, ['amountOut'], ['belowQuote']],
    [0.5, true, [], []],
    [0, true, [], []],
  ])(
    'below the newest quote, with maxDeviation %s and refuseDeviation %s',
    async (maxDeviation, refuseDeviation, fields, counted) => {
      const terms = { ...requested, ...pairs.BTC }
      const quoted = { body: { ...terms, amountOut: '10000' as Amount } }
      // Another process asked for the quote.
      const memory = new RecentQuotes(providerScope(), winners).layer({ call: async () => quoted as never })
      await memory.call('getRate', terms, { pair: pairs.BTC } as unknown as Context)
      now += 59_000
      const { contradicted } = await judge({}, { routing: { maxDeviation, refuseDeviation } })
      expect(contradicted).toEqual(fields)
      expect(observations.filter(({ what }) => what === 'quoteDeviation')).toMatchObject([{ deviation: -0.4 }])
      expect(observations.flatMap((one) => (one.what === 'create' ? [one.outcome] : []))).toEqual(counted)
      now += 1_000
      expect((await judge({}, { routing: { maxDeviation, refuseDeviation } })).contradicted).toEqual([])
    },
  )
})

test('a quote that the provider made for another amount is not compared', async () => {
  const terms = { ...requested, ...pairs.BTC }
  const quoted = { body: { ...terms, amountIn: '77' as Amount, amountOut: '10000' as Amount } }
  const layer = quotes.layer({ call: async () => quoted as never })
  await layer.call('getRate', terms, { pair: pairs.BTC } as unknown as Context)
  expect((await judge({}, { routing: { maxDeviation: 0.1, refuseDeviation: true } })).contradicted).toEqual([])
})

test.each(['success', 'refunded', 'overdue'] as const)('the status %s at once is `wait`, and counted', async (status) => {
  expect((await judge({ status })).response.body.status).toBe('wait')
  expect(observations).toContainEqual({ what: 'create', provider: 'alpha', outcome: 'finalAtOnce' })
})

test('what is only counted is no contradiction, and what has no kind is always one', async () => {
  const policies: JudgePolicies = {
    depositAddress: 'count',
    depositMemo: 'count',
    amount: 'count',
    contract: 'count',
    network: 'count',
  }
  const wrong = { depositAddress: 'pending', depositExtraId: '1', amountIn: '7' as Amount, coinTo: 'USDT', networkTo: 'ETH' }
  const contradicted = ['coinTo', 'contractFrom', 'withdrawalAddress']
  const judged = await judge(wrong, { contradicted, configured: { judge: policies } })
  expect(judged.contradicted).toEqual(['withdrawalAddress'])
  const { quote, ...others } = outcomes()
  expect([quote, ...new Set(Object.values(others))]).toEqual(['passed', 'counted'])
})

test('two memos for the deposit that contradict each other are always one', async () => {
  const policies: JudgePolicies = { ...refuseAll, depositAddress: 'count', depositMemo: 'count' }
  const depositAddress = 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu'
  const judged = (depositExtraId: string) =>
    judge({ depositAddress, depositExtraId }, { from: 'XRP', configured: { judge: policies } })
  expect((await judged('2')).contradicted).toEqual(['depositExtraId'])
  expect((await judged('01')).contradicted).toEqual([])
  const twoMemos = { ...reported, depositAddress, depositExtraId: '2' }
  expect(stillRefused({ requested }, { transaction: twoMemos, fields: ['depositExtraId'] }, policies)).toEqual(['depositExtraId'])
})

test('the kinds that were refused are told of the asset that they are about', async () => {
  const { judged } = await judge(
    { depositAddress: 'pending', amountIn: '7' as Amount, coinTo: 'USDT', networkTo: 'ETH' },
    { contradicted: ['coinTo', 'contractFrom'] },
  )
  const tags = ['alpha', 'other']
  expect(judged).toMatchObject([
    {
      tags,
      refused: ['depositAddress', 'amount', 'contract'],
      asset: { code: 'BTC', coin: 'BTC', network: 'BTC' },
      network: 'BTC',
    },
    { tags, refused: ['network'], asset: { code: 'USDTTRC20', coin: 'USDT', network: 'TRX' }, network: 'TRX' },
  ])
  for (const contradicted of [[], ['withdrawalAddress']])
    expect((await judge({}, { contradicted })).judged?.flatMap(({ refused }) => refused)).toEqual([])
})

test('another coin is no judgement of the network', async () => {
  const policies = { ...refuseAll, network: 'count' } as const
  const judged = await judge({ coinTo: 'USDC', networkTo: 'ETH' }, { contradicted: ['coinTo'], configured: { judge: policies } })
  expect(judged.contradicted).toEqual(['coinTo'])
})

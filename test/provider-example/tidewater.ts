import { bearer } from '../../src/wire/credential.ts'
import { plainKey } from '../../src/wire/provider-credential.ts'
import { defineProviderForm, providerOperation } from '../../src/wire/provider-form.ts'
import {
  always,
  each,
  extension,
  fallback,
  inside,
  lowerCase,
  optional,
  text,
  unix,
  unused,
  unusedNames,
  words,
  zeroIsNone,
} from '../../src/wire/table.ts'

const type = words('rateType', { float: 'market', fixed: 'locked' })

const pair = {
  send: inside({ ticker: lowerCase('coinFrom'), chain: lowerCase('networkFrom') }),
  get: inside({ ticker: lowerCase('coinTo'), chain: lowerCase('networkTo') }),
} as const

const order = {
  ...pair,
  number: 'id',
  state: 'status',
  type,
  amount: text('amountIn'),
  expected: fallback(text('amountOut')),
  paid: text(optional('amountOut')),
  deposit: inside({ address: 'depositAddress', tag: extension('depositExtraId'), hash: optional('txHashIn') }),
  payout: inside({ address: 'withdrawalAddress', tag: extension('withdrawalExtraId'), hash: optional('txHashOut') }),
  refund: inside({ address: optional('refundAddress'), tag: extension('refundExtraId') }),
  created: unix('createdAt', 'ms'),
  ...unusedNames('affiliate', 'support_url'),
} as const

const newOrder = {
  ...pair,
  type,
  amount: text('amountIn'),
  payout: inside({ address: 'withdrawalAddress', tag: extension('withdrawalExtraId') }),
  refund: inside({ address: optional('refundAddress'), tag: extension('refundExtraId') }),
} as const

export const tidewater = defineProviderForm({
  name: 'tidewater',
  credential: plainKey(bearer()),
  keyed: ['getRate', 'createTransaction', 'listTransactions', 'getTransaction'],
  statuses: {
    OPEN: 'wait',
    CONFIRMING: 'confirmation',
    SWAPPING: 'exchanging',
    PAYING: 'sending',
    DONE: 'success',
    RETURNED: 'refunded',
    LAPSED: 'overdue',
    FAILED: 'failed',
    CHECK: 'held',
  },
  newestFirst: true,
  hasExpectedAmount: true,
  quotedFirst: ['fixed'],
  networks: { byName: { BSC: 'bnb-chain', ETH: { home: 'ethereum', others: 'erc20' } } },
  depositMemo: ['XRP'],
  refusal: {
    presentIn200: ['failure'],
    messages: ['failure.text'],
    amountRange: { min: ['failure.min'], max: ['failure.max'] },
    codes: {
      at: 'failure.code',
      meanings: {
        AMOUNT_LOW: { kind: 'invalid', reason: 'below_minimum' },
        BAD_ADDRESS: { kind: 'invalid', reason: 'address_invalid' },
        NO_MARKET: { kind: 'invalid', reason: 'not_offered' },
        NO_ORDER: { kind: 'notFound' },
        KEY: { kind: 'unauthorized' },
      },
    },
  },
  operations: {
    getTransaction: providerOperation<'getTransaction'>()({
      at: 'GET /orders/{number}',
      request: { number: 'id' },
      response: { order: inside(order) },
    }),
    createTransaction: {
      float: providerOperation<'createTransaction'>()({
        at: 'POST /orders',
        request: newOrder,
        response: { order: inside(order) },
      }),
      fixed: providerOperation<'createTransaction'>()({
        at: 'POST /orders',
        request: { ...newOrder, quote: 'quoteId' },
        response: { order: inside(order) },
      }),
    },
    listTransactions: providerOperation<'listTransactions'>()({
      at: 'GET /orders',
      request: { limit: 'size', skip: 'offset', since: unix(optional('dateFrom'), 's'), until: unix(optional('dateTo'), 's') },
      page: { orders: 'items', total: 'total' },
      response: order,
    }),
    getRate: providerOperation<'getRate'>()({
      at: 'POST /quotes',
      request: { ...pair, type, amount: text('amountIn') },
      response: {
        quote: inside({ id: optional('quoteId'), gives: text('amountOut'), expires: unused }),
        limits: inside({ min: text(optional('minAmount')), max: text(zeroIsNone('maxAmount')) }),
      },
      assumes: ['amountIn'],
    }),
    listCurrencies: providerOperation<'listCurrencies'>()({
      at: 'GET /coins',
      request: { with_chains: always(true) },
      only: { enabled: true },
      response: {
        ticker: 'coin',
        title: 'name',
        logo: 'icon',
        enabled: unused,
        chains: each({ chain: 'network', minimum: text(optional('depositMin')), confirmations: unused }),
      },
    }),
  },
})

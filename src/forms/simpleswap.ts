/**
 * SimpleSwap v3 as a provider; what an operator must know: `docs/providers/simpleswap.md`.
 * Nothing is recorded: it is from the published collection (`api.simpleswap.io/docs`, read in part), from Edge's plugin
 * (`edge-exchange-plugins`, `simpleswap.ts` and its mappings, compared with the live list) and from public clients.
 * `Unverified` marks doubts.
 */

import { keyHeader } from '../wire/credential.ts'
import { plainKey } from '../wire/provider-credential.ts'
import { defineProviderForm, providerOperation } from '../wire/provider-form.ts'
import {
  always,
  extension,
  fallback,
  inside,
  isOn,
  lowerCase,
  optional,
  orNull,
  text,
  unused,
  unusedNames,
  words,
} from '../wire/table.ts'

/** Every response is an object with the result and the id of a trace. */
function result<const Line>(line: Line) {
  return { result: line, traceId: unused } as const
}

const pair = {
  tickerFrom: lowerCase('coinFrom'),
  networkFrom: lowerCase('networkFrom'),
  tickerTo: lowerCase('coinTo'),
  networkTo: lowerCase('networkTo'),
  fixed: words('rateType', { float: false, fixed: true }),
} as const
const direct = { amount: text('amountIn'), reverse: always(false) } as const
// Unverified: no public client uses it, a floating rate may not take it; `estimatedAmount` is taken as what must be sent.
const reverse = { amount: text('amountOut'), reverse: always(true) } as const

const quoteId = { rateId: optional('quoteId'), validUntil: optional('quoteValidUntil') } as const

// Limits of the amount that is sent, in both directions.
const range = {
  at: 'GET /ranges',
  request: { ...pair, reverse: always(false) },
  response: result(inside({ min: text(optional('minAmount')), max: text(optional('maxAmount')) })),
} as const

const order = {
  ...pair,
  addressTo: 'withdrawalAddress',
  extraIdTo: extension('withdrawalExtraId'),
  userRefundAddress: optional('refundAddress'),
  userRefundExtraId: extension('refundExtraId'),
} as const

// Unverified: all members but `id`, `addressFrom`, `extraIdFrom`, `amountFrom` and `amountTo`; whether `publicId` is asked for.
const exchange = result(
  inside({
    id: 'id',
    status: 'status',
    type: words(optional('rateType'), { float: 'floating', fixed: 'fixed' }),
    tickerFrom: 'coinFrom',
    networkFrom: 'networkFrom',
    tickerTo: 'coinTo',
    networkTo: 'networkTo',
    amountFrom: text('amountIn'),
    amountTo: text(optional('amountOut')),
    addressFrom: 'depositAddress',
    extraIdFrom: extension('depositExtraId'),
    addressTo: 'withdrawalAddress',
    extraIdTo: extension('withdrawalExtraId'),
    userRefundAddress: optional('refundAddress'),
    userRefundExtraId: extension('refundExtraId'),
    txFrom: orNull('txHashIn'),
    txTo: orNull('txHashOut'),
    createdAt: 'createdAt',
    // Public clients have met both names.
    timestamp: fallback('createdAt'),
    updatedAt: optional('updatedAt'),
    // Unverified: that it is the time for the deposit, and there at a floating rate.
    validUntil: optional('validUntil'),
    ...unusedNames('publicId', 'expectedAmount', 'rateId', 'currencies', 'redirectUrl'),
  }),
)

const create = { at: 'POST /exchanges', response: exchange, assumes: ['status', 'rateType', 'createdAt'] } as const

export const simpleswap = defineProviderForm({
  name: 'simpleswap',
  credential: plainKey(keyHeader('x-api-key')),
  keyed: ['listCurrencies', 'getRate', 'createTransaction', 'getTransaction'],
  // Of version 1, and of public clients.
  statuses: {
    waiting: 'wait',
    confirming: 'confirmation',
    exchanging: 'exchanging',
    sending: 'sending',
    finished: 'success',
    refunded: 'refunded',
    expired: 'overdue',
    failed: 'failed',
    verifying: 'held',
  },
  statusReasons: { verifying: 'kyc' },
  orderPage: 'https://simpleswap.io/exchange?id={id}',
  newestFirst: false,
  hasExpectedAmount: true,
  quotedFirst: ['fixed'],
  depositMemo: ['XLM', 'XRP'],
  // Unverified beside Edge's mapping.
  networks: { byName: { HYPEEVM: 'hyperevm', PLS: 'pulse', POLYGON: 'matic', ZKSYNC: 'zksera' } },
  assets: {
    AVAX: { coin: 'avaxc', network: 'avaxc' },
    BNB: { coin: 'bnb-bsc', network: 'bsc' },
    MON: { coin: 'monad', network: 'monad' },
  },
  refusal: {
    messages: ['description'],
    // Unverified: one that says so of the *rate id*.
    expiredQuote: [/\brate ?id\b/i, /\b(?:expired|invalid|not (?:found|valid))\b/i],
    statuses: {
      // Of a quote or a create: the pair.
      404: { kind: 'notFound', reason: 'not_offered' },
      // Unverified: that it is outside of the range only.
      422: { kind: 'invalid', isAboutAmount: true },
    },
  },
  operations: {
    listCurrencies: providerOperation<'listCurrencies'>()({
      at: 'GET /currencies',
      // Some thousand coins in one response. Unverified: that it stays below.
      maxResponseBytes: 8_388_608,
      request: {},
      page: { result: 'items', traceId: 'unused' },
      response: {
        ticker: 'coin',
        network: 'network',
        name: optional('name'),
        image: optional('icon'),
        hasExtraId: optional('needsMemo'),
        contractAddress: optional('contract'),
        isAvailableFloat: isOn('floatRate'),
        isAvailableFixed: isOn('fixedRate'),
        ...unusedNames('legacySymbol', 'extraId', 'precision', 'isFiat'),
        ...unusedNames('validationAddress', 'validationExtra', 'addressExplorer', 'txExplorer', 'confirmationsFrom'),
        ...unusedNames('warningsFrom', 'warningsTo'),
      },
      assumes: ['name', 'icon'],
    }),
    getRate: {
      sent: providerOperation<'getRate'>()({
        at: 'GET /estimates',
        request: { ...pair, ...direct },
        response: result(inside({ estimatedAmount: text('amountOut'), ...quoteId })),
        also: range,
        assumes: ['amountIn', 'rateType'],
      }),
      received: providerOperation<'getRate'>()({
        at: 'GET /estimates',
        request: { ...pair, ...reverse },
        response: result(inside({ estimatedAmount: text('amountIn'), ...quoteId })),
        also: range,
        assumes: ['amountOut', 'rateType'],
      }),
    },
    createTransaction: {
      float: {
        sent: providerOperation<'createTransaction'>()({ ...create, request: { ...order, ...direct } }),
        received: providerOperation<'createTransaction'>()({ ...create, request: { ...order, ...reverse } }),
      },
      fixed: {
        sent: providerOperation<'createTransaction'>()({ ...create, request: { ...order, ...direct, rateId: 'quoteId' } }),
        received: providerOperation<'createTransaction'>()({ ...create, request: { ...order, ...reverse, rateId: 'quoteId' } }),
      },
    },
    getTransaction: providerOperation<'getTransaction'>()({
      at: 'GET /exchanges/{id}',
      request: { id: 'id' },
      response: exchange,
    }),
  },
})

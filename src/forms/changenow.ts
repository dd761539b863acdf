/**
 * ChangeNOW v2 as a provider; what an operator must know: `docs/providers/changenow.md`.
 * Recorded are a create, a get, a quote, a range and a refusal below the minimum. `Unverified` marks doubts.
 */

import type { StatusWord } from '../domain/status.ts'
import { keyHeader } from '../wire/credential.ts'
import { plainKey } from '../wire/provider-credential.ts'
import { defineProviderForm, providerOperation } from '../wire/provider-form.ts'
import {
  always,
  byMember,
  deposited,
  depositSeen,
  extension,
  fallback,
  inside,
  isOn,
  lowerCase,
  optional,
  optionalSetting,
  orNull,
  type StatusByMember,
  text,
  unused,
  unusedNames,
  words,
  zeroIsNone,
  zoned,
} from '../wire/table.ts'

/** Where the user must choose between a refund and going on, the swap waits for that. */
function unlessActionsAvailable(otherwise: StatusWord): StatusByMember {
  return byMember('actionsAvailable', { present: 'held', otherwise })
}

const flow = { float: 'standard', fixed: 'fixed-rate' } as const

const pair = {
  fromCurrency: lowerCase('coinFrom'),
  fromNetwork: lowerCase('networkFrom'),
  toCurrency: lowerCase('coinTo'),
  toNetwork: lowerCase('networkTo'),
} as const
const answeredPair = { fromCurrency: 'coinFrom', fromNetwork: 'networkFrom', toCurrency: 'coinTo', toNetwork: 'networkTo' } as const

const direct = { fromAmount: text('amountIn'), type: always('direct') } as const
const reverse = { toAmount: text('amountOut'), type: always('reverse') } as const
const asked = { ...pair, flow: words('rateType', flow) } as const
const quoted = {
  ...answeredPair,
  fromAmount: 'amountIn',
  toAmount: 'amountOut',
  rateId: optional('quoteId'),
  flow: words('rateType', flow),
  // Whether they are part of `toAmount`, as assumed, is not documented.
  ...unusedNames('depositFee', 'withdrawalFee'),
  validUntil: optional('quoteValidUntil'),
  ...unusedNames('type', 'transactionSpeedForecast', 'warningMessage', 'userId'),
} as const
const range = {
  at: 'GET /exchange/range',
  request: { ...pair, flow: words('rateType', flow) },
  response: {
    minAmount: optional('minAmount'),
    maxAmount: optional('maxAmount'),
    ...unusedNames('fromCurrency', 'fromNetwork', 'toCurrency', 'toNetwork', 'flow'),
  },
} as const

const order = {
  ...asked,
  address: 'withdrawalAddress',
  extraId: extension('withdrawalExtraId'),
  refundAddress: optional('refundAddress'),
  refundExtraId: extension('refundExtraId'),
  // Unverified: that it is taken without special partner fields. Public clients send it empty.
  userId: optional('reference'),
  payload: optionalSetting('payload', 'object'),
} as const
// It has no status and no time: `wait`, and the time of the call.
const created = {
  ...answeredPair,
  id: 'id',
  fromAmount: 'amountIn',
  toAmount: 'amountOut',
  flow: words('rateType', flow),
  payinAddress: 'depositAddress',
  payinExtraId: extension('depositExtraId'),
  payoutAddress: 'withdrawalAddress',
  payoutExtraId: extension('withdrawalExtraId'),
  refundAddress: optional('refundAddress'),
  refundExtraId: extension('refundExtraId'),
  validUntil: optional('validUntil'),
  ...unusedNames('type', 'directedAmount', 'rateId', 'payinExtraIdName', 'payoutExtraIdName'),
} as const

export const changenow = defineProviderForm({
  name: 'changenow',
  credential: plainKey(keyHeader('x-changenow-api-key')),
  keyed: ['getRate', 'createTransaction', 'listTransactions', 'getTransaction'],
  statuses: {
    new: 'wait',
    waiting: 'wait',
    confirming: unlessActionsAvailable('confirmation'),
    exchanging: 'exchanging',
    sending: 'sending',
    finished: 'success',
    refunded: 'refunded',
    expired: unlessActionsAvailable('overdue'),
    failed: unlessActionsAvailable('failed'),
    // Unverified: that it is a check of the user, as public documents say; with which statuses `actionsAvailable` comes.
    verifying: 'held',
  },
  statusReasons: { verifying: 'kyc' },
  orderPage: 'https://changenow.io/exchange/txs/{id}',
  newestFirst: false,
  hasExpectedAmount: true,
  pageSize: 99,
  quotedFirst: ['fixed'],
  depositMemo: ['XLM', 'XRP'],
  networks: {
    byName: { AVAXC: { home: 'cchain', others: 'avaxc' }, MONAD: 'mon', OPTIMISM: 'op', PLS: 'pulse', POLYGON: 'matic' },
  },
  assets: {
    USDCEARB: { coin: 'arbusdce', network: 'arbitrum' },
    USDCEOP: { coin: 'opusdce', network: 'op' },
    USDCEPOLYGON: { coin: 'maticusdce', network: 'matic' },
  },
  refusal: {
    amountRange: { min: ['payload.range.minAmount'], max: ['payload.range.maxAmount'] },
    codes: {
      at: 'error',
      meanings: {
        deposit_too_small: { kind: 'invalid', reason: 'below_minimum' },
        out_of_range: { kind: 'invalid', isAboutAmount: true },
        not_valid_address: { kind: 'invalid', reason: 'address_invalid' },
        pair_is_inactive: { kind: 'invalid', reason: 'not_offered' },
        rate_id_not_found_or_expired: { kind: 'invalid', isQuoteExpired: true },
        unauthorized: { kind: 'unauthorized' },
      },
    },
  },
  operations: {
    listCurrencies: providerOperation<'listCurrencies'>()({
      at: 'GET /exchange/currencies',
      request: { active: always(true) },
      only: { isFiat: false },
      response: {
        ticker: 'coin',
        network: 'network',
        name: 'name',
        image: 'icon',
        isExtraIdSupported: optional('needsMemo'),
        ...unusedNames('hasExternalId', 'isFiat', 'featured', 'isStable'),
        supportsFixedRate: isOn('fixedRate'),
        tokenContract: optional('contract'),
        // Unverified: that `buy` and `sell` are the user's words, not ChangeNOW's.
        buy: isOn('canWithdraw'),
        sell: isOn('canDeposit'),
        legacyTicker: unused,
      },
    }),
    getRate: {
      float: providerOperation<'getRate'>()({
        at: 'GET /exchange/estimated-amount',
        request: { ...asked, ...direct },
        response: quoted,
        also: range,
      }),
      // By the amount received only with a fixed rate: whether a floating one takes it is unverified.
      fixed: {
        sent: providerOperation<'getRate'>()({
          at: 'GET /exchange/estimated-amount',
          request: { ...asked, ...direct, useRateId: always(true) },
          response: quoted,
          also: range,
        }),
        received: providerOperation<'getRate'>()({
          at: 'GET /exchange/estimated-amount',
          request: { ...asked, ...reverse, useRateId: always(true) },
          response: quoted,
          also: range,
        }),
      },
    },
    createTransaction: {
      float: providerOperation<'createTransaction'>()({
        at: 'POST /exchange',
        request: { ...order, ...direct },
        response: created,
        assumes: ['status', 'createdAt'],
      }),
      fixed: {
        sent: providerOperation<'createTransaction'>()({
          at: 'POST /exchange',
          request: { ...order, ...direct, rateId: 'quoteId' },
          response: created,
          assumes: ['status', 'createdAt'],
        }),
        received: providerOperation<'createTransaction'>()({
          at: 'POST /exchange',
          request: { ...order, ...reverse, rateId: 'quoteId' },
          response: created,
          assumes: ['status', 'createdAt'],
        }),
      },
    },
    listTransactions: providerOperation<'listTransactions'>()({
      // Unverified: rows, also `network`, are from a copy of the documentation. A time without a zone is taken as UTC, 401 and 403
      // as a key that may not list.
      at: 'GET /exchanges',
      request: {
        limit: 'size',
        offset: 'offset',
        sortDirection: always('DESC'),
        sortField: always('createdAt'),
        dateField: always('createdAt'),
        dateFrom: optional('dateFrom'),
        dateTo: optional('dateTo'),
      },
      page: { count: 'total', exchanges: 'items' },
      response: {
        requestId: 'id',
        status: 'status',
        flow: words('rateType', flow),
        createdAt: zoned('createdAt', 'Z'),
        updatedAt: zoned(optional('updatedAt'), 'Z'),
        payin: inside({
          currency: 'coinFrom',
          network: optional('networkFrom'),
          address: optional('depositAddress'),
          extraId: extension('depositExtraId'),
          amount: deposited('amountIn'),
          expectedAmount: fallback('amountIn'),
          hash: orNull('txHashIn'),
        }),
        payout: inside({
          currency: 'coinTo',
          network: optional('networkTo'),
          address: optional('withdrawalAddress'),
          extraId: extension('withdrawalExtraId'),
          amount: optional('amountOut'),
          expectedAmount: fallback(optional('amountOut')),
          hash: orNull('txHashOut'),
        }),
        refund: inside({
          address: optional('refundAddress'),
          extraId: extension('refundExtraId'),
          amount: zeroIsNone('refundAmount'),
          hash: optional('refundHash'),
          ...unusedNames('currency', 'network'),
        }),
        partnerInfo: inside({ userId: optional('reference'), ...unusedNames('payload', 'commission') }),
      },
    }),
    getTransaction: providerOperation<'getTransaction'>()({
      at: 'GET /exchange/by-id',
      request: { id: 'id' },
      response: {
        ...answeredPair,
        id: 'id',
        status: 'status',
        amountFrom: deposited('amountIn'),
        expectedAmountFrom: fallback('amountIn'),
        amountTo: optional('amountOut'),
        expectedAmountTo: fallback(optional('amountOut')),
        payinAddress: optional('depositAddress'),
        payinExtraId: extension('depositExtraId'),
        payoutAddress: optional('withdrawalAddress'),
        payoutExtraId: extension('withdrawalExtraId'),
        refundAddress: optional('refundAddress'),
        refundExtraId: extension('refundExtraId'),
        createdAt: 'createdAt',
        updatedAt: optional('updatedAt'),
        payinHash: orNull('txHashIn'),
        payoutHash: orNull('txHashOut'),
        validUntil: optional('validUntil'),
        actionsAvailable: optional('hasActions'),
        depositReceivedAt: depositSeen,
        refundHash: optional('refundHash'),
        refundAmount: zeroIsNone('refundAmount'),
        ...unusedNames('fromLegacyTicker', 'toLegacyTicker', 'originalExchangeInfo', 'relatedExchangesInfo'),
        repeatedExchangesInfo: unused,
        userId: optional('reference'),
      },
    }),
  },
  // From a copy of the documentation. Both need access that ChangeNOW gives on request; without it they count as a refused key.
  actions: {
    refundTransaction: {
      at: 'POST /exchange/refund',
      request: { id: 'id', address: 'refundAddress', extraId: extension('refundExtraId') },
      offeredIn: ['failed', 'held'],
      isReported: true,
      confirmedBy: ['result'],
    },
    continueTransaction: {
      at: 'POST /exchange/continue',
      request: { id: 'id' },
      offeredIn: ['failed', 'held'],
      isReported: true,
      confirmedBy: ['result', 'result.result'],
    },
  },
})

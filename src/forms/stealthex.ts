/**
 * StealthEX v4 as a provider; what an operator must know: `docs/providers/stealthex.md`.
 * Recorded are a create, a get, a quote, a range and a refusal of an unknown pair. Lists, statuses and words of refusals are of
 * its OpenAPI document, as types that a public client has made from it. `Unverified` marks doubts.
 */

import { bearer } from '../wire/credential.ts'
import { plainKey } from '../wire/provider-credential.ts'
import { defineProviderForm, providerOperation } from '../wire/provider-form.ts'
import {
  always,
  extension,
  fallback,
  hasWords,
  inside,
  lowerCase,
  optional,
  optionalSetting,
  orNull,
  unusedNames,
  words,
  zeroIsNone,
} from '../wire/table.ts'

const rate = words('rateType', { float: 'floating', fixed: 'fixed' })

const pair = {
  route: inside({
    from: inside({ symbol: lowerCase('coinFrom'), network: lowerCase('networkFrom') }),
    to: inside({ symbol: lowerCase('coinTo'), network: lowerCase('networkTo') }),
  }),
} as const
const direct = { amount: 'amountIn', estimation: always('direct') } as const
const reversed = { amount: 'amountOut', estimation: always('reversed') } as const
const asked = {
  ...pair,
  rate,
  additional_fee_percent: optionalSetting('additional_fee_percent', 'number'),
} as const

const quoteId = inside({ id: optional('quoteId'), valid_until: optional('quoteValidUntil') })

// Limits of the amount that is sent, in both directions.
const range = {
  at: 'POST /rates/range',
  request: { ...pair, estimation: always('direct'), rate },
  response: { min_amount: optional('minAmount'), max_amount: optional('maxAmount') },
} as const

const transaction = {
  id: 'id',
  status: 'status',
  rate,
  deposit: inside({
    symbol: 'coinFrom',
    network: 'networkFrom',
    amount: 'amountIn',
    expected_amount: fallback('amountIn'),
    address: 'depositAddress',
    extra_id: extension('depositExtraId'),
    tx_hash: orNull('txHashIn'),
    ...unusedNames('address_explorer_url', 'tx_explorer_url'),
  }),
  withdrawal: inside({
    symbol: 'coinTo',
    network: 'networkTo',
    amount: optional('amountOut'),
    expected_amount: fallback(optional('amountOut')),
    address: 'withdrawalAddress',
    extra_id: extension('withdrawalExtraId'),
    tx_hash: orNull('txHashOut'),
    ...unusedNames('address_explorer_url', 'tx_explorer_url'),
  }),
  refund_address: optional('refundAddress'),
  refund_extra_id: extension('refundExtraId'),
  created_at: 'createdAt',
  // Unverified: how it is written (the recorded ones are null), and the two below, which no recorded response has.
  expires_at: optional('validUntil'),
  refund_tx_hash: optional('refundHash'),
  refund_amount: zeroIsNone('refundAmount'),
} as const

const order = {
  ...asked,
  address: 'withdrawalAddress',
  extra_id: extension('withdrawalExtraId'),
  refund_address: optional('refundAddress'),
  refund_extra_id: extension('refundExtraId'),
} as const

export const stealthex = defineProviderForm({
  name: 'stealthex',
  credential: plainKey(bearer()),
  keyed: ['listCurrencies', 'getRate', 'createTransaction', 'listTransactions', 'getTransaction'],
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
  newestFirst: false,
  hasExpectedAmount: true,
  // The largest is unverified. If it is less, a list of several pages never proves that nothing was created.
  pageSize: 250,
  quotedFirst: ['fixed'],
  depositMemo: ['XLM', 'XRP'],
  // From Edge's plugin and the live list; unverified beside `mainnet`, `eth`, `arbitrum`, `matic`, `avax-c` and `cosmos`.
  networks: { home: 'mainnet', byName: { AVAXC: 'avax-c', POLYGON: 'matic' } },
  assets: { AVAX: { coin: 'avax', network: 'avax-c' }, OSMO: { coin: 'osmo', network: 'cosmos' } },
  refusal: {
    messages: ['err.details'],
    codes: {
      at: 'err.kind',
      // Assumed from their names.
      meanings: {
        NoPair: { kind: 'invalid', reason: 'not_offered' },
        NoExchangeRoute: { kind: 'invalid', reason: 'not_offered' },
        RouteIsDisabled: { kind: 'invalid', reason: 'not_offered' },
        MarketUnavailable: { kind: 'invalid', reason: 'not_offered' },
        NotAllowed: { kind: 'invalid' },
        NoExchange: { kind: 'notFound' },
        NotFound: { kind: 'notFound' },
        InvalidAmount: { kind: 'invalid', isAboutAmount: true },
        InvalidData: { kind: 'invalid' },
        ExtraId: { kind: 'invalid', reason: 'memo_invalid' },
        RateId: { kind: 'invalid', isQuoteExpired: true },
        RoutesMismatch: { kind: 'invalid' },
        NoUserApiKey: { kind: 'unauthorized' },
      },
    },
  },
  operations: {
    listCurrencies: providerOperation<'listCurrencies'>()({
      at: 'GET /currencies',
      request: { limit: 'size', offset: 'offset' },
      response: {
        symbol: 'coin',
        network: 'network',
        name: optional('name'),
        icon_url: optional('icon'),
        contract_address: optional('contract'),
        rates: hasWords({ floatRate: 'floating', fixedRate: 'fixed' }),
        // The words of `features` are not documented: no flag for a direction is known.
        ...unusedNames('extra_id', 'features', 'precision', 'validation_regexp'),
        ...unusedNames('legacy_symbol', 'address_regex', 'extra_id_regex', 'warnings'),
      },
      assumes: ['name', 'icon'],
    }),
    getRate: {
      float: providerOperation<'getRate'>()({
        at: 'POST /rates/estimated-amount',
        request: { ...asked, ...direct },
        response: { estimated_amount: 'amountOut' },
        also: range,
        assumes: ['amountIn', 'rateType'],
      }),
      // By the amount received only with a fixed rate: by the OpenAPI document `reversed` is for these alone.
      fixed: {
        sent: providerOperation<'getRate'>()({
          at: 'POST /rates/estimated-amount',
          request: { ...asked, ...direct },
          response: { estimated_amount: 'amountOut', rate: quoteId },
          also: range,
          assumes: ['amountIn', 'rateType'],
        }),
        received: providerOperation<'getRate'>()({
          at: 'POST /rates/estimated-amount',
          request: { ...asked, ...reversed },
          response: { estimated_amount: 'amountIn', rate: quoteId },
          also: range,
          assumes: ['amountOut', 'rateType'],
        }),
      },
    },
    createTransaction: {
      float: providerOperation<'createTransaction'>()({
        at: 'POST /exchanges',
        request: { ...order, ...direct },
        response: transaction,
      }),
      fixed: {
        sent: providerOperation<'createTransaction'>()({
          at: 'POST /exchanges',
          request: { ...order, ...direct, rate_id: 'quoteId' },
          response: transaction,
        }),
        received: providerOperation<'createTransaction'>()({
          at: 'POST /exchanges',
          request: { ...order, ...reversed, rate_id: 'quoteId' },
          response: transaction,
        }),
      },
    },
    listTransactions: providerOperation<'listTransactions'>()({
      // Unverified: whether dates are inclusive: a lost create is searched in a wider range. No look-up by a reference was found.
      at: 'GET /exchanges',
      request: {
        limit: 'size',
        offset: 'offset',
        created_after: optional('dateFrom'),
        created_before: optional('dateTo'),
      },
      response: transaction,
    }),
    getTransaction: providerOperation<'getTransaction'>()({
      at: 'GET /exchanges/{id}',
      request: { id: 'id' },
      response: transaction,
    }),
  },
})

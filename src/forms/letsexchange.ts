/**
 * LetsExchange (v1 and v2) as a provider; what an operator must know: `docs/providers/letsexchange.md`.
 * Recorded are a quote, a reverse quote, a create, a get and a refusal of a quote. `Unverified` marks doubts.
 */

import { bearer } from '../wire/credential.ts'
import { plainKey } from '../wire/provider-credential.ts'
import { defineProviderForm, providerOperation } from '../wire/provider-form.ts'
import {
  byMember,
  each,
  emptyIfNone,
  extension,
  fallback,
  isOn,
  optional,
  optionalSetting,
  orNull,
  pageFor,
  reason,
  setting,
  text,
  unix,
  unusedNames,
  words,
  zeroIsNone,
  zoned,
} from '../wire/table.ts'

/** Each endpoint writes it in another way. */
const isFloat = words('rateType', { float: [true, 1, 'true', '1'], fixed: [false, 0, 'false', '0'] })
/** A timestamp without zone: a recorded one is three hours ahead of the Unix time beside it; a public report reads it as UTC. */
const createdAt = zoned('createdAt', '+03:00')

const affiliate = { affiliate_id: setting('affiliateId'), promocode: optionalSetting('promocode') } as const

const quote = {
  from: 'coinFrom',
  to: 'coinTo',
  network_from: 'networkFrom',
  network_to: 'networkTo',
  ...affiliate,
  float: isFloat,
} as const

const order = {
  float: isFloat,
  coin_from: 'coinFrom',
  coin_to: 'coinTo',
  network_from: 'networkFrom',
  network_to: 'networkTo',
  withdrawal: 'withdrawalAddress',
  withdrawal_extra_id: emptyIfNone('withdrawalExtraId'),
  return: optional('refundAddress'),
  return_extra_id: extension('refundExtraId'),
  ...affiliate,
} as const

const sent = { deposit_amount: text('amountIn') } as const
const received = { withdrawal_amount: text('amountOut') } as const

const quoted = {
  rate: text(optional('rate')),
  rate_id: optional('quoteId'),
  rate_id_expired_at: optional('quoteValidUntil'),
  ...unusedNames('fee', 'profit', 'withdrawal_fee', 'extra_fee_amount', 'applied_promo_code_id', 'networks_from', 'networks_to'),
  ...unusedNames('deposit_amount_usdt', 'expired_at', 'base_amount'),
} as const

const transaction = {
  transaction_id: 'id',
  status: 'status',
  is_float: isFloat,
  coin_from: 'coinFrom',
  coin_from_network: 'networkFrom',
  coin_from_contract_address: optional('contractFrom'),
  coin_to: 'coinTo',
  coin_to_network: 'networkTo',
  coin_to_contract_address: optional('contractTo'),
  // Unverified: whether these two are final only at the end. `final_amount` is not used.
  real_deposit_amount: text(zeroIsNone('amountIn')),
  deposit_amount: text(fallback('amountIn')),
  real_withdrawal_amount: text(zeroIsNone('amountOut')),
  withdrawal_amount: text(fallback('amountOut')),
  rate: text(optional('rate')),
  deposit: 'depositAddress',
  deposit_extra_id: extension('depositExtraId'),
  withdrawal: 'withdrawalAddress',
  withdrawal_extra_id: extension('withdrawalExtraId'),
  return: optional('refundAddress'),
  return_extra_id: extension('refundExtraId'),
  hash_in: orNull('txHashIn'),
  hash_out: orNull('txHashOut'),
  created_at: createdAt,
  expired_at: optional('validUntil'),
  return_hash: optional('refundHash'),
  // Assumed to be in the coin of the deposit: `return_coin` is not compared.
  return_amount: zeroIsNone('refundAmount'),
  error_code: reason({
    memo_missing: '50001',
    late_deposit: '50002',
    wrong_network: '50003',
    address_invalid: '50004',
    provider_error: '50005',
  }),
  kyc_url: pageFor('kyc'),
  ...unusedNames('type', 'fee', 'extra_fee_from', 'extra_fee_to'),
  ...unusedNames('revert', 'execution_time', 'is_available', 'coin_from_explorer_url', 'coin_to_explorer_url'),
  ...unusedNames('coin_from_smart_contract_explorer_url', 'coin_to_smart_contract_explorer_url', 'coin_from_icon', 'coin_to_icon'),
  ...unusedNames('coin_from_extra_name', 'coin_to_extra_name', 'coin_from_name', 'coin_to_name', 'need_confirmations'),
  ...unusedNames('coin_from_additional_get_info', 'coin_from_additional_send_info', 'coin_to_additional_get_info'),
  ...unusedNames('coin_to_additional_send_info', 'confirmations', 'email', 'aml_error_signals', 'kyc_email', 'rating'),
  ...unusedNames('bonus', 'final_amount', 'startedAt', 'finishedAt'),
  ...unusedNames('return_coin', 'return_network', 'internal_transafer_refund', 'profit'),
  ...unusedNames('return_network_code', 'return_explorer_url'),
} as const

export const letsexchange = defineProviderForm({
  name: 'letsexchange',
  credential: plainKey(bearer()),
  keyed: ['listCurrencies', 'getRate', 'createTransaction', 'listTransactions', 'getTransaction'],
  statuses: {
    wait: 'wait',
    confirmation: 'confirmation',
    confirmed: 'confirmed',
    exchanging: 'exchanging',
    sending: 'sending',
    transferring: 'sending',
    sending_confirmation: 'sending',
    success: 'success',
    overdue: 'overdue',
    // With the hash of the refund it is complete, as assumed; without one that is not documented.
    refund: byMember('return_hash', { present: 'refunded', otherwise: 'exchanging' }),
    aml_check_failed: 'held',
    canceled: 'failed',
    error: 'failed',
  },
  statusReasons: { aml_check_failed: 'aml', error: 'provider_error' },
  orderPage: 'https://letsexchange.io/?transactionId={id}',
  newestFirst: false,
  hasExpectedAmount: true,
  quotedFirst: ['fixed'],
  networks: {
    byName: {
      ETH: { home: 'ETH', others: 'ERC20' },
      TRX: { home: 'TRX', others: 'TRC20' },
      BSC: { home: 'BNB', others: 'BEP20' },
      HYPEEVM: { home: 'HYPEEVM', others: 'HYPE' },
      POLYGON: 'POL',
      ZKSYNC: 'ZKSERA',
    },
  },
  depositMemo: ['XLM', 'XRP'],
  refusal: {
    // Unverified: the status of the recorded refusal, the body of a 403, and of an unknown transaction (404 is assumed).
    presentIn200: ['error'],
    messages: ['error.validation', 'error'],
    amountRange: { min: ['min_amount'], max: ['max_amount'] },
    // Unverified: whether a refusal below the minimum has the limits, and whether that of a create is at `deposit_amount`.
    members: {
      'error.validation.deposit_amount': { kind: 'invalid', isAboutAmount: true },
      'error.validation.rate_id': { kind: 'invalid', isQuoteExpired: true },
      'error.validation': { kind: 'invalid' },
    },
  },
  operations: {
    listCurrencies: providerOperation<'listCurrencies'>()({
      at: 'GET /v2/coins',
      // Some thousand coins in one response, without minimum amounts. Unverified: that it stays below this, the most that is read.
      maxResponseBytes: 8_388_608,
      request: {},
      response: {
        code: 'coin',
        icon: optional('icon'),
        networks: each({
          code: 'network',
          contract_address: optional('contract'),
          // Unverified: 0 is taken as neither sent nor received.
          is_active: isOn('canDeposit', 'canWithdraw'),
          ...unusedNames('name', 'has_extra', 'extra_name', 'explorer'),
          ...unusedNames('validation_address_regex', 'validation_address_extra_regex'),
        }),
        name: optional('name'),
        is_active: isOn('canDeposit', 'canWithdraw'),
        // Not the opposite of `is_active`: the documentation's coin has 1 in both.
        ...unusedNames('disabled', 'default_network_code', 'default_network_name'),
        ...unusedNames('additional_info_get', 'additional_info_send'),
      },
      assumes: ['name', 'icon'],
    }),
    getRate: {
      sent: providerOperation<'getRate'>()({
        at: 'POST /v1/info',
        request: { ...quote, amount: text('amountIn') },
        response: {
          ...quoted,
          amount: text('amountOut'),
          min_amount: text(zeroIsNone('minAmount')),
          max_amount: text(zeroIsNone('maxAmount')),
          ...unusedNames('deposit_min_amount', 'deposit_max_amount'),
        },
        assumes: ['amountIn', 'rateType'],
        refusesByAmountRange: true,
      }),
      received: providerOperation<'getRate'>()({
        at: 'POST /v1/info-revert',
        request: { ...quote, amount: text('amountOut') },
        response: {
          ...quoted,
          amount: text('amountIn'),
          deposit_min_amount: text(zeroIsNone('minAmount')),
          deposit_max_amount: text(zeroIsNone('maxAmount')),
          // Of the amount that is received.
          ...unusedNames('min_amount', 'max_amount'),
        },
        assumes: ['amountOut', 'rateType'],
        refusesByAmountRange: true,
      }),
    },
    createTransaction: {
      float: {
        sent: providerOperation<'createTransaction'>()({
          at: 'POST /v1/transaction',
          request: { ...order, ...sent },
          response: transaction,
        }),
        received: providerOperation<'createTransaction'>()({
          // Of the calls for an amount to receive only the answer of `info-revert` is recorded.
          at: 'POST /v1/transaction-revert',
          request: { ...order, ...received },
          response: transaction,
        }),
      },
      fixed: {
        sent: providerOperation<'createTransaction'>()({
          at: 'POST /v1/transaction',
          request: { ...order, ...sent, rate_id: 'quoteId' },
          response: transaction,
        }),
        received: providerOperation<'createTransaction'>()({
          at: 'POST /v1/transaction-revert',
          request: { ...order, ...received, rate_id: 'quoteId' },
          response: transaction,
        }),
      },
    },
    listTransactions: providerOperation<'listTransactions'>()({
      // Unverified: a row is taken as that of a get, with `is_float` as a text.
      at: 'GET /v2/transactions-list',
      request: {
        page: 'page',
        limit: 'size',
        start_date: unix(optional('dateFrom'), 's'),
        end_date: unix(optional('dateTo'), 's'),
      },
      page: { current_page: 'unused', last_page: 'lastPage', data: 'items' },
      response: transaction,
    }),
    getTransaction: providerOperation<'getTransaction'>()({
      at: 'GET /v1/transaction/{id}',
      request: { id: 'id' },
      response: transaction,
    }),
  },
})

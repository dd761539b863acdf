/**
 * Form B of `docs/service.md`: snake_case responses, `X-API-Key`, `count`; two words for an asset. A provider may leave out, or have null
 * in: `amount_in` and `amount_out_expected` of a create, `notes`, `message`, `rate`, `minAmount`, `maxAmount`, `toAmount` beside a
 * `message`, `refund_address`, `network_from`, `network_to`, `tx_hash_in`, `tx_hash_out`, `amount_out` before `success`; any other missing
 * or mistyped field is not of the form (`test/faults/upstream-responses.test.ts`, `test/forms`).
 */

import { keyHeader } from '../wire/credential.ts'
import { defineForm, operation, question } from '../wire/form.ts'
import { extension, forClients, inside, listOf, oneOf, optional, optionalText, orNull, withDefault } from '../wire/table.ts'

const requestedAmount = { amount: oneOf('amountIn'), amountTo: oneOf('amountOut') } as const

const quoted = {
  coinFrom: 'coinFrom',
  coinTo: 'coinTo',
  ...requestedAmount,
  rateType: withDefault('rateType', 'float'),
  networkFrom: optional('networkFrom'),
  networkTo: optional('networkTo'),
} as const

const quote = {
  fromAmount: 'amountIn',
  toAmount: optional('amountOut', ({ message }) => Boolean(message)),
  rate: optional('rate'),
  minAmount: 'minAmount',
  maxAmount: 'maxAmount',
  message: orNull('message'),
} as const

const promised = { valid_until: extension('validUntil'), support_url: extension('supportUrl') } as const

const followed = {
  ...promised,
  attention: forClients('attention'),
  status_reason: extension('statusReason'),
  refund_hash: extension('refundHash'),
  refund_amount: extension('refundAmount'),
} as const

const details = {
  id: 'id',
  status: 'status',
  coin_from: 'coinFrom',
  coin_to: 'coinTo',
  network_from: optional('networkFrom'),
  network_to: optional('networkTo'),
  amount_in: 'amountIn',
  amount_out: optional('amountOut', ({ status }) => status !== 'success'),
  rate: optional('rate'),
  rate_type: 'rateType',
  deposit_address: 'depositAddress',
  deposit_extra_id: extension('depositExtraId'),
  withdrawal_address: 'withdrawalAddress',
  withdrawal_extra_id: extension('withdrawalExtraId'),
  refund_address: orNull('refundAddress'),
  refund_extra_id: extension('refundExtraId'),
  tx_hash_in: orNull('txHashIn'),
  tx_hash_out: orNull('txHashOut'),
  created_at: 'createdAt',
  ...followed,
  capabilities: forClients('capabilities'),
} as const

/** Of which swap, and where its deposit goes back to. The names of a create do as well. */
const refund = {
  success: 200,
  response: details,
  request: {
    id: 'id',
    address: optional('refundAddress'),
    extraId: extension('refundExtraId'),
    refundAddress: optional('refundAddress'),
    refundExtraId: extension('refundExtraId'),
  },
} as const

export const formB = defineForm({
  name: 'B',
  credential: keyHeader('X-API-Key'),
  statuses: ['wait', 'confirmation', 'exchanging', 'success', 'overdue', 'refunded'],
  newestFirst: true,
  hasExpectedAmount: false,
  hasStreams: true,
  page: { data: 'items', count: 'total' },
  error: { message: 'message', code: 'status' },
  operations: {
    listCurrencies: operation<'listCurrencies'>()({
      at: 'GET /currencies',
      success: 200,
      request: { page: withDefault('page', 1), size: withDefault('size', 50), search: optional('search') },
      response: {
        code: 'coin',
        name: 'name',
        icon: 'icon',
        notes: optionalText('notes'),
        can_deposit: extension('canDeposit'),
        can_withdraw: extension('canWithdraw'),
        fixed_rate: extension('fixedRate'),
      },
    }),
    getRate: operation<'getRate'>()({
      at: 'GET /rate',
      success: 200,
      request: { ...quoted, quoteId: optional('isFirm') },
      response: { ...quote, quote_id: extension('quoteId'), valid_until: extension('quoteValidUntil') },
    }),
    createTransaction: operation<'createTransaction'>()({
      at: 'POST /transactions',
      success: 200,
      request: {
        coinFrom: 'coinFrom',
        coinTo: 'coinTo',
        networkFrom: 'networkFrom',
        networkTo: 'networkTo',
        ...requestedAmount,
        withdrawalAddress: 'withdrawalAddress',
        withdrawalExtraId: extension('withdrawalExtraId'),
        refundAddress: optional('refundAddress'),
        refundExtraId: extension('refundExtraId'),
        rateType: withDefault('rateType', 'float'),
        quoteId: optional('quoteId'),
      },
      response: {
        id: 'id',
        status: 'status',
        coin_from: 'coinFrom',
        coin_to: 'coinTo',
        amount_in: 'amountIn',
        amount_out_expected: 'amountOut',
        rate_type: 'rateType',
        deposit_address: 'depositAddress',
        deposit_extra_id: extension('depositExtraId'),
        withdrawal_address: 'withdrawalAddress',
        withdrawal_extra_id: extension('withdrawalExtraId'),
        refund_extra_id: extension('refundExtraId'),
        created_at: 'createdAt',
        ...promised,
      },
      addedByProvider: {
        network_from: optional('networkFrom'),
        network_to: optional('networkTo'),
        refund_address: optional('refundAddress'),
      },
    }),
    listTransactions: operation<'listTransactions'>()({
      at: 'GET /transactions',
      success: 200,
      request: {
        page: withDefault('page', 1),
        size: withDefault('size', 20),
        dateFrom: optional('dateFrom'),
        dateTo: optional('dateTo'),
        status: optional('statuses'),
        updatedSince: optional('updatedSince'),
      },
      response: {
        id: 'id',
        status: 'status',
        coin_from: 'coinFrom',
        coin_to: 'coinTo',
        amount_in: 'amountIn',
        amount_out: optional('amountOut', ({ status }) => status !== 'success'),
        created_at: 'createdAt',
        ...followed,
      },
    }),
    getTransaction: operation<'getTransaction'>()({
      at: 'GET /transactions/{id}',
      success: 200,
      request: { id: 'id' },
      response: details,
    }),
  },
  questions: {
    checkAddress: question<'checkAddress'>()({
      at: 'POST /addresses/check',
      success: 200,
      request: { coin: 'coin', network: 'network', address: 'address', extraId: extension('extraId') },
      response: {
        valid: 'isValid',
        errors: listOf('complaints', { field: 'field', reason: 'reason', message: 'message' }),
      },
    }),
    describePair: question<'describePair'>()({
      at: 'GET /pairs/{from}/{to}',
      success: 200,
      request: {
        from: 'coinFrom',
        to: 'coinTo',
        networkFrom: optional('networkFrom'),
        networkTo: optional('networkTo'),
      },
      response: {
        from: inside({
          coin: 'coinFrom',
          network: optional('networkFrom'),
          decimals: optional('decimalsFrom'),
          memoNeeded: optional('needsMemoFrom'),
          addressPattern: optional('addressPatternFrom'),
        }),
        to: inside({
          coin: 'coinTo',
          network: optional('networkTo'),
          decimals: optional('decimalsTo'),
          memoNeeded: optional('needsMemoTo'),
          addressPattern: optional('addressPatternTo'),
        }),
        directions: inside({ forward: optional('isOffered'), reverse: optional('isReverseOffered') }),
        rateTypes: listOf('rateTypes', {
          rateType: 'rateType',
          minAmount: optional('minAmount'),
          maxAmount: optional('maxAmount'),
        }),
      },
    }),
    listRates: question<'listRates'>()({
      at: 'GET /rates',
      success: 200,
      request: quoted,
      response: {
        rates: listOf('rates', { provider: 'provider', ...quote }),
        failed: listOf('failures', { provider: 'provider', reason: 'failure', message: 'message' }),
      },
    }),
    refundTransaction: question<'refundTransaction'>()({
      at: 'POST /transactions/{id}/refund',
      ...refund,
    }),
    continueTransaction: question<'continueTransaction'>()({
      at: 'POST /transactions/{id}/continue',
      success: 200,
      request: { id: 'id' },
      response: details,
    }),
    setRefundAddress: question<'setRefundAddress'>()({
      at: 'POST /transactions/{id}/refund-address',
      ...refund,
    }),
    driveSandbox: question<'driveSandbox'>()({
      at: 'POST /transactions/{id}/sandbox',
      success: 200,
      request: { id: 'id', do: 'event' },
      response: details,
    }),
  },
})

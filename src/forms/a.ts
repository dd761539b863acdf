/**
 * Form A of `docs/service.md`: camelCase, `Authorization: Bearer`, `pagination`; one word for an asset. A provider may leave out, or have
 * null in: `amount` and `amountTo` of a create, `network`, `depositMin`, `depositMax`, `fee`, `refundAddress`, `updatedAt`, `minAmount`,
 * `maxAmount`; any other missing or mistyped field is not of the form (`test/faults/upstream-responses.test.ts`, `test/forms`).
 */

import { bearer } from '../wire/credential.ts'
import { defineForm, operation, question } from '../wire/form.ts'
import { extension, forClients, inside, listOf, oneOf, optional, withDefault } from '../wire/table.ts'

const transaction = {
  id: 'id',
  status: 'status',
  coinFrom: 'codeFrom',
  coinTo: 'codeTo',
  amount: 'amountIn',
  amountTo: 'amountOut',
  depositAddress: 'depositAddress',
  depositExtraId: extension('depositExtraId'),
  withdrawalAddress: 'withdrawalAddress',
  withdrawalExtraId: extension('withdrawalExtraId'),
  refundAddress: optional('refundAddress'),
  refundExtraId: extension('refundExtraId'),
  createdAt: 'createdAt',
  updatedAt: optional('updatedAt'),
  rate: 'rate',
  rateType: 'rateType',
  validUntil: extension('validUntil'),
  supportUrl: extension('supportUrl'),
} as const

const followed = {
  ...transaction,
  attention: forClients('attention'),
  statusReason: extension('statusReason'),
  refundHash: extension('refundHash'),
  refundAmount: extension('refundAmount'),
} as const

const details = { ...followed, capabilities: forClients('capabilities') } as const

const quote = {
  coinFrom: 'codeFrom',
  coinTo: 'codeTo',
  amount: 'amountIn',
  amountTo: 'amountOut',
  rate: 'rate',
  minAmount: 'minAmount',
  maxAmount: 'maxAmount',
  fee: optional('fee'),
  rateType: 'rateType',
} as const

const requestedAmount = { amount: oneOf('amountIn'), amountTo: oneOf('amountOut') } as const

const quoted = { coinFrom: 'codeFrom', coinTo: 'codeTo', ...requestedAmount, rateType: withDefault('rateType', 'float') } as const

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

export const formA = defineForm({
  name: 'A',
  credential: bearer(),
  statuses: ['wait', 'confirmation', 'confirmed', 'exchanging', 'sending', 'success', 'overdue', 'refunded'],
  newestFirst: false,
  hasExpectedAmount: true,
  hasStreams: true,
  page: { data: 'items', pagination: { page: 'page', size: 'size', total: 'total' } },
  error: { error: 'reason', message: 'message', code: 'status' },
  operations: {
    listCurrencies: operation<'listCurrencies'>()({
      at: 'GET /currencies',
      success: 200,
      request: { page: withDefault('page', 1), size: withDefault('size', 50), search: optional('search') },
      response: {
        code: 'code',
        name: 'name',
        icon: 'icon',
        network: optional('network'),
        depositMin: optional('depositMin'),
        depositMax: optional('depositMax'),
        canDeposit: extension('canDeposit'),
        canWithdraw: extension('canWithdraw'),
        fixedRate: extension('fixedRate'),
      },
    }),
    getRate: operation<'getRate'>()({
      at: 'GET /rate',
      success: 200,
      request: { ...quoted, quoteId: optional('isFirm') },
      response: { ...quote, quoteId: extension('quoteId'), validUntil: extension('quoteValidUntil') },
    }),
    createTransaction: operation<'createTransaction'>()({
      at: 'POST /transactions',
      success: 201,
      request: {
        coinFrom: 'codeFrom',
        coinTo: 'codeTo',
        ...requestedAmount,
        withdrawalAddress: 'withdrawalAddress',
        withdrawalExtraId: extension('withdrawalExtraId'),
        refundAddress: optional('refundAddress'),
        refundExtraId: extension('refundExtraId'),
        rateType: withDefault('rateType', 'float'),
        quoteId: optional('quoteId'),
      },
      response: transaction,
    }),
    listTransactions: operation<'listTransactions'>()({
      at: 'GET /transactions',
      success: 200,
      request: {
        page: withDefault('page', 1),
        size: withDefault('size', 20),
        status: optional('statuses'),
        updatedSince: optional('updatedSince'),
      },
      response: followed,
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
      request: { coin: 'code', address: 'address', extraId: extension('extraId') },
      response: {
        valid: 'isValid',
        errors: listOf('complaints', { field: 'field', reason: 'reason', message: 'message' }),
      },
    }),
    describePair: question<'describePair'>()({
      at: 'GET /pairs/{from}/{to}',
      success: 200,
      request: { from: 'codeFrom', to: 'codeTo' },
      response: {
        from: inside({
          coin: 'codeFrom',
          network: optional('networkFrom'),
          decimals: optional('decimalsFrom'),
          memoNeeded: optional('needsMemoFrom'),
          addressPattern: optional('addressPatternFrom'),
        }),
        to: inside({
          coin: 'codeTo',
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

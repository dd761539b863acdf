/** The form of an invented provider that serves only users whose address it gets: Form A, with a header. Quotes with a floating rate need none. */

import { bearer } from '../../src/wire/credential.ts'
import { plainKey } from '../../src/wire/provider-credential.ts'
import { defineProviderForm, providerOperation } from '../../src/wire/provider-form.ts'
import { extension, optional } from '../../src/wire/table.ts'

const pair = { coinFrom: 'codeFrom', coinTo: 'codeTo' } as const
const swap = {
  ...pair,
  id: 'id',
  status: 'status',
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
} as const

const rate = {
  at: 'GET /rate',
  request: { ...pair, amount: 'amountIn', rateType: 'rateType' },
  response: {
    ...pair,
    amount: 'amountIn',
    amountTo: 'amountOut',
    rate: 'rate',
    minAmount: 'minAmount',
    maxAmount: 'maxAmount',
    fee: optional('fee'),
    rateType: 'rateType',
  },
} as const

const address = { addressHeader: 'X-End-User' } as const

export const roaming = defineProviderForm({
  name: 'roaming',
  credential: plainKey(bearer()),
  statuses: { wait: 'wait', success: 'success' },
  newestFirst: false,
  hasExpectedAmount: true,
  refusal: { messages: ['message'] },
  operations: {
    listCurrencies: providerOperation<'listCurrencies'>()({
      at: 'GET /currencies',
      request: { page: 'page', size: 'size' },
      page: { data: 'items', pagination: { page: 'page', size: 'size', total: 'total' } },
      response: { code: 'code', name: 'name', icon: 'icon', network: optional('network') },
    }),
    getRate: {
      float: providerOperation<'getRate'>()(rate),
      fixed: providerOperation<'getRate'>()({ ...rate, ...address }),
    },
    createTransaction: providerOperation<'createTransaction'>()({
      ...address,
      at: 'POST /transactions',
      request: {
        ...pair,
        amount: 'amountIn',
        withdrawalAddress: 'withdrawalAddress',
        withdrawalExtraId: extension('withdrawalExtraId'),
        refundAddress: optional('refundAddress'),
        refundExtraId: extension('refundExtraId'),
        rateType: 'rateType',
      },
      response: swap,
    }),
    listTransactions: providerOperation<'listTransactions'>()({
      at: 'GET /transactions',
      request: { page: 'page', size: 'size' },
      page: { data: 'items', pagination: { page: 'page', size: 'size', total: 'total' } },
      response: swap,
    }),
    getTransaction: providerOperation<'getTransaction'>()({ at: 'GET /transactions/{id}', request: { id: 'id' }, response: swap }),
  },
})

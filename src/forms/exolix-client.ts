/** Exolix v2 for clients that already use it, at `/exolix/api/v2` (docs/contract.md §16). */

import { keyOrBearer } from '../wire/credential.ts'
import { defineForm, operation, question } from '../wire/form.ts'
import { extension, inside, listOf, oneOf, optional, orNull, type ResponseTree, unused, withDefault } from '../wire/table.ts'

const requestedAmount = { amount: oneOf('amountIn'), withdrawalAmount: oneOf('amountOut') } as const

const transaction = {
  id: 'id',
  status: 'status',
  amount: 'amountIn',
  amountTo: 'amountOut',
  coinFrom: inside({ coinCode: 'coinFrom', coinName: optional('coinNameFrom'), network: 'networkFrom', icon: unused }),
  coinTo: inside({ coinCode: 'coinTo', coinName: optional('coinNameTo'), network: 'networkTo', icon: unused }),
  depositAddress: 'depositAddress',
  depositExtraId: orNull('depositExtraId'),
  withdrawalAddress: 'withdrawalAddress',
  withdrawalExtraId: orNull('withdrawalExtraId'),
  refundAddress: orNull('refundAddress'),
  refundExtraId: orNull('refundExtraId'),
  hashIn: inside({ hash: orNull('txHashIn'), link: unused }),
  hashOut: inside({ hash: orNull('txHashOut'), link: unused }),
  rate: optional('rate'),
  rateType: 'rateType',
  createdAt: 'createdAt',
} as const satisfies ResponseTree

const network = {
  network: 'network',
  name: 'name',
  shortName: 'shortName',
  notes: unused,
  addressRegex: orNull('addressPattern'),
  isDefault: 'isDefault',
  blockExplorer: orNull('blockExplorer'),
  depositMinAmount: optional('depositMin'),
  memoNeeded: optional('needsMemo'),
  memoName: unused,
  memoRegex: unused,
  precision: orNull('decimals'),
  decimal: orNull('decimals'),
  contract: orNull('contract'),
  icon: unused,
} as const satisfies ResponseTree

export const exolixClient = defineForm({
  name: 'exolix',
  credential: keyOrBearer('Authorization'),
  isChosenByKey: false,
  keyMember: 'apiToken',
  statuses: ['wait', 'confirmation', 'confirmed', 'exchanging', 'sending', 'success', 'overdue', 'refunded'],
  newestFirst: false,
  hasExpectedAmount: true,
  takesEmptyParameters: true,
  page: { data: 'items', count: 'total' },
  error: { status: 'status', message: 'message', errors: 'byField' },
  amountRefusal: {
    status: 422,
    body: { fromAmount: 'amountIn', toAmount: 'zero', message: 'message', minAmount: 'minAmount', maxAmount: 'maxAmount' },
  },
  operations: {
    listCurrencies: operation<'listCurrencies'>()({
      at: 'GET /currencies',
      success: 200,
      request: {
        page: withDefault('page', 1),
        size: withDefault('size', 50),
        search: optional('search'),
        withNetworks: optional('withNetworks'),
      },
      response: {
        code: 'coin',
        name: 'name',
        icon: 'icon',
        notes: optional('notes'),
        networks: listOf('networks', network),
      },
    }),
    getRate: operation<'getRate'>()({
      at: 'GET /rate',
      success: 200,
      request: {
        coinFrom: 'coinFrom',
        networkFrom: optional('networkFrom'),
        coinFromNetwork: optional('networkFrom'),
        coinTo: 'coinTo',
        networkTo: optional('networkTo'),
        coinToNetwork: optional('networkTo'),
        ...requestedAmount,
        rateType: withDefault('rateType', 'fixed'),
      },
      response: {
        fromAmount: 'amountIn',
        toAmount: 'amountOut',
        rate: optional('rate'),
        message: orNull('message'),
        minAmount: optional('minAmount'),
        withdrawMin: unused,
        maxAmount: optional('maxAmount'),
      },
    }),
    createTransaction: operation<'createTransaction'>()({
      at: 'POST /transactions',
      success: 201,
      request: {
        coinFrom: 'coinFrom',
        networkFrom: 'networkFrom',
        coinFromNetwork: optional('networkFrom'),
        coinTo: 'coinTo',
        networkTo: 'networkTo',
        coinToNetwork: optional('networkTo'),
        ...requestedAmount,
        withdrawalAddress: 'withdrawalAddress',
        withdrawalExtraId: extension('withdrawalExtraId'),
        refundAddress: optional('refundAddress'),
        refundExtraId: extension('refundExtraId'),
        rateType: 'rateType',
      },
      response: transaction,
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
      response: transaction,
    }),
    getTransaction: operation<'getTransaction'>()({
      at: 'GET /transactions/{id}',
      success: 200,
      request: { id: 'id' },
      response: transaction,
    }),
  },
  questions: {
    coinNetworks: question<'coinNetworks'>()({
      at: 'GET /currencies/{code}/networks',
      success: 200,
      request: { code: 'coin' },
      rows: 'list',
      response: network,
    }),
    allNetworks: question<'allNetworks'>()({
      at: 'GET /currencies/networks',
      success: 200,
      request: { page: withDefault('page', 1), size: withDefault('size', 50), search: optional('search') },
      rows: 'page',
      response: network,
    }),
  },
})

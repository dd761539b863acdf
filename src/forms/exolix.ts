/**
 * Exolix v2 as a provider; what an operator must know: `docs/providers/exolix.md`.
 * Recorded are a create, two quotes and a refusal below the minimum. `Unverified` marks doubts.
 */

import { keyHeader } from '../wire/credential.ts'
import { plainKey } from '../wire/provider-credential.ts'
import { defineProviderForm, providerOperation } from '../wire/provider-form.ts'
import { always, each, extension, inside, optional, optionalSetting, orNull, type ResponseTree, unused } from '../wire/table.ts'

const assetDetails = {
  coinName: unused,
  networkName: unused,
  networkShortName: unused,
  icon: unused,
  memoName: unused,
  networkIcon: unused,
  networkNotes: unused,
} as const

const transaction = {
  id: 'id',
  amount: 'amountIn',
  amountTo: 'amountOut',
  coinFrom: inside({ coinCode: 'coinFrom', network: 'networkFrom', contract: optional('contractFrom'), ...assetDetails }),
  coinTo: inside({ coinCode: 'coinTo', network: 'networkTo', contract: optional('contractTo'), ...assetDetails }),
  comment: unused,
  createdAt: 'createdAt',
  depositAddress: 'depositAddress',
  depositExtraId: extension('depositExtraId'),
  withdrawalAddress: 'withdrawalAddress',
  withdrawalExtraId: extension('withdrawalExtraId'),
  refundAddress: orNull('refundAddress'),
  refundExtraId: extension('refundExtraId'),
  hashIn: inside({ hash: orNull('txHashIn'), link: unused }),
  hashOut: inside({ hash: orNull('txHashOut'), link: unused }),
  rate: optional('rate'),
  rateType: 'rateType',
  affiliateToken: unused,
  status: 'status',
  source: unused,
  email: unused,
  clickId: unused,
} as const satisfies ResponseTree

const page = { data: 'items', count: 'total' } as const

const pair = { coinFrom: 'coinFrom', networkFrom: 'networkFrom', coinTo: 'coinTo', networkTo: 'networkTo' } as const
// Unverified: `refs`, which the documentation lacks, and the names of networks in a quote: some clients send `coinFromNetwork`.
const asked = { ...pair, rateType: 'rateType', refs: optionalSetting('refs') } as const

const quoted = {
  fromAmount: 'amountIn',
  toAmount: optional('amountOut', ({ message }) => Boolean(message)),
  rate: optional('rate'),
  message: orNull('message'),
  minAmount: optional('minAmount'),
  maxAmount: optional('maxAmount'),
  withdrawMin: optional('receivedMin'),
  withdrawMax: unused,
  priceImpact: unused,
  // Of newer quotes; it is not sent back.
  rateId: unused,
} as const satisfies ResponseTree

const order = {
  ...asked,
  withdrawalAddress: 'withdrawalAddress',
  withdrawalExtraId: extension('withdrawalExtraId'),
  refundAddress: optional('refundAddress'),
  refundExtraId: extension('refundExtraId'),
} as const

export const exolix = defineProviderForm({
  name: 'exolix',
  credential: plainKey(keyHeader('Authorization')),
  keyed: ['listCurrencies', 'getRate', 'createTransaction', 'listTransactions', 'getTransaction'],
  statuses: {
    wait: 'wait',
    confirmation: 'confirmation',
    confirmed: 'confirmed',
    exchanging: 'exchanging',
    sending: 'sending',
    success: 'success',
    overdue: 'overdue',
    refunded: 'refunded',
    // Whether it is complete then is not documented.
    refund: 'exchanging',
    error: 'failed',
    deleted: 'failed',
  },
  statusReasons: { error: 'provider_error', deleted: 'other' },
  orderPage: 'https://exolix.com/transaction/{id}',
  newestFirst: false,
  hasExpectedAmount: true,
  depositMemo: ['XLM', 'XRP'],
  flagsDepositMemos: true,
  // From public clients.
  networks: { byName: { POLYGON: 'MATIC', ZKSYNC: 'ZKSYNCERA' } },
  // The body of a refused key is unverified: any 401 or 403 counts.
  refusal: {
    amountRange: { min: ['minAmount'], max: ['maxAmount'] },
  },
  operations: {
    listCurrencies: providerOperation<'listCurrencies'>()({
      at: 'GET /currencies',
      request: { page: 'page', size: 'size', search: optional('search'), withNetworks: always(true) },
      page,
      response: {
        code: 'coin',
        name: 'name',
        icon: 'icon',
        notes: unused,
        networks: each({
          network: 'network',
          depositMinAmount: optional('depositMin'),
          name: unused,
          shortName: unused,
          addressRegex: unused,
          addresRegex: unused,
          notes: unused,
          isDefault: unused,
          decimal: unused,
          icon: unused,
          blockExplorer: optional('blockExplorer'),
          memoNeeded: optional('needsMemo'),
          memoName: unused,
          memoRegex: unused,
          precision: optional('precision'),
          contract: optional('contract'),
        }),
      },
    }),
    getRate: {
      sent: providerOperation<'getRate'>()({ at: 'GET /rate', request: { ...asked, amount: 'amountIn' }, response: quoted }),
      received: providerOperation<'getRate'>()({
        at: 'GET /rate',
        request: { ...asked, withdrawalAmount: 'amountOut' },
        response: quoted,
      }),
    },
    createTransaction: {
      sent: providerOperation<'createTransaction'>()({
        at: 'POST /transactions',
        request: { ...order, amount: 'amountIn' },
        response: transaction,
      }),
      received: providerOperation<'createTransaction'>()({
        at: 'POST /transactions',
        request: { ...order, withdrawalAmount: 'amountOut' },
        response: transaction,
      }),
    },
    listTransactions: providerOperation<'listTransactions'>()({
      // Unverified: whether the dates are inclusive. A lost create is searched in a wider range.
      at: 'GET /transactions',
      request: { page: 'page', size: 'size', dateFrom: optional('dateFrom'), dateTo: optional('dateTo') },
      page,
      response: transaction,
    }),
    getTransaction: providerOperation<'getTransaction'>()({
      at: 'GET /transactions/{id}',
      request: { id: 'id' },
      response: transaction,
    }),
  },
})

/** SideShift v2 as a provider, swaps at a fixed rate only; facts, sources and what is unverified: `docs/providers/sideshift.md`. */

import { keyHeader } from '../wire/credential.ts'
import { plainKey } from '../wire/provider-credential.ts'
import { defineProviderForm, providerOperation } from '../wire/provider-form.ts'
import {
  byMember,
  depositSeen,
  each,
  extension,
  fallback,
  firstIfAny,
  isOffFor,
  lowerCase,
  optional,
  optionalSetting,
  payoutOrRefund,
  perItem,
  reason,
  setting,
  text,
  unusedNames,
} from '../wire/table.ts'

const user = { addressHeader: 'x-user-ip' } as const
const affiliate = { affiliateId: setting('affiliateId') } as const
// A shift has that of its quote.
const commission = { ...affiliate, commissionRate: optionalSetting('commissionRate') } as const

const pair = {
  depositCoin: 'coinFrom',
  depositNetwork: lowerCase('networkFrom'),
  settleCoin: 'coinTo',
  settleNetwork: lowerCase('networkTo'),
} as const

const limits = {
  at: 'GET /pair/{depositCoin}-{depositNetwork}/{settleCoin}-{settleNetwork}',
  request: { ...pair, ...commission },
  response: {
    min: text(optional('minAmount')),
    max: text(optional('maxAmount')),
    ...unusedNames('rate', 'depositCoin', 'depositNetwork', 'settleCoin', 'settleNetwork'),
  },
} as const

const issue = reason({
  memo_missing: /memo|tag/i,
  wrong_network: /network|chain/i,
  amount_out_of_range: /amount|minimum|maximum|too (?:low|high|small|large)/i,
  late_deposit: /late|expired/i,
  address_invalid: /address/i,
})

const quoted = {
  ...pair,
  id: 'quoteId',
  depositAmount: text('amountIn'),
  settleAmount: text('amountOut'),
  rate: text(optional('rate')),
  expiresAt: optional('quoteValidUntil'),
  ...unusedNames('createdAt', 'affiliateId', 'settleCoinNetworkFee', 'networkFeeUsd'),
} as const

const shift = {
  ...pair,
  id: 'id',
  status: 'status',
  // `fixed`: the other type has no amount, and another word.
  type: 'rateType',
  depositAddress: 'depositAddress',
  depositMemo: extension('depositExtraId'),
  depositAmount: text('amountIn'),
  settleAddress: 'withdrawalAddress',
  settleMemo: extension('withdrawalExtraId'),
  settleAmount: text('amountOut'),
  refundAddress: optional('refundAddress'),
  refundMemo: extension('refundExtraId'),
  rate: text(optional('rate')),
  createdAt: 'createdAt',
  expiresAt: optional('validUntil'),
  ...unusedNames('depositMin', 'depositMax', 'quoteId', 'averageShiftSeconds', 'externalId'),
  ...unusedNames('settleCoinNetworkFee', 'networkFeeUsd'),
} as const

// It names the quote, whichever amount that was for.
const create = providerOperation<'createTransaction'>()({
  ...user,
  at: 'POST /shifts/fixed',
  isImpliedByQuote: true,
  request: {
    ...affiliate,
    quoteId: 'quoteId',
    settleAddress: 'withdrawalAddress',
    settleMemo: extension('withdrawalExtraId'),
    refundAddress: optional('refundAddress'),
    refundMemo: extension('refundExtraId'),
    externalId: optional('reference'),
  },
  response: shift,
})

export const sideshift = defineProviderForm({
  name: 'sideshift',
  credential: plainKey(keyHeader('x-sideshift-secret')),
  keyed: ['getRate', 'createTransaction'],
  statuses: {
    waiting: 'wait',
    pending: 'confirmation',
    processing: 'exchanging',
    settling: 'sending',
    settled: 'success',
    refunding: 'exchanging',
    refunded: 'refunded',
    expired: 'overdue',
    review: 'held',
    multiple: 'held',
    // It waits for an address, if it has none.
    refund: byMember('refundAddress', { present: 'exchanging', otherwise: 'held' }),
    dead: 'failed',
  },
  awaitingOwner: ['refund'],
  orderPage: 'https://sideshift.ai/orders/{id}',
  newestFirst: false,
  hasExpectedAmount: true,
  quotedFirst: ['fixed'],
  networks: {
    byName: {
      ...{ ADA: 'cardano', ALGO: 'algorand', APT: 'aptos', ATOM: 'cosmos', AVAXC: 'avax', BCH: 'bitcoincash', BTC: 'bitcoin' },
      ...{ DOT: 'polkadot', ETH: 'ethereum', HBAR: 'hedera', HYPEEVM: 'hyperevm', LTC: 'litecoin', MNT: 'mantle' },
      ...{ SOL: 'solana', TAO: 'bittensor', TRX: 'tron', XLM: 'stellar', XMR: 'monero', XRP: 'ripple', XTZ: 'tezos' },
      ...{ ZKSYNC: 'zksyncera' },
    },
  },
  depositMemo: ['ATOM', 'KAVA', 'XLM', 'XRP'],
  refusal: {
    presentIn200: ['error'],
    expiredQuote: [/\bquote\b/i, /\bexpired\b/i],
    amountRange: { min: ['error.depositRangeMin'], max: ['error.depositRangeMax'] },
    codes: {
      at: 'error.code',
      meanings: {
        BAD_USER_INPUT: { kind: 'invalid' },
        METHOD_NOT_FOUND: { kind: 'invalid', reason: 'not_offered' },
        // A 403 for the user's address: the key is as good as before.
        ACCESS_DENIED: { kind: 'invalid' },
      },
    },
  },
  operations: {
    listCurrencies: providerOperation<'listCurrencies'>()({
      at: 'GET /coins',
      request: {},
      response: {
        coin: 'coin',
        name: 'name',
        networks: each('network'),
        tokenDetails: perItem({ contractAddress: optional('contract'), ...unusedNames('decimals') }),
        depositOffline: isOffFor('canDeposit'),
        settleOffline: isOffFor('canWithdraw'),
        // Of the two rate types this form has the other one.
        variableOnly: isOffFor('canDeposit', 'canWithdraw', 'fixedRate'),
        ...unusedNames('mainnet', 'hasMemo', 'networksWithMemo', 'fixedOnly'),
      },
      assumes: ['icon'],
    }),
    getRate: {
      fixed: {
        sent: providerOperation<'getRate'>()({
          ...user,
          at: 'POST /quotes',
          request: { ...pair, ...commission, depositAmount: text('amountIn') },
          response: quoted,
          also: limits,
        }),
        received: providerOperation<'getRate'>()({
          ...user,
          at: 'POST /quotes',
          request: { ...pair, ...commission, settleAmount: text('amountOut') },
          response: quoted,
          also: limits,
        }),
      },
    },
    createTransaction: {
      fixed: { sent: create, received: create },
    },
    getTransaction: providerOperation<'getTransaction'>()({
      at: 'GET /shifts/{id}',
      request: { id: 'id' },
      response: {
        ...shift,
        depositAddress: optional('depositAddress'),
        depositMin: fallback(text('amountIn')),
        settleAmount: text(optional('amountOut')),
        depositHash: optional('txHashIn'),
        settleHash: payoutOrRefund('refund', 'refunding', 'refunded'),
        depositReceivedAt: depositSeen,
        issue,
        // Of several, the first one is exchanged.
        deposits: firstIfAny({
          depositHash: fallback(optional('txHashIn')),
          settleHash: fallback(optional('txHashOut')),
          settleAmount: text(fallback(optional('amountOut'))),
          ...unusedNames('depositAmount', 'depositReceivedAt', 'updatedAt', 'rate', 'status', 'issue'),
        }),
        updatedAt: optional('updatedAt'),
        externalId: optional('reference'),
      },
    }),
  },
  actions: {
    // An order without a deposit expires at once; what is paid later is sent back. Where it waits for an address, that is the refund.
    refundTransaction: { at: 'POST /cancel-order', request: { orderId: 'id' }, offeredIn: ['wait'] },
    setRefundAddress: {
      at: 'POST /shifts/{shiftId}/set-refund-address',
      request: { shiftId: 'id', address: 'refundAddress', memo: extension('refundExtraId') },
      offeredIn: ['wait', 'confirmation', 'confirmed', 'exchanging', 'sending', 'failed', 'held'],
    },
  },
})

/**
 * SideShift v2 as a provider, swaps at a fixed rate only; what an operator must know: `docs/providers/sideshift.md`.
 * Recorded are a pair and the refusal of an unknown coin, the rest is from the documentation. `Unverified` marks doubts.
 */

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

// Unverified: documented is `incorrect amount` alone.
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
    // Unverified: that shifts cannot be searched by it. So a lost create waits for a person.
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
    // Public clients have it; the documentation does not.
    dead: 'failed',
  },
  awaitingOwner: ['refund'],
  orderPage: 'https://sideshift.ai/orders/{id}',
  newestFirst: false,
  hasExpectedAmount: true,
  quotedFirst: ['fixed'],
  networks: {
    // Words that no published list has are unverified.
    byName: {
      ...{ ADA: 'cardano', ALGO: 'algorand', APT: 'aptos', ATOM: 'cosmos', AVAXC: 'avax', BCH: 'bitcoincash', BTC: 'bitcoin' },
      ...{ DOT: 'polkadot', ETH: 'ethereum', HBAR: 'hedera', HYPEEVM: 'hyperevm', LTC: 'litecoin', MNT: 'mantle' },
      ...{ SOL: 'solana', TAO: 'bittensor', TRX: 'tron', XLM: 'stellar', XMR: 'monero', XRP: 'ripple', XTZ: 'tezos' },
      ...{ ZKSYNC: 'zksyncera' },
    },
  },
  depositMemo: ['ATOM', 'KAVA', 'XLM', 'XRP'],
  refusal: {
    // The recorded refusal has no status.
    presentIn200: ['error'],
    expiredQuote: [/\bquote\b/i, /\bexpired\b/i],
    // Unverified: the words for amounts, and whether these come with them.
    amountRange: { min: ['error.depositRangeMin'], max: ['error.depositRangeMax'] },
    codes: {
      at: 'error.code',
      meanings: {
        BAD_USER_INPUT: { kind: 'invalid' },
        METHOD_NOT_FOUND: { kind: 'invalid', reason: 'not_offered' },
        // A 403 for the user's address: the key is as good as before. Unverified: a refused secret is 401, or another 403.
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
        // Unverified: the three flags are of a client that was on npm once.
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
        // Unverified: whether it is there before the end. Until then the quoted amount stands.
        settleAmount: text(optional('amountOut')),
        depositHash: optional('txHashIn'),
        settleHash: payoutOrRefund('refund', 'refunding', 'refunded'),
        depositReceivedAt: depositSeen,
        issue,
        // Of several, the first one is exchanged. Unverified: that they are in the order in which they came.
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
    // Unverified: that this and the next need no `x-user-ip`, and how they refuse.
    refundTransaction: { at: 'POST /cancel-order', request: { orderId: 'id' }, offeredIn: ['wait'] },
    setRefundAddress: {
      at: 'POST /shifts/{shiftId}/set-refund-address',
      request: { shiftId: 'id', address: 'refundAddress', memo: extension('refundExtraId') },
      offeredIn: ['wait', 'confirmation', 'confirmed', 'exchanging', 'sending', 'failed', 'held'],
    },
  },
})

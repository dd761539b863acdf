/**
 * Changelly v2 (JSON-RPC, signed) as a provider; what an operator must know: `docs/providers/changelly.md`.
 * Nothing is recorded: it is from the documentation, the key id from public clients, which agree. `Unverified` marks doubts.
 */

import { rsaSigned } from '../wire/provider-credential.ts'
import { defineProviderForm, providerOperation } from '../wire/provider-form.ts'
import {
  always,
  deduction,
  depositSeen,
  extension,
  fallback,
  first,
  inside,
  isOn,
  lowerCase,
  optional,
  optionalSetting,
  type RequestTree,
  type ResponseTree,
  reason,
  text,
  unix,
  unused,
  unusedNames,
  zeroIsNone,
} from '../wire/table.ts'

/** A call of a method; all go to one path. */
function method<const Params extends RequestTree>(name: string, params: Params) {
  return { jsonrpc: always('2.0'), id: always('swapgate'), method: always(name), params: inside(params) } as const
}

function result<const Line>(line: Line) {
  return { jsonrpc: unused, id: unused, result: line } as const
}

const list = { jsonrpc: 'unused', id: 'unused', result: 'items' } as const

const pair = { from: lowerCase('codeFrom'), to: lowerCase('codeTo') } as const
const sent = { amountFrom: text('amountIn') } as const
const received = { amountTo: text('amountOut') } as const
const quoted = {
  amountFrom: text('amountIn'),
  amountTo: text('amountOut'),
  networkFee: text(deduction),
  minFrom: text(optional('minAmount')),
  maxFrom: text(optional('maxAmount')),
  ...unusedNames('from', 'to', 'rate', 'result', 'visibleAmount', 'fee', 'min', 'max', 'minTo', 'maxTo'),
} as const

const orderParams = {
  ...pair,
  address: 'withdrawalAddress',
  extraId: extension('withdrawalExtraId'),
  refundExtraId: extension('refundExtraId'),
  userMetadata: optionalSetting('userMetadata'),
} as const

const created = {
  id: 'id',
  status: 'status',
  type: 'rateType',
  currencyFrom: 'codeFrom',
  currencyTo: 'codeTo',
  amountExpectedFrom: text('amountIn'),
  amountExpectedTo: text('amountOut'),
  // Unverified: that each row of the list has it and `amountExpectedTo`; that `amountTo` includes it, as the expected amount does.
  networkFee: text(deduction),
  payinAddress: 'depositAddress',
  payinExtraId: extension('depositExtraId'),
  payoutAddress: 'withdrawalAddress',
  payoutExtraId: extension('withdrawalExtraId'),
  refundAddress: optional('refundAddress'),
  refundExtraId: extension('refundExtraId'),
  // Microseconds by the documentation, seconds in an older client: the number of digits decides.
  createdAt: unix('createdAt'),
  payTill: optional('validUntil'),
  trackUrl: optional('supportUrl'),
  kycRequired: reason({ kyc: true }),
} as const satisfies ResponseTree

const transaction = {
  ...created,
  // Until the deposit and the payout there is none: an empty text and `0`.
  amountFrom: text(zeroIsNone('amountIn')),
  amountExpectedFrom: text(fallback('amountIn')),
  amountTo: text(zeroIsNone('amountOut')),
  amountExpectedTo: text(fallback(optional('amountOut'))),
  payinHash: optional('txHashIn'),
  payoutHash: optional('txHashOut'),
  refundHash: optional('refundHash'),
  moneyReceived: depositSeen,
  ...unusedNames('moneySent', 'rate', 'totalFee', 'apiExtraFee', 'changellyFee'),
  ...unusedNames('payinExtraIdName', 'payoutExtraIdName', 'payinConfirmations', 'payoutHashLink', 'payinHashLink'),
  ...unusedNames('refundHashLink', 'canPush', 'canRefund'),
} as const

export const changelly = defineProviderForm({
  name: 'changelly',
  credential: rsaSigned('X-Api-Key', 'X-Api-Signature'),
  keyed: ['listCurrencies', 'getRate', 'createTransaction', 'listTransactions', 'getTransaction'],
  statuses: {
    new: 'wait',
    waiting: 'wait',
    confirming: 'confirmation',
    exchanging: 'exchanging',
    sending: 'sending',
    finished: 'success',
    refunded: 'refunded',
    overdue: 'overdue',
    expired: 'overdue',
    failed: 'failed',
    hold: 'held',
  },
  statusReasons: { hold: 'aml' },
  // The order of the list is unverified.
  newestFirst: false,
  hasExpectedAmount: true,
  quotedFirst: ['fixed'],
  // Unverified, and so are the tickers beside the most common.
  networks: {
    byName: {
      ...{ ADA: 'cardano', ALGO: 'algorand', ATOM: 'cosmos', BCH: 'bitcoin_cash', BSC: 'binance_smart_chain', BSV: 'bitcoin_sv' },
      ...{ BTC: 'bitcoin', DGB: 'digibyte', DOT: 'polkadot', ETC: 'ethereum_classic', ETH: 'ethereum', ETHW: 'ethereum_pow' },
      ...{ FIL: 'filecoin', HBAR: 'hedera', LTC: 'litecoin', MONAD: 'mon', OSMO: 'osmo', RUNE: 'thorchain', SOL: 'solana' },
      ...{ TRX: 'tron', XLM: 'stellar', XMR: 'monero', XRP: 'ripple', XTZ: 'tezos', ZEC: 'zcash', ZIL: 'zilliqa' },
    },
  },
  // `avax`, `bnb` and `usdt` are assets of other networks there.
  assets: {
    ...{ AVAX: { code: 'avaxc' }, BNB: { code: 'bnbbsc' }, ZK: { code: 'zksync' } },
    ...{ USDCAVAXC: { code: 'usdcavac' }, USDTAVAXC: { code: 'usdtavac' } },
    ...{ USDCBEP20: { code: 'usdcbsc' }, USDCERC20: { code: 'usdc' }, USDTBEP20: { code: 'usdtbsc' } },
    ...{ USDTERC20: { code: 'usdt20' }, USDTTON: { code: 'usdton' }, USDTTRC20: { code: 'usdtrx' } },
  },
  depositMemo: ['XLM', 'XRP'],
  refusal: {
    presentIn200: ['error'],
    // The words are unverified.
    expiredQuote: [/\brateId\b/i, /\b(?:expired|not found)\b/i],
    amountRange: { min: ['error.data.limits.min.from'], max: ['error.data.limits.max.from'] },
    codes: {
      at: 'error.code',
      // Unverified beyond JSON-RPC's own words, above all a refused key, which may be a 401 too.
      meanings: {
        '-32600': { kind: 'unauthorized' },
        '-32601': { kind: 'failed' },
        '-32602': { kind: 'invalid' },
        '-32603': { kind: 'failed' },
      },
      byText: {
        '-32600': [
          // To its last digit: a part of a number is another limit.
          { matches: /\bminimal amount is (\S*\d)/i, meaning: { kind: 'invalid', reason: 'below_minimum' }, bound: 'minAmount' },
          { matches: /\bmaximal amount is (\S*\d)/i, meaning: { kind: 'invalid', reason: 'above_maximum' }, bound: 'maxAmount' },
          // The limit is one of requests per second.
          { matches: /\brequests limit\b/i, meaning: { kind: 'limited', retryAfter: 1 } },
        ],
        '-32602': [
          { matches: /\bmax amount is (\S*\d)/i, meaning: { kind: 'invalid', reason: 'above_maximum' }, bound: 'maxAmount' },
        ],
        // At a fixed rate: "wait 5 minute".
        '-32603': [{ matches: /\btransactions limit exceeds\b/i, meaning: { kind: 'limited', retryAfter: 300 } }],
      },
    },
  },
  operations: {
    listCurrencies: providerOperation<'listCurrencies'>()({
      at: 'POST ',
      request: method('getCurrenciesFull', {}),
      page: list,
      only: { enabled: true },
      response: {
        ticker: 'code',
        blockchain: optional('network'),
        fullName: 'name',
        image: optional('icon'),
        contractAddress: optional('contract'),
        enabledFrom: isOn('canDeposit'),
        enabledTo: isOn('canWithdraw'),
        fixRateEnabled: isOn('fixedRate'),
        ...unusedNames('name', 'enabled', 'protocol'),
        ...unusedNames(
          'blockchainPrecision',
          'extraIdName',
          'payinConfirmations',
          'addressUrl',
          'transactionUrl',
          'fixedTime',
          'notifications',
        ),
      },
      assumes: ['icon'],
    }),
    getRate: {
      float: providerOperation<'getRate'>()({
        at: 'POST ',
        request: method('getExchangeAmount', { ...pair, ...sent }),
        response: result(first({ ...quoted, id: unused })),
        assumes: ['rateType'],
      }),
      // Unverified: limits of both kinds, and that `expiredAt` is in seconds.
      fixed: {
        sent: providerOperation<'getRate'>()({
          at: 'POST ',
          request: method('getFixRateForAmount', { ...pair, ...sent }),
          response: result(first({ ...quoted, id: 'quoteId', expiredAt: optional('quoteValidUntil') })),
          assumes: ['rateType'],
        }),
        received: providerOperation<'getRate'>()({
          at: 'POST ',
          request: method('getFixRateForAmount', { ...pair, ...received }),
          response: result(first({ ...quoted, id: 'quoteId', expiredAt: optional('quoteValidUntil') })),
          assumes: ['rateType'],
        }),
      },
    },
    createTransaction: {
      float: providerOperation<'createTransaction'>()({
        at: 'POST ',
        request: method('createTransaction', { ...orderParams, ...sent, refundAddress: optional('refundAddress') }),
        response: result(inside(created)),
      }),
      fixed: {
        sent: providerOperation<'createTransaction'>()({
          at: 'POST ',
          request: method('createFixTransaction', { ...orderParams, ...sent, refundAddress: 'refundAddress', rateId: 'quoteId' }),
          response: result(inside(created)),
        }),
        received: providerOperation<'createTransaction'>()({
          at: 'POST ',
          request: method('createFixTransaction', {
            ...orderParams,
            ...received,
            refundAddress: 'refundAddress',
            rateId: 'quoteId',
          }),
          response: result(inside(created)),
        }),
      },
    },
    listTransactions: providerOperation<'listTransactions'>()({
      at: 'POST ',
      request: method('getTransactions', { limit: 'size', offset: 'offset', since: unix(optional('dateFrom'), 'us') }),
      page: list,
      response: transaction,
    }),
    getTransaction: providerOperation<'getTransaction'>()({
      at: 'POST ',
      request: method('getTransactions', { id: 'id' }),
      response: result(first(transaction)),
    }),
  },
})

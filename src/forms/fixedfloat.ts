/**
 * FixedFloat v2 (signed) as a provider; what an operator must know: `docs/providers/fixedfloat.md`.
 * Nothing is recorded. Keys, headers, signature and URL are from `ff.io/api`, weights from an older page; members and statuses from
 * clients that agree: `Kodylow/fixedfloat` (Rust, the whole order), `vibros68/instantswap`, `Elbandi/go-fixedfloat-api` (Go),
 * `gluneau/fixedfloat-mcp`, `devguru008/fixedfloat` (TypeScript, JavaScript), `Nix1983/FixedFloatApi.NetCore` (C#, version 1).
 * `Unverified` marks doubts.
 */

import { hmacSigned } from '../wire/provider-credential.ts'
import { defineProviderForm, providerOperation } from '../wire/provider-form.ts'
import {
  always,
  byMember,
  depositSeen,
  extension,
  fallback,
  idPart,
  inside,
  isOn,
  optional,
  optionalSetting,
  reason,
  text,
  unix,
  unused,
  unusedNames,
  zeroIsNone,
} from '../wire/table.ts'

/** Every response is an object with a code, which is 0 where nothing is wrong. */
function result<const Line>(line: Line) {
  return { code: unused, msg: unused, data: line } as const
}

const terms = {
  type: 'rateType',
  fromCcy: 'codeFrom',
  toCcy: 'codeTo',
  refcode: optionalSetting('refcode'),
  afftax: optionalSetting('afftax', 'number'),
} as const
const sent = { direction: always('from'), amount: 'amountIn' } as const
const received = { direction: always('to'), amount: 'amountOut' } as const

const price = {
  at: 'POST /price',
  response: result(
    inside({
      from: inside({
        code: 'codeFrom',
        amount: text('amountIn'),
        rate: text(optional('rate')),
        min: text(optional('minAmount')),
        max: text(optional('maxAmount')),
        ...unusedNames('coin', 'network', 'precision', 'usd', 'btc'),
      }),
      to: inside({
        code: 'codeTo',
        amount: text('amountOut'),
        ...unusedNames('coin', 'network', 'rate', 'precision', 'min', 'max', 'usd'),
      }),
      ...unusedNames('errors', 'ccies'),
    }),
  ),
  // A refused quote has limits too. Unverified: that they are of the amount that is sent, in both directions.
  refusesByAmountRange: true,
  assumes: ['rateType'],
} as const

const order = result(
  inside({
    // Both are needed to read an order.
    id: idPart(0),
    token: idPart(1),
    type: 'rateType',
    status: 'status',
    time: inside({
      reg: unix('createdAt'),
      update: unix(optional('updatedAt')),
      expiration: optional('validUntil'),
      ...unusedNames('start', 'finish', 'left'),
    }),
    from: inside({
      code: 'codeFrom',
      amount: text(fallback('amountIn')),
      address: 'depositAddress',
      tag: extension('depositExtraId'),
      tx: inside({
        id: optional('txHashIn'),
        amount: text(zeroIsNone('amountIn')),
        timeReg: depositSeen,
        ...unusedNames('fee', 'ccyfee', 'timeBlock', 'confirmations'),
      }),
      ...unusedNames('coin', 'network', 'name', 'alias', 'addressAlt', 'tagName', 'reqConfirmations', 'maxConfirmations'),
    }),
    to: inside({
      code: 'codeTo',
      amount: text(fallback(optional('amountOut'))),
      address: 'withdrawalAddress',
      tag: extension('withdrawalExtraId'),
      tx: inside({
        id: optional('txHashOut'),
        amount: text(zeroIsNone('amountOut')),
        ...unusedNames('fee', 'ccyfee', 'timeReg', 'timeBlock', 'confirmations'),
      }),
      ...unusedNames('coin', 'network', 'name', 'alias', 'tagName'),
    }),
    back: inside({
      tx: inside({
        id: optional('refundHash'),
        amount: optional('refundAmount'),
        ...unusedNames('fee', 'ccyfee', 'timeReg', 'timeBlock', 'confirmations'),
      }),
      ...unusedNames('code', 'coin', 'network', 'name', 'alias', 'amount', 'address', 'tag', 'tagName'),
    }),
    emergency: inside({
      status: reason({ late_deposit: 'EXPIRED', amount_out_of_range: ['LESS', 'MORE', 'LIMIT'] }),
      ...unusedNames('choice', 'repeat'),
    }),
    email: unused,
  }),
)

const create = { at: 'POST /create', response: order, keeps: ['refundAddress', 'refundExtraId'] } as const
const orderParams = { ...terms, toAddress: 'withdrawalAddress', tag: extension('withdrawalExtraId') } as const
// Unverified: that `data: true` confirms a choice in version 2, as in version 1.
const choice = { at: 'POST /emergency', offeredIn: ['held'], confirmedBy: ['data'] } as const

export const fixedfloat = defineProviderForm({
  name: 'fixedfloat',
  credential: hmacSigned('X-API-KEY', 'X-API-SIGN'),
  keyed: ['listCurrencies', 'getRate', 'createTransaction', 'getTransaction'],
  statuses: {
    NEW: 'wait',
    PENDING: 'confirmation',
    EXCHANGE: 'exchanging',
    WITHDRAW: 'sending',
    // Unverified: that a refunded order is `DONE`, and that `emergency.choice` stays.
    DONE: byMember('back.tx.id', { present: 'refunded', otherwise: 'success' }),
    EXPIRED: 'overdue',
    EMERGENCY: byMember('emergency.choice', { words: { EXCHANGE: 'exchanging', REFUND: 'exchanging' }, otherwise: 'held' }),
  },
  orderPage: 'https://ff.io/order/{id}',
  hasSecretIds: true,
  newestFirst: false,
  hasExpectedAmount: true,
  // Unverified: whether other networks share deposit addresses.
  depositMemo: ['XLM', 'XRP'],
  // Unverified beside `USDTTRC`, `USDT`, `USDTMATIC` and `USDTARBITRUM`. What the list lacks is not offered.
  assets: {
    ...{ BNB: { code: 'BSC' }, DAI: { code: 'DAIETH' }, ETHARB: { code: 'ETHARBITRUM' }, POL: { code: 'MATIC' } },
    ...{ USDCARB: { code: 'USDCARBITRUM' }, USDCBEP20: { code: 'USDCBSC' }, USDCERC20: { code: 'USDCETH' } },
    ...{ USDCPOLYGON: { code: 'USDCMATIC' }, USDTARB: { code: 'USDTARBITRUM' }, USDTBEP20: { code: 'USDTBSC' } },
    ...{ USDTERC20: { code: 'USDT' }, USDTPOLYGON: { code: 'USDTMATIC' }, USDTTRC20: { code: 'USDTTRC' } },
  },
  refusal: {
    presentIn200: ['code', 'data.errors'],
    messages: ['msg'],
    amountRange: { min: ['data.from.min'], max: ['data.from.max'] },
    codes: {
      at: 'data.errors',
      meanings: {
        LIMIT_MIN: { kind: 'invalid', isAboutAmount: true },
        LIMIT_MAX: { kind: 'invalid', isAboutAmount: true },
        // Unverified: these six are of one client.
        MAINTENANCE_FROM: { kind: 'invalid', reason: 'not_offered' },
        MAINTENANCE_TO: { kind: 'invalid', reason: 'not_offered' },
        OFFLINE_FROM: { kind: 'invalid', reason: 'not_offered' },
        OFFLINE_TO: { kind: 'invalid', reason: 'not_offered' },
        RESERVE_FROM: { kind: 'invalid', reason: 'not_offered' },
        RESERVE_TO: { kind: 'invalid', reason: 'not_offered' },
      },
    },
    // Messages, and numbers of codes, are unverified: only the sense of a message counts.
    texts: [
      { matches: /\bapi[ -]?key\b|\bsign(?:ature)?\b/i, meaning: { kind: 'unauthorized' } },
      { matches: /\border not found\b/i, meaning: { kind: 'notFound' } },
      { matches: /\bout of (?:the )?limits?\b|\bm(?:in|ax)imum\b/i, meaning: { kind: 'invalid', isAboutAmount: true } },
      { matches: /\binternal\b|\btry again\b|\bunavailable\b/i, meaning: { kind: 'failed' } },
    ],
    // A code that is not 0, whatever it is.
    statuses: { 200: { kind: 'invalid' } },
  },
  operations: {
    listCurrencies: providerOperation<'listCurrencies'>()({
      at: 'POST /ccies',
      request: {},
      page: { code: 'unused', msg: 'unused', data: 'items' },
      response: {
        code: 'code',
        network: 'network',
        name: 'name',
        logo: optional('icon'),
        recv: isOn('canDeposit'),
        send: isOn('canWithdraw'),
        ...unusedNames('coin', 'tag', 'color', 'priority'),
      },
      assumes: ['icon'],
    }),
    getRate: {
      sent: providerOperation<'getRate'>()({ ...price, request: { ...terms, ...sent } }),
      received: providerOperation<'getRate'>()({ ...price, request: { ...terms, ...received } }),
    },
    createTransaction: {
      sent: providerOperation<'createTransaction'>()({ ...create, request: { ...orderParams, ...sent } }),
      received: providerOperation<'createTransaction'>()({ ...create, request: { ...orderParams, ...received } }),
    },
    getTransaction: providerOperation<'getTransaction'>()({
      at: 'POST /order',
      request: { id: idPart(0), token: idPart(1) },
      response: order,
      // The token may be left out: whether a get repeats it, as two clients need, is unverified.
      assumes: ['id'],
    }),
  },
  actions: {
    refundTransaction: {
      ...choice,
      request: {
        ...{ id: idPart(0), token: idPart(1), choice: always('REFUND') },
        address: 'refundAddress',
        tag: extension('refundExtraId'),
      },
    },
    continueTransaction: { ...choice, request: { id: idPart(0), token: idPart(1), choice: always('EXCHANGE') } },
  },
})

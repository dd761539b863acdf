/** ChangeNOW v2, from its documentation and recorded responses. */
import type { Received, Reply } from '../../support/stand-in.ts'
import { type Dialect, type Exchange, expiryOf, type Operation, Refused, type Swap, type Words } from './exchange.ts'
import { askedOf, bodyOf, countOf, type Fields, optionalTextOf, requireNames, textOf, wordOf } from './strict.ts'

const assets: readonly Words[] = [
  { coin: 'btc', network: 'btc' },
  { coin: 'eth', network: 'eth' },
  { coin: 'usdt', network: 'eth', contract: '0xdac17f958d2ee523a2206206994597c13d831ec7' },
  { coin: 'usdt', network: 'trx', contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
  { coin: 'xrp', network: 'xrp', hasMemo: true },
  { coin: 'avax', network: 'cchain' },
  { coin: 'usdt', network: 'avaxc', contract: '0x9702230a8ea53601f5cd2dc00fdbc13d4df4a8c7' },
  { coin: 'usdt', network: 'matic', contract: '0xc2132d05d31c914a87c6611c10748aeb04b58e8f' },
]

const pairNames = ['fromCurrency', 'toCurrency', 'fromNetwork', 'toNetwork']
const types = ['direct', 'reverse'] as const
const flows = ['standard', 'fixed-rate'] as const
const paths: Readonly<Record<string, Operation>> = {
  'GET /exchange/currencies': 'currencies',
  'GET /exchange/estimated-amount': 'quote',
  'GET /exchange/range': 'limits',
  'POST /exchange': 'create',
  'GET /exchange/by-id': 'get',
  'GET /exchanges': 'list',
  'POST /exchange/refund': 'refund',
  'POST /exchange/continue': 'continue',
}

export const changenow: Dialect = {
  name: 'changenow',
  assets,
  firstStatus: 'new',
  operationOf: ({ method, path }) => paths[`${method} ${path}`],
  reply(operation, received, exchange) {
    if (operation !== 'currencies') requireKey(received, exchange)
    const query = Object.fromEntries(received.query)
    const results: Readonly<Record<Operation, () => unknown>> = {
      currencies: () => currencies(query),
      quote: () => estimate(query, exchange),
      limits: () => range(query, exchange),
      create: () => create(bodyOf(received), exchange),
      get: () => byId(query, exchange),
      list: () => list(query, exchange),
      refund: () => refund(bodyOf(received), exchange),
      continue: () => goOn(bodyOf(received), exchange),
      refundAddress: () => {
        throw new Refused('path')
      },
    }
    return { json: results[operation]() }
  },
  refuse,
}

function requireKey({ headers }: Received, exchange: Exchange): void {
  if (!exchange.isKey(headers['x-changenow-api-key'] ?? '')) throw new Refused('key')
}

function currencies(query: Fields): unknown {
  requireNames(query, [], ['active', 'isFiat', 'flow', 'buy', 'sell'])
  const crypto = assets.map(({ coin, network, hasMemo = false, contract = null }) => ({
    ...{
      ticker: coin,
      name: `${coin} coin`,
      image: `https://content-api.changenow.io/uploads/${coin}.svg`,
      hasExternalId: hasMemo,
    },
    ...{ isExtraIdSupported: hasMemo, isFiat: false, featured: true, isStable: false, supportsFixedRate: true, network },
    ...{ tokenContract: contract, buy: true, sell: true, legacyTicker: coin + (contract ? network : '') },
  }))
  const fiat = { ...crypto[0], ticker: 'eur', name: 'Euro', network: 'eur', isFiat: true }
  return query.isFiat === undefined ? [...crypto, fiat] : query.isFiat === 'false' ? crypto : [fiat]
}

/** Tickers in any case: a wallet in use sends those of coins in capitals. */
function pairOf(fields: Fields, exchange: Exchange): { readonly from: Words; readonly to: Words } {
  return exchange.pair(
    { coin: textOf(fields, 'fromCurrency').toLowerCase(), network: textOf(fields, 'fromNetwork') },
    { coin: textOf(fields, 'toCurrency').toLowerCase(), network: textOf(fields, 'toNetwork') },
  )
}

const pairIn = ({ fromCurrency, fromNetwork, toCurrency, toNetwork }: Fields): Fields => ({
  ...{ fromCurrency, fromNetwork, toCurrency, toNetwork },
})

function estimate(query: Fields, exchange: Exchange): unknown {
  requireNames(query, [...pairNames, 'flow'], ['fromAmount', 'toAmount', 'type', 'useRateId'])
  const flow = wordOf(query, 'flow', flows)
  const { asked, type } = askedIn(query, flow)
  const isPromised = wordOf({ useRateId: 'false', ...query }, 'useRateId', ['true', 'false']) === 'true'
  if (isPromised && flow === 'standard') throw new Refused('parameter', 'useRateId')
  pairOf(query, exchange)
  const amounts = exchange.quote(asked, flow === 'fixed-rate')
  return {
    ...pairIn(query),
    ...{ flow, type, rateId: isPromised ? exchange.promise(amounts) : null },
    ...{ validUntil: isPromised ? new Date(Date.now() + 600_000).toISOString() : null, transactionSpeedForecast: '10-60' },
    ...{ warningMessage: null, depositFee: 0.0000096, withdrawalFee: 0.009, userId: null, fromAmount: amounts.amountIn },
    toAmount: amounts.amountOut,
  }
}

/** By the amount to be received only with a fixed rate. */
function askedIn(fields: Fields, flow: (typeof flows)[number]) {
  const asked = askedOf(fields, 'fromAmount', 'toAmount')
  const type = wordOf({ type: 'direct', ...fields }, 'type', types)
  if ((type === 'reverse') !== asked.isReceived || (asked.isReceived && flow === 'standard')) throw new Refused('parameter', 'type')
  return { asked, type }
}

function range(query: Fields, exchange: Exchange): unknown {
  requireNames(query, [...pairNames, 'flow'])
  pairOf(query, exchange)
  const { max, min } = exchange.market
  return { ...pairIn(query), flow: wordOf(query, 'flow', flows), maxAmount: max, minAmount: min }
}

function create(body: Fields, exchange: Exchange): unknown {
  const optional = [
    'extraId',
    'refundAddress',
    'refundExtraId',
    'userId',
    'payload',
    'contactEmail',
    'type',
    'rateId',
    'fromAmount',
    'toAmount',
  ]
  requireNames(body, [...pairNames, 'address', 'flow'], optional)
  const { asked, type } = askedIn(body, wordOf(body, 'flow', flows))
  const swap = exchange.create(
    {
      ...pairOf(body, exchange),
      asked,
      isFixed: wordOf(body, 'flow', flows) === 'fixed-rate',
      withdrawal: textOf(body, 'address'),
      withdrawalMemo: optionalTextOf(body, 'extraId'),
      refund: optionalTextOf(body, 'refundAddress'),
      refundMemo: optionalTextOf(body, 'refundExtraId'),
      rateId: optionalTextOf(body, 'rateId'),
      reference: exchange.keepsReferences ? optionalTextOf(body, 'userId') : undefined,
    },
    true,
  )
  const { amountIn, amountOut, from, to, withdrawalMemo, depositMemo } = swap
  return {
    ...{ fromAmount: amountIn, toAmount: amountOut, flow: body.flow, type, payinAddress: swap.deposit },
    ...{ payoutAddress: swap.withdrawal, fromCurrency: from.coin, toCurrency: to.coin },
    ...(depositMemo && { payinExtraId: depositMemo }),
    ...(withdrawalMemo && { payoutExtraId: withdrawalMemo }),
    ...(swap.refund && { refundAddress: swap.refund }),
    ...(swap.refundMemo && { refundExtraId: swap.refundMemo }),
    ...{ id: swap.id, directedAmount: asked.amount, fromNetwork: from.network, toNetwork: to.network },
    ...(swap.isFixed && { validUntil: expiryOf(swap).toISOString() }),
  }
}

/** What is paid is known once the deposit is there. */
const isPaid = ({ status }: Swap): boolean => !['new', 'waiting', 'expired'].includes(status)

function byId(query: Fields, exchange: Exchange): unknown {
  requireNames(query, ['id'])
  const swap = exchange.find(query.id)
  const { from, to, amountIn, amountOut } = swap
  const createdAt = swap.createdAt.toISOString()
  return {
    ...{
      id: swap.id,
      status: swap.status,
      actionsAvailable: swap.hasActions ?? false,
      fromCurrency: from.coin,
      fromNetwork: from.network,
    },
    ...{ toCurrency: to.coin, toNetwork: to.network, expectedAmountFrom: amountIn, expectedAmountTo: amountOut },
    ...{ amountFrom: isPaid(swap) ? amountIn : null, amountTo: swap.status === 'finished' ? amountOut : null },
    ...{ payinAddress: swap.deposit, payoutAddress: swap.withdrawal, payinExtraId: swap.depositMemo ?? '' },
    ...{ payoutExtraId: swap.withdrawalMemo ?? null, refundAddress: swap.refund ?? null, refundExtraId: swap.refundMemo ?? null },
    ...{ createdAt, updatedAt: createdAt, validUntil: swap.isFixed ? expiryOf(swap).toISOString() : null },
    ...{ depositReceivedAt: null, payinHash: swap.hashIn },
    ...{ payoutHash: swap.hashOut, fromLegacyTicker: from.coin, toLegacyTicker: to.coin, refundHash: null, refundAmount: null },
    ...{ userId: swap.reference ?? null, originalExchangeInfo: null, relatedExchangesInfo: [], repeatedExchangesInfo: [] },
  }
}

function refund(body: Fields, exchange: Exchange): unknown {
  requireNames(body, ['id', 'address'], ['extraId'])
  const swap = exchange.find(body.id)
  if (!swap.hasActions) throw new Refused('action')
  Object.assign(swap, { hasActions: false, status: 'refunded', refund: textOf(body, 'address') })
  swap.refundMemo = optionalTextOf(body, 'extraId')
  return { result: true }
}

function goOn(body: Fields, exchange: Exchange): unknown {
  requireNames(body, ['id'])
  const swap = exchange.find(body.id)
  if (!swap.hasActions) throw new Refused('action')
  Object.assign(swap, { hasActions: false, status: 'exchanging' })
  return { result: { result: true, data: { estimate: { amount: swap.amountOut, currency: swap.to.coin } } } }
}

const listNames = ['limit', 'offset', 'sortDirection', 'sortField', 'dateField', 'dateFrom', 'dateTo']

function list(query: Fields, { swaps }: Exchange): unknown {
  requireNames(query, [], [...listNames, 'requestId', 'userId', 'payoutAddress', 'statuses'])
  const limit = countOf(query, 'limit', 10, 1, 99)
  const offset = countOf(query, 'offset', 0, 0, 1_000_000)
  wordOf({ sortDirection: 'DESC', ...query }, 'sortDirection', ['DESC', 'ASC'])
  const [from, to] = [query.dateFrom ?? 0, query.dateTo ?? '9999-01-01'].map((date) => new Date(date as string))
  const rows = swaps.filter(({ createdAt }) => createdAt >= (from as Date) && createdAt <= (to as Date))
  if (query.sortDirection !== 'ASC') rows.reverse()
  return { count: rows.length, exchanges: rows.slice(offset, offset + limit).map(listed) }
}

/** Its times have no zone. */
function listed(swap: Swap): object {
  const time = swap.createdAt.toISOString().slice(0, -1)
  const side = ({ coin, network }: Words): object => ({ currency: coin, network })
  return {
    ...{
      requestId: swap.id,
      status: swap.status,
      flow: swap.isFixed ? 'fixed-rate' : 'standard',
      createdAt: time,
      updatedAt: time,
    },
    payin: {
      ...{ ...side(swap.from), address: swap.deposit, extraId: swap.depositMemo, amount: isPaid(swap) ? swap.amountIn : null },
      ...{ expectedAmount: swap.amountIn, hash: swap.hashIn },
    },
    payout: {
      ...{ ...side(swap.to), address: swap.withdrawal, extraId: swap.withdrawalMemo ?? null },
      ...{ amount: swap.status === 'finished' ? swap.amountOut : null, expectedAmount: swap.amountOut, hash: swap.hashOut },
    },
    refund: {
      ...{ ...side(swap.from), address: swap.refund ?? null, extraId: swap.refundMemo ?? null, amount: null, hash: null },
    },
    partnerInfo: { userId: swap.reference ?? null, payload: null },
  }
}

function refuse({ why, of }: Refused, _: unknown, __: unknown, { market }: Exchange): Reply {
  const range = { range: { minAmount: market.min, maxAmount: market.max } }
  const known: Partial<Record<string, readonly [status: number, error: string, message: string, payload?: object]>> = {
    key: [401, 'unauthorized', 'Unauthorized'],
    below: [400, 'deposit_too_small', 'Out of min amount', range],
    above: [400, 'out_of_range', 'Out of max amount', range],
    pair: [400, 'pair_is_inactive', 'This pair is inactive'],
    address: [400, 'not_valid_address', 'Recipient address is not valid'],
    rateId: [400, 'rate_id_not_found_or_expired', 'Rate id not found or expired'],
    unknownId: [404, 'not_found', 'Exchange not found'],
  }
  const [status, error, message, payload] = known[why] ?? [400, 'not_valid_params', `Parameter ${of || why} is not valid`]
  return { status, json: { error, message, ...(payload && { payload }) } }
}

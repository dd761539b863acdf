/** SimpleSwap v3, from its documentation and public clients. */
import type { Received, Reply } from '../../support/stand-in.ts'
import { type Asked, type Dialect, type Exchange, expiryOf, type Operation, Refused, type Swap, type Words } from './exchange.ts'
import { bodyOf, type Fields, numberTextOf, optionalTextOf, requireNames, textOf } from './strict.ts'

const assets: readonly Words[] = [
  { coin: 'btc', network: 'btc' },
  { coin: 'eth', network: 'eth' },
  { coin: 'eth', network: 'arbitrum' },
  { coin: 'usdt', network: 'eth', contract: '0xdac17f958d2ee523a2206206994597c13d831ec7' },
  { coin: 'usdt', network: 'trx', contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
  { coin: 'pol', network: 'matic' },
  { coin: 'avaxc', network: 'avaxc' },
  { coin: 'usdt', network: 'matic', contract: '0xc2132d05d31c914a87c6611c10748aeb04b58e8f' },
  { coin: 'xrp', network: 'xrp', hasMemo: true },
]

const paths: Readonly<Record<string, Operation>> = {
  'GET /currencies': 'currencies',
  'GET /estimates': 'quote',
  'GET /ranges': 'limits',
  'POST /exchanges': 'create',
}
const traceId = '0b2f7a6c4f1d4a3f'

export const simpleswap: Dialect = {
  name: 'simpleswap',
  assets,
  firstStatus: 'waiting',
  operationOf: ({ method, path }) =>
    paths[`${method} ${path}`] ?? (/^GET \/exchanges\/[^/]+$/.test(`${method} ${path}`) ? 'get' : undefined),
  reply(operation, received, exchange) {
    if (!exchange.isKey(received.headers['x-api-key'] ?? '')) throw new Refused('key')
    return { json: { result: resultOf(operation, received, exchange), traceId } }
  },
  refuse,
}

function resultOf(operation: Operation, received: Received, exchange: Exchange): unknown {
  const query = Object.fromEntries(received.query)
  if (operation === 'currencies') return currencies(query)
  if (operation === 'get') return shown(exchange.find(decodeURIComponent(received.path.slice('/exchanges/'.length))))
  if (operation === 'quote') return estimate(query, exchange)
  if (operation === 'limits') return range(query, exchange)
  return create(bodyOf(received), exchange)
}

function currencies(query: Fields): unknown {
  requireNames(query, [])
  return assets.map(({ coin, network, hasMemo = false, contract = null }) => ({
    ...{ name: `${coin} coin`, ticker: coin, network, legacySymbol: `${coin}${network}`, contractAddress: contract },
    ...{ image: `https://static.simpleswap.io/images/${coin}.svg`, extraId: hasMemo ? 'Tag' : '', hasExtraId: hasMemo },
    ...{ precision: 8, isFiat: false, isAvailableFloat: true, isAvailableFixed: true, validationExtra: null },
    ...{ warningsFrom: [], warningsTo: [] },
  }))
}

const pairNames = ['tickerFrom', 'networkFrom', 'tickerTo', 'networkTo', 'fixed', 'reverse']

/** A query has texts where a body has `true` and `false`. */
function flagOf(fields: Fields, name: string, isQuery: boolean): boolean {
  const words = isQuery ? ['false', 'true'] : [false, true]
  const at = words.indexOf(fields[name] as never)
  if (at < 0) throw new Refused('parameter', name)
  return at === 1
}

function pairOf(fields: Fields, exchange: Exchange, isQuery: boolean) {
  const isFixed = flagOf(fields, 'fixed', isQuery)
  const [from, to] = [
    { coin: textOf(fields, 'tickerFrom'), network: textOf(fields, 'networkFrom') },
    { coin: textOf(fields, 'tickerTo'), network: textOf(fields, 'networkTo') },
  ]
  return { ...exchange.pair(from, to), isFixed }
}

function askedIn(fields: Fields, isQuery: boolean): Asked {
  return { amount: numberTextOf(fields, 'amount'), isReceived: flagOf(fields, 'reverse', isQuery) }
}

function estimate(query: Fields, exchange: Exchange): unknown {
  requireNames(query, [...pairNames, 'amount'])
  const { isFixed } = pairOf(query, exchange, true)
  const asked = askedIn(query, true)
  const amounts = exchange.quote(asked, isFixed)
  const promise = { rateId: exchange.promise(amounts), validUntil: new Date(Date.now() + 600_000).toISOString() }
  const estimatedAmount = String(asked.isReceived ? amounts.amountIn : amounts.amountOut)
  return { estimatedAmount, ...(isFixed ? promise : { rateId: null, validUntil: null }) }
}

function range(query: Fields, exchange: Exchange): unknown {
  requireNames(query, pairNames)
  const { isFixed } = pairOf(query, exchange, true)
  const { market } = exchange
  // Of the amount that is asked for.
  const factor = flagOf(query, 'reverse', true) ? (isFixed ? market.fixed : market.float) : 1
  const [min, max] = [market.min * factor, market.max === null ? null : market.max * factor]
  return { min: String(min), max: max === null ? null : String(max) }
}

function create(body: Fields, exchange: Exchange): unknown {
  const more = ['extraIdTo', 'userRefundAddress', 'userRefundExtraId', 'rateId', 'customFee']
  requireNames(body, [...pairNames, 'amount', 'addressTo'], more)
  const swap = exchange.create(
    {
      ...pairOf(body, exchange, false),
      asked: askedIn(body, false),
      withdrawal: textOf(body, 'addressTo'),
      withdrawalMemo: optionalTextOf(body, 'extraIdTo'),
      refund: optionalTextOf(body, 'userRefundAddress'),
      refundMemo: optionalTextOf(body, 'userRefundExtraId'),
      rateId: optionalTextOf(body, 'rateId'),
    },
    true,
  )
  return shown(swap)
}

function shown(swap: Swap): unknown {
  return {
    ...{ id: swap.id, publicId: swap.id, type: swap.isFixed ? 'fixed' : 'floating', status: swap.status },
    ...{ tickerFrom: swap.from.coin, networkFrom: swap.from.network, tickerTo: swap.to.coin, networkTo: swap.to.network },
    ...{ amountFrom: String(swap.amountIn), amountTo: String(swap.amountOut), addressFrom: swap.deposit },
    ...{ extraIdFrom: swap.depositMemo ?? '', addressTo: swap.withdrawal, extraIdTo: swap.withdrawalMemo ?? '' },
    ...{ userRefundAddress: swap.refund ?? '', userRefundExtraId: swap.refundMemo ?? '', txFrom: swap.hashIn, txTo: swap.hashOut },
    ...{ createdAt: swap.createdAt.toISOString(), validUntil: swap.isFixed ? expiryOf(swap).toISOString() : null },
  }
}

/** A range is 422, what is not there 404. */
function refuse({ why, of }: Refused): Reply {
  const known: Partial<Record<string, readonly [status: number, error: string, description: string]>> = {
    key: [401, 'Unauthorized', 'The API key is not valid'],
    below: [422, 'Unprocessable Entity', 'Amount does not fall within the range'],
    above: [422, 'Unprocessable Entity', 'Amount does not fall within the range'],
    pair: [404, 'Not Found', 'Pair is unavailable'],
    unknownId: [404, 'Not Found', 'Exchange not found'],
  }
  const [code, error, description] = known[why] ?? [400, 'Bad Request', `${of || why} is not valid`]
  return { status: code, json: { code, error, description, traceId } }
}

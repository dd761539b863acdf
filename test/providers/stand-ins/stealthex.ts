/** StealthEX v4, from its documentation and recorded responses. Its OpenAPI document refuses `reversed` at a floating rate. */
import type { Received, Reply } from '../../support/stand-in.ts'
import { type Asked, type Dialect, type Exchange, expiryOf, type Operation, Refused, type Swap, type Words } from './exchange.ts'
import { bodyOf, countOf, type Fields, numberOf, objectOf, optionalTextOf, requireNames, textOf, wordOf } from './strict.ts'

const assets: readonly Words[] = [
  { coin: 'btc', network: 'mainnet' },
  { coin: 'eth', network: 'mainnet' },
  { coin: 'eth', network: 'arbitrum' },
  { coin: 'usdt', network: 'eth', contract: '0xdac17f958d2ee523a2206206994597c13d831ec7' },
  { coin: 'usdt', network: 'trx', contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
  { coin: 'pol', network: 'mainnet' },
  { coin: 'usdt', network: 'matic', contract: '0xc2132d05d31c914a87c6611c10748aeb04b58e8f' },
  { coin: 'avax', network: 'avax-c', contract: 'cchain' },
  { coin: 'usdt', network: 'avax-c', contract: '0x9702230a8ea53601f5cd2dc00fdbc13d4df4a8c7' },
  { coin: 'osmo', network: 'cosmos' },
  { coin: 'xrp', network: 'mainnet', hasMemo: true },
]

const paths: Readonly<Record<string, Operation>> = {
  'GET /currencies': 'currencies',
  'POST /rates/estimated-amount': 'quote',
  'POST /rates/range': 'limits',
  'POST /exchanges': 'create',
  'GET /exchanges': 'list',
}

export const stealthex: Dialect = {
  name: 'stealthex',
  assets,
  firstStatus: 'waiting',
  operationOf: ({ method, path }) =>
    paths[`${method} ${path}`] ?? (/^GET \/exchanges\/[^/]+$/.test(`${method} ${path}`) ? 'get' : undefined),
  reply(operation, received, exchange) {
    requireKey(received, exchange)
    if (operation === 'currencies') return { json: currencies(Object.fromEntries(received.query)) }
    if (operation === 'list') return { json: list(Object.fromEntries(received.query), exchange) }
    if (operation === 'get') return { json: shown(exchange.find(decodeURIComponent(received.path.slice('/exchanges/'.length)))) }
    const body = bodyOf(received)
    if (operation === 'quote') return { json: estimate(body, exchange) }
    if (operation === 'limits') return { json: range(body, exchange) }
    return { status: 201, json: create(body, exchange) }
  },
  refuse,
}

function requireKey({ headers }: Received, exchange: Exchange): void {
  if (!exchange.isKey(/^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '')) throw new Refused('key')
}

function currencies(query: Fields): unknown {
  requireNames(query, [], ['limit', 'offset'])
  const [limit, offset] = [countOf(query, 'limit', 50, 1, 250), countOf(query, 'offset', 0, 0, 100_000)]
  return assets.slice(offset, offset + limit).map(({ coin, network, hasMemo = false, contract = null }) => ({
    ...{ symbol: coin, network, name: `${coin} coin`, icon_url: `https://stealthex.io/${coin}.svg`, contract_address: contract },
    ...{ extra_id: hasMemo ? 'Tag' : null, features: [], rates: ['floating', 'fixed'] },
  }))
}

interface Route {
  readonly from: Words
  readonly to: Words
  readonly isFixed: boolean
}

function routeOf(body: Fields, exchange: Exchange): Route {
  const route = objectOf(body.route, 'route')
  requireNames(route, ['from', 'to'])
  const side = (name: 'from' | 'to'): Partial<Words> => {
    const asset = objectOf(route[name], name)
    requireNames(asset, ['symbol', 'network'])
    return { coin: textOf(asset, 'symbol'), network: textOf(asset, 'network') }
  }
  return { ...exchange.pair(side('from'), side('to')), isFixed: wordOf(body, 'rate', ['fixed', 'floating']) === 'fixed' }
}

function askedIn(body: Fields): Asked {
  const isReceived = wordOf(body, 'estimation', ['direct', 'reversed']) === 'reversed'
  if (isReceived) wordOf(body, 'rate', ['fixed'])
  return { amount: numberOf(body, 'amount'), isReceived }
}

function estimate(body: Fields, exchange: Exchange): unknown {
  requireNames(body, ['route', 'amount', 'estimation', 'rate'], ['additional_fee_percent'])
  const { isFixed } = routeOf(body, exchange)
  const asked = askedIn(body)
  const amounts = exchange.quote(asked, isFixed)
  const promise = { id: isFixed ? exchange.promise(amounts) : '', valid_until: new Date(Date.now() + 1_200_000).toISOString() }
  return { estimated_amount: asked.isReceived ? amounts.amountIn : amounts.amountOut, ...(isFixed && { rate: promise }) }
}

function range(body: Fields, exchange: Exchange): unknown {
  requireNames(body, ['route', 'estimation', 'rate'])
  wordOf(body, 'estimation', ['direct'])
  routeOf(body, exchange)
  const { max, min } = exchange.market
  return { min_amount: min, max_amount: max }
}

function create(body: Fields, exchange: Exchange): unknown {
  const optional = ['rate_id', 'extra_id', 'refund_address', 'refund_extra_id', 'additional_fee_percent']
  requireNames(body, ['route', 'amount', 'estimation', 'rate', 'address'], optional)
  const swap = exchange.create(
    {
      ...routeOf(body, exchange),
      asked: askedIn(body),
      withdrawal: textOf(body, 'address'),
      withdrawalMemo: optionalTextOf(body, 'extra_id'),
      refund: optionalTextOf(body, 'refund_address'),
      refundMemo: optionalTextOf(body, 'refund_extra_id'),
      rateId: optionalTextOf(body, 'rate_id'),
    },
    true,
  )
  return shown(swap)
}

/** Rows of a get, in a bare list without a total. */
function list(query: Fields, { swaps }: Exchange): unknown {
  requireNames(query, [], ['limit', 'offset', 'created_after', 'created_before'])
  const [limit, offset] = [countOf(query, 'limit', 50, 1, 250), countOf(query, 'offset', 0, 0, 100_000)]
  const [after, before] = [query.created_after ?? 0, query.created_before ?? '9999-01-01'].map((date) => new Date(date as string))
  const rows = swaps.filter(({ createdAt }) => createdAt >= (after as Date) && createdAt <= (before as Date))
  return rows.slice(offset, offset + limit).map(shown)
}

function shown(swap: Swap): unknown {
  const side = ({ coin, network }: Words, amount: number): object => ({
    ...{ symbol: coin, network, amount, expected_amount: amount, address_explorer_url: null, tx_explorer_url: null },
  })
  return {
    ...{ id: swap.id, status: swap.status, rate: swap.isFixed ? 'fixed' : 'floating' },
    deposit: { ...side(swap.from, swap.amountIn), address: swap.deposit, extra_id: swap.depositMemo, tx_hash: swap.hashIn },
    withdrawal: {
      ...side(swap.to, swap.amountOut),
      ...{ address: swap.withdrawal, extra_id: swap.withdrawalMemo ?? null, tx_hash: swap.hashOut },
    },
    ...{ refund_address: swap.refund ?? null, refund_extra_id: swap.refundMemo ?? null },
    ...{ created_at: swap.createdAt.toISOString(), expires_at: swap.isFixed ? expiryOf(swap).toISOString() : null },
  }
}

/** The HTTP statuses are documented for none but `NoPair`. */
function refuse({ why, of }: Refused): Reply {
  const known: Partial<Record<string, readonly [status: number, kind: string, details: string]>> = {
    key: [401, 'NoUserApiKey', 'The key is not valid'],
    below: [400, 'InvalidAmount', 'The amount is too small'],
    above: [400, 'InvalidAmount', 'The amount is too large'],
    pair: [404, 'NoPair', 'One or both currencies do not exist'],
    address: [400, 'InvalidData', 'The address is not valid'],
    memo: [400, 'ExtraId', 'The extra id is not valid'],
    rateId: [400, 'RateId', 'The rate id is expired or unknown'],
    unknownId: [404, 'NotFound', 'The exchange does not exist'],
  }
  const [status, kind, details] = known[why] ?? [400, 'InvalidData', `${of || why} is not valid`]
  return { status, json: { err: { kind, details } } }
}

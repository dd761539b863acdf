/** Exolix v2, from its documentation and recorded responses. */
import type { Received, Reply } from '../../support/stand-in.ts'
import { type Dialect, type Exchange, Refused, type Swap, type Words } from './exchange.ts'
import { askedOf, bodyOf, countOf, type Fields, numberOf, optionalTextOf, requireNames, textOf, wordOf } from './strict.ts'

const assets: readonly Words[] = [
  { coin: 'BTC', network: 'BTC' },
  { coin: 'ETH', network: 'ETH' },
  { coin: 'USDT', network: 'ETH', contract: '0xdac17f958d2ee523a2206206994597c13d831ec7' },
  { coin: 'USDT', network: 'TRX', contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
  { coin: 'XRP', network: 'XRP', hasMemo: true },
  { coin: 'TON', network: 'TON', hasMemo: true },
  { coin: 'POL', network: 'MATIC' },
  { coin: 'USDT', network: 'MATIC', contract: '0xc2132d05d31c914a87c6611c10748aeb04b58e8f' },
]

const rateTypes = ['fixed', 'float'] as const

export const exolix: Dialect = {
  name: 'exolix',
  assets,
  firstStatus: 'wait',
  operationOf: ({ method, path }) => {
    if (method === 'POST') return path === '/transactions' ? 'create' : undefined
    const known = { '/currencies': 'currencies', '/rate': 'quote', '/transactions': 'list' } as const
    return Object.entries(known).find(([own]) => own === path)?.[1] ?? (path.startsWith('/transactions/') ? 'get' : undefined)
  },
  reply(operation, received, exchange) {
    requireKey(received, exchange, operation === 'create' || operation === 'list')
    const query = Object.fromEntries(received.query)
    if (operation === 'currencies') return { json: currencies(query) }
    if (operation === 'quote') return { json: rate(query, exchange) }
    if (operation === 'create') return { status: 201, json: create(bodyOf(received), exchange) }
    if (operation === 'list') return { json: list(query, exchange) }
    requireNames(query, [])
    return { json: transaction(exchange.find(decodeURIComponent(received.path.slice('/transactions/'.length)))) }
  },
  refuse,
}

function requireKey({ headers }: Received, exchange: Exchange, isNeeded: boolean): void {
  const { authorization } = headers
  if (authorization === undefined ? isNeeded : !exchange.isKey(authorization)) throw new Refused('key')
}

function currencies(query: Fields): object {
  requireNames(query, [], ['page', 'size', 'search', 'withNetworks'])
  const size = countOf(query, 'size', 10, 1, 100)
  const first = (countOf(query, 'page', 1, 1, 1_000) - 1) * size
  const coins = [...new Set(assets.map(({ coin }) => coin))]
  const networks = (coin: string): object =>
    assets
      .filter((words) => words.coin === coin)
      .map(({ network, hasMemo = false, contract = null }, at) => ({
        ...{ network, name: network, shortName: network, addresRegex: '^.*$', notes: '', isDefault: at === 0, decimal: 8 },
        ...{ icon: null, blockExplorer: null, depositMinAmount: 0.002, memoNeeded: hasMemo, memoName: hasMemo ? 'Tag' : null },
        ...{ memoRegex: null, precision: 8, contract },
      }))
  const rows = coins.map((code) => ({
    ...{ code, name: `${code} coin`, icon: `https://exolix.com/icons/coins/${code}.png`, notes: '' },
    ...(query.withNetworks === 'true' && { networks: networks(code) }),
  }))
  return { data: rows.slice(first, first + size), count: rows.length }
}

/** Both spellings of the networks are in use. */
function rate(query: Fields, exchange: Exchange): object {
  const [networkFrom, networkTo] = 'coinFromNetwork' in query ? ['coinFromNetwork', 'coinToNetwork'] : ['networkFrom', 'networkTo']
  requireNames(query, ['coinFrom', 'coinTo', networkFrom, networkTo], ['amount', 'withdrawalAmount', 'rateType'])
  exchange.pair(
    { coin: textOf(query, 'coinFrom'), network: textOf(query, networkFrom) },
    { coin: textOf(query, 'coinTo'), network: textOf(query, networkTo) },
  )
  const isFixed = wordOf({ rateType: 'fixed', ...query }, 'rateType', rateTypes) === 'fixed'
  const { amountIn, amountOut } = exchange.quote(askedOf(query, 'amount', 'withdrawalAmount'), isFixed)
  const { market } = exchange
  return {
    ...{ fromAmount: amountIn, toAmount: amountOut, rate: isFixed ? market.fixed : market.float },
    ...{ message: null, minAmount: market.min, withdrawMin: withdrawMinOf(exchange), maxAmount: market.max, priceImpact: '0' },
  }
}

/** In the coin that is received. */
function withdrawMinOf({ market }: Pick<Exchange, 'market'>): number {
  return Number((market.min * market.fixed).toFixed(8))
}

function create(body: Fields, exchange: Exchange): object {
  const needed = ['coinFrom', 'networkFrom', 'coinTo', 'networkTo', 'withdrawalAddress']
  requireNames(body, needed, [
    'amount',
    'withdrawalAmount',
    'withdrawalExtraId',
    'refundAddress',
    'refundExtraId',
    'rateType',
    'slippage',
  ])
  const swap = exchange.create(
    {
      ...exchange.pair(
        { coin: textOf(body, 'coinFrom'), network: textOf(body, 'networkFrom') },
        { coin: textOf(body, 'coinTo'), network: textOf(body, 'networkTo') },
      ),
      asked: askedOf(body, 'amount', 'withdrawalAmount', numberOf),
      isFixed: wordOf({ rateType: 'fixed', ...body }, 'rateType', rateTypes) === 'fixed',
      withdrawal: textOf(body, 'withdrawalAddress'),
      withdrawalMemo: optionalTextOf(body, 'withdrawalExtraId'),
      refund: optionalTextOf(body, 'refundAddress'),
      refundMemo: optionalTextOf(body, 'refundExtraId'),
    },
    false,
  )
  return transaction(swap)
}

function list(query: Fields, { swaps }: Exchange): object {
  requireNames(query, [], ['page', 'size', 'search', 'sort', 'order', 'dateFrom', 'dateTo', 'statuses'])
  const size = countOf(query, 'size', 10, 1, 100)
  const first = (countOf(query, 'page', 1, 1, 1_000) - 1) * size
  const [from, to] = [query.dateFrom ?? 0, query.dateTo ?? '9999-01-01'].map((date) => new Date(date as string))
  const rows = swaps.filter(({ createdAt }) => createdAt >= (from as Date) && createdAt <= (to as Date)).toReversed()
  return { data: rows.slice(first, first + size).map(transaction), count: rows.length }
}

function transaction(swap: Swap): object {
  const asset = ({ coin, network, contract }: Words): object => ({
    ...{ coinCode: coin, coinName: `${coin} coin`, network, networkName: network, networkShortName: network },
    ...{
      icon: `https://exolix.com/icons/coins/${coin}.png`,
      memoName: '',
      networkIcon: null,
      networkNotes: '',
      contract: contract ?? null,
    },
  })
  return {
    ...{ id: swap.id, amount: swap.amountIn, amountTo: swap.amountOut, coinFrom: asset(swap.from), coinTo: asset(swap.to) },
    ...{ comment: null, createdAt: swap.createdAt.toISOString(), depositAddress: swap.deposit, depositExtraId: swap.depositMemo },
    ...{ withdrawalAddress: swap.withdrawal, withdrawalExtraId: swap.withdrawalMemo ?? null },
    ...{ refundAddress: swap.refund ?? null, refundExtraId: swap.refundMemo ?? null },
    ...{ hashIn: { hash: swap.hashIn, link: null }, hashOut: { hash: swap.hashOut, link: null } },
    ...{ rate: Number((swap.amountOut / swap.amountIn).toFixed(8)), rateType: swap.isFixed ? 'fixed' : 'float' },
    ...{ affiliateToken: null, status: swap.status, source: 'api', email: null, clickId: null },
  }
}

function refuse({ why, of }: Refused, _: unknown, { query, body }: Received, exchange: Exchange): Reply {
  const { market } = exchange
  const errors = (status: number, field: string, text: string): Reply => ({ status, json: { status, errors: { [field]: text } } })
  if (why === 'key') return { status: 401, json: { message: 'Unauthorized' } }
  if (why === 'below' || why === 'above') {
    const bound = why === 'below' ? 'below the possible min amount' : 'above the possible max amount'
    const message = `Amount to exchange is ${bound} to exchange`
    const limits = { minAmount: market.min, maxAmount: market.max, withdrawMin: withdrawMinOf(exchange) }
    // By the amount to be received a quote is refused with a status of success.
    if (query.has('withdrawalAmount')) return { json: { fromAmount: Number(of), toAmount: 0, message, ...limits } }
    // A create names the limits of the coin that it is about.
    if (body.includes('"withdrawalAmount"'))
      return { status: 422, json: { message, minAmount: limits.withdrawMin, withdrawMin: limits.withdrawMin } }
    return { status: 422, json: { fromAmount: Number(of), toAmount: 0, message, ...limits } }
  }
  if (why === 'pair') return { status: 422, json: { error: 'Such exchange pair is not available' } }
  if (why === 'unknownId') return errors(404, 'id', 'Transaction not found')
  if (why === 'address') return errors(400, 'withdrawalAddress', 'Invalid withdrawalAddress')
  return errors(400, of || why, `Invalid ${of || why}`)
}

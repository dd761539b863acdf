/** Changelly v2 (JSON-RPC, RSA signature), from its documentation: one path, signed bodies, refusals in a 200. */
import { changellyKey, isSigned } from '../../support/changelly.ts'
import type { Received, Reply } from '../../support/stand-in.ts'
import { type Asked, type Dialect, type Exchange, expiryOf, type Operation, Refused, type Swap, type Words } from './exchange.ts'
import { askedOf, bodyOf, countOf, type Fields, objectOf, optionalTextOf, requireNames, textOf } from './strict.ts'

/** `coin` is the ticker. */
const assets: readonly Words[] = [
  { coin: 'btc', network: 'bitcoin' },
  { coin: 'eth', network: 'ethereum' },
  { coin: 'usdt20', network: 'ethereum', contract: '0xdac17f958d2ee523a2206206994597c13d831ec7' },
  { coin: 'usdtrx', network: 'tron', contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
  { coin: 'xrp', network: 'ripple', hasMemo: true },
  { coin: 'avaxc', network: 'avaxc' },
]

const methods: Readonly<Record<string, Operation>> = {
  getCurrenciesFull: 'currencies',
  getExchangeAmount: 'quote',
  getFixRateForAmount: 'quote',
  createTransaction: 'create',
  createFixTransaction: 'create',
}

const networkFee = 0.0005
export const operatorKey = changellyKey

/** With ids, `getTransactions` reads single transactions; without, a list. */
export const changelly: Dialect = {
  name: 'changelly',
  assets,
  firstStatus: 'new',
  operationOf(received) {
    const { method, params } = JSON.parse(received.body || '{}') as { method?: string; params?: { id?: unknown } }
    if (received.method !== 'POST' || !['/', '/service/api/v2'].includes(received.path)) return undefined
    return method === 'getTransactions' ? (params?.id === undefined ? 'list' : 'get') : methods[method ?? '']
  },
  reply(operation, received, exchange) {
    if (!isAccepted(received, exchange)) throw new Refused('key')
    const body = bodyOf(received)
    requireNames(body, ['jsonrpc', 'id', 'method'], ['params'])
    if (body.jsonrpc !== '2.0') throw new Refused('parameter', 'jsonrpc')
    const params = objectOf(body.params ?? {}, 'params')
    const isFixed = body.method === 'getFixRateForAmount' || body.method === 'createFixTransaction'
    const results: Readonly<Partial<Record<Operation, () => unknown>>> = {
      currencies: () => currencies(params),
      quote: () => [quote(params, isFixed, exchange)],
      create: () => create(params, isFixed, exchange),
      list: () => list(params, exchange),
      get: () => list(params, exchange),
    }
    return { json: { jsonrpc: '2.0', id: body.id, result: results[operation]?.() } }
  },
  refuse,
}

/** The signed protocol; or the relay's, of which the key is that of the exchange. */
function isAccepted(received: Received, { key }: Exchange): boolean {
  const { 'x-auth': relayed } = received.headers
  if (relayed === undefined) return key === changellyKey && isSigned(received)
  return Buffer.from(relayed, 'base64').toString().startsWith(`${key}:`)
}

function currencies(params: Fields): unknown {
  requireNames(params, [])
  const rows = assets.map(({ coin, network, hasMemo, contract = null }) => ({
    ...{ name: coin.toUpperCase(), ticker: coin, fullName: `${coin} coin`, enabled: true, enabledFrom: true, enabledTo: true },
    ...{ fixRateEnabled: true, blockchain: network, protocol: network.toUpperCase(), contractAddress: contract },
    ...{ extraIdName: hasMemo ? 'Tag' : null, blockchainPrecision: 8, image: `https://cdn.changelly.com/icons/${coin}.png` },
  }))
  return [...rows, { ...rows[0], ticker: 'doge', name: 'DOGE', blockchain: 'dogecoin', enabled: false }]
}

function pairOf(params: Fields, exchange: Exchange): { readonly from: Words; readonly to: Words } {
  const side = (name: string): Partial<Words> => assets.find(({ coin }) => coin === textOf(params, name)) ?? {}
  return exchange.pair(side('from'), side('to'))
}

/** What is received is `amountTo` without the fee of the network, unless it is asked for: the fee is then added. Only with a fixed rate. */
function askedIn(params: Fields, isFixed: boolean): Asked {
  const { amount, isReceived } = askedOf(params, 'amountFrom', 'amountTo')
  if (isReceived && !isFixed) throw new Refused('parameter', 'amountTo')
  return { amount: isReceived ? Number((amount + networkFee).toFixed(8)) : amount, isReceived }
}

function quote(params: Fields, isFixed: boolean, exchange: Exchange): unknown {
  requireNames(params, ['from', 'to'], ['amountFrom', 'amountTo'])
  pairOf(params, exchange)
  const amounts = exchange.quote(askedIn(params, isFixed), isFixed)
  const amountTo = String(amounts.amountOut)
  const { market } = exchange
  const [min, max] = [String(market.min), String(market.max ?? 0)]
  const rate = String(isFixed ? market.fixed : market.float)
  return {
    ...(isFixed && { id: exchange.promise(amounts), result: rate, expiredAt: Math.floor(Date.now() / 1_000) + 60 }),
    ...{ from: params.from, to: params.to, networkFee: String(networkFee), amountFrom: String(amounts.amountIn) },
    ...{ amountTo, min, max, minFrom: min, maxFrom: max, minTo: '0.03', maxTo: '800' },
    ...{ visibleAmount: amountTo, rate, fee: '0.1' },
  }
}

function create(params: Fields, isFixed: boolean, exchange: Exchange): unknown {
  const fixed = isFixed ? ['rateId', 'refundAddress'] : []
  const optional = ['extraId', 'refundExtraId', 'fromAddress', 'fromExtraId', 'userMetadata', 'subaccountId']
  requireNames(
    params,
    ['from', 'to', 'address', ...fixed],
    ['amountFrom', 'amountTo', ...optional, ...(isFixed ? [] : ['refundAddress'])],
  )
  const swap = exchange.create(
    {
      ...pairOf(params, exchange),
      isFixed,
      asked: askedIn(params, isFixed),
      withdrawal: textOf(params, 'address'),
      withdrawalMemo: optionalTextOf(params, 'extraId'),
      refund: optionalTextOf(params, 'refundAddress'),
      refundMemo: optionalTextOf(params, 'refundExtraId'),
      rateId: optionalTextOf(params, 'rateId'),
    },
    true,
  )
  return { ...factsOf(swap), trackUrl: `https://changelly.com/track/${swap.id}`, ...(isFixed && { payTill: expiryOf(swap) }) }
}

function factsOf(swap: Swap): object {
  return {
    ...{ id: swap.id, status: swap.status, type: swap.isFixed ? 'fixed' : 'float', currencyFrom: swap.from.coin },
    ...{ currencyTo: swap.to.coin, amountExpectedFrom: String(swap.amountIn), amountExpectedTo: String(swap.amountOut) },
    ...{ networkFee: String(networkFee), payinAddress: swap.deposit, payinExtraId: swap.depositMemo },
    ...{ payoutAddress: swap.withdrawal, payoutExtraId: swap.withdrawalMemo ?? null, refundAddress: swap.refund ?? null },
    ...{ refundExtraId: swap.refundMemo ?? null, createdAt: Math.floor(swap.createdAt.getTime() / 1_000) },
  }
}

function list(params: Fields, { swaps }: Exchange): unknown {
  const filters = ['status', 'currency', 'address', 'payoutAddress', 'extraId', 'id']
  requireNames(params, [], [...filters, 'since', 'limit', 'offset'])
  const limit = countOf(params, 'limit', 10, 1, 100)
  const offset = countOf(params, 'offset', 0, 0, 1_000_000)
  const since = countOf(params, 'since', 0, 0, Number.MAX_SAFE_INTEGER) / 1_000 // microseconds
  const rows = swaps.filter(({ id, createdAt }) => (params.id ?? id) === id && createdAt.getTime() >= since).toReversed()
  return rows.slice(offset, offset + limit).map((swap) => ({
    ...{
      ...factsOf(swap),
      payinHash: swap.hashIn,
      payoutHash: swap.hashOut,
      moneyReceived: 0,
      moneySent: 0,
      payinConfirmations: '0',
    },
    ...{ amountFrom: String(swap.amountIn), amountTo: String(swap.amountOut), rate: '16.5', totalFee: '0', refundHash: null },
  }))
}

/** HTTP 200, whatever it is. */
function refuse({ why, of }: Refused, _: unknown, { body }: Received, { market }: Exchange): Reply {
  const { id = null } = JSON.parse(body || '{}') as { id?: unknown }
  const { min, max } = market
  const limits = { max: { from: max === null ? null : String(max), to: '800' }, min: { from: String(min), to: '0.03' } }
  const known: Partial<Record<string, object>> = {
    key: { code: -32600, message: 'Invalid Request' },
    below: { code: -32602, message: `Invalid amount: minimal amount is ${min}`, data: { limits } },
    above: { code: -32602, message: `Invalid amount: maximal amount is ${max}`, data: { limits } },
    pair: { code: -32602, message: 'Invalid currency pair' },
    address: { code: -32602, message: 'Invalid address' },
    rateId: { code: -32602, message: 'rateId was expired' },
  }
  return { json: { jsonrpc: '2.0', id, error: known[why] ?? { code: -32602, message: `Invalid params: ${of || why}` } } }
}

/** FixedFloat v2 (HMAC of each body), from its documentation and public clients: refusals in a 200, and an order that its id and its token name together. */
import { createHmac } from 'node:crypto'
import type { Reply } from '../../support/stand-in.ts'
import { type Asked, type Dialect, type Exchange, expiryOf, type Operation, Refused, type Swap, type Words } from './exchange.ts'
import { bodyOf, type Fields, numberOf, optionalTextOf, requireNames, textOf, wordOf } from './strict.ts'

/** `coin` is the code. */
const assets: readonly Words[] = [
  { coin: 'BTC', network: 'BTC' },
  { coin: 'ETH', network: 'ETH' },
  { coin: 'ETHARBITRUM', network: 'ARBITRUM' },
  { coin: 'USDT', network: 'ETH' },
  { coin: 'USDTTRC', network: 'TRX' },
  { coin: 'USDTMATIC', network: 'MATIC' },
  { coin: 'MATIC', network: 'MATIC' },
  { coin: 'XRP', network: 'XRP', hasMemo: true },
]

const paths: Readonly<Record<string, Operation>> = {
  'POST /ccies': 'currencies',
  'POST /price': 'quote',
  'POST /create': 'create',
  'POST /order': 'get',
}

export const fixedfloat: Dialect = {
  name: 'fixedfloat',
  assets,
  firstStatus: 'NEW',
  idOf: (number) => `FF${number}.token${number}ofTheOrder`,
  operationOf({ method, path, body }) {
    if (`${method} ${path}` !== 'POST /emergency') return paths[`${method} ${path}`]
    return (JSON.parse(body || '{}') as { choice?: string }).choice === 'EXCHANGE' ? 'continue' : 'refund'
  },
  reply(operation, received, exchange) {
    const { 'x-api-key': key = '', 'x-api-sign': signature } = received.headers
    if (!exchange.isKey(key)) throw new Refused('key')
    if (signature !== createHmac('sha256', exchange.secret).update(received.body, 'utf8').digest('hex'))
      throw new Refused('key', 'sign')
    return { json: { code: 0, msg: 'OK', data: dataOf(operation, bodyOf(received), exchange) } }
  },
  refuse,
}

function dataOf(operation: Operation, body: Fields, exchange: Exchange): unknown {
  if (operation === 'currencies') return currencies(body)
  if (operation === 'quote') return price(body, exchange)
  if (operation === 'create') return create(body, exchange)
  if (operation === 'get') return shown(find(body, exchange))
  return choose(body, exchange)
}

function currencies(body: Fields): unknown {
  requireNames(body, [])
  return assets.map(({ coin, network, hasMemo }, priority) => ({
    ...{ code: coin, coin: coin.slice(0, 4), network, name: `${coin} coin`, recv: true, send: 1, tag: hasMemo ? 'Tag' : null },
    ...{ logo: `https://ff.example/${coin.toLowerCase()}.svg`, color: '#f7931a', priority },
  }))
}

const terms = ['type', 'fromCcy', 'toCcy', 'direction', 'amount']
const affiliate = ['refcode', 'afftax']

function termsOf(body: Fields, exchange: Exchange) {
  const side = (name: string): Partial<Words> => assets.find(({ coin }) => coin === textOf(body, name)) ?? {}
  const asked: Asked = {
    amount: numberOf(body, 'amount'),
    isReceived: wordOf(body, 'direction', ['from', 'to']) === 'to',
  }
  const isFixed = wordOf(body, 'type', ['fixed', 'float']) === 'fixed'
  return { ...exchange.pair(side('fromCcy'), side('toCcy')), asked, isFixed }
}

/** An amount outside of the limits has a price with a word for that. */
function price(body: Fields, exchange: Exchange): unknown {
  requireNames(body, terms, affiliate)
  const { from, to, asked, isFixed } = termsOf(body, exchange)
  const { market } = exchange
  const rate = isFixed ? market.fixed : market.float
  const amountIn = asked.isReceived ? asked.amount / rate : asked.amount
  if (amountIn < market.min) return priced(from, to, amountIn, amountIn * rate, exchange, ['LIMIT_MIN'])
  if (market.max !== null && amountIn > market.max) return priced(from, to, amountIn, amountIn * rate, exchange, ['LIMIT_MAX'])
  const amounts = exchange.quote(asked, isFixed)
  return priced(from, to, amounts.amountIn, amounts.amountOut, exchange, [])
}

function priced(
  from: Words,
  to: Words,
  amountIn: number,
  amountOut: number,
  { market }: Exchange,
  errors: readonly string[],
): unknown {
  const { min, max } = market
  const asset = ({ coin, network }: Words) => ({ code: coin, coin: coin.slice(0, 4), network, precision: 8, usd: '1' })
  return {
    from: {
      ...asset(from),
      amount: String(amountIn),
      rate: '16.5',
      min: String(min),
      max: max === null ? null : String(max),
      btc: '1',
    },
    to: { ...asset(to), amount: String(amountOut), rate: '0.06', min: '0.03', max: '800' },
    errors,
  }
}

function create(body: Fields, exchange: Exchange): unknown {
  requireNames(body, [...terms, 'toAddress'], ['tag', ...affiliate])
  const order = { ...termsOf(body, exchange), withdrawal: textOf(body, 'toAddress'), withdrawalMemo: optionalTextOf(body, 'tag') }
  return shown(exchange.create(order, false))
}

function find(body: Fields, exchange: Exchange): Swap {
  requireNames(body, ['id'], ['token'])
  return exchange.find(`${textOf(body, 'id')}.${textOf(body, 'token')}`)
}

function choose({ choice, address, tag, ...order }: Fields, exchange: Exchange): true {
  const swap = find(order, exchange)
  if (swap.status !== 'EMERGENCY' || swap.choice !== undefined) throw new Refused('action')
  swap.choice = wordOf({ choice }, 'choice', ['EXCHANGE', 'REFUND'])
  if (swap.choice === 'REFUND')
    Object.assign(swap, { refund: textOf({ address }, 'address'), refundMemo: optionalTextOf({ tag }, 'tag') })
  return true
}

const noTransaction = { id: null, amount: null, fee: null, ccyfee: null, timeReg: null, timeBlock: null, confirmations: null }

function shown(swap: Swap): unknown {
  const [id = '', token = ''] = swap.id.split('.')
  const created = Math.floor(swap.createdAt.getTime() / 1_000)
  const expiration = Math.floor(expiryOf(swap).getTime() / 1_000)
  const asset = ({ coin, network }: Words) => ({
    code: coin,
    coin: coin.slice(0, 4),
    network,
    name: `${coin} coin`,
    alias: coin.toLowerCase(),
  })
  const paid = (hash: string | null) => (hash === null ? noTransaction : { ...noTransaction, id: hash })
  return {
    ...{ id, token, type: swap.isFixed ? 'fixed' : 'float', email: '', status: swap.status },
    time: { reg: created, start: null, finish: null, update: created, expiration, left: 1_800 },
    from: {
      ...{ ...asset(swap.from), amount: String(swap.amountIn), address: swap.deposit, addressAlt: null, tag: swap.depositMemo },
      ...{ tagName: null, reqConfirmations: 1, maxConfirmations: 3, tx: paid(swap.hashIn) },
    },
    to: {
      ...{ ...asset(swap.to), amount: String(swap.amountOut), address: swap.withdrawal, tag: swap.withdrawalMemo ?? null },
      ...{ tagName: null, tx: paid(swap.hashOut) },
    },
    back: {
      ...{ code: null, coin: null, network: null, name: null, alias: null, amount: null, tagName: null },
      ...{ address: swap.refund ?? null, tag: swap.refundMemo ?? null, tx: noTransaction },
    },
    emergency: { status: [], choice: swap.choice ?? 'NONE', repeat: '0' },
  }
}

/** HTTP 200, whatever it is. */
function refuse({ why, of }: Refused): Reply {
  const known: Partial<Record<string, string>> = {
    key: of === 'sign' ? 'Invalid sign' : 'Invalid API key',
    pair: 'Incorrect direction of exchange',
    below: 'Out of limits',
    above: 'Out of limits',
    address: 'Invalid address',
    unknownId: 'Order not found',
    action: 'Order is not in emergency',
  }
  return { json: { code: 301, msg: known[why] ?? `Incorrect parameter ${of || why}`, data: null } }
}

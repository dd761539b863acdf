/** SideShift v2, from its documentation and recorded responses. */
import type { Received, Reply } from '../../support/stand-in.ts'
import { type Asked, type Dialect, type Exchange, expiryOf, type Operation, Refused, type Swap, type Words } from './exchange.ts'
import { askedOf, bodyOf, type Fields, optionalTextOf, requireNames, textOf } from './strict.ts'

/** The account that the key belongs to. */
export const accountId = 'YQMi62XMb'

const assets: readonly Words[] = [
  { coin: 'BTC', network: 'bitcoin' },
  { coin: 'ETH', network: 'ethereum' },
  { coin: 'ETH', network: 'arbitrum' },
  { coin: 'USDT', network: 'ethereum', contract: '0xdac17f958d2ee523a2206206994597c13d831ec7' },
  { coin: 'USDT', network: 'tron', contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
  { coin: 'USDT', network: 'avax', contract: '0x9702230a8ea53601f5cd2dc00fdbc13d4df4a8c7' },
  { coin: 'POL', network: 'polygon' },
  { coin: 'AVAX', network: 'avax' },
  { coin: 'XRP', network: 'ripple', hasMemo: true },
]

const operations: readonly (readonly [RegExp, Operation])[] = [
  [/^GET \/coins$/, 'currencies'],
  [/^GET \/pair\/[^/]+\/[^/]+$/, 'limits'],
  // Requested by a user's wallet before it trades.
  [/^GET \/permissions$/, 'limits'],
  [/^POST \/quotes$/, 'quote'],
  [/^POST \/shifts\/fixed$/, 'create'],
  [/^GET \/shifts\/[^/]+$/, 'get'],
  [/^POST \/cancel-order$/, 'refund'],
  [/^POST \/shifts\/[^/]+\/set-refund-address$/, 'refundAddress'],
]

interface Quote {
  readonly from: Words
  readonly to: Words
  readonly asked: Asked
}

/** What was quoted, by the id of the quote. */
const quotes = new WeakMap<Exchange, Map<string, Quote>>()

/** It has no list of shifts but by their ids. */
export const sideshift: Dialect = {
  name: 'sideshift',
  assets,
  firstStatus: 'waiting',
  operationOf: ({ method, path }) => operations.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1],
  reply(operation, received, exchange) {
    if (operation === 'currencies') return { json: coins() }
    if (operation === 'get') return { json: found(exchange.find(decodeURIComponent(received.path.slice('/shifts/'.length)))) }
    if (received.path === '/permissions') return { json: { createShift: true } }
    if (!exchange.isKey(received.headers['x-sideshift-secret'] ?? '')) throw new Refused('key')
    if (operation === 'limits') return { json: pair(received, exchange) }
    if (operation === 'refund') return cancel(bodyOf(received), exchange)
    if (operation === 'refundAddress') return { status: 201, json: setRefundAddress(received, exchange) }
    requireUser(received, exchange)
    if (operation === 'quote') return { status: 201, json: quote(bodyOf(received), exchange) }
    return { status: 201, json: create(bodyOf(received), exchange) }
  },
  refuse,
}

/** A server that calls for its users must send the address of each. */
function requireUser({ headers }: Received, exchange: Exchange): void {
  const address = headers['x-user-ip']
  if (address === undefined && exchange.isCalledByUsers) return
  if (address === undefined || !/^[\d.]{7,15}$|^[\da-f:]+$/.test(address)) throw new Refused('noUser')
  if (exchange.blockedUsers.has(address)) throw new Refused('blockedUser')
}

function coins(): unknown {
  const byCoin = Map.groupBy(assets, ({ coin }) => coin)
  return [...byCoin].map(([coin, rows]) => {
    const tokens = rows.filter(({ contract }) => contract !== undefined)
    const details = tokens.map(({ network, contract }) => [network, { contractAddress: contract, decimals: 6 }])
    return {
      ...{ networks: rows.map(({ network }) => network), coin, name: `${coin} coin`, hasMemo: false },
      ...{ fixedOnly: false, variableOnly: false, depositOffline: false, settleOffline: false },
      networksWithMemo: rows.filter(({ hasMemo }) => hasMemo).map(({ network }) => network),
      ...(tokens.length > 0 ? { tokenDetails: Object.fromEntries(details) } : { mainnet: rows[0]?.network }),
    }
  })
}

/** Its documents need `affiliateId`; a published client leaves it out. */
function pair({ path, query }: Received, exchange: Exchange): unknown {
  const fields: Fields = Object.fromEntries(query)
  requireNames(fields, [], ['affiliateId', 'amount', 'commissionRate'])
  requireAccount(fields)
  const [from, to] = path
    .slice('/pair/'.length)
    .split('/')
    .map((part) => wordsOf(decodeURIComponent(part)))
  const { from: deposit, to: settle } = exchange.pair(from ?? {}, to ?? {})
  const { min, max, fixed } = exchange.market
  return { min: String(min), max: String(max), rate: String(fixed), ...sides(deposit, settle) }
}

function wordsOf(coinAndNetwork: string): Partial<Words> {
  const at = coinAndNetwork.lastIndexOf('-')
  return { coin: coinAndNetwork.slice(0, at), network: coinAndNetwork.slice(at + 1) }
}

function requireAccount({ affiliateId = accountId }: Fields): void {
  if (affiliateId !== accountId) throw new Refused('parameter', 'affiliateId')
}

function sides(from: Words, to: Words): object {
  return { depositCoin: from.coin, settleCoin: to.coin, depositNetwork: from.network, settleNetwork: to.network }
}

function quote(body: Fields, exchange: Exchange): unknown {
  const needed = ['depositCoin', 'depositNetwork', 'settleCoin', 'settleNetwork', 'affiliateId']
  requireNames(body, needed, ['depositAmount', 'settleAmount', 'commissionRate'])
  requireAccount(body)
  const { from, to } = exchange.pair(
    { coin: textOf(body, 'depositCoin'), network: textOf(body, 'depositNetwork') },
    { coin: textOf(body, 'settleCoin'), network: textOf(body, 'settleNetwork') },
  )
  const asked = askedOf(body, 'depositAmount', 'settleAmount')
  const amounts = exchange.quote(asked, true)
  const id = exchange.promise(amounts)
  const known = quotes.get(exchange) ?? new Map<string, Quote>()
  quotes.set(exchange, known.set(id, { from, to, asked }))
  return {
    ...{ id, createdAt: new Date().toISOString(), expiresAt: soon(), ...sides(from, to) },
    ...{ depositAmount: String(amounts.amountIn), settleAmount: String(amounts.amountOut) },
    ...{ rate: String(exchange.market.fixed), affiliateId: accountId },
  }
}

function soon(): string {
  return new Date(Date.now() + 900_000).toISOString()
}

function create(body: Fields, exchange: Exchange): unknown {
  requireNames(body, ['settleAddress', 'affiliateId', 'quoteId'], ['settleMemo', 'refundAddress', 'refundMemo', 'externalId'])
  requireAccount(body)
  const rateId = textOf(body, 'quoteId')
  const quoted = quotes.get(exchange)?.get(rateId)
  if (!quoted) throw new Refused('rateId')
  const swap = exchange.create(
    {
      ...{ from: quoted.from, to: quoted.to, asked: quoted.asked, isFixed: true, rateId },
      withdrawal: textOf(body, 'settleAddress'),
      withdrawalMemo: optionalTextOf(body, 'settleMemo'),
      refund: optionalTextOf(body, 'refundAddress'),
      refundMemo: optionalTextOf(body, 'refundMemo'),
      reference: optionalTextOf(body, 'externalId'),
    },
    true,
  )
  return { ...shown(swap), depositAmount: String(swap.amountIn), settleAmount: String(swap.amountOut) }
}

/** Expires an order that has no deposit. */
function cancel(body: Fields, exchange: Exchange): Reply {
  requireNames(body, ['orderId'])
  const swap = exchange.find(body.orderId)
  if (swap.status !== 'waiting') throw new Refused('action')
  swap.status = 'expired'
  return { status: 204, text: '' }
}

function setRefundAddress(received: Received, exchange: Exchange): unknown {
  const body = bodyOf(received)
  requireNames(body, ['address'], ['memo'])
  const swap = exchange.find(received.path.split('/')[2])
  if (swap.refund !== undefined) throw new Refused('action')
  swap.refund = textOf(body, 'address')
  swap.refundMemo = optionalTextOf(body, 'memo')
  if (swap.status === 'refund') swap.status = 'refunding'
  return found(swap)
}

function shown(swap: Swap): object {
  const { withdrawalMemo, refund, refundMemo, depositMemo, amountIn } = swap
  return {
    ...{ id: swap.id, createdAt: swap.createdAt.toISOString(), ...sides(swap.from, swap.to), depositAddress: swap.deposit },
    ...(depositMemo !== null && { depositMemo }),
    settleAddress: swap.withdrawal,
    ...(withdrawalMemo !== undefined && { settleMemo: withdrawalMemo }),
    ...{ depositMin: String(amountIn), depositMax: String(amountIn) },
    ...(refund !== undefined && { refundAddress: refund }),
    ...(refundMemo !== undefined && { refundMemo }),
    ...(swap.reference !== undefined && { externalId: swap.reference }),
    ...{
      type: 'fixed',
      quoteId: swap.rateId,
      expiresAt: expiryOf(swap).toISOString(),
      status: swap.status,
      averageShiftSeconds: '44.2',
      rate: '16',
    },
  }
}

/** The amount received is there at the end, and no amount beside several deposits. */
function found(swap: Swap): object {
  const { status, amountIn, amountOut, hashIn, hashOut } = swap
  if (status === 'multiple') return { ...shown(swap), deposits: [{ depositAmount: String(amountIn), status: 'settled' }] }
  return {
    ...{ ...shown(swap), depositAmount: String(amountIn) },
    ...(['settled', 'expired'].includes(status) && { settleAmount: String(amountOut), updatedAt: new Date().toISOString() }),
    ...(hashIn !== null && { depositHash: hashIn, depositReceivedAt: new Date().toISOString() }),
    ...(hashOut !== null && { settleHash: hashOut }),
  }
}

const messages = {
  key: [401, 'Unauthorized'],
  noUser: [400, 'The x-user-ip header must be set to the end-user IP address'],
  blockedUser: [403, 'Access denied. See https://sideshift.ai/access-denied', 'ACCESS_DENIED'],
  below: [400, 'Amount too low', 'BAD_USER_INPUT'],
  above: [400, 'Amount too high', 'BAD_USER_INPUT'],
  pair: [400, 'Invalid coin', 'BAD_USER_INPUT'],
  address: [400, 'Invalid receiving address', 'BAD_USER_INPUT'],
  memo: [400, 'Invalid memo', 'BAD_USER_INPUT'],
  rateId: [400, 'Quote has already expired. Request a new quote.', 'BAD_USER_INPUT'],
  unknownId: [404, 'Order not found'],
  action: [400, 'Order already expired'],
} as const satisfies Partial<Record<Refused['why'], readonly [status: number, message: string, code?: string]>>

function refuse({ why, of }: Refused): Reply {
  const known: Partial<Record<string, readonly [status: number, message: string, code?: string]>> = messages
  const [status, message, code] = known[why] ?? [400, `Bad request: Invalid parameters: ${of || why}`, 'BAD_USER_INPUT']
  return { status, json: { error: { message, ...(code !== undefined && { code }) } } }
}

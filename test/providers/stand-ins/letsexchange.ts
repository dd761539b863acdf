/** LetsExchange (v1 and v2), from its documentation and recorded responses. */
import type { Reply } from '../../support/stand-in.ts'
import { type Asked, type Dialect, type Exchange, expiryOf, type Operation, Refused, type Swap, type Words } from './exchange.ts'
import { bodyOf, countOf, type Fields, numberTextOf, optionalTextOf, requireNames, textOf } from './strict.ts'

const assets: readonly Words[] = [
  { coin: 'BTC', network: 'BTC' },
  { coin: 'ETH', network: 'ETH' },
  { coin: 'USDT', network: 'ERC20', contract: '0xdac17f958d2ee523a2206206994597c13d831ec7' },
  { coin: 'USDT', network: 'TRC20', contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
  { coin: 'TRX', network: 'TRX' },
  { coin: 'BNB', network: 'BNB' },
  { coin: 'USDT', network: 'BEP20', contract: '0x55d398326f99059ff775485246999027b3197955' },
  { coin: 'XRP', network: 'XRP', hasMemo: true },
]

/** Of the account. */
export const affiliateId = 'affiliate-1'
const zoneMs = 3 * 3_600_000

export const letsexchange: Dialect = {
  name: 'letsexchange',
  assets,
  firstStatus: 'wait',
  operationOf: ({ method, path }) => {
    const known = { 'POST /v1/info': 'quote', 'POST /v1/transaction': 'create', 'GET /v2/coins': 'currencies' } as const
    const reverted = { 'POST /v1/info-revert': 'quote', 'POST /v1/transaction-revert': 'create' } as const
    const own: Readonly<Record<string, Operation>> = { ...known, ...reverted, 'GET /v2/transactions-list': 'list' }
    return own[`${method} ${path}`] ?? (/^GET \/v1\/transaction\/[^/]+$/.test(`${method} ${path}`) ? 'get' : undefined)
  },
  reply(operation, received, exchange) {
    if (!exchange.isKey(/^Bearer (.+)$/.exec(received.headers.authorization ?? '')?.[1] ?? '')) throw new Refused('key')
    const query = Object.fromEntries(received.query)
    const isReceived = received.path.endsWith('-revert')
    const results: Readonly<Partial<Record<Operation, () => unknown>>> = {
      currencies: () => coins(query),
      quote: () => info(bodyOf(received), exchange, isReceived),
      create: () => create(bodyOf(received), exchange, isReceived),
      get: () => got(exchange.find(decodeURIComponent(received.path.slice('/v1/transaction/'.length))), 1),
      list: () => list(query, exchange),
    }
    return { json: results[operation]?.() }
  },
  refuse,
}

function coins(query: Fields): unknown {
  requireNames(query, [])
  return [...new Set(assets.map(({ coin }) => coin))].map((code) => ({
    ...{ code, name: `${code} coin`, icon: `https://images.letsexchange.io/coins/${code}.svg`, is_active: 1 },
    networks: assets
      .filter(({ coin }) => coin === code)
      .map(({ network, contract = null }) => ({ code: network, name: network, contract_address: contract, is_active: 1 })),
  }))
}

function pairOf(body: Fields, exchange: Exchange, [from, to]: readonly [string, string]): { from: Words; to: Words } {
  return exchange.pair(
    { coin: textOf(body, from), network: textOf(body, 'network_from') },
    { coin: textOf(body, to), network: textOf(body, 'network_to') },
  )
}

function requireAffiliate(body: Fields): void {
  if (body.affiliate_id !== undefined && body.affiliate_id !== affiliateId) throw new Refused('parameter', 'affiliate_id')
}

function isFloat(body: Fields, standard?: boolean): boolean {
  const { float = standard } = body
  if (typeof float !== 'boolean') throw new Refused('parameter', 'float')
  return float
}

/** For an amount outside of the limits the response has the limits and no amount. */
function info(body: Fields, exchange: Exchange, isReceived: boolean): unknown {
  requireNames(body, ['from', 'to', 'network_from', 'network_to', 'amount'], ['affiliate_id', 'float', 'promocode'])
  requireAffiliate(body)
  pairOf(body, exchange, ['from', 'to'])
  const isFixed = !isFloat(body, true)
  const { market } = exchange
  const amounts = quoteOf({ amount: numberTextOf(body, 'amount'), isReceived }, isFixed, exchange)
  const answered = String((isReceived ? amounts?.amountIn : amounts?.amountOut) ?? 0)
  const limits = { min: String(market.min), max: String(market.max ?? 0) }
  const rate = isFixed ? market.fixed : market.float
  // Of the amount that is asked for.
  const own = isReceived ? { min: String(market.min * rate), max: String((market.max ?? 0) * rate) } : limits
  return {
    ...{ deposit_min_amount: limits.min, deposit_max_amount: limits.max, min_amount: own.min, max_amount: own.max },
    ...{ amount: answered, fee: '0', rate: String(rate), profit: '0' },
    ...{ withdrawal_fee: '0.00200000', extra_fee_amount: '0', rate_id: isFixed && amounts ? exchange.promise(amounts) : '' },
    ...{ rate_id_expired_at: isFixed ? String(Date.now() + 1_800_000) : 0, applied_promo_code_id: null, networks_from: [] },
    ...{ networks_to: [], deposit_amount_usdt: '64519.66', expired_at: String(Date.now() + 1_800_000), base_amount: answered },
  }
}

/** Undefined outside of the limits. */
function quoteOf(asked: Asked, isFixed: boolean, exchange: Exchange) {
  try {
    return exchange.quote(asked, isFixed)
  } catch {
    return undefined
  }
}

const orderNames = ['coin_from', 'coin_to', 'network_from', 'network_to', 'withdrawal', 'float']
const moreNames = ['withdrawal_extra_id', 'return', 'return_extra_id', 'rate_id', 'email', 'partner_user_ip', 'affiliate_id']
/** What a wallet in use sends beside. */
const walletNames = ['promocode', 'type', 'isEstimate']

function create(body: Fields, exchange: Exchange, isReceived: boolean): unknown {
  const amountName = isReceived ? 'withdrawal_amount' : 'deposit_amount'
  requireNames(body, [...orderNames, amountName], [...moreNames, ...walletNames])
  if (body.withdrawal_extra_id === undefined) throw new Refused('parameter', 'withdrawal_extra_id')
  requireAffiliate(body)
  const isFixed = !isFloat(body)
  const swap = exchange.create(
    {
      ...pairOf(body, exchange, ['coin_from', 'coin_to']),
      asked: { amount: numberTextOf(body, amountName), isReceived },
      isFixed,
      withdrawal: textOf(body, 'withdrawal'),
      withdrawalMemo: optionalTextOf(body, 'withdrawal_extra_id'),
      refund: optionalTextOf(body, 'return'),
      refundMemo: optionalTextOf(body, 'return_extra_id'),
      rateId: optionalTextOf(body, 'rate_id'),
    },
    body.type === undefined, // that wallet has fixed rates without the id of a quote
  )
  const { status, ...facts } = factsOf(swap)
  return {
    ...{ is_float: !isFixed, status, type: 'cex', ...facts, extra_fee_from: 0, extra_fee_to: 0, revert: isReceived },
    ...{ execution_time: null, need_confirmations: 64, confirmations: 0, email: '*******', kyc_url: null, kyc_email: null },
  }
}

function factsOf({ from, to, ...swap }: Swap) {
  return {
    ...{ transaction_id: swap.id, status: swap.status, coin_from: from.coin, coin_to: to.coin },
    ...{ coin_from_network: from.network, coin_to_network: to.network, deposit_amount: String(swap.amountIn) },
    ...{ withdrawal_amount: String(swap.amountOut), withdrawal: swap.withdrawal, withdrawal_extra_id: swap.withdrawalMemo ?? null },
    ...{ return: swap.refund ?? null, return_extra_id: swap.refundMemo ?? null, deposit: swap.deposit },
    ...{ deposit_extra_id: swap.depositMemo, rate: String(swap.amountOut / swap.amountIn), fee: '0' },
    ...{ coin_from_contract_address: from.contract ?? null, coin_to_contract_address: to.contract ?? null },
    ...{ expired_at: Math.floor(expiryOf(swap).getTime() / 1_000), created_at: localTime(swap.createdAt) },
    ...{ aml_error_signals: [], error_code: '', is_available: true, rating: null, bonus: '0.00000000' },
  }
}

/** Three hours ahead of UTC, and silent about it. */
function localTime(time: Date): string {
  return new Date(time.getTime() + zoneMs).toISOString().slice(0, 19).replace('T', ' ')
}

/** `is_float` is another word at each endpoint. */
function got(swap: Swap, float: unknown): unknown {
  return {
    ...{ ...factsOf(swap), final_amount: String(swap.amountOut), hash_in: swap.hashIn, hash_out: swap.hashOut, type: 'cex' },
    ...{ real_deposit_amount: String(swap.amountIn), real_withdrawal_amount: String(swap.amountOut), startedAt: null },
    ...{ finishedAt: null, is_float: swap.isFixed ? (float === 1 ? 0 : 'false') : float, revert: 0, extra_fee_from: '0' },
    ...{ extra_fee_to: '0', return_amount: null, return_hash: null, return_coin: null, return_network: null, confirmations: 0 },
  }
}

function list(query: Fields, { swaps }: Exchange): unknown {
  requireNames(query, [], ['page', 'limit', 'start_date', 'end_date'])
  const limit = countOf(query, 'limit', 10, 1, 100)
  const page = countOf(query, 'page', 1, 1, 1_000)
  const from = countOf(query, 'start_date', 0, 0, 99_999_999_999)
  const to = countOf(query, 'end_date', 99_999_999_999, 0, 99_999_999_999)
  const seconds = ({ createdAt }: Swap): number => Math.floor(createdAt.getTime() / 1_000)
  const rows = swaps.filter((swap) => seconds(swap) >= from && seconds(swap) <= to).toReversed()
  const data = rows.slice((page - 1) * limit, page * limit).map((swap) => got(swap, 'true'))
  return { current_page: page, last_page: Math.max(1, Math.ceil(rows.length / limit)), data }
}

function refuse({ why, of }: Refused): Reply {
  const validation = (name: string, text: string): Reply => ({
    status: 422,
    json: { success: false, error: { validation: { [name]: [text] } } },
  })
  if (why === 'key') return { status: 403, json: { success: false, error: 'Forbidden' } }
  if (why === 'unknownId') return { status: 404, json: { success: false, error: 'Transaction not found' } }
  if (why === 'below') return validation('deposit_amount', 'The deposit amount is less than the minimum.')
  if (why === 'above') return validation('deposit_amount', 'The deposit amount is greater than the maximum.')
  if (why === 'address') return validation('withdrawal', 'The withdrawal address is not valid.')
  if (why === 'pair') return validation('coin_to', 'This pair is not available.')
  if (why === 'rateId') return validation('rate_id', 'The rate id is expired.')
  return validation(of || why, `The ${of || why} field is not valid.`)
}

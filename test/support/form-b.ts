/** A provider of Form B, written from `docs/service.md` alone. */
import { digits, readJson } from './json.ts'
import { Recorder } from './recorder.ts'
import { type Received, type Reply, type StandIn, standIn, type Watch } from './stand-in.ts'
import {
  type AssetWords,
  assets,
  byCoin,
  cut,
  depositOf,
  type Holdings,
  nextNumber,
  noSuchTransaction,
  type Order,
  refused,
  type Swap,
  swap,
} from './swaps.ts'

export const currenciesB: readonly object[] = [
  { code: 'BTC', name: 'Bitcoin', icon: 'https://icons.test/btc.svg', notes: '' },
  { code: 'ETH', name: 'Ethereum', icon: 'https://icons.test/eth.svg', notes: 'ERC20 only' },
  { code: 'USDT', name: 'Tether', icon: 'https://icons.test/usdt.svg', notes: 'TRC20 and ERC20' },
  { code: 'DOGE', name: 'Dogecoin', icon: 'https://icons.test/doge.svg', notes: '' },
]

export interface ProviderB extends StandIn {
  readonly holdings: Holdings
  readonly recorder: Recorder
}

export async function startFormB(): Promise<ProviderB> {
  const holdings: Holdings = { currencies: currenciesB, swaps: [] }
  const recorder = new Recorder(holdings)
  /** What a test has it reply to creates: it holds these, too. */
  const replied = new Map<string, object>()
  const watch: Watch = (received, respond) => {
    const reply = recorder.watch(received, respond)
    const { json, status = 200 } = reply
    if (received.operation !== 'create' || status >= 300 || typeof json !== 'object' || json === null) return reply
    const { networkFrom, networkTo } = readJson(received.body) as Order
    const { amount_out_expected: _, ...facts } = json as Record<string, unknown>
    const networks = { network_from: facts.network_from || networkFrom, network_to: facts.network_to || networkTo }
    if (!holdings.swaps.some(({ id }) => id === facts.id))
      replied.set(String(facts.id), { refund_address: null, ...facts, ...networks })
    return reply
  }
  const provider = await standIn((received) => response(received, holdings, replied), watch)
  return { ...provider, holdings, recorder }
}

export function createdB(facts: Swap): Record<string, unknown> {
  return {
    id: facts.id,
    status: facts.status,
    coin_from: facts.from.coin,
    coin_to: facts.to.coin,
    amount_in: facts.amountIn,
    amount_out_expected: facts.amountOut,
    rate_type: facts.rateType,
    deposit_address: facts.depositAddress,
    withdrawal_address: facts.withdrawalAddress,
    created_at: facts.createdAt,
  }
}

export function listedB(facts: Swap): Record<string, unknown> {
  return {
    id: facts.id,
    status: facts.status,
    coin_from: facts.from.coin,
    coin_to: facts.to.coin,
    amount_in: facts.amountIn,
    amount_out: facts.amountOut,
    created_at: facts.createdAt,
  }
}

export function detailedB(facts: Swap): Record<string, unknown> {
  return {
    ...listedB(facts),
    network_from: facts.from.network,
    network_to: facts.to.network,
    rate: facts.rate,
    rate_type: facts.rateType,
    deposit_address: facts.depositAddress,
    withdrawal_address: facts.withdrawalAddress,
    refund_address: facts.refundAddress,
    tx_hash_in: facts.txHashIn ?? `hash-in-${facts.id}`,
    tx_hash_out: null,
  }
}

function response(received: Received, holdings: Holdings, replied: ReadonlyMap<string, object>): Reply {
  const { operation, query } = received
  if (operation === 'currencies') return page(received, holdings.currencies, 50)
  if (operation === 'rate') return { json: rateB(query) }
  if (operation === 'other') return refused(404, 'Not Found', 'No such path', 'B')
  if (!received.headers['x-api-key']) return refused(401, 'Unauthorized', 'Invalid API key', 'B')
  if (operation === 'create') return { json: create(received, holdings) }
  if (operation === 'list') return page(received, between(newestFirst(holdings.swaps), query).map(listedB), 20)
  const id = decodeURIComponent(received.path.slice('/transactions/'.length))
  const found = holdings.swaps.find((known) => known.id === id)
  const json = found ? detailedB(found) : replied.get(id)
  return json ? { json } : refused(404, 'Not Found', noSuchTransaction, 'B')
}

function page(received: Received, rows: readonly unknown[], defaultSize: number): Reply {
  return { json: { data: cut(rows, received, defaultSize).rows, count: rows.length } }
}

function newestFirst(swaps: readonly Swap[]): readonly Swap[] {
  return swaps.toSorted((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt))
}

function between(swaps: readonly Swap[], query: URLSearchParams): readonly Swap[] {
  const first = Date.parse(query.get('dateFrom') ?? '1970-01-01T00:00:00Z')
  const last = Date.parse(query.get('dateTo') ?? '2999-01-01T00:00:00Z')
  return swaps.filter(({ createdAt }) => Date.parse(createdAt) >= first && Date.parse(createdAt) <= last)
}

export function rateB(query: URLSearchParams): object {
  return {
    fromAmount: digits(query.get('amount') ?? '0.10'),
    toAmount: digits(query.get('amountTo') ?? '0.123456789012345678'),
    rate: digits('0.0150'),
    minAmount: digits('0.001'),
    maxAmount: digits('1e3'),
    message: null,
  }
}

/** The deposit address of a swap that it has created: another one than that of a provider of Form A. */
export function depositOfB(id: string, from: AssetWords = assets.btc): string {
  return depositOf(`B ${id}`, from)
}

function create({ body }: Received, holdings: Holdings): object {
  const order = readJson(body) as Order
  const number = nextNumber(holdings)
  const from = byCoin(order.coinFrom, order.networkFrom ?? '')
  const created = swap({
    id: `tx-${number}`,
    depositAddress: depositOfB(`tx-${number}`, from),
    from,
    to: byCoin(order.coinTo, order.networkTo ?? ''),
    amountIn: order.amount ?? digits('0.10'),
    ...(order.amountTo && { amountOut: order.amountTo }),
    withdrawalAddress: order.withdrawalAddress,
    refundAddress: order.refundAddress ?? null,
    rateType: order.rateType ?? 'float',
  })
  holdings.swaps = [...holdings.swaps, created]
  return createdB(created)
}

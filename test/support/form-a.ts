/** A provider of Form A, written from `docs/service.md` alone. */
import { digits, readJson } from './json.ts'
import { Recorder } from './recorder.ts'
import { type Received, type Reply, type StandIn, standIn } from './stand-in.ts'
import { byCode, cut, type Holdings, nextNumber, noSuchTransaction, type Order, refused, type Swap, swap } from './swaps.ts'

export const currenciesA: readonly object[] = [
  { code: 'BTC', name: 'Bitcoin', icon: 'https://icons.test/btc.svg', network: 'BTC', depositMin: 0.001, depositMax: 10 },
  { code: 'ETH', name: 'Ethereum', icon: 'https://icons.test/eth.svg', network: 'ETH', depositMin: 0.01, depositMax: 100 },
  { code: 'USDTERC20', name: 'Tether', icon: 'https://icons.test/usdt.svg', network: 'ETH', depositMin: 20, depositMax: 50000 },
  { code: 'USDTTRC20', name: 'Tether', icon: 'https://icons.test/usdt.svg', network: 'TRX', depositMin: 10, depositMax: 90000 },
  { code: 'DOGE', name: 'Dogecoin', icon: 'https://icons.test/doge.svg', network: 'DOGE', depositMin: 5, depositMax: 500000 },
]

export interface ProviderA extends StandIn {
  readonly holdings: Holdings
  readonly recorder: Recorder
}

export async function startFormA(): Promise<ProviderA> {
  const holdings: Holdings = { currencies: currenciesA, swaps: [] }
  const recorder = new Recorder(holdings)
  const provider = await standIn((received) => response(received, holdings), recorder.watch)
  return { ...provider, holdings, recorder }
}

/** The transaction in the one shape that Form A has for it. */
export function transactionA(facts: Swap): Record<string, unknown> {
  return {
    id: facts.id,
    status: facts.status,
    coinFrom: facts.from.code,
    coinTo: facts.to.code,
    amount: facts.amountIn,
    amountTo: facts.amountOut,
    depositAddress: facts.depositAddress,
    withdrawalAddress: facts.withdrawalAddress,
    refundAddress: facts.refundAddress,
    createdAt: facts.createdAt,
    updatedAt: facts.updatedAt,
    rate: facts.rate,
    rateType: facts.rateType,
  }
}

function response(received: Received, holdings: Holdings): Reply {
  const { operation, query } = received
  if (operation === 'currencies') return page(received, holdings.currencies, 50)
  if (operation === 'rate') return { json: rateA(query) }
  if (operation === 'other') return refused(404, 'Not Found', 'No such path', 'A')
  if (!/^Bearer .+$/.test(received.headers.authorization ?? '')) return refused(401, 'Unauthorized', 'Invalid API key', 'A')
  if (operation === 'create') return { status: 201, json: create(received, holdings) }
  if (operation === 'list') return page(received, holdings.swaps.map(transactionA), 20)
  const id = decodeURIComponent(received.path.slice('/transactions/'.length))
  const found = holdings.swaps.find((known) => known.id === id)
  return found ? { json: transactionA(found) } : refused(404, 'Not Found', noSuchTransaction, 'A')
}

function page(received: Received, rows: readonly unknown[], defaultSize: number): Reply {
  const { page, size, rows: data } = cut(rows, received, defaultSize)
  return { json: { data, pagination: { page, size, total: rows.length } } }
}

export function rateA(query: URLSearchParams): object {
  return {
    coinFrom: query.get('coinFrom'),
    coinTo: query.get('coinTo'),
    amount: digits(query.get('amount') ?? '0.10'),
    amountTo: digits(query.get('amountTo') ?? '0.123456789012345678'),
    rate: digits('0.0150'),
    minAmount: digits('0.001'),
    maxAmount: digits('1e3'),
    fee: digits('0.00000001'),
    rateType: query.get('rateType') ?? 'float',
  }
}

function create({ body }: Received, holdings: Holdings): object {
  const { coinFrom, coinTo, amount, amountTo, withdrawalAddress, refundAddress, rateType } = readJson(body) as Order
  const number = nextNumber(holdings)
  const created = swap({
    id: `tx-${number}`,
    from: byCode(coinFrom),
    to: byCode(coinTo),
    amountIn: amount ?? digits('0.10'),
    ...(amountTo && { amountOut: amountTo }),
    withdrawalAddress,
    refundAddress: refundAddress ?? null,
    rateType: rateType ?? 'float',
  })
  holdings.swaps = [...holdings.swaps, created]
  return transactionA(created)
}

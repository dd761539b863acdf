/** What a stand-in provider holds, between its two forms, and the paging that both forms share. */
import { depositAddressOn } from './deposit-addresses.ts'
import { type Digits, digits } from './json.ts'
import type { Received, Reply } from './stand-in.ts'

/** A coin on a network, in every word for it. */
export interface AssetWords {
  readonly code: string
  readonly coin: string
  readonly network: string
}

export interface Swap {
  readonly id: string
  readonly status: string
  readonly from: AssetWords
  readonly to: AssetWords
  readonly amountIn: Digits
  readonly amountOut: Digits
  readonly rate: Digits
  readonly rateType: string
  readonly depositAddress: string
  readonly withdrawalAddress: string
  readonly refundAddress: string | null
  readonly createdAt: string
  readonly updatedAt: string
  /** In Form B; it has one unless given. */
  readonly txHashIn?: string
}

export interface Holdings {
  /** Rows as the provider's form has them. */
  currencies: readonly unknown[]
  swaps: readonly Swap[]
  /** How many swaps a test took out, so that no id is given twice. */
  removed?: number
}

/** The number of the next created swap. */
export function nextNumber({ swaps, removed = 0 }: Holdings): number {
  return swaps.length + removed + 1
}

export const assets = {
  btc: { code: 'BTC', coin: 'BTC', network: 'BTC' },
  eth: { code: 'ETH', coin: 'ETH', network: 'ETH' },
  usdtTrx: { code: 'USDTTRC20', coin: 'USDT', network: 'TRX' },
  usdtEth: { code: 'USDTERC20', coin: 'USDT', network: 'ETH' },
  usdcEth: { code: 'USDCERC20', coin: 'USDC', network: 'ETH' },
  usdcSol: { code: 'USDCSOL', coin: 'USDC', network: 'SOL' },
  xrp: { code: 'XRP', coin: 'XRP', network: 'XRP' },
} as const satisfies Record<string, AssetWords>

const known: readonly AssetWords[] = Object.values(assets)

/** The deposit address of a swap. */
export function depositOf(id: string, { network }: AssetWords = assets.btc): string {
  return depositAddressOn([network], id)
}

/** A swap with the given facts changed. */
export function swap(facts: Partial<Swap> = {}): Swap {
  const { id = 'tx-1', from = assets.btc } = facts
  return {
    id,
    status: 'wait',
    from,
    to: assets.usdtTrx,
    amountIn: digits('0.10'),
    amountOut: digits('6543.210000000000000001'),
    rate: digits('65432.10'),
    rateType: 'float',
    depositAddress: depositOf(id, from),
    withdrawalAddress: 'TWithdraw1',
    refundAddress: 'bc1q-refund-1',
    createdAt: '2026-03-01T10:00:00.000Z',
    updatedAt: '2026-03-01T10:05:00.000Z',
    ...facts,
  }
}

export function byCode(code: string): AssetWords {
  return known.find((asset) => asset.code === code) ?? { code, coin: code, network: code }
}

export function byCoin(coin: string, network: string): AssetWords {
  return known.find((asset) => asset.coin === coin && asset.network === network) ?? { code: coin, coin, network }
}

/** The rows of the requested page. */
export function cut<Row>(
  rows: readonly Row[],
  { query }: Received,
  defaultSize: number,
): { page: number; size: number; rows: Row[] } {
  const page = Number(query.get('page') ?? 1)
  const size = Number(query.get('size') ?? defaultSize)
  return { page, size, rows: rows.slice((page - 1) * size, page * size) }
}

/** The body of a create, by lexeme. */
export interface Order {
  readonly coinFrom: string
  readonly coinTo: string
  readonly networkFrom?: string
  readonly networkTo?: string
  readonly amount?: Digits
  readonly amountTo?: Digits
  readonly withdrawalAddress: string
  readonly refundAddress?: string
  readonly rateType?: string
}

export const noSuchTransaction = 'Transaction not found'

export function refused(status: number, error: string, message: string, form: 'A' | 'B'): Reply {
  return { status, json: form === 'A' ? { error, message, code: status } : { message, code: status } }
}

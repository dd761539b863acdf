/** The sandbox's store: every swap ever created. Only the deposit of a swap, and what happens to it beside its course, change. */
import type { Amount } from '../domain/amount.ts'
import { type Asset, type AssetTable, defaultAsset } from '../domain/asset.ts'
import { Fault } from '../domain/fault.ts'
import type { Status } from '../domain/status.ts'
import type { Pair, RateType } from '../domain/swap.ts'
import { isWithin, type Terms } from './market.ts'
import { rehearsalOf } from './rehearsals.ts'

interface Deposit {
  readonly amount: Amount
  /** Milliseconds since 1970, like `createdAt`. */
  readonly at: number
}

export interface Swap extends AssetNames, Terms {
  readonly id: string
  /** The identity of the key that created it. */
  readonly owner: string
  /** The requested amount, or what must be given for the one that is promised; the deposit may differ. */
  readonly amountIn: Amount
  /** The amount that was requested to be received: it is paid out for just that deposit. */
  readonly promised?: Amount | undefined
  readonly rateType: RateType
  readonly depositAddress: string
  readonly depositExtraId?: string | undefined
  readonly withdrawalAddress: string
  readonly withdrawalExtraId?: string | undefined
  readonly refundAddress?: string | undefined
  readonly refundExtraId?: string | undefined
  readonly createdAt: number
  readonly deposit?: Deposit
  readonly intervention?: Intervention
}

/** Words that no form of the service has: a provider's own (`providers.<name>.statuses`). */
export const ownWords = ['held', 'failed'] as const

/** What happened to a swap beside its course: the latest counts. */
interface Intervention {
  readonly status: (typeof ownWords)[number] | 'refunded' | 'continued'
  /** Milliseconds since 1970. */
  readonly at: number
}

/** A quote that is kept for one create of its owner. */
export interface KeptQuote extends AssetNames, Terms {
  readonly id: string
  readonly owner: string
  readonly amountIn: Amount
  /** The amount that was requested to be received. */
  readonly promised?: Amount | undefined
  /** Milliseconds since 1970. */
  readonly validUntil: number
}

/** Which of an owner's swaps: created between two moments, both inclusive. */
export interface Selection {
  readonly owner: string
  readonly from: number
  readonly to: number
}

/** Stores the swaps; they survive a restart. */
export interface Store {
  readonly insert: (swap: Swap) => void
  /** Replaces the facts of the swap with this id. */
  readonly update: (swap: Swap) => void
  readonly find: (id: string) => Swap | undefined
  readonly findByDepositAddress: (address: string) => Swap | undefined
  /** Newest creation first. */
  readonly list: (selection: Selection, page: { readonly page: number; readonly size: number }) => readonly Swap[]
  readonly count: (selection: Selection) => number
  /** `now`: those that were over before are dropped. */
  readonly keepQuote: (quote: KeptQuote, now: number) => void
  /** Undefined if the owner has none with this id, or it was taken before. */
  readonly takeQuote: (id: string, owner: string) => KeptQuote | undefined
  readonly close: () => void
}

// Where a swap stands: a pure function of its facts and the time, so that nothing needs a timer or survives as one.

/** In seconds. */
export interface Pace {
  /** From one status to the next. */
  readonly speed: number
  /** Without a deposit for so long, a swap is overdue. */
  readonly expiry: number
  /** A swap is paid by itself after so long; 0: never. */
  readonly autoDeposit: number
}

export interface Stage {
  readonly status: Status | (typeof ownWords)[number]
  /** When it began, in milliseconds since 1970. */
  readonly since: number
  readonly deposit?: Deposit
}

const paid: readonly Status[] = ['confirmation', 'confirmed', 'exchanging', 'sending', 'success']
const refused: readonly Status[] = ['confirmation', 'confirmed', 'refunded']
const held: readonly Stage['status'][] = ['confirmation', 'confirmed', 'held']
const continued: readonly Status[] = ['exchanging', 'sending', 'success']

/** A deposit outside the limits is refunded once it is confirmed; a late one revives an overdue swap. */
export function stageOf(swap: Swap, pace: Pace, now: number): Stage {
  const deposit = depositOf(swap, pace, now)
  const { intervention } = swap
  if (intervention && intervention.status !== 'continued')
    return { status: intervention.status, since: intervention.at, ...(deposit && { deposit }) }
  if (!deposit) return withoutDeposit(swap, pace, now)
  if (intervention && intervention.at > deposit.at) return { ...along(continued, intervention.at, pace, now), deposit }
  const isHeld = rehearsalOf(swap.promised ?? swap.amountIn)?.course === 'held'
  const path = !isWithin(deposit.amount, swap) ? refused : isHeld && !intervention ? held : paid
  return { ...along(path, deposit.at, pace, now), deposit }
}

/** How far a swap is that began this path at a moment. */
function along(path: readonly Stage['status'][], from: number, { speed }: Pace, now: number): Pick<Stage, 'status' | 'since'> {
  const step = speed * 1000
  const passed = step === 0 ? path.length : Math.floor((now - from) / step)
  const at = Math.min(Math.max(passed, 0), path.length - 1)
  return { status: path[at] as Stage['status'], since: from + at * step }
}

function withoutDeposit(swap: Swap, pace: Pace, now: number): Stage {
  const until = expiresAt(swap, pace)
  return now < until ? { status: 'wait', since: swap.createdAt } : { status: 'overdue', since: until }
}

/** Until when the deposit is waited for, in milliseconds since 1970. */
export function expiresAt({ createdAt }: Pick<Swap, 'createdAt'>, { expiry }: Pace): number {
  return createdAt + expiry * 1000
}

function depositOf({ deposit, amountIn, createdAt }: Swap, { autoDeposit }: Pace, now: number): Deposit | undefined {
  if (deposit || autoDeposit === 0) return deposit
  const at = createdAt + autoDeposit * 1000
  return now < at ? undefined : { amount: amountIn, at }
}

// The assets of a request, named by code or by coin and network.

/** Both assets in both manners of naming, so that any form can show them. */
type AssetNames = Readonly<Record<keyof Pair, string>>

export interface Assets {
  readonly from: Asset
  readonly to: Asset
}

/** Throws `invalid`, naming the field, where an asset is unknown or both are the same. */
export function assetsOf(pair: Pair, table: AssetTable): Assets {
  const { codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo } = pair
  const from = codeFrom === undefined ? byCoin(coinFrom, networkFrom, 'From', table) : byCode(codeFrom, 'codeFrom', table)
  const to = codeTo === undefined ? byCoin(coinTo, networkTo, 'To', table) : byCode(codeTo, 'codeTo', table)
  if (from !== to) return { from, to }
  throw new Fault('invalid', 'it must be another coin or network than the first', {
    field: codeTo === undefined ? 'coinTo' : 'codeTo',
  })
}

export function assetNames({ from, to }: Assets): AssetNames {
  return {
    codeFrom: from.code,
    coinFrom: from.coin,
    networkFrom: from.network,
    codeTo: to.code,
    coinTo: to.coin,
    networkTo: to.network,
  }
}

function byCode(code: string, field: 'codeFrom' | 'codeTo', table: AssetTable): Asset {
  const asset = table.byCode(code)
  if (!asset) throw unknownCoin(field)
  return asset
}

/** No network means the coin's standard one. */
function byCoin(name: string | undefined, network: string | undefined, side: 'From' | 'To', table: AssetTable): Asset {
  const coin = table.coin(name ?? '')
  if (!coin) throw unknownCoin(`coin${side}`)
  const asset = network === undefined ? defaultAsset(coin) : table.find(coin.coin, network)
  if (asset) return asset
  const networks = coin.assets.map((known) => known.network).join(', ')
  throw new Fault('invalid', `${coin.coin} has ${networks}`, {
    field: `network${side}`,
    reason: network === undefined ? 'network_required' : 'network_unknown',
  })
}

function unknownCoin(field: string): Fault {
  return new Fault('invalid', 'it is not a coin that can be swapped here', { field, reason: 'unknown_asset' })
}

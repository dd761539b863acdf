/** Where a provider's account of a transaction differs from what the ledger knows of it (docs/contract.md §10.3). */
import { memoOf, sameAddress } from '../../../domain/address/same-address.ts'
import { type AssetTable, sameName } from '../../../domain/swap/asset.ts'
import type { Transaction } from '../../../domain/swap/swap.ts'
import type { Discrepancy } from '../../../domain/telemetry/observation.ts'
import type { AssetName } from '../../assets/asset-naming.ts'
import { assetNameOf, from, type Side, to } from '../../assets/pair.ts'

export interface Discrepancies {
  /** The provider's account cannot be of this transaction: nothing of it is believed. */
  readonly rejected: readonly Discrepancy[]
  /** Unusual, but believed. */
  readonly accepted: readonly Discrepancy[]
}

/** What is not reported, or was not known, differs in nothing. */
export function discrepanciesOf(stored: Transaction, reported: Transaction, table: AssetTable): Discrepancies {
  const isOther = (field: Discrepancy): boolean => differs[field](stored, reported, table)
  return { rejected: rejected.filter(isOther), accepted: accepted.filter(isOther) }
}

/**
 * A memo that nobody asked for is another one: with it the funds go to somebody else. Of what a person bound unread, memos are
 * known from the first reading on.
 */
const differs: Readonly<Record<Discrepancy, (stored: Transaction, reported: Transaction, table: AssetTable) => boolean>> = {
  coinFrom: (stored, reported, table) => isOtherAsset(stored, reported, from, table),
  coinTo: (stored, reported, table) => isOtherAsset(stored, reported, to, table),
  withdrawalAddress: (stored, reported) => isOtherAddress(stored.withdrawalAddress, reported.withdrawalAddress),
  withdrawalExtraId: (stored, reported) => {
    const [before, now] = [stored, reported].map((swap) => memoOf(swap.withdrawalAddress, swap.withdrawalExtraId))
    const wasRead = before !== undefined || stored.depositAddress !== undefined
    return wasRead && now !== undefined && now !== before
  },
  depositAddress: (stored, reported) => isOtherAddress(stored.depositAddress, reported.depositAddress),
  depositExtraId: (stored, reported) =>
    isOther(memoOf(stored.depositAddress, stored.depositExtraId), memoOf(reported.depositAddress, reported.depositExtraId)),
  refundAddress: (stored, reported) => isOtherAddress(stored.refundAddress, reported.refundAddress),
  refundExtraId: (stored, reported) => isOther(stored.refundExtraId, reported.refundExtraId),
  rateType: (stored, reported) => isOther(stored.rateType, reported.rateType),
}

const accepted: readonly Discrepancy[] = ['refundAddress', 'refundExtraId', 'rateType']
const rejected: readonly Discrepancy[] = [
  'coinFrom',
  'coinTo',
  'withdrawalAddress',
  'withdrawalExtraId',
  'depositAddress',
  'depositExtraId',
]

function isOther(stored: string | undefined, reported: string | undefined): boolean {
  return Boolean(stored) && Boolean(reported) && stored !== reported
}

function isOtherAddress(stored: string | undefined, reported: string | undefined): boolean {
  return stored && reported ? !sameAddress(stored, reported) : false
}

/** By the table where it has both; else word by word. */
function isOtherAsset(stored: Transaction, reported: Transaction, side: Side, table: AssetTable): boolean {
  const [before, now] = [assetNameOf(stored, side), assetNameOf(reported, side)]
  const [asset, other] = [assetOf(before, table), assetOf(now, table)]
  if (asset && other) return asset !== other
  const pairs = [[before.coin, now.coin] as const, [before.network, now.network] as const]
  const comparable = pairs.filter(([a, b]) => a && b)
  return (before.coin && now.coin ? comparable : [[before.code, now.code] as const, ...comparable]).some(
    ([a, b]) => a && b && !sameName(a, b),
  )
}

function assetOf({ code, coin, network }: AssetName, table: AssetTable): object | undefined {
  return coin && network ? table.find(coin, network) : code ? table.byCode(code) : undefined
}

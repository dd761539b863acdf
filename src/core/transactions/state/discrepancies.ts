/** Differences between a transaction as reported by the provider and as stored in the ledger (docs/contract.md §10.3). */
import { memoOf, sameAddress } from '../../../domain/address/same-address.ts'
import { type AssetTable, sameName } from '../../../domain/swap/asset.ts'
import type { Transaction } from '../../../domain/swap/swap.ts'
import type { Discrepancy } from '../../../domain/telemetry/labels.ts'
import type { AssetName } from '../../assets/asset-naming.ts'
import { assetNameOf, from, type Side, to } from '../../assets/pair.ts'

export interface Discrepancies {
  /** The report cannot be about this transaction: all of it is rejected. */
  readonly rejected: readonly Discrepancy[]
  /** Unusual, but accepted. */
  readonly accepted: readonly Discrepancy[]
}

/** Compares stored and reported fields. A field that is absent on either side is no difference, except a withdrawal memo. */
export function discrepanciesOf(stored: Transaction, reported: Transaction, table: AssetTable): Discrepancies {
  const isOther = (field: Discrepancy): boolean => differs[field](stored, reported, table)
  return { rejected: rejected.filter(isOther), accepted: accepted.filter(isOther) }
}

/**
 * A withdrawal memo that was not requested is a difference: it sends the funds to another recipient. For a transaction that the
 * operator bound without reading it, the memo is known only after the first read.
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

/** Compares by the table if it has both assets, otherwise name by name. */
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

/** Where a provider's account of a transaction differs from what the ledger knows of it (docs/contract.md §10.3). */
import { memoOf, sameAddress } from '../domain/address/same-address.ts'
import { type AssetTable, sameName } from '../domain/asset.ts'
import type { Discrepancy } from '../domain/observation.ts'
import type { Transaction } from '../domain/swap.ts'
import type { Words } from './naming.ts'
import { from, type Side, to, wordsOf } from './pair.ts'

export interface Discrepancies {
  /** The provider's account cannot be of this transaction: nothing of it is believed. */
  readonly rejected: readonly Discrepancy[]
  /** Unusual, but believed. */
  readonly accepted: readonly Discrepancy[]
}

/** What is not reported, or was not known, differs in nothing. */
export function discrepanciesOf(known: Transaction, reported: Transaction, table: AssetTable): Discrepancies {
  const isOther = (field: Discrepancy): boolean => differs[field](known, reported, table)
  return { rejected: rejected.filter(isOther), accepted: accepted.filter(isOther) }
}

/**
 * A memo that nobody asked for is another one: with it the funds go to somebody else. Of what a person bound unread, memos are
 * known from the first reading on.
 */
const differs: Readonly<Record<Discrepancy, (known: Transaction, reported: Transaction, table: AssetTable) => boolean>> = {
  coinFrom: (known, reported, table) => isOtherAsset(known, reported, from, table),
  coinTo: (known, reported, table) => isOtherAsset(known, reported, to, table),
  withdrawalAddress: (known, reported) => isOtherAddress(known.withdrawalAddress, reported.withdrawalAddress),
  withdrawalExtraId: (known, reported) => {
    const [before, now] = [known, reported].map((swap) => memoOf(swap.withdrawalAddress, swap.withdrawalExtraId))
    const wasRead = before !== undefined || known.depositAddress !== undefined
    return wasRead && now !== undefined && now !== before
  },
  depositAddress: (known, reported) => isOtherAddress(known.depositAddress, reported.depositAddress),
  depositExtraId: (known, reported) =>
    isOther(memoOf(known.depositAddress, known.depositExtraId), memoOf(reported.depositAddress, reported.depositExtraId)),
  refundAddress: (known, reported) => isOtherAddress(known.refundAddress, reported.refundAddress),
  refundExtraId: (known, reported) => isOther(known.refundExtraId, reported.refundExtraId),
  rateType: (known, reported) => isOther(known.rateType, reported.rateType),
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

function isOther(known: string | undefined, reported: string | undefined): boolean {
  return Boolean(known) && Boolean(reported) && known !== reported
}

function isOtherAddress(known: string | undefined, reported: string | undefined): boolean {
  return Boolean(known && reported) && !sameAddress(known as string, reported as string)
}

/** By the table where it has both; else word by word. */
function isOtherAsset(known: Transaction, reported: Transaction, side: Side, table: AssetTable): boolean {
  const [before, now] = [wordsOf(known, side), wordsOf(reported, side)]
  const [asset, other] = [assetOf(before, table), assetOf(now, table)]
  if (asset && other) return asset !== other
  const pairs = [[before.coin, now.coin] as const, [before.network, now.network] as const]
  const comparable = pairs.filter(([a, b]) => a && b)
  return (before.coin && now.coin ? comparable : [[before.code, now.code] as const, ...comparable]).some(
    ([a, b]) => a && b && !sameName(a, b),
  )
}

function assetOf({ code, coin, network }: Words, table: AssetTable): object | undefined {
  return coin && network ? table.find(coin, network) : code ? table.byCode(code) : undefined
}

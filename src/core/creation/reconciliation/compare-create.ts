/** What a provider reports of a transaction, compared with what a create asked for (docs/contract.md §10). */
import { plainAmount } from '../../../domain/amount.ts'
import { toInstant } from '../../../domain/instant.ts'
import { isOnNetwork, sameName } from '../../../domain/swap/asset.ts'
import type { NewTransaction, Transaction } from '../../../domain/swap/swap.ts'
import type { AssetNaming } from '../../assets/asset-naming.ts'
import { assetNameOf, from, type Side, to } from '../../assets/pair.ts'
import type { UnresolvedCreate } from '../../ledger.ts'
import { contradictedTerms, missingTerms } from '../compare-terms.ts'

/** A row of a list, or a get, as far as it could be read; its assets are in the stable words. */
export type ReportedTransaction = Partial<Transaction>

/** Fields of the question, by name. */
export interface Comparison {
  readonly contradicted: readonly string[]
  /** Asked, and not reported. */
  readonly missing: readonly string[]
}

/** A transaction is the create's if it was made so long before or after the attempt, in milliseconds. */
export const createdBeforeMs = 120_000
export const createdAfterMs = 600_000

/** `match`: all that was asked is confirmed. `incomplete`: nothing is contradicted, and something is not confirmed. */
export type Verdict = 'match' | 'incomplete' | 'other'

/** Several accounts of one transaction: each may confirm what another is silent about, and none may contradict. */
export function compareCreate(
  reports: readonly ReportedTransaction[],
  { requested, attemptedAt }: Pick<UnresolvedCreate, 'requested' | 'attemptedAt'>,
  naming: AssetNaming,
): Verdict {
  const { contradicted, missing } = compareAll(reports, requested, naming)
  const times = reports.map(({ createdAt }) => isAround(createdAt, attemptedAt))
  if (contradicted.length > 0 || times.includes(false)) return 'other'
  return missing.length === 0 && times.includes(true) ? 'match' : 'incomplete'
}

export function compareAll(reports: readonly ReportedTransaction[], requested: NewTransaction, naming: AssetNaming): Comparison {
  const comparisons = reports.map((reported) => compare(reported, requested, naming))
  const [{ missing } = { missing: [] }, ...others] = comparisons
  return {
    contradicted: [...new Set(comparisons.flatMap(({ contradicted }) => contradicted))],
    missing: missing.filter((field) => others.every((other) => other.missing.includes(field))),
  }
}

function compare(reported: ReportedTransaction, requested: NewTransaction, naming: AssetNaming): Comparison {
  const assets = [from, to].map((side) => compareAsset(side, reported, requested, naming))
  const { amountIn } = reported
  const isOther = amountIn !== undefined && plainAmount(amountIn) !== plainAmount(requested.amountIn)
  return {
    contradicted: [
      ...assets.flatMap(({ contradicted }) => contradicted),
      ...(isOther ? ['amountIn'] : []),
      ...contradictedTerms(requested, reported),
    ],
    missing: [
      ...assets.flatMap(({ missing }) => missing),
      ...(amountIn === undefined ? ['amountIn'] : []),
      ...missingTerms(requested, reported),
    ],
  }
}

function compareAsset(
  side: Side,
  reported: ReportedTransaction,
  requested: NewTransaction,
  { table, byCode }: AssetNaming,
): Comparison {
  const reportedName = assetNameOf(reported, side)
  const requestedName = assetNameOf(requested, side)
  const isSame = (word: keyof typeof side): boolean =>
    Boolean(reportedName[word] && requestedName[word] && sameName(reportedName[word], requestedName[word]))
  // A word that only the provider's list explains says nothing where that list is not to be had, or has lost it.
  const isUnexplained = isSame('coin') && reportedName.code !== undefined && table.byCode(reportedName.code) === undefined
  const compared = isUnexplained ? nameFields.filter((word) => word !== 'code') : nameFields
  const other = compared.find((word) => reportedName[word] && requestedName[word] && !isSame(word))
  if (other) return { contradicted: [side[other]], missing: [] }
  if (!isSame('code') && !isSame('coin')) return { contradicted: [], missing: [side.coin] }
  // One word for an asset names its network too; and a coin of one network has no other.
  const [only, ...others] = table.coin(requestedName.coin ?? '')?.assets ?? []
  const isOnly = only !== undefined && others.length === 0 && (!requestedName.network || isOnNetwork(only, requestedName.network))
  const isComplete = isOnly || isSame('network') || (byCode && isSame('code'))
  return { contradicted: [], missing: isComplete ? [] : [side.network] }
}

const nameFields = ['code', 'coin', 'network'] as const

/** Undefined where the time cannot be told. A time without a zone is in UTC. */
function isAround(createdAt: string | undefined, attemptedAt: number): boolean | undefined {
  const instant = createdAt === undefined ? undefined : instantOf(createdAt)
  if (instant === undefined) return undefined
  const difference = instant - attemptedAt
  return difference >= -createdBeforeMs && difference <= createdAfterMs
}

/** In milliseconds. */
export function instantOf(createdAt: string): number | undefined {
  const instant = toInstant(createdAt) ?? toInstant(`${createdAt}Z`)
  return instant === undefined ? undefined : Number(instant / 1_000_000n)
}

/** Compares a transaction that a provider reports with the request of a create (docs/contract.md §10). */
import { plainAmount } from '../../../domain/amount.ts'
import { instantsOf } from '../../../domain/instant.ts'
import { isOnNetwork, sameName } from '../../../domain/swap/asset.ts'
import type { NewTransaction, Transaction } from '../../../domain/swap/swap.ts'
import type { AssetNaming } from '../../assets/asset-naming.ts'
import { assetNameOf, from, type Side, to } from '../../assets/pair.ts'
import type { UnresolvedCreate } from '../../ledger.ts'
import { contradictedTerms, missingTerms } from '../compare-terms.ts'

/** The readable fields of a list row or a get. Assets have the table's names. */
export type ReportedTransaction = Partial<Transaction>

/** How the reports of a provider are read. */
export interface ReportReading {
  readonly naming: AssetNaming
  /** Of its times without a zone: `providers.<name>.timezone` (default: UTC). */
  readonly timezone?: string | undefined
}

/** Names of fields of the request. */
export interface Comparison {
  readonly contradicted: readonly string[]
  /** Requested, but not reported. */
  readonly missing: readonly string[]
}

/** A transaction can match a create if it was created within this time before or after the attempt. */
export const createdBeforeMs = 120_000
export const createdAfterMs = 600_000

/** `match`: all requested fields are confirmed. `incomplete`: none is contradicted, but some are not confirmed. */
export type Verdict = 'match' | 'incomplete' | 'other'

/** Compares several reports of one transaction with a create. Each may confirm fields that another lacks; none may contradict. */
export function compareCreate(
  reports: readonly ReportedTransaction[],
  { requested, attemptedAt }: Pick<UnresolvedCreate, 'requested' | 'attemptedAt'>,
  { naming, timezone }: ReportReading,
): Verdict {
  const { contradicted, missing } = compareAll(reports, requested, naming)
  const times = reports.map(({ createdAt }) => isAround(createdAt, attemptedAt, timezone))
  if (contradicted.length > 0 || times.includes(false)) return 'other'
  return missing.length === 0 && times.includes(true) ? 'match' : 'incomplete'
}

/** The fields that any report contradicts, and those that no report confirms. */
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
  const isSame = (field: keyof typeof side): boolean =>
    Boolean(reportedName[field] && requestedName[field] && sameName(reportedName[field], requestedName[field]))
  // A code that only the provider's list can resolve proves nothing if that list is unavailable or no longer has it.
  const isUnexplained = isSame('coin') && reportedName.code !== undefined && table.byCode(reportedName.code) === undefined
  const compared = isUnexplained ? nameFields.filter((field) => field !== 'code') : nameFields
  const other = compared.find((field) => reportedName[field] && requestedName[field] && !isSame(field))
  if (other) return { contradicted: [side[other]], missing: [] }
  if (!isSame('code') && !isSame('coin')) return { contradicted: [], missing: [side.coin] }
  // A code implies its network, and a coin with one network has no other.
  const [only, ...others] = table.coin(requestedName.coin ?? '')?.assets ?? []
  const isOnly = only !== undefined && others.length === 0 && (!requestedName.network || isOnNetwork(only, requestedName.network))
  const isComplete = isOnly || isSame('network') || (byCode && isSame('code'))
  return { contradicted: [], missing: isComplete ? [] : [side.network] }
}

const nameFields = ['code', 'coin', 'network'] as const

/** Undefined if the time cannot be read. Of an hour that there is twice, either reading may be near. */
function isAround(createdAt: string | undefined, attemptedAt: number, timezone: string | undefined): boolean | undefined {
  const instants = createdAt === undefined ? [] : instantsOf(createdAt, timezone)
  if (instants.length === 0) return undefined
  return instants.some((instant) => {
    const difference = Number(instant / 1_000_000n) - attemptedAt
    return difference >= -createdBeforeMs && difference <= createdAfterMs
  })
}

/** Merges a provider's report of a transaction into the ledger (docs/contract.md §10). */
import { hasTwoMemos } from '../../domain/address/same-address.ts'
import type { AssetTable } from '../../domain/asset.ts'
import type { SequenceClock } from '../clock.ts'
import { aroundAll, type Layer } from '../layer.ts'
import type { LedgerEntry, TransactionRecord } from '../ports/ledger.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { discrepanciesOf } from '../same-swap.ts'
import { withoutDeposit } from '../visible-state.ts'
import { contradicted, mergeTransaction, type ObservedTransaction, withoutCopies } from './merge-transaction.ts'

interface MergeResult extends ReturnType<typeof discrepanciesOf> {
  /** The merged state; `before` itself if the report adds nothing. */
  readonly record: TransactionRecord
}

const noDiscrepancies = { rejected: [], accepted: [] }

/** Merges a report. One that contradicts a transaction that was created here is only noted as that. */
export function mergeChecked(
  before: LedgerEntry | undefined,
  observed: ObservedTransaction,
  { table, sequences }: ProviderScope,
): MergeResult {
  const discrepancies = before?.isCreated ? discrepanciesOf(before, observed.reported, table) : noDiscrepancies
  const sequence = sequences.align(observed.sequence, before?.sequence)
  const report = before?.isCreated ? observed : withoutDoubtfulDeposit(observed)
  const aligned = sequence === report.sequence ? report : { ...report, sequence }
  if (before && discrepancies.rejected.length > 0) return { record: contradicted(before, aligned), ...discrepancies }
  const record = mergeTransaction(before, aligned)
  return record === before ? { record, ...noDiscrepancies } : { record, ...discrepancies }
}

/** Of a swap that was not created here: with two memos that contradict each other nobody can pay. */
function withoutDoubtfulDeposit(observed: ObservedTransaction): ObservedTransaction {
  const { depositAddress, depositExtraId } = observed.reported
  if (!hasTwoMemos({ address: depositAddress, extraId: depositExtraId })) return observed
  return { ...observed, reported: withoutDeposit(observed.reported) }
}

/**
 * Carries a change of `base` that the ledger does not have over to a newer entry of the ledger. Undefined if that is later, or is
 * a create that the change contradicts.
 */
export function rebase(
  unsaved: LedgerEntry,
  base: LedgerEntry | undefined,
  stored: LedgerEntry,
  table: AssetTable,
): LedgerEntry | undefined {
  const { transaction, derived, reportedAt, fetchedAt, changedAt = reportedAt, sequence, doubt, ownerAttention } = unsaved
  if (stored.isCreated && discrepanciesOf(stored, transaction, table).rejected.length > 0) return undefined
  const reported = withoutCopies(transaction, base?.transaction)
  const isComplete = fetchedAt !== undefined
  const record = mergeTransaction(stored, { reported, derived, at: changedAt, isComplete, sequence, ownerAttention })
  if (record === stored) return undefined
  return { ...stored, ...record, reportedAt, fetchedAt: fetchedAt ?? stored.fetchedAt, doubt }
}

/** A report, and the state after it. */
interface MergedReport {
  readonly observed: ObservedTransaction
  readonly merged: MergeResult
}

/**
 * Merges reports one after the other, up to the first one that contradicts the state before it. Returns the last that was merged, with
 * that contradiction, or the first one, if already that is rejected.
 */
export function mergeInOrder(
  before: LedgerEntry | undefined,
  reports: readonly [ObservedTransaction, ...ObservedTransaction[]],
  toEntry: (record: TransactionRecord) => LedgerEntry,
  scope: ProviderScope,
): MergedReport {
  let last = mergeAndReport(before, reports[0], scope)
  if (last.merged.rejected.length > 0) return last
  for (const observed of reports.slice(1)) {
    const next = mergeAndReport(toEntry(last.merged.record), observed, scope)
    if (next.merged.rejected.length > 0) return { ...last, merged: { ...last.merged, record: next.merged.record } }
    last = next
  }
  return last
}

function mergeAndReport(before: LedgerEntry | undefined, observed: ObservedTransaction, scope: ProviderScope): MergedReport {
  const merged = mergeChecked(before, observed, scope)
  reportDiscrepancies(merged, scope)
  return { observed, merged }
}

/** Attempts if other processes write at the same time. */
const maxAttempts = 10

/**
 * Stores a report. `merged` is the result of merging it into `stored`, the entry at the last read. If the entry has changed
 * since, the report is merged again. Undefined if the transaction belongs to another owner.
 */
export async function saveObserved(
  owner: string,
  observed: ObservedTransaction,
  { merged, stored }: { readonly merged: MergeResult; readonly stored: LedgerEntry | undefined },
  scope: ProviderScope,
): Promise<MergeResult | undefined> {
  let [latest, base] = [merged, stored]
  for (let attempt = 0; attempt < maxAttempts && latest.record !== base; attempt++) {
    const saved = await scope.journal.upsert(owner, scope.tag, latest.record, base)
    if (!saved) return undefined
    if (saved.sequence === latest.record.sequence) return { ...latest, record: saved }
    latest = mergeChecked(saved, observed, scope)
    base = saved
  }
  return latest
}

/** Reports each field in which the report differs from the stored state. */
export function reportDiscrepancies({ rejected, accepted }: MergeResult, { tag: provider, observe }: ProviderScope): void {
  for (const field of rejected) observe({ what: 'discrepancy', provider, field, action: 'rejected' })
  for (const field of accepted) observe({ what: 'discrepancy', provider, field, action: 'accepted' })
}

/** Adds the sequence of the request to each response. Must be the layer next to the provider. */
export function numberRequests(sequences: SequenceClock): Layer {
  return aroundAll(function numberRequests(op, request, context, next) {
    const sequence = sequences.next()
    return next.call(op, request, context).then((response) => ({ ...response, sequence }))
  })
}

/** Brings together what a provider says of a transaction and what the ledger knows of it (docs/contract.md §10). */
import type { AssetTable } from '../../../domain/swap/asset.ts'
import type { Observer } from '../../../domain/telemetry/observation.ts'
import type { Ledger, LedgerEntry, TransactionRecord } from '../../ledger.ts'
import { discrepanciesOf } from './discrepancies.ts'
import { mergeTransaction, type ObservedTransaction } from './merge-transaction.ts'
import type { SequenceClock } from './request-sequence.ts'

export interface StateOptions {
  /** Tag of the provider. */
  readonly provider: string
  readonly table: AssetTable
  readonly sequences: SequenceClock
  readonly observe: Observer
}

export interface MergeResult extends ReturnType<typeof discrepanciesOf> {
  /** What is known now; `before` itself where the sighting adds nothing. */
  readonly record: TransactionRecord
}

const noDiscrepancies = { rejected: [], accepted: [] }

/** A sighting that contradicts what was created here changes nothing. */
export function mergeChecked(
  before: LedgerEntry | undefined,
  observed: ObservedTransaction,
  { table, sequences }: StateOptions,
): MergeResult {
  const discrepancies = before?.isCreated ? discrepanciesOf(before.transaction, observed.reported, table) : noDiscrepancies
  if (before && discrepancies.rejected.length > 0) return { record: before, ...discrepancies }
  const record = mergeTransaction(before, { ...observed, sequence: sequences.align(observed.sequence, before?.sequence) })
  return record === before ? { record, ...noDiscrepancies } : { record, ...discrepancies }
}

/** Others may write at the same time; more often than this they do not. */
const maxAttempts = 10

/**
 * Keeps a sighting. `merged` was worked out with `stored`, what the ledger had when it was last read; where it has something else
 * by now, the sighting is weighed against that. Undefined where the ledger gave the transaction to another owner.
 */
export async function saveObserved(
  owner: string,
  observed: ObservedTransaction,
  { merged, stored }: { readonly merged: MergeResult; readonly stored: LedgerEntry | undefined },
  options: StateOptions & { readonly ledger: Pick<Ledger, 'upsert'> },
): Promise<MergeResult | undefined> {
  let [latest, base] = [merged, stored]
  for (let attempt = 0; attempt < maxAttempts && latest.record !== base; attempt++) {
    const saved = await options.ledger.upsert(owner, options.provider, latest.record, base)
    if (!saved) return undefined
    if (saved.sequence === latest.record.sequence) return { ...latest, record: saved }
    latest = mergeChecked(saved, observed, options)
    base = saved
  }
  return latest
}

/** Counts the fields in which a sighting differs from what was known. */
export function reportDiscrepancies({ rejected, accepted }: MergeResult, { provider, observe }: StateOptions): void {
  for (const field of rejected) observe({ what: 'discrepancy', provider, field, action: 'rejected' })
  for (const field of accepted) observe({ what: 'discrepancy', provider, field, action: 'accepted' })
}

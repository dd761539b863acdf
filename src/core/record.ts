/** Brings together what a provider says of a transaction and what the ledger knows of it (docs/contract.md §10). */
import type { AssetTable } from '../domain/asset.ts'
import type { Observer } from '../domain/observation.ts'
import { discrepanciesOf } from './discrepancies.ts'
import type { Entry, Facts, Ledger } from './ledger.ts'
import type { SequenceClock } from './sequence.ts'
import { type Sighting, sight } from './sighting.ts'

export interface RecordOptions {
  /** Tag of the provider. */
  readonly provider: string
  readonly table: AssetTable
  readonly sequences: SequenceClock
  readonly observe: Observer
}

export interface Merged extends ReturnType<typeof discrepanciesOf> {
  /** What is known now; `before` itself where the sighting adds nothing. */
  readonly facts: Facts
}

const none = { rejected: [], accepted: [] }

/** A sighting that contradicts what was created here changes nothing. */
export function merge(before: Entry | undefined, sighting: Sighting, { table, sequences }: RecordOptions): Merged {
  const found = before?.isCreated ? discrepanciesOf(before.transaction, sighting.told, table) : none
  if (before && found.rejected.length > 0) return { facts: before, ...found }
  const facts = sight(before, { ...sighting, sequence: sequences.align(sighting.sequence, before?.sequence) })
  return facts === before ? { facts, ...none } : { facts, ...found }
}

/** Others may write at the same time; more often than this they do not. */
const maxAttempts = 10

/**
 * Keeps a sighting. `merged` was worked out with `stored`, what the ledger had when it was last read; where it has something else
 * by now, the sighting is weighed against that. Undefined where the ledger gave the transaction to another owner.
 */
export async function keep(
  owner: string,
  sighting: Sighting,
  { merged, stored }: { readonly merged: Merged; readonly stored: Entry | undefined },
  options: RecordOptions & { readonly ledger: Pick<Ledger, 'see'> },
): Promise<Merged | undefined> {
  let [latest, base] = [merged, stored]
  for (let attempt = 0; attempt < maxAttempts && latest.facts !== base; attempt++) {
    const kept = await options.ledger.see(owner, options.provider, latest.facts, base)
    if (!kept) return undefined
    if (kept.sequence === latest.facts.sequence) return { ...latest, facts: kept }
    latest = merge(kept, sighting, options)
    base = kept
  }
  return latest
}

/** Counts the fields in which a sighting differs from what was known. */
export function report({ rejected, accepted }: Merged, { provider, observe }: RecordOptions): void {
  for (const field of rejected) observe({ what: 'discrepancy', provider, field, action: 'rejected' })
  for (const field of accepted) observe({ what: 'discrepancy', provider, field, action: 'accepted' })
}

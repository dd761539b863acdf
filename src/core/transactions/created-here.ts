/** What this process has stored of creates: their clients are told of them also while the ledger does not answer (docs/contract.md §3.4). */
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import type { LedgerEntry } from '../ports/ledger.ts'

/** A bound on memory. */
const maxEntries = 10_000

export class CreatedHere {
  private readonly entries = new BoundedMap<LedgerEntry>({ share: cacheShares.transactions, maxEntries })

  note(entry: LedgerEntry): void {
    this.entries.set(keyOf(entry.owner, entry.transaction.id), entry)
  }

  find(owner: string, id: string): LedgerEntry | undefined {
    return this.entries.get(keyOf(owner, id))
  }
}

function keyOf(owner: string, id: string): string {
  return `${owner} ${id}`
}

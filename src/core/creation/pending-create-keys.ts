/**
 * Keys of clients with a create of unknown outcome, if the provider accepts only the client's own key. Kept only in memory: the
 * ledger has no more than their digests (docs/contract.md §10.2).
 */
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import type { Caller } from '../../domain/service.ts'
import { aroundAll, type Layer } from '../layer.ts'

/** For a dropped key, reconciliation waits for the next request of its client. */
const maxKeys = 100_000

/** Keys by owner identity. */
export class PendingCreateKeys {
  private readonly keys = new BoundedMap<string>({ share: cacheShares.keys, maxEntries: maxKeys })
  private pendingOwners: ReadonlySet<string> = new Set()

  /** Keeps the key of a caller whose create has just ended with an unknown outcome. */
  keep({ identity, key }: Caller): void {
    if (identity !== undefined && key !== undefined) this.keys.set(identity, key)
  }

  /** Keeps the caller's key if a create of this owner is pending. */
  capture(caller: Caller): void {
    if (caller.identity !== undefined && this.pendingOwners.has(caller.identity)) this.keep(caller)
  }

  /** Drops the keys of owners that `readOwners` does not return. A key that is added meanwhile stays. */
  async refreshOwners(readOwners: () => Promise<readonly string[]>): Promise<void> {
    const previous = this.owners
    this.pendingOwners = new Set(await readOwners())
    for (const owner of previous) if (!this.pendingOwners.has(owner)) this.keys.delete(owner)
  }

  keyOf(owner: string): string | undefined {
    return this.keys.get(owner)
  }

  get owners(): readonly string[] {
    return this.keys.all.map(([owner]) => owner)
  }
}

/** Captures the key of each caller with a pending create. */
export function captureKeys(keys: PendingCreateKeys): Layer {
  return aroundAll(function captureKeys(op, request, context, next) {
    keys.capture(context.caller)
    return next.call(op, request, context)
  })
}

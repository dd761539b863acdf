/**
 * Keys of clients who wait for the outcome of a create, where a provider answers only to them: in memory alone, since the
 * ledger has no more than their digests (docs/contract.md §10.2).
 */
import type { Caller } from '../../domain/swap/service.ts'
import { aroundAll, type Layer } from '../layer.ts'

export class PendingCreateKeys {
  private readonly keys = new Map<string, string>()
  private pendingOwners: ReadonlySet<string> = new Set()

  /** Keeps the caller's key: a create of his has just ended unknown. */
  keep({ identity, key }: Caller): void {
    if (identity !== undefined && key !== undefined) this.keys.set(identity, key)
  }

  /** Keeps the caller's key if something waits for it. */
  capture(caller: Caller): void {
    if (caller.identity !== undefined && this.pendingOwners.has(caller.identity)) this.keep(caller)
  }

  /** Keeps the keys of the owners who wait, as `readOwners` returns them; a key that is held in the meantime stays. */
  async refreshOwners(readOwners: () => Promise<readonly string[]>): Promise<void> {
    const previous = this.owners
    this.pendingOwners = new Set(await readOwners())
    for (const owner of previous) if (!this.pendingOwners.has(owner)) this.keys.delete(owner)
  }

  keyOf(owner: string): string | undefined {
    return this.keys.get(owner)
  }

  get owners(): readonly string[] {
    return [...this.keys.keys()]
  }
}

/** Hears every caller. */
export function captureKeys(keys: PendingCreateKeys): Layer {
  return aroundAll((op, request, context, next) => {
    keys.capture(context.caller)
    return next.call(op, request, context)
  })
}

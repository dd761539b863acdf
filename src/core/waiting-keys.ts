/**
 * Keys of clients who wait for the outcome of a create, where a provider answers only to them: in memory alone, since the
 * ledger has no more than their digests (docs/contract.md §10.2).
 */
import type { Caller } from '../domain/operations.ts'
import { type Layer, layer } from './layer.ts'

export class WaitingKeys {
  private readonly keys = new Map<string, string>()
  private wanted: ReadonlySet<string> = new Set()

  /** Keeps the caller's key: a create of his has just ended unknown. */
  hold({ identity, key }: Caller): void {
    if (identity !== undefined && key !== undefined) this.keys.set(identity, key)
  }

  /** Keeps the caller's key if something waits for it. */
  hear(caller: Caller): void {
    if (caller.identity !== undefined && this.wanted.has(caller.identity)) this.hold(caller)
  }

  /** Keeps the keys of the owners who wait, as `readOwners` returns them; a key that is held in the meantime stays. */
  async want(readOwners: () => Promise<readonly string[]>): Promise<void> {
    const before = this.owners
    this.wanted = new Set(await readOwners())
    for (const owner of before) if (!this.wanted.has(owner)) this.keys.delete(owner)
  }

  of(owner: string): string | undefined {
    return this.keys.get(owner)
  }

  get owners(): readonly string[] {
    return [...this.keys.keys()]
  }
}

/** Hears every caller. */
export function hearing(keys: WaitingKeys): Layer {
  return layer((op, request, context, next) => {
    keys.hear(context.caller)
    return next.call(op, request, context)
  })
}

/**
 * Keys of clients who wait for the outcome of a create, where a provider answers only to them: in memory alone, since the
 * ledger has no more than their digests (`spec/contract.md` §10).
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

  /** These owners wait; the keys of others are forgotten. */
  want(owners: readonly string[]): void {
    this.wanted = new Set(owners)
    for (const owner of this.keys.keys()) if (!this.wanted.has(owner)) this.keys.delete(owner)
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

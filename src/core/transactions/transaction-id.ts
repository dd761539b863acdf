/** A transaction's id for clients: the provider's tag and the provider's own id (docs/contract.md §4). */
import { Fault } from '../../domain/fault.ts'
import type { Context } from '../../domain/service.ts'

const divider = '~'

interface TransactionId {
  /** Absent if the id has no tag. */
  readonly tag?: string
  /** The provider's own id. */
  readonly id: string
}

/** `<tag>~<id>`. */
export function formatTransactionId(tag: string, id: string): string {
  return tag + divider + id
}

/** Splits at the first divider. */
export function parseTransactionId(id: string): TransactionId {
  const at = id.indexOf(divider)
  return at < 0 ? { id } : { tag: id.slice(0, at), id: id.slice(at + 1) }
}

/** The caller's identity, which owns its transactions. Throws `internal` if the caller is not authenticated. */
export function ownerOf({ caller }: Context): string {
  if (caller.identity === undefined) throw new Fault('internal', 'A transaction was requested without an identity.')
  return caller.identity
}

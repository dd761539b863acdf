/** A transaction's id for clients: the provider's tag and the provider's own id (docs/contract.md §4). */

const divider = '~'

export interface TransactionId {
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

/** A transaction's id towards clients: the tag of the provider that holds it, and the provider's own id (docs/contract.md §4). */

const divider = '~'

export interface TransactionId {
  /** Absent where the id has none. */
  readonly tag?: string
  /** As the provider knows it. */
  readonly id: string
}

export function formatTransactionId(tag: string, id: string): string {
  return tag + divider + id
}

/** The first divider divides. */
export function parseTransactionId(id: string): TransactionId {
  const at = id.indexOf(divider)
  return at < 0 ? { id } : { tag: id.slice(0, at), id: id.slice(at + 1) }
}

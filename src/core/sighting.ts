/** What is known of a transaction after its provider has told of it once more (`spec/contract.md` §3, Get and list, Status). */
import type { Context } from '../domain/operations.ts'
import type { Status } from '../domain/status.ts'
import type { Transaction } from '../domain/swap.ts'
import type { Entry, Facts } from './ledger.ts'
import { names } from './pair.ts'

/** What a provider said of one transaction. */
export interface Sighting {
  readonly told: Transaction
  /** Fields that the gateway worked out. */
  readonly derived: readonly string[]
  /** Milliseconds since 1970. */
  readonly at: number
  /** Whether this is all that the provider knows of it; a list may say less. */
  readonly isWhole: boolean
}

/** A status that is final stays, whatever a provider says later. */
export function isFinal(status: Status | undefined): boolean {
  return status === 'success' || status === 'refunded'
}

/** What is told now over what was known. The assets are those that the creator said, and a list names them less well than a get. */
export function sight(before: Entry | undefined, { told, derived, at, isWhole }: Sighting): Facts {
  const known: Partial<Transaction> = before?.transaction ?? {}
  const status = isFinal(known.status) ? known.status : (told.status ?? known.status)
  const isChange = known.status !== undefined && status !== known.status
  const changedAt = isChange ? at : before?.changedAt
  const remembered = before?.derived.filter((field) => told[field as keyof Transaction] === undefined) ?? []
  return {
    transaction: {
      ...fill(told, known, before?.isCreated || !isWhole),
      status,
      ...(changedAt !== undefined && derived.includes('updatedAt') && { updatedAt: new Date(changedAt).toISOString() }),
    },
    derived: remembered.length === 0 ? derived : [...new Set([...derived, ...remembered])],
    promised: before?.promised,
    seenAt: at,
    readAt: isWhole ? at : before?.readAt,
    changedAt,
  }
}

/** What a client is shown: where its form tells the amount to be expected, the promised one until there is a better. */
export function shown({ transaction, promised }: Facts, { client }: Pick<Context, 'client'>): Transaction {
  const isOpen = transaction.amountOut === undefined && promised !== undefined
  return isOpen && client.expectsAmount ? { ...transaction, amountOut: promised } : transaction
}

/** `told`, and what it leaves open from `known`; the names of the assets are the known ones, or else only what is told. */
function fill(told: Transaction, known: Partial<Transaction>, areNamesKnown: boolean): Transaction {
  const filled: Record<string, unknown> = { ...told }
  for (const field in known) {
    const isName = names.has(field)
    if (isName ? areNamesKnown : filled[field] === undefined) filled[field] = known[field as keyof Transaction] ?? filled[field]
  }
  return filled as unknown as Transaction
}

/** What is known of a transaction after its provider has told of it once more (docs/contract.md §3.4, §3.7). */
import { toInstant } from '../domain/instant.ts'
import type { Answer, Context } from '../domain/operations.ts'
import { isFinal } from '../domain/status.ts'
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
  /** Of the request that it answers. */
  readonly sequence?: number | undefined
}

/** What a get has brought. */
export function readingOf({ body: told, derived = [], sequence }: Answer<'getTransaction'>, at: number): Sighting {
  return { told, derived, at, isWhole: true, sequence }
}

/**
 * What is told now over what was known; `before` itself where that was asked for later. The assets are those that the creator
 * said, and a list names them less well than a get.
 */
export function sight(before: Entry | undefined, sighting: Sighting): Facts {
  if (before && isOvertaken(before, sighting)) return before
  const { told, derived, at, isWhole } = sighting
  const known: Partial<Transaction> = before?.transaction ?? {}
  const status = isFinal(known.status) ? known.status : (told.status ?? known.status)
  const isChange = known.status !== undefined && status !== known.status
  const changedAt = isChange ? Math.max(at, before?.changedAt ?? 0) : before?.changedAt
  const remembered = before?.derived.filter((field) => told[field as keyof Transaction] === undefined) ?? []
  return {
    transaction: {
      ...fill(told, known, before?.isCreated || !isWhole),
      status,
      ...(changedAt !== undefined && derived.includes('updatedAt') && { updatedAt: changeOf(told, changedAt) }),
    },
    derived: remembered.length === 0 ? derived : [...new Set([...derived, ...remembered])],
    promised: before?.promised,
    seenAt: at,
    readAt: isWhole ? at : before?.readAt,
    changedAt,
    sequence: later(before?.sequence, sighting.sequence),
  }
}

/** Whether it was asked for before what is kept. An end is news whenever it was asked for. */
export function isOvertaken({ transaction, sequence: kept }: Entry, { told, sequence }: Sighting): boolean {
  if (kept === undefined || sequence === undefined || kept < sequence) return false
  return isFinal(transaction.status) || !isFinal(told.status)
}

/** Greater than what is kept, so that every change shows. */
function later(kept: number | undefined, sequence: number | undefined): number | undefined {
  return kept === undefined || sequence === undefined ? (sequence ?? kept) : Math.max(sequence, kept + 1)
}

/** Never before it was created, whatever the clock here says. */
function changeOf({ createdAt }: Transaction, changedAt: number): string {
  const created = Number((toInstant(createdAt) ?? toInstant(`${createdAt}Z`) ?? 0n) / 1_000_000n)
  return new Date(Math.max(changedAt, created)).toISOString()
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
    if (isName ? areNamesKnown : (filled[field] ?? '') === '') filled[field] = known[field as keyof Transaction] ?? filled[field]
  }
  return filled as unknown as Transaction
}

/** What is known of a transaction after its provider has told of it once more (docs/contract.md §3.4, §3.7). */
import { toInstant } from '../../../domain/instant.ts'
import type { Context, ServiceResponse } from '../../../domain/swap/service.ts'
import { isFinal } from '../../../domain/swap/status.ts'
import type { Transaction } from '../../../domain/swap/swap.ts'
import { assetFields } from '../../assets/pair.ts'
import type { LedgerEntry, TransactionRecord } from '../../ledger.ts'

/** What a provider said of one transaction. */
export interface ObservedTransaction {
  readonly reported: Transaction
  /** Fields that the gateway worked out. */
  readonly derived: readonly string[]
  /** Milliseconds since 1970. */
  readonly at: number
  /** Whether this is all that the provider knows of it; a list may say less. */
  readonly isComplete: boolean
  /** Of the request that it answers. */
  readonly sequence?: number | undefined
}

/** What a get has brought. */
export function observedFromGet(
  { body: reported, derived = [], sequence }: ServiceResponse<'getTransaction'>,
  at: number,
): ObservedTransaction {
  return { reported, derived, at, isComplete: true, sequence }
}

/**
 * What is told now over what was known; `before` itself where that was asked for later. The assets are those that the creator
 * said, and a list names them less well than a get.
 */
export function mergeTransaction(before: LedgerEntry | undefined, observed: ObservedTransaction): TransactionRecord {
  if (before && isOvertaken(before, observed)) return before
  const { reported, derived, at, isComplete } = observed
  const known: Partial<Transaction> = before?.transaction ?? {}
  const status = isFinal(known.status) ? known.status : (reported.status ?? known.status)
  const isChange = known.status !== undefined && status !== known.status
  const changedAt = isChange ? Math.max(at, before?.changedAt ?? 0) : before?.changedAt
  const keptDerived = before?.derived.filter((field) => reported[field as keyof Transaction] === undefined) ?? []
  return {
    transaction: {
      ...fillFrom(reported, known, before?.isCreated || !isComplete),
      status,
      ...(changedAt !== undefined && derived.includes('updatedAt') && { updatedAt: changeOf(reported, changedAt) }),
    },
    derived: keptDerived.length === 0 ? derived : [...new Set([...derived, ...keptDerived])],
    quotedAmountOut: before?.quotedAmountOut,
    reportedAt: at,
    fetchedAt: isComplete ? at : before?.fetchedAt,
    changedAt,
    sequence: nextSequence(before?.sequence, observed.sequence),
  }
}

/** Whether it was asked for before what is kept. An end is news whenever it was asked for. */
export function isOvertaken({ transaction, sequence: stored }: LedgerEntry, { reported, sequence }: ObservedTransaction): boolean {
  if (stored === undefined || sequence === undefined || stored < sequence) return false
  return isFinal(transaction.status) || !isFinal(reported.status)
}

/** Greater than what is kept, so that every change shows. */
function nextSequence(stored: number | undefined, sequence: number | undefined): number | undefined {
  return stored === undefined || sequence === undefined ? (sequence ?? stored) : Math.max(sequence, stored + 1)
}

/** Never before it was created, whatever the clock here says. */
function changeOf({ createdAt }: Transaction, changedAt: number): string {
  const created = Number((toInstant(createdAt) ?? toInstant(`${createdAt}Z`) ?? 0n) / 1_000_000n)
  return new Date(Math.max(changedAt, created)).toISOString()
}

/** What a client is shown: where its form tells the amount to be expected, the promised one until there is a better. */
export function presented(
  { transaction, quotedAmountOut: promised }: TransactionRecord,
  { clientCapabilities: client }: Pick<Context, 'clientCapabilities'>,
): Transaction {
  const isUnknown = transaction.amountOut === undefined && promised !== undefined
  return isUnknown && client.hasExpectedAmount ? { ...transaction, amountOut: promised } : transaction
}

/** `told`, and what it leaves open from `known`; the names of the assets are the known ones, or else only what is told. */
function fillFrom(reported: Transaction, known: Partial<Transaction>, keepsAssets: boolean): Transaction {
  const filled: Transaction & Record<string, unknown> = { ...reported }
  for (const field in known) {
    const isName = assetFields.has(field)
    if (isName ? keepsAssets : (filled[field] ?? '') === '') filled[field] = known[field as keyof Transaction] ?? filled[field]
  }
  return filled
}

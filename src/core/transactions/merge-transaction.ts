/** Merges a provider's report of a transaction into its stored state (docs/contract.md §3.4, §3.7). */
import { isPositive } from '../../domain/amount.ts'
import { millisecondsOf } from '../../domain/instant.ts'
import type { Context, ServiceResponse } from '../../domain/service.ts'
import { type Attention, type Doubt, isFinal, statusUnderAttention } from '../../domain/status.ts'
import { isMoneySeen, type Transaction } from '../../domain/swap.ts'
import { assetFields } from '../assets/asset-naming.ts'
import type { LedgerEntry, TransactionRecord } from '../ports/ledger.ts'
import type { FirstDeposit } from '../provider-scope.ts'
import { onlyPayable, withoutDeposit } from '../visible-state.ts'

/** A provider's report of one transaction. */
export interface ObservedTransaction {
  readonly reported: Transaction
  /** Fields that the gateway derived. */
  readonly derived: readonly string[]
  /** Milliseconds since 1970. */
  readonly at: number
  /** True for a get. A row of a list may have fewer fields. */
  readonly isComplete: boolean
  /** Sequence of the request. */
  readonly sequence?: number | undefined
  /** That of the provider's times without a zone; default: UTC. */
  readonly timezone?: string | undefined
  /** That of the report, where it is only shown: then `failed` is no status. */
  readonly ownerAttention?: Attention | undefined
  readonly deniesRefund?: boolean | undefined
  readonly lacksPayout?: boolean | undefined
  readonly awaitsOwner?: boolean | undefined
  /** What was said of the first deposit address of a create that was bound without one. Absent: it was not judged, and is left out. */
  readonly firstDeposit?: FirstDeposit | undefined
}

/** The report in the response of a get. `at`: milliseconds since 1970. */
export function observedFromGet(
  {
    body: reported,
    derived = [],
    sequence,
    report: { deniesRefund, lacksPayout, awaitsOwner } = {},
  }: ServiceResponse<'getTransaction'>,
  at: number,
  timezone: string | undefined,
): ObservedTransaction {
  return { reported, derived, at, isComplete: true, sequence, timezone, deniesRefund, lacksPayout, awaitsOwner }
}

/**
 * Returns the reported state with missing fields from `before`, or `before` itself if its request was later. Asset names of the
 * create are kept, and those of a get are kept over those of a list. A create that was bound without a deposit address gets one
 * only if that was judged.
 */
export function mergeTransaction(before: LedgerEntry | undefined, observed: ObservedTransaction): TransactionRecord {
  if (before && isOvertaken(before, observed)) return before
  const { reported, derived, at, isComplete } = observed
  const known: Partial<Transaction> = before?.transaction ?? {}
  const status = mergedStatus(before, reported)
  const isChange = known.status !== undefined && status !== known.status
  const changedAt = isChange ? Math.max(at, before?.changedAt ?? 0) : before?.changedAt
  const merged = fillFrom(reported, known, before?.isCreated || !isComplete)
  const isUnjudged = before?.isCreated && !known.depositAddress && observed.firstDeposit !== 'payable'
  const transaction: MutableTransaction = isUnjudged ? withoutDeposit(merged) : merged
  transaction.status = status
  if (observed.deniesRefund) Object.assign(transaction, { refundAddress: undefined, refundExtraId: reported.refundExtraId })
  if (observed.awaitsOwner !== undefined) transaction.hasActions = observed.awaitsOwner || undefined
  const payoutMissingSince = payoutMissing(before, observed, status)
  const doubt = doubtAfter(before, observed)
  const ownerAttention = isFinal(status) ? undefined : ownerAttentionAfter(before, observed)
  const isSettled = isFinal(status) || before?.settledAt !== undefined
  transaction.attention = isSettled ? undefined : mergedAttention(known.attention, reported)
  if (!keepsReason(transaction, known, observed)) transaction.statusReason = reported.statusReason
  if (changedAt !== undefined && derived.includes('updatedAt'))
    transaction.updatedAt = changeOf(reported, changedAt, observed.timezone)
  const keptDerived = before?.derived.filter((field) => reported[field as keyof Transaction] === undefined) ?? []
  return {
    transaction,
    derived: keptDerived.length === 0 ? derived : [...new Set([...derived, ...keptDerived])],
    quotedAmountOut: before?.quotedAmountOut,
    reportedAt: at,
    fetchedAt: isComplete ? at : before?.fetchedAt,
    changedAt,
    sequence: nextSequence(before?.sequence, observed.sequence),
    ...(before?.settledAt !== undefined && { settledAt: before.settledAt }),
    ...(payoutMissingSince !== undefined && { payoutMissingSince }),
    ...(doubt !== undefined && { doubt }),
    ...(ownerAttention !== undefined && { ownerAttention }),
  }
}

/** A row of a list may lack the field in which a get has contradicted. */
function doubtAfter(
  before: LedgerEntry | undefined,
  { isComplete, ownerAttention, firstDeposit }: ObservedTransaction,
): Doubt | undefined {
  if (firstDeposit === 'refused') return 'contradicted'
  if (!isComplete && before?.doubt === 'contradicted') return 'contradicted'
  return ownerAttention === 'failed' ? 'failed' : undefined
}

/** A row of a list may lack the status. */
function ownerAttentionAfter(
  before: LedgerEntry | undefined,
  { reported, ownerAttention, isComplete }: ObservedTransaction,
): Attention | undefined {
  return ownerAttention ?? (isComplete || reported.status !== undefined ? undefined : before?.ownerAttention)
}

function payoutMissing(
  before: LedgerEntry | undefined,
  { at, isComplete, lacksPayout }: ObservedTransaction,
  status: Transaction['status'],
): number | undefined {
  if (!isComplete) return before?.payoutMissingSince
  return lacksPayout && isFinal(status) ? (before?.payoutMissingSince ?? at) : undefined
}

/** What has failed stays so until it ends; what was held, or lost, or has an unknown word, until the provider reports a status that is known. */
function mergedAttention(known: Transaction['attention'], { status, attention }: Transaction): Transaction['attention'] {
  if (attention === 'failed' || attention === 'held') return attention
  if (known === 'failed') return known
  if (attention === 'unknown_status') return known === 'held' ? known : attention
  return status === undefined && known !== 'lost' ? known : undefined
}

/** The reason of a state that the provider left is none of the next one, unless it was sent back for it. A row may lack the reason. */
function keepsReason(
  { attention, status }: Transaction,
  known: Partial<Transaction>,
  { isComplete }: ObservedTransaction,
): boolean {
  return attention !== undefined || status === 'refunded' || (!isComplete && status === known.status)
}

/** A final status stays, and one that an operator recorded stays until the provider reports a final one. */
function mergedStatus(before: LedgerEntry | undefined, reported: Transaction): Transaction['status'] {
  const { status, attention } = reported
  const known = before?.transaction.status
  if (isFinal(known) || (before?.settledAt !== undefined && !isFinal(status))) return known
  if (attention === undefined || attention === 'unknown_status') return status ?? known
  const isPaid = isMoneySeen(reported) || (before !== undefined && isMoneySeen(before.transaction))
  return statusUnderAttention(attention, known, isPaid)
}

/** Whether the report's request is older than the stored state. A first final status is never overtaken. */
export function isOvertaken({ transaction, sequence: stored }: LedgerEntry, { reported, sequence }: ObservedTransaction): boolean {
  if (stored === undefined || sequence === undefined || stored < sequence) return false
  return isFinal(transaction.status) || !isFinal(reported.status)
}

/** Greater than the stored sequence, so that every change is visible. */
function nextSequence(stored: number | undefined, sequence: number | undefined): number | undefined {
  return stored === undefined || sequence === undefined ? (sequence ?? stored) : Math.max(sequence, stored + 1)
}

/** Never before the creation, even if the local clock is wrong. */
function changeOf({ createdAt }: Transaction, changedAt: number, timezone?: string): string {
  return new Date(Math.max(changedAt, millisecondsOf(createdAt, timezone) ?? 0)).toISOString()
}

/** The state after a report that cannot be about this transaction; `before` itself if that changes nothing. */
export function contradicted(before: LedgerEntry, observed: ObservedTransaction): TransactionRecord {
  if (before.doubt === 'contradicted' || isFinal(before.transaction.status) || isOvertaken(before, observed)) return before
  return { ...before, doubt: 'contradicted', sequence: nextSequence(before.sequence, observed.sequence) }
}

/**
 * The transaction for a client, without what may not be paid. If its form has expected amounts, a missing `amountOut` is filled with the
 * quoted one. A refunded one has no payout: its `amountOut` is the one that was agreed, or none.
 */
export function presented(
  record: TransactionRecord,
  { clientCapabilities: client }: Pick<Context, 'clientCapabilities'>,
): { readonly body: Transaction; readonly derived: readonly string[] } {
  const { quotedAmountOut, derived } = record
  const transaction = onlyPayable(record)
  const { amountOut, status } = transaction
  if (status === 'refunded') {
    const expected = quotedAmountOut ?? (amountOut !== undefined && isPositive(amountOut) ? amountOut : undefined)
    const agreed = client.hasExpectedAmount ? expected : undefined
    const body = { ...transaction, amountOut: agreed, txHashOut: undefined }
    return { body, derived: agreed === undefined ? derived : [...new Set([...derived, 'amountOut'])] }
  }
  const isUnknown = amountOut === undefined && quotedAmountOut !== undefined
  return { body: isUnknown && client.hasExpectedAmount ? { ...transaction, amountOut: quotedAmountOut } : transaction, derived }
}

type MutableTransaction = { -readonly [Field in keyof Transaction]: Transaction[Field] }

/** A copy of `reported`, with missing fields from `known`. Asset names are all from `known` (`keepsAssets`), or all from `reported`. */
function fillFrom(reported: Transaction, known: Readonly<Record<string, unknown>>, keepsAssets: boolean): MutableTransaction {
  const filled: MutableTransaction & Record<string, unknown> = { ...reported }
  if (filled.ownAssets !== undefined) filled.ownAssets = undefined
  if (filled.reference !== undefined) filled.reference = undefined
  for (const field in known) {
    const isName = assetFields.has(field)
    if (isName ? keepsAssets : (filled[field] ?? '') === '') filled[field] = known[field] ?? filled[field]
  }
  return filled
}

/** A merged transaction without the fields of the one that it was merged into, other than asset names and the status. */
export function withoutCopies(merged: Transaction, base: Transaction | undefined): Transaction {
  const own: MutableTransaction & Record<string, unknown> = { ...merged }
  const known: Readonly<Record<string, unknown>> = { ...base, id: undefined, status: undefined }
  for (const field in own) if (!assetFields.has(field) && own[field] === known[field]) delete own[field]
  return own
}

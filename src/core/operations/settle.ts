/** The outcome of a transaction that needs a person, recorded by hand (docs/contract-operators.md §15). */

import { parseTransactionId } from '../../domain/swap.ts'
import type { FoundTransaction, LedgerAdmin, OperatorResult } from '../ports/ledger-admin.ts'
import { shortened } from './transaction-row.ts'

export const noteRule = '1 to 500 printable characters'

/** Undefined if the text is no note. */
export function toNote(text: string): string | undefined {
  return /\S/.test(text) && /^[^\p{Cc}]{1,500}$/u.test(text) ? text.trim() : undefined
}

export type Settlement = Pick<OperatorResult, 'status' | 'note'>

/** `unneeded`: no person is needed (any more). `reason`: why one was. */
export type SettleResult =
  | { readonly outcome: 'settled'; readonly found: FoundTransaction; readonly reason: string | undefined }
  | { readonly outcome: 'missing' | 'unneeded'; readonly message: string }

/** `id`: for clients. `actor`: the operator, for the audit log. */
export async function settleTransaction(
  ledgerAdmin: Pick<LedgerAdmin, 'settle' | 'findTransaction'>,
  id: string,
  { status, note }: Settlement,
  actor: string,
): Promise<SettleResult> {
  const missing = { outcome: 'missing', message: `the ledger has no transaction ${id}` } as const
  const { tag, id: providerId } = parseTransactionId(id)
  if (tag === undefined) return missing
  const before = await ledgerAdmin.findTransaction(tag, providerId)
  const result = { status, note: withoutAddresses(note), account: before?.account, at: Date.now() }
  const outcome = await ledgerAdmin.settle(tag, providerId, result, actor)
  const found = outcome === 'missing' ? undefined : await ledgerAdmin.findTransaction(tag, providerId)
  if (!found) return missing
  if (outcome === 'settled') return { outcome, found, reason: before?.entry.transaction.attention }
  return {
    outcome: 'unneeded',
    message: `the transaction ${id} needs no person: its status is ${found.entry.transaction.status ?? 'unknown'}`,
  }
}

/** Shortens words that may be an address, a key or a URL with a password: the audit log has none. */
export function withoutAddresses(note: string): string {
  return note.replace(/\S{25,}/g, shortened)
}

import type { FoundTransaction, LedgerAdmin, OperatorResult } from '../../core/ledger-admin.ts'
import { parseTransactionId } from '../../core/transactions/transaction-id.ts'
import type { ExitCode, Session } from '../session.ts'
import { refuse } from '../terminal.ts'
import { shortened } from './transaction-row.ts'

export type SettleRequest = Pick<OperatorResult, 'status' | 'note'>

export const noteRule = '1 to 500 printable characters'

/** Undefined if the text is no note. */
export function toNote(text: string): string | undefined {
  return /\S/.test(text) && /^[^\p{Cc}]{1,500}$/u.test(text) ? text.trim() : undefined
}

/** `unneeded`: no person is needed (any more). */
export type SettleResult =
  | { readonly outcome: 'settled'; readonly found: FoundTransaction }
  | { readonly outcome: 'missing' | 'unneeded'; readonly message: string }

/** Records the outcome of a transaction that needs a person, and prints it. */
export async function settle(id: string, request: SettleRequest, { stores, terminal, actor }: Session): Promise<ExitCode> {
  const result = await settleTransaction(id, request, { ledgerAdmin: stores.ledgerAdmin, actor })
  if (result.outcome !== 'settled') return refuse(result.message, terminal)
  terminal.out(`The transaction ${id} is settled: its client gets the status ${request.status}.`)
  return 0
}

/** Records the outcome of a transaction that needs a person: for the command and for the operator's API. `id`: its id for clients. */
export async function settleTransaction(
  id: string,
  { status, note }: SettleRequest,
  { ledgerAdmin, actor }: { readonly ledgerAdmin: LedgerAdmin; readonly actor: string },
): Promise<SettleResult> {
  const missing = { outcome: 'missing', message: `the ledger has no transaction ${id}` } as const
  const { tag, id: providerId } = parseTransactionId(id)
  if (tag === undefined) return missing
  const result = { status, note: withoutAddresses(note), at: Date.now() }
  const outcome = await ledgerAdmin.settle(tag, providerId, result, actor)
  const found = outcome === 'missing' ? undefined : await ledgerAdmin.findTransaction(tag, providerId)
  if (!found) return missing
  if (outcome === 'settled') return { outcome, found }
  return {
    outcome: 'unneeded',
    message: `the transaction ${id} needs no person: its status is ${found.entry.transaction.status ?? 'unknown'}`,
  }
}

/** Shortens words that may be an address, a key or a URL with a password: the audit log has none. */
function withoutAddresses(note: string): string {
  return note.replace(/\S{25,}/g, shortened)
}

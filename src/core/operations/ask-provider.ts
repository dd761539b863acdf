/** The state of one swap at its provider, now, for a person (docs/operating.md#a-swap-that-cannot-be-read). */
import { Fault, standardFault } from '../../domain/fault.ts'
import type { OperatorActions } from '../actions/by-operator.ts'
import type { ReadOutcome } from '../failed-reads.ts'
import type { LedgerAdmin } from '../ports/ledger-admin.ts'
import type { AuditLog } from './audit.ts'

interface AskPorts {
  readonly ledgerAdmin: Pick<LedgerAdmin, 'timeline'>
  readonly audit: Pick<AuditLog, 'append'>
  readonly actions: Pick<OperatorActions, 'ask'>
}

/**
 * Asks its provider once, within the budget; what it says is then in the ledger. The outcome is in the audit log. `id`: as of a timeline.
 * Throws a `Fault` if there is nothing to ask.
 */
export async function askProvider(id: string, actor: string, { ledgerAdmin, audit, actions }: AskPorts): Promise<ReadOutcome> {
  const read = await ledgerAdmin.timeline(id)
  if (!read) throw standardFault('notFound')
  const { entry } = read.swap
  if (!entry) throw new Fault('conflict', 'This create has no transaction that its provider could be asked for.')
  const asked = await actions.ask(entry)
  await audit.append({ actor, action: 'transaction.ask', subject: id, after: asked })
  return asked
}

const unanswered: Readonly<Record<string, string>> = {
  held_back: 'The provider was not asked: held back',
  contradicted: 'The provider has answered about another swap, which counts for nothing',
}

export function askedText({ outcome, cause }: ReadOutcome): string {
  if (outcome === 'done') return 'The provider has answered.'
  return `${unanswered[outcome] ?? `The provider has not answered: ${outcome}`}${cause === undefined ? '' : ` (${cause})`}.`
}

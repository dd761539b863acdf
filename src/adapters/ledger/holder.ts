/** Kysely: the row that has the id of a create's result. */
import type { NotNull } from 'kysely'
import { sql } from 'kysely'
import type { TransactionRecord } from '../../core/ledger.ts'
import { discrepanciesOf, wasThereBefore } from '../../core/same-swap.ts'
import { isFinal } from '../../domain/status.ts'
import type { Database } from './database.ts'
import { loadEntry } from './stored.ts'

export type Holder = NonNullable<Awaited<ReturnType<typeof lockHolder>>>

/** Locks and returns the row that has this id. */
export async function lockHolder(within: Database, provider: string, id: string) {
  const found = within.selectFrom('transactions').where('provider', '=', provider).where('provider_id', '=', id).forUpdate()
  const key = sql<string>`cast(sort_key as text)`.as('sort_key')
  const holder = found.select(['intent', 'owner', 'state', 'status', 'changed_at', 'sequence', 'facts', key])
  return holder.$narrowType<{ facts: NotNull }>().executeTakeFirst()
}

/** Whether the transaction was read before the create was sent, and is another one: then this create did not make it. */
export function isOlder(
  { sequence, status, facts: storedFacts }: Holder,
  created: Pick<TransactionRecord, 'transaction' | 'sequence'>,
): boolean {
  const { transaction } = loadEntry(storedFacts)
  return wasThereBefore({ sequence, transaction: { ...transaction, ...(status !== null && { status }) } }, created)
}

/** The create's facts with the status of the later request, if that was about the same transaction. A final status does not change. */
export function withLater(facts: TransactionRecord, holder: Holder): TransactionRecord {
  const { status, changed_at, sequence } = holder
  const isLater = (sequence ?? 0) >= (facts.sequence ?? 0) && !isFinal(facts.transaction.status ?? null)
  const latest = { ...facts, sequence: Math.max(sequence ?? 0, facts.sequence ?? 0) || undefined }
  if (status === null || status === facts.transaction.status || !(isLater || isFinal(status))) return latest
  if (discrepanciesOf(facts, loadEntry(holder.facts).transaction).rejected.length > 0) return latest
  return { ...latest, transaction: { ...facts.transaction, status }, changedAt: changed_at ?? undefined }
}

/** Kysely: the row that has the id of a create's result. */
import type { NotNull } from 'kysely'
import { sql } from 'kysely'
import type { TransactionRecord } from '../../core/ledger.ts'
import { memoOf, sameAddress } from '../../domain/address/same-address.ts'
import { sameName } from '../../domain/swap/asset.ts'
import { isFinal } from '../../domain/swap/status.ts'
import type { Transaction } from '../../domain/swap/swap.ts'
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

/** Whether the transaction was read before the create was sent and differs from it: then this create did not make it. */
export function wasThereBefore(
  { sequence, status, facts: storedFacts }: Holder,
  { transaction, sequence: createSequence }: TransactionRecord,
): boolean {
  if ((sequence ?? 0) >= (createSequence ?? 0)) return false
  const { depositAddress } = loadEntry(storedFacts).transaction
  const isOtherAddress = Boolean(depositAddress) && depositAddress !== transaction.depositAddress
  return (status !== null && status !== 'wait') || isOtherAddress
}

/** The create's facts with the status of the later request, if that was about the same transaction. A final status does not change. */
export function withLater(facts: TransactionRecord, holder: Holder): TransactionRecord {
  const { status, changed_at, sequence } = holder
  const isLater = (sequence ?? 0) >= (facts.sequence ?? 0) && !isFinal(facts.transaction.status ?? null)
  const latest = { ...facts, sequence: Math.max(sequence ?? 0, facts.sequence ?? 0) || undefined }
  if (status === null || status === facts.transaction.status || !(isLater || isFinal(status))) return latest
  if (isContradiction(facts.transaction, loadEntry(holder.facts).transaction)) return latest
  return { ...latest, transaction: { ...facts.transaction, status }, changedAt: changed_at ?? undefined }
}

/**
 * Whether both have a coin, network, address or memo, and differ in it. If the create was read, a withdrawal memo that was not
 * requested is a difference too: it sends the funds to another recipient.
 */
function isContradiction(created: Transaction, seen: Transaction): boolean {
  const differ = (field: StringField, isSame: (one: string, other: string) => boolean): boolean => {
    const [one, other] = [created[field], seen[field]]
    return Boolean(one && other && !isSame(one, other))
  }
  const [deposit, seenDeposit] = [created, seen].map((swap) => memoOf(swap.depositAddress, swap.depositExtraId))
  const [withdrawal, seenWithdrawal] = [created, seen].map((swap) => memoOf(swap.withdrawalAddress, swap.withdrawalExtraId))
  const wasRead = withdrawal !== undefined || created.depositAddress !== undefined
  return (
    nameFields.some((field) => differ(field, sameName)) ||
    addressFields.some((field) => differ(field, sameAddress)) ||
    (deposit !== undefined && seenDeposit !== undefined && deposit !== seenDeposit) ||
    (wasRead && seenWithdrawal !== undefined && seenWithdrawal !== withdrawal)
  )
}

const nameFields = ['coinFrom', 'networkFrom', 'coinTo', 'networkTo'] as const
const addressFields = ['depositAddress', 'withdrawalAddress'] as const
type StringField = (typeof nameFields)[number] | (typeof addressFields)[number]

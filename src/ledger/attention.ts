/** Kysely: the transactions that need a person, and what that person records. */
import { type NotNull, sql } from 'kysely'
import type { TransactionRecord } from '../core/ports/ledger.ts'
import type { AttentionCount, FoundTransaction, LedgerAdmin, OperatorResult } from '../core/ports/ledger-admin.ts'
import { pause } from '../domain/async.ts'
import { formatTransactionId } from '../domain/swap.ts'
import type { Database } from './database.ts'
import { writeEntry } from './entries.ts'
import { entryColumns, toEntry } from './entry.ts'
import { addAudit } from './operations.ts'
import { named } from './search.ts'
import type { Store } from './store.ts'

const maxListed = 1_000

/** Must repeat the condition of the index, or the database does not use it. */
const needsPerson = sql<boolean>`attention is not null`

export function attention(store: Store): Pick<LedgerAdmin, 'needPerson' | 'settle'> {
  const { database, write } = store
  return {
    async needPerson(maxTransactions = maxListed) {
      const found: FoundTransaction[] = []
      for (const { newest, oldest } of await rangesOf(database, maxTransactions)) {
        const rows = database.selectFrom('transactions').select(entryColumns).where(needsPerson)
        const ofRange = rows.where(sql<boolean>`sort_key between cast(${newest} as bigint) and cast(${oldest} as bigint)`)
        found.push(...(await named(database, await ofRange.orderBy('sort_key', 'desc').orderBy('provider_id').execute())))
        await pause()
      }
      return found.slice(0, maxTransactions)
    },
    settle(provider, id, result, actor) {
      const { status, note, account, at } = result
      // The work runs again if it is not known whether its commit succeeded.
      let isRepeated = false
      return write(async (within) => {
        const ofId = within.selectFrom('transactions').where('provider', '=', provider).where('provider_id', '=', id)
        const row = await ofId.where('state', '=', 'done').select(entryColumns).forUpdate().executeTakeFirst()
        if (!row) return 'missing'
        if (row.attention === null) return isRepeated && row.settled_at === at && row.status === status ? 'settled' : 'unneeded'
        const entry = toEntry(row)
        await writeEntry(within, { kind: 'entry', entry }, settled(entry, result), store)
        const before = { status: row.status, attention: row.attention, account }
        const subject = formatTransactionId(provider, id)
        await addAudit(within, store, { actor, action: 'transaction.settle', subject, before, after: { status, note } })
        isRepeated = true
        return 'settled'
      })
    },
  }
}

/** Of a file a statement is one turn of the event loop: requests come between two. */
const rowsPerPage = 500

/** Of the oldest of them, in parts, by the index alone: of what is not among them no row is read. Sort keys exceed a number's precision. */
async function rangesOf(database: Database, max: number): Promise<readonly { readonly newest: string; readonly oldest: string }[]> {
  const { rows } = await sql<{ readonly sort_key: string }>`
    select cast(sort_key as text) as sort_key from transactions where ${needsPerson}
    order by transactions.sort_key desc limit ${sql.lit(max)}`.execute(database)
  const keys = [...new Set(rows.map(({ sort_key }) => sort_key))]
  return Array.from({ length: Math.ceil(keys.length / rowsPerPage) }, (_, at) => {
    const part = keys.slice(at * rowsPerPage, (at + 1) * rowsPerPage)
    return { oldest: part.at(0) ?? '', newest: part.at(-1) ?? '' }
  })
}

/** With a later sequence, so that a report that was merged before does not overwrite it. */
function settled(record: TransactionRecord, { status, at }: OperatorResult): TransactionRecord {
  const { attention: _, ...transaction } = record.transaction
  const isChange = transaction.status !== status
  const updatedAt = isChange && record.derived.includes('updatedAt') ? new Date(at).toISOString() : transaction.updatedAt
  return {
    ...record,
    transaction: { ...transaction, status, ...(updatedAt !== undefined && { updatedAt }) },
    ...(isChange && { changedAt: Math.max(at, record.changedAt ?? 0) }),
    settledAt: at,
    sequence: (record.sequence ?? 0) + 1,
  }
}

export function attentionCounts(database: Database): Promise<readonly AttentionCount[]> {
  return database
    .selectFrom('transactions')
    .select(['provider', 'attention', database.fn.countAll<number>().as('count')])
    .where(needsPerson)
    .groupBy(['provider', 'attention'])
    .$narrowType<{ attention: NotNull }>()
    .execute()
}

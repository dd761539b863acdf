/** Kysely: transactions of all owners, for support. */
import { type SqlBool, sql } from 'kysely'
import type { FoundTransaction, LedgerAdmin, TransactionSearch } from '../../../core/ledger-admin.ts'
import type { Database } from '../database.ts'
import { clampSortKey, type EntryRow, entryColumns, toEntry, toNanoseconds } from '../entry.ts'
import { positionColumns } from '../page-index.ts'
import type { Store } from '../store.ts'

export function searcher({ database }: Store): Pick<LedgerAdmin, 'search' | 'findTransaction'> {
  const entries = () => database.selectFrom('transactions').where(sql<SqlBool>`state = 'done'`)
  const matching = ({ account, provider, status, since }: TransactionSearch) => {
    let query = entries()
    // Prevents the use of the index of ids, which has no state: each row would be read to be counted.
    if (provider !== undefined) query = query.where(sql<SqlBool>`provider || '' = ${provider}`)
    if (status !== undefined) query = query.where('status', '=', status)
    if (since !== undefined) query = query.where(sql<SqlBool>`sort_key <= ${clampSortKey(-toNanoseconds(since))}`)
    if (account === undefined) return query
    return query.where('owner', '=', database.selectFrom('accounts').select('accounts.id').where('name', '=', account))
  }
  return {
    async search(query) {
      const { page, size } = query
      const rows = matching(query)
        .select([...entryColumns])
        .orderBy(sql`${positionColumns}`)
        .limit(size)
        .offset((page - 1) * size)
      const total = matching(query).select(({ fn }) => fn.countAll<number>().as('count'))
      const [{ count }, found] = await Promise.all([total.executeTakeFirstOrThrow(), rows.execute()])
      return { found: await named(database, found), count }
    },
    async findTransaction(provider, id) {
      const row = entries()
        .select([...entryColumns])
        .where('provider', '=', provider)
        .where('provider_id', '=', id)
      return (await named(database, await row.execute()))[0]
    },
  }
}

/** The entries with the names of their accounts. */
export async function named(database: Database, rows: readonly EntryRow[]): Promise<readonly FoundTransaction[]> {
  const owners = [...new Set(rows.map(({ owner }) => owner))]
  const accounts = owners.length === 0 ? [] : await database.selectFrom('accounts').selectAll().where('id', 'in', owners).execute()
  const names = new Map(accounts.map(({ id, name }) => [id, name]))
  return rows.map((row) => {
    const account = names.get(row.owner)
    return { entry: toEntry(row), ...(account !== undefined && { account }) }
  })
}

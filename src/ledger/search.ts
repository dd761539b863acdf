/** Kysely: transactions of all owners, for support. */
import { type NotNull, type SqlBool, sql } from 'kysely'
import type { FoundTransaction, LedgerAdmin, TransactionSearch } from '../core/ports/ledger-admin.ts'
import { pause } from '../domain/async.ts'
import { formatTransactionId } from '../domain/swap.ts'
import type { Database } from './database.ts'
import { clampSortKey, type EntryRow, entryColumns, toEntry, toNanoseconds } from './entry.ts'
import { firstPosition, position, positionColumns, values } from './page-index.ts'
import type { SortPosition } from './schema/tables.ts'
import type { Store } from './store.ts'
import { readFailedReads } from './timeline.ts'

interface Slice {
  readonly after: SortPosition
  /** The last position; undefined for the last slice. */
  readonly end: SortPosition | undefined
}

/** Rows that are looked at without a pause: on SQLite they take the process some 10 ms. */
const sliceRows = 10_000

export function searcher({ database, recordset }: Store): Pick<LedgerAdmin, 'search' | 'findTransaction'> {
  const withReads = async (rows: readonly EntryRow[]): Promise<readonly FoundTransaction[]> => {
    const found = await named(database, rows)
    const swaps = found.map(({ entry: { provider, transaction } }) => ({ provider, id: transaction.id }))
    const failed = await readFailedReads({ database, recordset }, swaps)
    return found.map((one) => {
      const { provider, transaction } = one.entry
      return { ...one, failedReads: failed.get(formatTransactionId(provider, transaction.id)) }
    })
  }
  return {
    async search(search) {
      const { page, size } = search
      const rows: EntryRow[] = []
      let count = 0
      for await (const slice of slicesOf(database, search)) {
        const total = matching(database, search, slice).select(({ fn }) => fn.countAll<number>().as('count'))
        const before = count
        count += (await total.executeTakeFirstOrThrow()).count
        const missing = Math.min(size - rows.length, count - (page - 1) * size - rows.length)
        if (missing <= 0) continue
        const found = matching(database, search, slice)
          .select([...entryColumns])
          .orderBy(sql`${positionColumns}`)
        rows.push(
          ...(await found
            .limit(missing)
            .offset(Math.max(0, (page - 1) * size - before))
            .execute()),
        )
      }
      return { found: await withReads(rows), count }
    },
    async findTransaction(provider, id) {
      const row = entries(database)
        .select([...entryColumns])
        .where('provider', '=', provider)
        .where('provider_id', '=', id)
      return (await withReads(await row.execute()))[0]
    },
  }
}

function entries(database: Database) {
  return database.selectFrom('transactions').where(sql<SqlBool>`state = 'done'`)
}

/** Those of the account and the time, after this position. */
function entriesAfter(database: Database, { account, since }: TransactionSearch, after: SortPosition) {
  let query = entries(database).where(sql<SqlBool>`${position} > (${values(after)})`)
  if (since !== undefined) query = query.where(sql<SqlBool>`sort_key <= ${clampSortKey(-toNanoseconds(since))}`)
  if (account === undefined) return query
  return query.where('owner', '=', database.selectFrom('accounts').select('accounts.id').where('name', '=', account.normalize()))
}

function matching(database: Database, search: TransactionSearch, { after, end }: Slice) {
  let query = entriesAfter(database, search, after)
  if (end !== undefined) query = query.where(sql<SqlBool>`${position} <= (${values(end)})`)
  // Prevents the use of the index of ids, which has no state: each row would be read to be counted.
  if (search.provider !== undefined) query = query.where(sql<SqlBool>`provider || '' = ${search.provider}`)
  return search.status === undefined ? query : query.where('status', '=', search.status)
}

/** The slices of the account and the time, with a pause between them. */
async function* slicesOf(database: Database, search: TransactionSearch): AsyncGenerator<Slice> {
  let slice: Slice = { after: firstPosition, end: await endOf(database, search, firstPosition) }
  yield slice
  while (slice.end !== undefined) {
    await pause()
    slice = { after: slice.end, end: await endOf(database, search, slice.end) }
    yield slice
  }
}

async function endOf(database: Database, search: TransactionSearch, after: SortPosition): Promise<SortPosition | undefined> {
  const columns = [sql<string>`cast(sort_key as text)`.as('sort_key'), 'provider_id', 'provider'] as const
  const last = entriesAfter(database, search, after).select(columns).orderBy(sql`transactions.sort_key, provider_id, provider`)
  const row = await last
    .limit(1)
    .offset(sliceRows - 1)
    .$narrowType<{ provider_id: NotNull }>()
    .executeTakeFirst()
  return row && { ...row, sort_key: BigInt(row.sort_key) }
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

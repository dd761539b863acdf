/** Kysely: reads pages of an owner's entries with their exact total. The cost does not grow with the number of entries. */
import { type RawBuilder, sql } from 'kysely'
import type { Ledger } from '../../core/ledger.ts'
import type { Database } from './database.ts'
import { clampSortKey, type EntryRow, entryColumns, maxSortKey, toEntry } from './entry.ts'
import { firstPosition, oldestFirst, position, positionColumns } from './page-index.ts'
import { prepare } from './store.ts'

/** One statement, so that the entries and the total come from one snapshot. */
export function lister(database: Database): Ledger['list'] {
  const readPage = prepare(database, ['owner', 'first', 'end', 'offset', 'size'], (blank) => listQuery(blank).compile(database))
  return async (owner, { page, size, created }) => {
    const rows = await readPage({
      owner,
      first: clampSortKey(-created.last),
      end: clampSortKey(-created.first) + 1n,
      offset: BigInt(page - 1) * BigInt(size),
      size,
    })
    return { entries: rows.filter(({ facts }) => facts !== null).map(toEntry), total: rows[0]?.total ?? 0 }
  }
}

/** The parameters of the query: sort keys from `first` (inclusive) to `end` (exclusive). */
type ListParameters = Readonly<Record<'owner' | 'first' | 'end' | 'offset' | 'size', never>>

interface Row extends EntryRow {
  readonly total: number
}

const columns = (table: 'page' | 'transactions') => sql.join(entryColumns.map((column) => sql.ref(`${table}.${column}`)))

/** `span`: the numbers of entries that are newer than the range, and that are not older than it. Positions count from the oldest. */
function listQuery({ owner, first, end, offset, size }: ListParameters): RawBuilder<Row> {
  return sql<Row>`
    with span as materialized (
      select newer, reached, total - 1 - newer - cast(${offset} as bigint) as start from (
        select total, ${newerThan(owner, first)} as newer, ${newerThan(owner, end)} as reached from (
          select older + entries as total from tallies where owner = ${owner} and sort_key = ${firstPosition.sort_key}
        ) as counted
      ) as bounds
    ), page as (
      select sort_key, provider_id, ${columns('transactions')} from transactions
      where owner = ${owner} and state = 'done' and sort_key < ${end} and ${position} >= (${placeAt(owner)})
      order by ${positionColumns} limit cast(${size} as bigint)
    )
    select reached - newer as total, ${columns('page')} from span left join page on true
    order by page.sort_key, page.provider_id, page.provider`
}

/** The number of the owner's entries with a lower sort key: all of newer segments, and a part of one more. */
function newerThan(owner: never, key: never): RawBuilder<number> {
  return sql`case when cast(${key} as bigint) > ${maxSortKey} then total else coalesce((
    select total - tally.older - tally.entries + (
      select count(*) from transactions
      where owner = ${owner} and state = 'done' and sort_key < ${key}
      and ${position} >= (tally.sort_key, tally.provider_id, tally.provider)
    )
    from tallies as tally where owner = ${owner} and sort_key < ${key} order by ${oldestFirst} limit 1
  ), 0) end`
}

/** The position at which the page starts: an offset into a segment. */
function placeAt(owner: never): RawBuilder<unknown> {
  const tally = (column: RawBuilder<unknown>) => sql`(
    select ${column} from tallies where owner = ${owner} and older <= (select start from span)
    order by older desc, ${positionColumns} limit 1
  )`
  return sql`
    select ${positionColumns} from transactions where owner = ${owner} and state = 'done' and ${position} >= ${tally(positionColumns)}
    order by ${positionColumns} limit 1 offset coalesce(${tally(sql`older + entries - 1`)} - (select start from span), 0)`
}

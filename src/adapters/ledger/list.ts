/** Kysely: pages of an owner's entries with their exact total, at a cost that does not grow with their number. */
import { type RawBuilder, sql } from 'kysely'
import type { Ledger } from '../../core/ledger.ts'
import { type EntryRow, entryColumns, limitKey, toEntry } from './entry.ts'
import type { Database } from './store.ts'
import { backwards, forwards, place } from './tallies.ts'

/** One statement, so that the entries and the total are of one moment. */
export function lister(database: Database): Ledger['list'] {
  return async (owner, { page, size, created }) => {
    const first = limitKey(-created.last)
    const end = limitKey(-created.first) + 1n
    const offset = BigInt(page - 1) * BigInt(size)
    const { rows } = await pageOf(owner, { first, end, offset, size }).execute(database)
    const entries = rows.filter(({ facts }) => facts !== null).map(toEntry)
    return { entries, total: rows[0]?.total ?? 0 }
  }
}

interface Range {
  /** Sort keys: from this one on, and before that one. */
  readonly first: bigint
  readonly end: bigint
  readonly offset: bigint
  readonly size: number
}

interface Row extends EntryRow {
  readonly total: number
}

/** `runs`: the owner's tallies, each with the number of entries before it. `span`: how many entries are before the range, and in it. */
function pageOf(owner: string, { first, end, offset, size }: Range): RawBuilder<Row> {
  const start = sql`(select skipped from span) + cast(${offset} as bigint)`
  return sql<Row>`
    with runs as materialized (
      select ${forwards}, cast(sum(entries) over (order by ${forwards}) as bigint) - entries as before
      from tallies where owner = ${owner}
    ), span as materialized (
      select ${countBefore(owner, first)} as skipped, ${countBefore(owner, end)} as reached
    ), page as (
      select sort_key, provider_id, ${sql.join(entryColumns.map((column) => sql.ref(column)))} from transactions
      where owner = ${owner} and state = 'done' and sort_key < ${end} and ${place} >= (${placeAt(owner, start)})
      order by ${forwards} limit ${size}
    )
    select reached - skipped as total, ${sql.join(entryColumns.map((column) => sql.ref(`page.${column}`)))}
    from span left join page on true order by ${sql.ref('page.sort_key')}, ${sql.ref('page.provider_id')}, ${sql.ref('page.provider')}`
}

/** How many of the owner's entries have a lower sort key: those of whole tallies, and some of one more. */
function countBefore(owner: string, key: bigint): RawBuilder<number> {
  return sql`(
    select coalesce(max(before), 0) from runs where sort_key < ${key}
  ) + (
    select count(*) from transactions
    where owner = ${owner} and state = 'done' and sort_key < ${key} and ${place} >= (
      select ${forwards} from runs where sort_key < ${key} order by ${backwards} limit 1
    )
  )`
}

/** Where the entry stands that has so many before it. */
function placeAt(owner: string, count: RawBuilder<unknown>): RawBuilder<unknown> {
  const run = sql`from runs where before <= ${count} order by ${backwards} limit 1`
  return sql`
    select ${forwards} from transactions
    where owner = ${owner} and state = 'done' and ${place} >= (select ${forwards} ${run})
    order by ${forwards} limit 1 offset coalesce(${count} - (select before ${run}), 0)`
}

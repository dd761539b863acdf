/**
 * Kysely: counts an owner's entries in segments, so that a list has its total and finds any page without counting rows. A
 * segment (a row of `page_index`) covers the entries from its position to the next segment. The first one precedes all positions.
 */
import { sql } from 'kysely'
import type { Database } from './database.ts'
import type { SortPosition } from './schema/tables.ts'

/** A larger segment is split in two. */
export const maxSegmentEntries = 1_024

/** Precedes every position of an entry. */
export const firstPosition: SortPosition = { sort_key: -(2n ** 63n), provider_id: '', provider: '' }

/** A position among the entries of all owners. */
export interface OwnerPosition extends SortPosition {
  readonly owner: string
}

export const beforeAll: OwnerPosition = { owner: '', ...firstPosition }

export const position = sql`(sort_key, provider_id, provider)`
export const positionColumns = sql`sort_key, provider_id, provider`
export const oldestFirst = sql`sort_key desc, provider_id desc, provider desc`

/** Locks the owner's segments until the transaction ends. Call it last, to keep the lock short. */
export async function lockPageIndex(within: Database, owner: string): Promise<void> {
  const lock = () =>
    within
      .selectFrom('page_index')
      .select('entries')
      .where('owner', '=', owner)
      .where(sql<boolean>`sort_key = ${firstPosition.sort_key}`)
      .forUpdate()
      .execute()
  if ((await lock()).length > 0) return
  const first = { owner, ...firstPosition, entries: 0, older: 0 }
  await within
    .insertInto('page_index')
    .values(first)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await lock()
}

/** Counts an entry that is already inserted. */
export async function addToPageIndex(within: Database, owner: string, at: SortPosition): Promise<void> {
  await lockPageIndex(within, owner)
  const segment = await changePageIndex(within, owner, at, 1)
  if (segment.entries > maxSegmentEntries) await splitSegment(within, owner, segment)
}

export async function removeFromPageIndex(within: Database, owner: string, at: SortPosition): Promise<void> {
  await lockPageIndex(within, owner)
  await changePageIndex(within, owner, at, -1)
}

interface PageIndexSegment extends SortPosition {
  readonly entries: number
}

/** Changes the count of the segment at this position, and the `older` counts of newer segments. Usually it is the newest one. */
export async function changePageIndex(within: Database, owner: string, at: SortPosition, by: number): Promise<PageIndexSegment> {
  const { rows } = await sql<Omit<PageIndexSegment, 'sort_key'> & { sort_key: string }>`
    update page_index set entries = entries + ${by}
    where owner = ${owner} and ${position} = (
      select ${positionColumns} from page_index
      where owner = ${owner} and ${position} <= (${values(at)}) order by ${oldestFirst} limit 1
    )
    returning cast(sort_key as text) as sort_key, provider_id, provider, entries`.execute(within)
  const [row] = rows
  if (!row) throw new Error('The page index was not locked.')
  const segment = { ...row, sort_key: BigInt(row.sort_key) }
  if (segment.sort_key !== firstPosition.sort_key) {
    await sql`update page_index set older = older + ${by} where owner = ${owner} and ${position} < (${values(segment)})`.execute(
      within,
    )
  }
  return segment
}

/** The one of an owner's newest entries, if it is too large. */
export async function splitFirstSegment(within: Database, owner: string): Promise<void> {
  await lockPageIndex(within, owner)
  const { entries } = await within
    .selectFrom('page_index')
    .select('entries')
    .where('owner', '=', owner)
    .where(sql<boolean>`sort_key = ${firstPosition.sort_key}`)
    .executeTakeFirstOrThrow()
  if (entries > maxSegmentEntries) await splitSegment(within, owner, { ...firstPosition, entries })
}

/** The newest entries keep the segment; the others get a new one. */
export async function splitSegment(within: Database, owner: string, segment: PageIndexSegment): Promise<void> {
  const kept = maxSegmentEntries / 2
  const moved = segment.entries - kept
  const isSegment = sql`owner = ${owner} and ${position} = (${values(segment)})`
  await sql`
    insert into page_index (owner, ${positionColumns}, entries, older)
    select owner, ${positionColumns}, cast(${moved} as bigint), (select older from page_index where ${isSegment}) from transactions
    where owner = ${owner} and state = 'done' and ${position} >= (${values(segment)})
    order by ${positionColumns} limit 1 offset ${kept}`.execute(within)
  await sql`update page_index set entries = ${kept}, older = older + ${moved} where ${isSegment}`.execute(within)
}

export function values({ sort_key, provider_id, provider }: SortPosition) {
  return sql.join([sort_key, provider_id, provider])
}

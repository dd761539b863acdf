/**
 * Kysely: how many entries an owner has, from place to place, so that a list knows its total and finds any page without
 * counting. A tally covers the entries from its place up to the next tally's; its first one stands before all places.
 */
import { sql } from 'kysely'
import type { Database } from './database.ts'
import type { SortPosition } from './schema/tables.ts'

/** Past this a tally is cut in two. */
export const maxSegmentEntries = 1_024

/** Before every place that an entry can have. */
export const firstPosition: SortPosition = { sort_key: -(2n ** 63n), provider_id: '', provider: '' }

/** A place among the entries of all owners. */
export interface OwnerPosition extends SortPosition {
  readonly owner: string
}

export const beforeAll: OwnerPosition = { owner: '', ...firstPosition }

export const position = sql`(sort_key, provider_id, provider)`
export const positionColumns = sql`sort_key, provider_id, provider`
export const oldestFirst = sql`sort_key desc, provider_id desc, provider desc`

/** Until the transaction ends nobody else changes this owner's tallies: so they are changed last. */
export async function lockPageIndex(within: Database, owner: string): Promise<void> {
  const lock = () =>
    within
      .selectFrom('tallies')
      .select('entries')
      .where('owner', '=', owner)
      .where(sql<boolean>`sort_key = ${firstPosition.sort_key}`)
      .forUpdate()
      .execute()
  if ((await lock()).length > 0) return
  const first = { owner, ...firstPosition, entries: 0, older: 0 }
  await within
    .insertInto('tallies')
    .values(first)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await lock()
}

/** Counts an entry that stands in its place already. */
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

/** Of the tally that covers this place. As a rule it is the newest; otherwise there are now more, or fewer, that are older than others. */
export async function changePageIndex(within: Database, owner: string, at: SortPosition, by: number): Promise<PageIndexSegment> {
  const { rows } = await sql<Omit<PageIndexSegment, 'sort_key'> & { sort_key: string }>`
    update tallies set entries = entries + ${by}
    where owner = ${owner} and ${position} = (
      select ${positionColumns} from tallies
      where owner = ${owner} and ${position} <= (${values(at)}) order by ${oldestFirst} limit 1
    )
    returning cast(sort_key as text) as sort_key, provider_id, provider, entries`.execute(within)
  const [row] = rows
  if (!row) throw new Error('The tallies were not locked.')
  const segment = { ...row, sort_key: BigInt(row.sort_key) }
  if (segment.sort_key !== firstPosition.sort_key) {
    await sql`update tallies set older = older + ${by} where owner = ${owner} and ${position} < (${values(segment)})`.execute(
      within,
    )
  }
  return segment
}

/** The newest keep the tally; the others get one of their own. */
async function splitSegment(within: Database, owner: string, segment: PageIndexSegment): Promise<void> {
  const kept = maxSegmentEntries / 2
  const moved = segment.entries - kept
  const isSegment = sql`owner = ${owner} and ${position} = (${values(segment)})`
  await sql`
    insert into tallies (owner, ${positionColumns}, entries, older)
    select owner, ${positionColumns}, cast(${moved} as bigint), (select older from tallies where ${isSegment}) from transactions
    where owner = ${owner} and state = 'done' and ${position} >= (${values(segment)})
    order by ${positionColumns} limit 1 offset ${kept}`.execute(within)
  await sql`update tallies set entries = ${kept}, older = older + ${moved} where ${isSegment}`.execute(within)
}

export function values({ sort_key, provider_id, provider }: SortPosition) {
  return sql.join([sort_key, provider_id, provider])
}

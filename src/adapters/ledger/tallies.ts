/**
 * Kysely: how many entries an owner has, from place to place, so that a list knows its total and finds any page without
 * counting. A tally covers the entries from its place up to the next tally's; its first one stands before all places.
 */
import { sql } from 'kysely'
import type { Database } from './store.ts'
import type { Place } from './tables.ts'

/** Past this a tally is cut in two. */
export const fullTally = 1_024

/** Before every place that an entry can have. */
export const firstPlace: Place = { sort_key: -(2n ** 63n), provider_id: '', provider: '' }

/** A place among the entries of all owners. */
export interface At extends Place {
  readonly owner: string
}

export const beforeAll: At = { owner: '', ...firstPlace }

export const place = sql`(sort_key, provider_id, provider)`
export const placeColumns = sql`sort_key, provider_id, provider`
export const oldestFirst = sql`sort_key desc, provider_id desc, provider desc`

/** Until the transaction ends nobody else changes this owner's tallies: so they are changed last. */
export async function lockTallies(within: Database, owner: string): Promise<void> {
  const lock = () =>
    within
      .selectFrom('tallies')
      .select('entries')
      .where('owner', '=', owner)
      .where(sql<boolean>`sort_key = ${firstPlace.sort_key}`)
      .forUpdate()
      .execute()
  if ((await lock()).length > 0) return
  const first = { owner, ...firstPlace, entries: 0, older: 0 }
  await within
    .insertInto('tallies')
    .values(first)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await lock()
}

/** Counts an entry that stands in its place already. */
export async function addToTally(within: Database, owner: string, at: Place): Promise<void> {
  await lockTallies(within, owner)
  const tally = await changeTally(within, owner, at, 1)
  if (tally.entries > fullTally) await cut(within, owner, tally)
}

export async function takeFromTally(within: Database, owner: string, at: Place): Promise<void> {
  await lockTallies(within, owner)
  await changeTally(within, owner, at, -1)
}

interface Tally extends Place {
  readonly entries: number
}

/** Of the tally that covers this place. As a rule it is the newest; otherwise there are now more, or fewer, that are older than others. */
export async function changeTally(within: Database, owner: string, at: Place, by: number): Promise<Tally> {
  const { rows } = await sql<Omit<Tally, 'sort_key'> & { sort_key: string }>`
    update tallies set entries = entries + ${by}
    where owner = ${owner} and ${place} = (
      select ${placeColumns} from tallies
      where owner = ${owner} and ${place} <= (${values(at)}) order by ${oldestFirst} limit 1
    )
    returning cast(sort_key as text) as sort_key, provider_id, provider, entries`.execute(within)
  const [row] = rows
  if (!row) throw new Error('The tallies were not locked.')
  const tally = { ...row, sort_key: BigInt(row.sort_key) }
  if (tally.sort_key !== firstPlace.sort_key) {
    await sql`update tallies set older = older + ${by} where owner = ${owner} and ${place} < (${values(tally)})`.execute(within)
  }
  return tally
}

/** The newest keep the tally; the others get one of their own. */
async function cut(within: Database, owner: string, tally: Tally): Promise<void> {
  const kept = fullTally / 2
  const moved = tally.entries - kept
  const isTally = sql`owner = ${owner} and ${place} = (${values(tally)})`
  await sql`
    insert into tallies (owner, ${placeColumns}, entries, older)
    select owner, ${placeColumns}, cast(${moved} as bigint), (select older from tallies where ${isTally}) from transactions
    where owner = ${owner} and state = 'done' and ${place} >= (${values(tally)})
    order by ${placeColumns} limit 1 offset ${kept}`.execute(within)
  await sql`update tallies set entries = ${kept}, older = older + ${moved} where ${isTally}`.execute(within)
}

export function values({ sort_key, provider_id, provider }: Place) {
  return sql.join([sort_key, provider_id, provider])
}

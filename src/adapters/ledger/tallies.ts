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
export const forwards = sql`sort_key, provider_id, provider`
export const backwards = sql`sort_key desc, provider_id desc, provider desc`

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
  const first = { owner, ...firstPlace, entries: 0 }
  await within
    .insertInto('tallies')
    .values(first)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await lock()
}

/** Counts an entry that stands in its place already. */
export async function addToTally(within: Database, owner: string, at: Place): Promise<void> {
  const tally = await change(within, owner, at, 1)
  if (tally.entries > fullTally) await cut(within, owner, tally)
}

export async function takeFromTally(within: Database, owner: string, at: Place): Promise<void> {
  await change(within, owner, at, -1)
}

interface Tally extends Place {
  readonly entries: number
}

async function change(within: Database, owner: string, at: Place, by: 1 | -1): Promise<Tally> {
  await lockTallies(within, owner)
  const { rows } = await sql<{ sort_key: string; provider_id: string; provider: string; entries: number }>`
    update tallies set entries = entries + ${by}
    where owner = ${owner} and ${place} = (
      select ${forwards} from tallies
      where owner = ${owner} and ${place} <= (${values(at)}) order by ${backwards} limit 1
    )
    returning cast(sort_key as text) as sort_key, provider_id, provider, entries`.execute(within)
  const [row] = rows
  if (!row) throw new Error('The tallies were not locked.')
  return { ...row, sort_key: BigInt(row.sort_key) }
}

/** The newest keep the tally; the others get one of their own. */
async function cut(within: Database, owner: string, tally: Tally): Promise<void> {
  const half = fullTally / 2
  await sql`
    insert into tallies (owner, ${forwards}, entries)
    select owner, ${forwards}, cast(${tally.entries - half} as bigint) from transactions
    where owner = ${owner} and state = 'done' and ${place} >= (${values(tally)})
    order by ${forwards} limit 1 offset ${half}`.execute(within)
  await sql`update tallies set entries = ${half} where owner = ${owner} and ${place} = (${values(tally)})`.execute(within)
}

export function values({ sort_key, provider_id, provider }: Place) {
  return sql.join([sort_key, provider_id, provider])
}

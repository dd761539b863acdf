/** Kysely: forgets entries that ended long ago. */
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Bookkeeping } from '../../core/bookkeeping.ts'
import { limitKey, toNanoseconds } from './entry.ts'
import type { Database, Store } from './store.ts'
import { type At, beforeAll, changeTally, firstPlace, lockTallies, place, placeColumns, values } from './tallies.ts'

/** A transaction of it is short, and after each it waits, in milliseconds: others write too, and ask for the lock now and then. */
const mostEntries = 500
const mostTallies = 25
const rest = 10

/** Tally by tally, so that each is reduced by what went out of it. */
export function pruner({ write }: Store): Bookkeeping['prune'] {
  return async (before) => {
    const newest = limitKey(-toNanoseconds(before))
    let total = 0
    for (let at: At | undefined = beforeAll; at; ) {
      const from: At = at
      const { gone, next } = await write((within) => pruneFrom(within, from, newest))
      total += gone
      at = next
      await delay(rest)
    }
    return total
  }
}

interface Step {
  readonly gone: number
  /** Where to go on; absent behind the last tally. */
  readonly next: At | undefined
}

async function pruneFrom(within: Database, from: At, newest: bigint): Promise<Step> {
  let gone = 0
  let at: At | undefined = from
  for (let tallies = 0; at && gone < mostEntries && tallies < mostTallies; tallies++) {
    const step = await pruneTally(within, at, newest)
    gone += step.gone
    at = step.next
  }
  return { gone, next: at }
}

/** The first tally from there on. Its bounds are read when nobody else can move them. */
async function pruneTally(within: Database, from: At, newest: bigint): Promise<Step> {
  const [unlocked] = await talliesFrom(within, from)
  if (!unlocked) return { gone: 0, next: undefined }
  await lockTallies(within, unlocked.owner)
  const [tally = unlocked, next] = await talliesFrom(within, unlocked)
  const end = next?.owner === tally.owner ? sql`and ${place} < (${values(next)})` : sql``
  const { numAffectedRows = 0n } = await sql`
    delete from transactions
    where owner = ${tally.owner} and state = 'done' and ${place} >= (${values(tally)}) ${end}
    and sort_key > ${newest} and status in ('success', 'refunded', 'overdue')`.execute(within)
  await reduce(within, tally, numAffectedRows)
  return { gone: Number(numAffectedRows), next }
}

async function talliesFrom(within: Database, { owner, ...from }: At): Promise<readonly At[]> {
  const { rows } = await sql<{ owner: string; sort_key: string; provider_id: string; provider: string }>`
    select owner, cast(sort_key as text) as sort_key, provider_id, provider from tallies
    where (owner, ${placeColumns}) >= (${owner}, ${values(from)})
    order by owner, tallies.sort_key, provider_id, provider limit 2`.execute(within)
  return rows.map((row) => ({ ...row, sort_key: BigInt(row.sort_key) }))
}

/** An empty tally goes, but for the first: that one is locked. */
async function reduce(within: Database, { owner, ...at }: At, by: bigint): Promise<void> {
  if (by === 0n) return
  const { entries, sort_key } = await changeTally(within, owner, at, -Number(by))
  if (entries > 0 || sort_key === firstPlace.sort_key) return
  await sql`delete from tallies where owner = ${owner} and ${place} = (${values(at)})`.execute(within)
}

/** Kysely: forgets entries that ended long ago. */
import { setTimeout as delay } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import type { Bookkeeping, Pruned } from '../../core/bookkeeping.ts'
import { hasExpired } from './claims.ts'
import type { LedgerClock } from './clock.ts'
import { limitKey, toNanoseconds } from './entry.ts'
import type { Database, Store } from './store.ts'
import { type At, beforeAll, changeTally, firstPlace, lockTallies, place, placeColumns, values } from './tallies.ts'

/** A transaction of it is short, and after each it waits, in milliseconds: others write too, and ask for the lock now and then. */
const mostEntries = 500
const mostTallies = 25
const rest = 10

/** Tally by tally, so that each is reduced by what went out of it. */
export function pruner({ write, clock }: Store): Bookkeeping['prune'] {
  return async (before) => {
    const newest = limitKey(-toNanoseconds(before))
    let total = nothing
    for (let at: At | undefined = beforeAll; at; ) {
      const from: At = at
      const { next, ...pruned } = await write((within) => pruneFrom(within, from, newest, clock))
      total = sum(total, pruned)
      at = next
      await delay(rest)
    }
    return total
  }
}

interface Step extends Pruned {
  /** Where to go on; absent behind the last tally. */
  readonly next: At | undefined
}

const nothing: Pruned = { pruned: 0, kept: { overdue: 0, recentKey: 0, unresolved: 0 } }

function sum(one: Pruned, other: Pruned): Pruned {
  return {
    pruned: one.pruned + other.pruned,
    kept: {
      overdue: one.kept.overdue + other.kept.overdue,
      recentKey: one.kept.recentKey + other.kept.recentKey,
      unresolved: one.kept.unresolved + other.kept.unresolved,
    },
  }
}

async function pruneFrom(within: Database, from: At, newest: bigint, clock: LedgerClock): Promise<Step> {
  let total = nothing
  let at: At | undefined = from
  for (let tallies = 0; at && total.pruned < mostEntries && tallies < mostTallies; tallies++) {
    const { next, ...pruned } = await pruneTally(within, at, newest, clock)
    total = sum(total, pruned)
    at = next
  }
  return { ...total, next: at }
}

/** The first tally from there on. Its bounds are read when nobody else can move them. */
async function pruneTally(within: Database, from: At, newest: bigint, clock: LedgerClock): Promise<Step> {
  const [unlocked] = await talliesFrom(within, from)
  if (!unlocked) return { ...nothing, next: undefined }
  await lockTallies(within, unlocked.owner)
  const [tally = unlocked, next] = await talliesFrom(within, unlocked)
  const end = next?.owner === tally.owner ? sql`and ${place} < (${values(next)})` : sql``
  const hasEnded = sql`
    owner = ${tally.owner} and state = 'done' and ${place} >= (${values(tally)}) ${end}
    and sort_key > ${newest} and status in ('success', 'refunded', 'overdue')`
  const { numAffectedRows = 0n } = await sql`
    delete from transactions
    where ${hasEnded} and not ${mayBeRevived(clock)} and not ${hasRecentKey(clock)} and not ${isCandidate}`.execute(within)
  await reduce(within, tally, numAffectedRows)
  const { rows } = await sql<Pruned['kept']>`
    select coalesce(sum(case when ${mayBeRevived(clock)} then 1 else 0 end), 0) as overdue,
      coalesce(sum(case when ${hasRecentKey(clock)} then 1 else 0 end), 0) as "recentKey",
      coalesce(sum(case when ${isCandidate} then 1 else 0 end), 0) as unresolved
    from transactions where ${hasEnded}`.execute(within)
  return { pruned: Number(numAffectedRows), kept: rows[0] ?? nothing.kept, next }
}

const overdueMs = 30 * 24 * 3_600_000

/** A late deposit revives what is overdue. Where no change of its status was seen, it counts from when it was last seen. */
function mayBeRevived(clock: LedgerClock): RawBuilder<boolean> {
  const since = sql`coalesce(changed_at, seen_at)`
  return sql`(status = 'overdue' and ${since} > ${clock.at(clock.read())} - ${sql.lit(overdueMs)})`
}

function hasRecentKey(clock: LedgerClock): RawBuilder<boolean> {
  return sql`exists (select 1 from claims where claims.intent = transactions.intent and not ${hasExpired(clock)})`
}

/** How far from the creation time a create may have been attempted that this transaction could be taken for. */
const candidacyMs = 3_600_000

/** What the ledger forgets could be bound to a create of unknown outcome. */
const isCandidate = sql<boolean>`exists (
  select 1 from transactions as unresolved
  where unresolved.state in ('pending', 'unknown') and unresolved.provider = transactions.provider
  and unresolved.attempted_at between -transactions.sort_key / 1000000 - ${sql.lit(candidacyMs)}
  and -transactions.sort_key / 1000000 + ${sql.lit(candidacyMs)}
)`

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

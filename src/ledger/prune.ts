/** Kysely: deletes entries that ended long ago. */
import { setTimeout as delay } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import type { LedgerAdmin, Pruned } from '../core/ports/ledger-admin.ts'
import { lateResultMs } from './creates.ts'
import type { Database, LedgerClock } from './database.ts'
import { clampSortKey, toNanoseconds } from './entry.ts'
import { holdsFirmQuote } from './firm-quotes.ts'
import { hasExpired } from './idempotency-keys.ts'
import { addAudit, updateAudit } from './operations.ts'
import {
  beforeAll,
  changePageIndex,
  firstPosition,
  lockPageIndex,
  type OwnerPosition,
  position,
  positionColumns,
  values,
} from './page-index.ts'
import type { Store } from './store.ts'
import { type CountedRow, countedColumns, keepUsage } from './usage.ts'
import { lockQueuesOf } from './webhook-deliveries.ts'

/** Keeps each transaction short, with a pause (ms) after each, so that other writers get the lock. */
const maxEntriesPerStep = 500
const maxSegmentsPerStep = 25
const pauseMs = 10

/** Deletes segment by segment, and reduces the count of each. One audit record holds the total so far. */
export function pruner(store: Store): LedgerAdmin['prune'] {
  const { write, clock } = store
  return async (before, actor) => {
    while (await write((within) => forgetPrunedIds(within, clock))) await delay(pauseMs)
    const newest = clampSortKey(-toNanoseconds(before))
    const record = { actor, action: 'ledger.prune', subject: `before ${new Date(before).toISOString()}` } as const
    let total = nothing
    let auditId: number | undefined
    for (let at: OwnerPosition | undefined = beforeAll; at; ) {
      const [from, soFar, recordId]: [OwnerPosition, Pruned, number | undefined] = [at, total, auditId]
      const step: { next: OwnerPosition | undefined; total: Pruned; auditId: number } = await write(async (within) => {
        const { next, ...pruned } = await pruneFrom(within, from, newest, store)
        const after = sum(soFar, pruned)
        if (recordId !== undefined) await updateAudit(within, recordId, after)
        return { next, total: after, auditId: recordId ?? (await addAudit(within, store, { ...record, after })) }
      })
      total = step.total
      auditId = step.auditId
      at = step.next
      await delay(pauseMs)
    }
    return total
  }
}

interface Step extends Pruned {
  /** Where to continue; undefined after the last segment. */
  readonly next: OwnerPosition | undefined
}

const nothing: Pruned = { pruned: 0, kept: { overdue: 0, recentKey: 0, unresolved: 0, attention: 0 } }

function sum(one: Pruned, other: Pruned): Pruned {
  return {
    pruned: one.pruned + other.pruned,
    kept: {
      overdue: one.kept.overdue + other.kept.overdue,
      recentKey: one.kept.recentKey + other.kept.recentKey,
      unresolved: one.kept.unresolved + other.kept.unresolved,
      attention: one.kept.attention + other.kept.attention,
    },
  }
}

async function pruneFrom(within: Database, from: OwnerPosition, newest: bigint, store: Store): Promise<Step> {
  let total = nothing
  let at: OwnerPosition | undefined = from
  for (let segments = 0; at && total.pruned < maxEntriesPerStep && segments < maxSegmentsPerStep; segments++) {
    const { next, ...pruned } = await pruneSegment(within, at, newest, store)
    total = sum(total, pruned)
    at = next
  }
  return { ...total, next: at }
}

/** Prunes the first segment from this position on. Reads its bounds under the lock. */
async function pruneSegment(within: Database, from: OwnerPosition, newest: bigint, store: Store): Promise<Step> {
  const { clock } = store
  const [unlocked] = await segmentsFrom(within, from)
  if (!unlocked) return { ...nothing, next: undefined }
  await store.lock(within, 'removal')
  await lockPageIndex(within, unlocked.owner)
  const [segment = unlocked, next] = await segmentsFrom(within, unlocked)
  const end = next?.owner === segment.owner ? sql`and ${position} < (${values(next)})` : sql``
  const hasEnded = sql`
    owner = ${segment.owner} and state = 'done' and ${position} >= (${values(segment)}) ${end}
    and sort_key > ${newest} and status in ('success', 'refunded', 'overdue')`
  const gone = await removeEnded(within, hasEnded, store)
  await reduce(within, segment, gone.length)
  const { rows } = await sql<Pruned['kept']>`
    select coalesce(sum(case when ${mayBeRevived(clock)} then 1 else 0 end), 0) as overdue,
      coalesce(sum(case when ${hasRecentKey(clock)} then 1 else 0 end), 0) as "recentKey",
      coalesce(sum(case when ${isCandidate} then 1 else 0 end), 0) as unresolved,
      coalesce(sum(case when attention is not null then 1 else 0 end), 0) as attention
    from transactions where ${hasEnded}`.execute(within)
  return { pruned: gone.length, kept: rows[0] ?? nothing.kept, next }
}

const overdueMs = 30 * 24 * 3_600_000

/** Removes those that nothing needs any more. Their rows and queues are locked first, in the order of all that change several (`LockName` in store.ts). */
export async function removeEnded(
  within: Database,
  hasEnded: RawBuilder<unknown>,
  store: Store,
): Promise<readonly (PrunedRow & CountedRow)[]> {
  const { clock, recordset } = store
  const isRemoved = sql<boolean>`
    ${hasEnded} and not ${mayBeRevived(clock)} and not ${hasRecentKey(clock)} and not ${isCandidate} and attention is null
    and not ${holdsFirmQuote(store)}`
  const found = within
    .selectFrom('transactions')
    .select(['provider', sql<string>`provider_id`.as('provider_id')])
    .where(isRemoved)
  const locked = await found.orderBy('provider').orderBy('provider_id').forUpdate().execute()
  if (locked.length === 0) return []
  await lockQueuesOf(within, locked, store)
  const { rows: gone } = await sql<PrunedRow & CountedRow>`
    delete from transactions where (provider, provider_id) in (
      select provider, provider_id from ${recordset(JSON.stringify(locked), { provider: 'text', provider_id: 'text' })}
    ) and ${isRemoved}
    returning intent, provider, provider_id, ${countedColumns}`.execute(within)
  await keepPrunedIds(within, gone, store)
  await keepUsage(within, gone, store)
  await removeActions(within, gone, store)
  return gone
}

/** Whether a late deposit may still complete an overdue transaction. If its status never changed, counts from its last read. */
function mayBeRevived(clock: LedgerClock): RawBuilder<boolean> {
  const since = sql`coalesce(changed_at, reported_at)`
  return sql`(status = 'overdue' and ${since} > ${clock.at(clock.read())} - ${sql.lit(overdueMs)})`
}

function hasRecentKey(clock: LedgerClock): RawBuilder<boolean> {
  return sql`exists (select 1 from claims where claims.intent = transactions.intent and not ${hasExpired(clock)})`
}

/** Maximum difference between a transaction's creation time and the `attempted_at` of a create that may match it. */
const candidacyMs = 3_600_000

/** Whether the transaction may still be matched with an unresolved create. */
const isCandidate = sql<boolean>`exists (
  select 1 from transactions as unresolved
  where unresolved.state in ('pending', 'unknown') and unresolved.provider = transactions.provider
  and unresolved.attempted_at between -transactions.sort_key / 1000000 - ${sql.lit(candidacyMs)}
  and -transactions.sort_key / 1000000 + ${sql.lit(candidacyMs)}
)`

async function segmentsFrom(within: Database, { owner, ...from }: OwnerPosition): Promise<readonly OwnerPosition[]> {
  const { rows } = await sql<{ owner: string; sort_key: string; provider_id: string; provider: string }>`
    select owner, cast(sort_key as text) as sort_key, provider_id, provider from page_index
    where (owner, ${positionColumns}) >= (${owner}, ${values(from)})
    order by owner, page_index.sort_key, provider_id, provider limit 2`.execute(within)
  return rows.map((row) => ({ ...row, sort_key: BigInt(row.sort_key) }))
}

/** Reduces the count of a segment. Deletes an empty segment, except the first one: that is the lock. */
export async function reduce(within: Database, { owner, ...at }: OwnerPosition, by: number): Promise<void> {
  if (by === 0) return
  const { entries, sort_key } = await changePageIndex(within, owner, at, -by)
  if (entries > 0 || sort_key === firstPosition.sort_key) return
  await sql`delete from page_index where owner = ${owner} and ${position} = (${values(at)})`.execute(within)
}

// Kysely: ids that creates had whose transactions were pruned. An id is one create's, also when its row is gone.

/** Of one transaction, so that it is short. */
const maxForgottenPerStep = 2_000

interface PrunedRow {
  readonly intent: string | null
  readonly provider: string
  readonly provider_id: string
}

/** Keeps the ids of creates. Transactions that were only read are not kept. */
async function keepPrunedIds(
  within: Database,
  rows: readonly PrunedRow[],
  { clock, listed, toList }: Pick<Store, 'clock' | 'listed' | 'toList'>,
): Promise<void> {
  const created = rows.filter(({ intent }) => intent !== null)
  const now = clock.at(clock.read())
  for (const [provider, ofProvider] of Map.groupBy(created, (row) => row.provider)) {
    const ids = toList(ofProvider.map(({ provider_id }) => provider_id))
    await sql`
      insert into pruned_ids (provider, provider_id, pruned_at)
      select ${provider}, listed.value, ${now} from ${listed(ids)} where true
      on conflict do nothing`.execute(within)
  }
}

/** What was done about these swaps. */
async function removeActions(
  within: Database,
  rows: readonly PrunedRow[],
  { isIn, toList }: Pick<Store, 'isIn' | 'toList'>,
): Promise<void> {
  for (const [provider, ofProvider] of Map.groupBy(rows, (row) => row.provider)) {
    const ids = toList(ofProvider.map(({ provider_id }) => provider_id))
    await within.deleteFrom('swap_actions').where('provider', '=', provider).where(isIn('provider_id', ids)).execute()
  }
}

/** As long as a late result is taken, no other create may have the id. Returns whether some that are older may be left. */
export async function forgetPrunedIds(within: Database, clock: LedgerClock): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from pruned_ids where (provider, provider_id) in (
      select provider, provider_id from pruned_ids
      where pruned_at < ${clock.at(clock.read())} - ${sql.lit(lateResultMs)}
      order by pruned_at limit ${sql.lit(maxForgottenPerStep)}
    )`.execute(within)
  return numAffectedRows === BigInt(maxForgottenPerStep)
}

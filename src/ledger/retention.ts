/** Kysely: removes what is older than the operator keeps, in steps that no request waits for. */
import { sql } from 'kysely'
import type { Retention, RetentionCursor } from '../core/ports/retention.ts'
import type { Database } from './database.ts'
import { clampSortKey, toNanoseconds } from './entry.ts'
import { addAudit } from './operations.ts'
import { lockPageIndex, position, positionColumns, values } from './page-index.ts'
import { forgetPrunedIds, reduce, removeEnded } from './prune.ts'
import type { SortPosition } from './schema/tables.ts'
import type { Store } from './store.ts'
import { hasLater } from './transaction-events.ts'
import { removeOldRequests } from './usage.ts'

/** Swaps, records of the audit log, and events, that a step looks at. */
const swapsPerStep = 50
const recordsPerStep = 500
const eventsPerStep = 500
const dayMs = 86_400_000
const jobName = 'retention'
/** Of two processes that begin at once the later one may have read the clock first. */
const sameMomentMs = 10_000

export function retention(store: Store): Retention {
  const { database, write, writeOne, databaseTimeMs: now, clock } = store
  return {
    takeTurn: (intervalMs) =>
      writeOne(async (within) => {
        const { numAffectedRows } = await sql`
          insert into background_jobs (name, at) values (${jobName}, ${now})
          on conflict (name) do update set at = excluded.at
            where background_jobs.at not between ${now} - ${intervalMs} and ${now} + ${sql.lit(sameMomentMs)}`.execute(within)
        return numAffectedRows === 1n
      }),
    keepTurn: () =>
      writeOne(async (within) => void (await sql`update background_jobs set at = ${now} where name = ${jobName}`.execute(within))),
    async keptSince(keepMs) {
      const { rows } = await sql<{ readonly now: number; readonly newest: number | null }>`
        select ${now} as now, (
          select -sort_key / 1000000 from transactions where state = 'done' order by ${positionColumns} limit 1
        ) as newest`.execute(database)
      const [{ now: time, newest } = { now: 0, newest: null }] = rows
      return Math.min(Number(time), Number(newest ?? time)) - keepMs
    },
    async pruneStep(before, after) {
      const newest = clampSortKey(-toNanoseconds(before))
      const rows = await oldest(database, newest, after)
      const last = rows.at(-1)
      let pruned = 0
      for (const [, [first, ...others]] of Map.groupBy(rows, ({ owner, provider }) => JSON.stringify([owner, provider])))
        if (first) pruned += await write((within) => prune(within, [first, ...others], newest, store))
      if (!last || rows.length < swapsPerStep) return { pruned }
      return { pruned, next: { sortKey: last.sort_key, id: last.provider_id, provider: last.provider } }
    },
    async noteOfPrune(before, pruned) {
      const record = { actor: 'ledger.keep', action: 'ledger.prune', subject: `before ${new Date(before).toISOString()}` } as const
      await writeOne(async (within) => void (await addAudit(within, store, { ...record, after: { pruned } })))
    },
    auditStep: (keepMs) =>
      writeOne(async (within) => {
        const { numAffectedRows = 0n } = await sql`
          delete from audit where id in (
            select id from audit where at < ${now} - ${keepMs} and action <> 'ledger.prune' and at < (
              select coalesce(min(since), ${sql.lit(Number.MAX_SAFE_INTEGER)}) from (
                select min(-sort_key / 1000000) as since from transactions where attention is not null
                union all select min(attempted_at) from transactions where state <> 'done'
              ) as needed
            ) order by at, id limit ${sql.lit(recordsPerStep)}
          )`.execute(within)
        return numAffectedRows === BigInt(recordsPerStep)
      }),
    eventsStep: eventsRemover(store),
    prunedIdsStep: () => write((within) => forgetPrunedIds(within, clock)),
    requestsStep: () => write((within) => removeOldRequests(within, store)),
  }
}

/**
 * The last event of a transaction stays as long as that: with it are its number, and what its owner was told. So a run looks only at what
 * has become old since the last one, and once a day at all.
 */
function eventsRemover(store: Store): Retention['eventsStep'] {
  const { write, databaseTimeMs: now } = store
  let lookedAtAll = Number.NEGATIVE_INFINITY
  /** Up to here nothing is left but the last events of their transactions. */
  let removedUpTo = 0
  let run: { readonly after: number; readonly isOfAll: boolean } | undefined
  return async (keepMs) => {
    if (!run) {
      const isOfAll = performance.now() - lookedAtAll > dayMs
      if (isOfAll) lookedAtAll = performance.now()
      run = { after: isOfAll ? 0 : removedUpTo, isOfAll }
    }
    const { after, isOfAll } = run
    const { last, count, old, left } = await write(async (within) => {
      const isOld = sql`at < ${now} - cast(${keepMs} as bigint)`
      const { rows } = await sql<{ readonly last: number; readonly count: number; readonly old: number }>`
        select coalesce(max(id), 0) as last, count(*) as count, count(case when ${isOld} then 1 end) as old from (
          select id, at from transaction_events where id > ${after} order by id limit ${sql.lit(eventsPerStep)}
        ) as oldest`.execute(within)
      const [found = { last: 0, count: 0, old: 0 }] = rows
      if (found.old === 0) return { ...found, left: found.count }
      await store.lock(within, 'removal')
      const isPast = sql`id > ${after} and id <= ${found.last} and ${hasLater}`
      await sql`delete from transaction_events where ${isPast} and ${isOld} and number is not null and not ${isAwaited}`.execute(
        within,
      )
      const kept = await sql<{ readonly left: number }>`select count(*) as "left" from transaction_events where ${isPast}`.execute(
        within,
      )
      return { ...found, left: kept.rows[0]?.left ?? 0 }
    })
    if (old === count && left === 0 && after <= removedUpTo) removedUpTo = Math.max(removedUpTo, last)
    const isOver = count < eventsPerStep || (old === 0 && !isOfAll)
    run = isOver ? undefined : { after: last, isOfAll }
    return !isOver
  }
}

/** The body of a delivery is written from its event. */
const isAwaited = sql`exists (
  select 1 from webhook_deliveries as deliveries where deliveries.event = transaction_events.id and deliveries.state = 'waiting'
)`

interface Row {
  readonly owner: string
  readonly sort_key: string
  readonly provider_id: string
  readonly provider: string
}

/** In any state: one that is kept is passed. */
async function oldest(database: Database, newest: bigint, after: RetentionCursor | undefined): Promise<readonly Row[]> {
  const from = after
    ? sql`and ${position} < (${values({ sort_key: BigInt(after.sortKey), provider_id: after.id, provider: after.provider })})`
    : sql``
  const { rows } = await sql<Row>`
    select owner, cast(sort_key as text) as sort_key, provider_id, provider from transactions
    where state = 'done' and sort_key > ${newest} ${from}
    order by transactions.sort_key desc, provider_id desc, provider desc limit ${sql.lit(swapsPerStep)}`.execute(database)
  return rows
}

/** Of one owner at one provider. Returns how many it removed. */
async function prune(within: Database, rows: readonly [Row, ...Row[]], newest: bigint, store: Store): Promise<number> {
  const { isIn, toList } = store
  const [{ owner, provider }] = rows
  await store.lock(within, 'removal')
  await lockPageIndex(within, owner)
  // By the index of ids: those of owners and statuses would read all that is as old.
  const hasEnded = sql`
    provider = ${provider} and ${isIn('provider_id', toList(rows.map(({ provider_id }) => provider_id)))}
    and owner || '' = ${owner} and state = 'done' and sort_key > ${newest} and coalesce(status, '') in ('success', 'refunded', 'overdue')`
  const gone = await removeEnded(within, hasEnded, store)
  const bySegment = new Map<string, { readonly at: SortPosition; count: number }>()
  for (const { sort_key, ...row } of gone) {
    const at = await segmentOf(within, owner, { ...row, sort_key: BigInt(sort_key) })
    const segment = bySegment.getOrInsertComputed(`${at.sort_key} ${at.provider_id} ${at.provider}`, () => ({ at, count: 0 }))
    segment.count++
  }
  for (const { at, count } of bySegment.values()) await reduce(within, { owner, ...at }, count)
  return gone.length
}

async function segmentOf(within: Database, owner: string, at: SortPosition): Promise<SortPosition> {
  const { rows } = await sql<Omit<Row, 'owner'>>`
    select cast(sort_key as text) as sort_key, provider_id, provider from page_index
    where owner = ${owner} and ${position} <= (${values(at)}) order by page_index.sort_key desc, provider_id desc, provider desc limit 1`.execute(
    within,
  )
  const [segment] = rows
  if (!segment) throw new Error('The page index was not locked.')
  return { ...segment, sort_key: BigInt(segment.sort_key) }
}

/** Kysely: the timelines of swaps. A row is what was written of one swap at a time; it goes with the swap. */
import { type RawBuilder, sql } from 'kysely'
import type { FailedReadStore, FailedReadsRow } from '../core/failed-reads.ts'
import type { TimelineRow, TimelineStore } from '../core/timelines.ts'
import { formatTransactionId, parseTransactionId } from '../domain/swap.ts'
import { type FailedReadsEvent, joinedReads, type TimelineEvent, type TimelineFact } from '../domain/timeline.ts'
import type { Database } from './database.ts'
import type { Store } from './store.ts'

/** Of a swap: a year of searches, once an hour, would be more. */
const maxRows = 200

export function timelines(store: Store): TimelineStore {
  return {
    append: (rows) => store.writeOne((within) => insertRows(within, rows, store)),
  }
}

async function insertRows(within: Database, rows: readonly TimelineRow[], { recordset }: Store): Promise<void> {
  const input = rows.map(({ key, events }, number) => ({
    number,
    intent: 'intent' in key ? key.intent : null,
    provider: 'intent' in key ? null : key.provider,
    provider_id: 'intent' in key ? null : key.id,
    at: events[0]?.at,
    events: JSON.stringify(events),
  }))
  const list = recordset(JSON.stringify(input), {
    number: 'integer',
    intent: 'text',
    provider: 'text',
    provider_id: 'text',
    at: 'integer',
    events: 'text',
  })
  const found = (condition: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select number, transactions.intent, input.at, input.events from ${list} join transactions on ${condition}
    where transactions.intent is not null`
  await sql`
    insert into timeline (intent, at, events)
    select intent, at, events from (
      ${found(sql`transactions.intent = input.intent`)}
      union all
      ${found(sql`transactions.provider = input.provider and transactions.provider_id = input.provider_id`)}
    ) as known
    where not exists (select 1 from timeline where timeline.intent = known.intent limit 1 offset ${sql.lit(maxRows - 1)})
    order by number`.execute(within)
}

/** An act of a person, in the transaction of its record. `subject`: an intent, or an id for clients; of anything else nothing is noted. */
export async function noteAct(within: Database, subject: string, fact: TimelineFact): Promise<void> {
  const { tag, id } = parseTransactionId(subject)
  const at = Date.now()
  const events = JSON.stringify([{ at, ...fact }])
  const isSubject = tag === undefined ? sql`intent = ${subject}` : sql`provider = ${tag} and provider_id = ${id}`
  await sql`
    insert into timeline (intent, at, events)
    select intent, cast(${at} as bigint), cast(${events} as text) from transactions where ${isSubject} and intent is not null`.execute(
    within,
  )
}

/** In the order of their times. */
export async function readTimeline({ database }: Store, intent: string): Promise<readonly TimelineEvent[]> {
  const { rows } = await sql<{ readonly events: string }>`
    select events from timeline where intent = ${intent} order by id`.execute(database)
  const events = rows.flatMap((row): readonly TimelineEvent[] => JSON.parse(row.events))
  return events.toSorted((one, other) => one.at - other.at)
}

// The reads of a swap that failed: one row of its timeline, which each note replaces.

interface NamedSwap {
  readonly provider: string
  readonly id: string
}

interface FailedRow extends NamedSwap {
  readonly intent: string
  readonly fetched_at: number | null
  /** Null if there is none. */
  readonly row: number | null
}

/** Of this row alone the event's name stands first. */
const failedStart = '[{"event":"reads_failed",'

export function failedReads(store: Store): FailedReadStore {
  return {
    note: (rows) =>
      store.write(async (within) => {
        await store.lock(within, 'failedReads')
        await replaceFailedReads(within, rows, store)
      }),
  }
}

async function replaceFailedReads(within: Database, rows: readonly FailedReadsRow[], store: Store): Promise<void> {
  const known = new Map((await failedRowsOf(within, rows, store)).map((row) => [formatTransactionId(row.provider, row.id), row]))
  const input = rows.flatMap(({ provider, id, ...later }) => {
    const before = known.get(formatTransactionId(provider, id))
    if (!before) return []
    const { event, ...joined } = joinedReads(before.failed, later, before.fetched_at ?? 0)
    return [{ before: before.row, intent: before.intent, at: joined.at, events: JSON.stringify([{ event, ...joined }]) }]
  })
  if (input.length === 0) return
  const list = store.recordset(JSON.stringify(input), { before: 'integer', intent: 'text', at: 'integer', events: 'text' })
  await sql`delete from timeline where id in (select before from ${list})`.execute(within)
  await sql`
    insert into timeline (intent, at, events)
    select input.intent, input.at, input.events from ${list} join transactions on transactions.intent = input.intent`.execute(
    within,
  )
}

const isOfFailedReads = sql<boolean>`substr(timeline.events, 1, ${sql.lit(failedStart.length)}) = ${sql.lit(failedStart)}`

/** Of a transaction. It is found by the index, whatever rows PostgreSQL expects. */
const failedRow = (column: 'timeline.id' | 'timeline.events') => sql`(
  select ${sql.ref(column)} from timeline
  where timeline.intent = transactions.intent and ${isOfFailedReads} order by timeline.id desc limit 1
)`

/** Of those that were created here. */
async function failedRowsOf(
  database: Database,
  swaps: readonly NamedSwap[],
  { recordset }: Pick<Store, 'recordset'>,
): Promise<readonly (FailedRow & { failed: FailedReadsEvent | undefined })[]> {
  const named = swaps.map(({ provider, id }) => ({ provider, id }))
  const list = recordset(JSON.stringify(named), { provider: 'text', id: 'text' })
  const { rows } = await sql<FailedRow & { events: string | null }>`
    select transactions.provider, transactions.provider_id as id, transactions.intent, transactions.fetched_at,
      ${failedRow('timeline.id')} as row, ${failedRow('timeline.events')} as events
    from ${list} join transactions on transactions.provider = input.provider and transactions.provider_id = input.id
    where transactions.intent is not null`.execute(database)
  return rows.map(({ events, ...row }) => ({ ...row, failed: events === null ? undefined : JSON.parse(events)[0] }))
}

/** By the ids for clients. */
export async function readFailedReads(
  { database, recordset }: Pick<Store, 'database' | 'recordset'>,
  swaps: readonly NamedSwap[],
): Promise<ReadonlyMap<string, FailedReadsEvent>> {
  if (swaps.length === 0) return new Map()
  const rows = await failedRowsOf(database, swaps, { recordset })
  return new Map(rows.flatMap(({ provider, id, failed }) => (failed ? [[formatTransactionId(provider, id), failed] as const] : [])))
}

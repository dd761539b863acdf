/** Kysely: the timelines of swaps. A row is what was written of one swap at a time; it goes with the swap. */
import { type RawBuilder, sql } from 'kysely'
import type { TimelineRow, TimelineStore } from '../core/timelines.ts'
import { parseTransactionId } from '../domain/swap.ts'
import type { TimelineEvent, TimelineFact } from '../domain/timeline.ts'
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

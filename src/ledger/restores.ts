/** Kysely: that the ledger was restored from a backup, and what waits since then (docs/contract-operators.md §10.6). */
import { type RawBuilder, sql } from 'kysely'
import { backupMarginMs, type RestoredProvider, type RestoreStore, restoredForMs } from '../core/ports/restores.ts'
import { lateResultMs } from './creates.ts'
import type { Database } from './database.ts'
import { foundOrders, isUndecided } from './found-orders.ts'
import { addAudit } from './operations.ts'
import type { Store } from './store.ts'

const maxCounted = 1_000

export function restores(store: Store): RestoreStore {
  const { database, write, databaseTimeMs: now, isIn, toList } = store
  const holds = holdsNow(store)
  return {
    ...foundOrders(store, holds),
    async read() {
      const { rows } = await sql<RestoredRow>`
        select provider, restored_at, since, read_at, (
          select count(*) from (
            select 1 from found_orders where found_orders.provider = restored_providers.provider and ${isUndecided}
            limit ${sql.lit(maxCounted)}
          ) as counted
        ) as undecided, case when ${holds} then 1 else 0 end as holds
        from restored_providers order by provider`.execute(database)
      return rows.map(toRestored)
    },
    mark: (tags, backupAt, actor) =>
      write(async (within) => {
        const { base, newest } = await nextBase(within, store)
        if (base === undefined) return { outcome: 'clockBehind' }
        await sql`insert into restore_marks (base, marked_at, actions_confirmed_at) values (${base}, ${now}, null)`.execute(within)
        await sql`update webhooks set held_at = ${now} where state = 'active'`.execute(within)
        const known = await within.selectFrom('providers').select('tag').execute()
        const all = [...new Set([...tags, ...known.map(({ tag }) => tag)])].toSorted()
        const since = backupAt === undefined ? undefined : Math.min(backupAt, newest ?? backupAt) - backupMarginMs
        const oldest = since ?? (await oldestUnpruned(within, store))
        for (const provider of all)
          await sql`
            insert into restored_providers (provider, restored_at, since, read_at, ended_at)
            values (${provider}, ${now}, ${oldest ?? null}, null, null)
            on conflict (provider) do update set restored_at = excluded.restored_at, since = excluded.since, read_at = null, ended_at = null`.execute(
            within,
          )
        const after = oldest === undefined ? {} : { since: new Date(oldest).toISOString() }
        await addAudit(within, store, { actor, action: 'restore.mark', subject: all.join(', '), after })
        return { outcome: 'marked', tags: all }
      }),
    async held() {
      const { rows } = await sql<{ readonly webhooks: number; readonly actions: number }>`
        select (select count(*) from webhooks where state = 'active' and held_at is not null) as webhooks,
          (select count(*) from restore_marks where actions_confirmed_at is null) as actions`.execute(database)
      return { webhooks: Number(rows[0]?.webhooks ?? 0), actions: Number(rows[0]?.actions ?? 0) > 0 }
    },
    confirmWebhooks: (ids, note, actor) =>
      write(async (within) => {
        const isAmong = ids ? sql`and ${isIn('id', toList(ids))}` : sql``
        const { rows } = await sql<{ readonly id: string }>`
          update webhooks set held_at = null where held_at is not null and state = 'active' ${isAmong} returning id`.execute(within)
        const confirmed = rows.map(({ id }) => id).toSorted()
        for (const subject of confirmed)
          await addAudit(within, store, { actor, action: 'restore.webhook', subject, after: { note } })
        return confirmed
      }),
    confirmActions: (note, actor) =>
      write(async (within) => {
        const { rows } = await sql<{ readonly base: number }>`
          update restore_marks set actions_confirmed_at = ${now} where actions_confirmed_at is null returning base`.execute(within)
        if (rows.length === 0) return false
        await addAudit(within, store, { actor, action: 'restore.actions', subject: 'all', after: { note } })
        return true
      }),
    end: (tags, note, actor) =>
      write(async (within) => {
        const isAmong = tags ? sql`and ${isIn('provider', toList(tags))}` : sql``
        const { rows } = await sql<{ readonly provider: string }>`
          update restored_providers set ended_at = ${now} where ${holds} ${isAmong} returning provider`.execute(within)
        const ended = rows.map(({ provider }) => provider).toSorted()
        if (ended.length > 0)
          await addAudit(within, store, { actor, action: 'restore.end', subject: ended.join(', '), after: { note } })
        return ended
      }),
    markRead: ({ provider, restoredAt }, counts, actor) =>
      write(async (within) => {
        const { numAffectedRows } = await sql`
          update restored_providers set read_at = ${now} where provider = ${provider} and restored_at = ${restoredAt} and ${holds}`.execute(
          within,
        )
        if (numAffectedRows === 0n) return false
        await addAudit(within, store, { actor, action: 'restore.read', subject: provider, after: counts })
        return true
      }),
  }
}

function holdsNow({ databaseTimeMs: now }: Store): RawBuilder<boolean> {
  return sql`(ended_at is null and restored_at > ${now} - ${sql.lit(restoredForMs)})`
}

interface RestoredRow {
  readonly provider: string
  readonly restored_at: number
  readonly since: number | null
  readonly read_at: number | null
  readonly undecided: number
  readonly holds: number
}

function toRestored({ provider, restored_at, since, read_at, undecided, holds }: RestoredRow): RestoredProvider {
  return {
    provider,
    restoredAt: Number(restored_at),
    undecided: Number(undecided),
    holds: holds === 1,
    ...(since !== null && { since: Number(since) }),
    ...(read_at !== null && { readAt: Number(read_at) }),
  }
}

/** More than an owner, or a swap, has changes in a second. */
const numbersPerSecond = 1_000_000

/**
 * Numbers go on above those of this second: what was told after the backup has numbers that the ledger has forgotten, and the same backup may
 * be restored twice. Undefined: the clock says an earlier time than a row, so that another restore may have been at it. `newest`: when the ledger
 * got its last row.
 */
async function nextBase(
  within: Database,
  { databaseTimeMs }: Store,
): Promise<{ readonly base: number | undefined; readonly newest: number | undefined }> {
  const { rows } = await sql<{ readonly now: number; readonly newest: number | null; readonly last: number | null }>`
    select ${databaseTimeMs} as now, (
      select max(at) from (
        select at from (select at from transaction_events order by id desc limit 1) as event
        union all select at from (select at from audit order by id desc limit 1) as record
        union all select marked_at from restore_marks
      ) as rows_at
    ) as newest, (
      select max(number) from (
        select last_number as number from event_owners union all select base from restore_marks
      ) as numbers
    ) as last`.execute(within)
  const { now = 0, newest, last } = rows[0] ?? {}
  const second = Math.floor(Number(now) / 1_000)
  const lastSecond = Math.floor(Number(last ?? 0) / numbersPerSecond)
  const isBehind = Number(newest ?? 0) > Number(now) || lastSecond > second
  return {
    base: isBehind ? undefined : (lastSecond === second ? second + 1 : second) * numbersPerSecond,
    newest: newest === null || newest === undefined ? undefined : Number(newest),
  }
}

/**
 * Since when every swap that was pruned is still known by its id. Undefined: none was ever pruned.
 */
async function oldestUnpruned(within: Database, { databaseTimeMs }: Store): Promise<number | undefined> {
  const rows = await within
    .selectFrom('audit')
    .select(['subject', sql<number>`${databaseTimeMs}`.as('now')])
    .where('action', '=', 'ledger.prune')
    .execute()
  const before = rows.map(({ subject }) => Date.parse(subject.replace('before ', ''))).filter(Number.isFinite)
  const [first] = rows
  return first && Math.min(Math.max(...before), Number(first.now) - lateResultMs)
}

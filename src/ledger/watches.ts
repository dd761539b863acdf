/**
 * Kysely: which open transactions somebody watches, and when each is read next: rows of their own, so that what nobody watches costs a
 * look at what is due nothing.
 */
import { setImmediate as pause } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import type { WatchedCount } from '../core/ports/ledger-admin.ts'
import {
  type DueTransaction,
  hintPauseMs,
  longestWatchPauseMs,
  maxHinted,
  overdueWatchedForMs,
  type WatchedTransaction,
  type WatchStore,
  watchPauses,
} from '../core/ports/watches.ts'
import type { Database } from './database.ts'
import { openStatuses } from './entries.ts'
import { type EntryRow, entryColumns, toEntry } from './entry.ts'
import { changeTime } from './schema/first-schema.ts'
import type { WatchedTransactions } from './schema/tables.ts'
import type { Store } from './store.ts'

/** Beyond that the rest waits for the next call. */
const maxFound = 5_000
/** Of a file each statement and each transaction is one turn of the event loop. */
const maxAtOnce = 500
/** To look through all that is open takes long. In between only what was created lately can be new, for owners that were watched before. */
const fullLookIntervalMs = 60_000
const latelyMs = 2 * fullLookIntervalMs

export function watches(store: Store): WatchStore {
  const { database, write, writeOne, databaseTimeMs: now, isIn, listed, recordset, toList } = store
  const watchedOwners = (after = ''): RawBuilder<unknown> => sql`
    select owner from watched_owners where watched_until > ${now} and owner > ${after}
    union select owner from webhooks where state = 'active' and owner > ${after}`
  const add = (within: Database, found: readonly WatchedTransaction[], until: RawBuilder<unknown>) => {
    const input = recordset(JSON.stringify(found), { owner: 'text', provider: 'text', id: 'text' })
    return sql`
      insert into watched_transactions (provider, provider_id, owner, created_at, read_at, next_read_at, watched_until)
      select transactions.provider, transactions.provider_id, transactions.owner, ${createdAt}, ${now}, ${now}, ${until}
      from ${input} join transactions on transactions.provider = input.provider and transactions.provider_id = input.id
      where transactions.owner = input.owner and transactions.state = 'done'
      on conflict (provider, provider_id) do update set watched_until = coalesce(excluded.watched_until, watched_transactions.watched_until)`.execute(
      within,
    )
  }
  let fullLookAt = Number.NEGATIVE_INFINITY
  let knownOwners: ReadonlySet<string> = new Set()
  const allOwners = async (): Promise<readonly string[]> => {
    const owners: string[] = []
    for (let after = ''; ; await pause()) {
      const { rows } = await sql<{ readonly owner: string }>`
        ${watchedOwners(after)} order by owner limit ${sql.lit(maxAtOnce)}`.execute(database)
      for (const { owner } of rows) owners.push(owner)
      const last = rows.at(-1)
      if (!last || rows.length < maxAtOnce) return owners
      after = last.owner
    }
  }
  const findUnwatched = async (): Promise<readonly WatchedTransaction[]> => {
    const owners = await allOwners()
    const isFull = performance.now() - fullLookAt >= fullLookIntervalMs
    const isKnown = (owner: string): boolean => !isFull && knownOwners.has(owner)
    const ofOthers = await unwatchedOf(
      store,
      owners.filter((owner) => !isKnown(owner)),
    )
    const found = [...ofOthers, ...(await unwatchedOf(store, owners.filter(isKnown), latelyMs))]
    if (ofOthers.length === maxFound) return found
    knownOwners = new Set(owners)
    if (isFull) fullLookAt = performance.now()
    return found
  }
  const drop = async (within: Database, gone: readonly Pick<WatchedTransactions, 'provider' | 'provider_id'>[]) => {
    for (const [provider, rows] of Map.groupBy(gone, (row) => row.provider)) {
      const ids = toList(rows.map(({ provider_id }) => provider_id))
      await within.deleteFrom('watched_transactions').where('provider', '=', provider).where(isIn('provider_id', ids)).execute()
    }
  }
  return {
    async watch(transactions, forMs) {
      if (transactions.length === 0) return
      await writeOne(async (within) => void (await add(within, transactions, sql`${now} + ${sql.lit(forMs)}`)))
    },
    async watchOwners(owners, forMs) {
      if (owners.length === 0) return
      await writeOne(async (within) => {
        await sql`
          insert into watched_owners (owner, watched_until)
          select listed.value, ${now} + ${sql.lit(forMs)} from ${listed(toList(owners))} where true
          on conflict (owner) do update set watched_until = excluded.watched_until`.execute(within)
      })
    },
    async hint(provider, texts) {
      if (texts.length === 0) return
      const found = await database
        .selectFrom('transactions')
        .select(['owner', 'provider_id'])
        .where('provider', '=', provider)
        .where(isIn('provider_id', toList(texts)))
        .where(sql<boolean>`state = 'done' and ${mayChange(now)}`)
        .execute()
      const owners = new Map(found.map(({ owner, provider_id }) => [provider_id, owner]))
      const hinted = texts.flatMap((id) => {
        const owner = owners.get(id)
        return owner === undefined ? [] : [{ owner, provider, id }]
      })
      if (hinted.length === 0) return
      const ids = toList(hinted.slice(0, maxHinted).map(({ id }) => id))
      const earliest = sql`case when taken_at > ${now} - ${sql.lit(hintPauseMs)} then taken_at + ${sql.lit(hintPauseMs)} else ${now} end`
      await write(async (within) => {
        await add(within, hinted.slice(0, maxHinted), sql`null`)
        const rows = within.updateTable('watched_transactions').where('provider', '=', provider).where(isIn('provider_id', ids))
        await rows
          .set({
            hinted_at: afterTaken(now),
            next_read_at: sql`case when next_read_at < ${earliest} then next_read_at else ${earliest} end`,
          })
          .execute()
      })
    },
    async findWatched() {
      const found = await findUnwatched()
      const abandoned = await database
        .selectFrom('watched_transactions')
        .select(['provider', 'provider_id'])
        .where(sql<boolean>`coalesce(watched_until, 0) <= ${now} and ${isDone(now)} and owner not in (${watchedOwners()})`)
        .limit(maxFound)
        .execute()
      for (const part of partsOf(found)) await write(async (within) => void (await add(within, part, sql`null`)))
      for (const part of partsOf(abandoned)) await write((within) => drop(within, part))
    },
    async takeDue(provider, maxTransactions, ids) {
      if (ids?.length === 0) return []
      const isChosen = ids ? isIn('provider_id', toList(ids)) : sql<boolean>`true`
      // One that is later than the longest pause is of a clock that was set back.
      const isItsTime = sql`(next_read_at <= ${now} or next_read_at > ${now} + ${sql.lit(2 * longestWatchPauseMs)})`
      // What only a hint has asked for is read once, and dropped.
      const isWanted = sql`(not ${wasReadAsHinted} or watched_until > ${now} or owner in (${watchedOwners()}))`
      const isDue = sql<boolean>`provider = ${provider} and ${isItsTime} and ${isWanted}`
      const due = await database
        .selectFrom('watched_transactions')
        .select(['provider_id', 'taken_at'])
        .where(isDue)
        .where(isChosen)
        .orderBy('next_read_at')
        .limit(maxTransactions)
        .execute()
      if (due.length === 0) return []
      const lastTakenAt = new Map(due.map(({ provider_id, taken_at }) => [provider_id, Number(taken_at ?? 0)]))
      return await write(async (within) => {
        const dueIds = toList(due.map(({ provider_id }) => provider_id))
        const taken = await within
          .updateTable('watched_transactions')
          .set({ next_read_at: nextRead(now), taken_at: sql`case when hinted_at > ${now} then hinted_at else ${now} end` })
          .where(isDue) // another process may have been first
          .where(isIn('provider_id', dueIds))
          .returning(['provider', 'provider_id', 'hinted_at', sql<number>`${now} - created_at`.as('age')])
          .execute()
        const takenIds = toList(taken.map(({ provider_id }) => provider_id))
        const rows: readonly EntryRow[] = await within
          .selectFrom('transactions')
          .select(entryColumns)
          .where('provider', '=', provider)
          .where(isIn('provider_id', takenIds))
          .where(sql<boolean>`state = 'done' and ${mayChange(now)}`)
          .execute()
        const entries = new Map(rows.map(toEntry).map((entry) => [entry.transaction.id, entry]))
        await drop(
          within,
          taken.filter(({ provider_id }) => !entries.has(provider_id)),
        )
        return taken.flatMap(({ provider_id, hinted_at, age }): DueTransaction[] => {
          const entry = entries.get(provider_id)
          const hintedAt = hinted_at === null ? undefined : Number(hinted_at)
          const isHintNew = hintedAt !== undefined && hintedAt > (lastTakenAt.get(provider_id) ?? 0)
          return entry ? [{ entry, ageMs: Number(age), hintedAt, isHintNew }] : []
        })
      })
    },
    recordReads: (provider, ids) => updateTimes(store, provider, ids, { read_at: afterTaken(now) }),
    recordSkipped: (provider, ids) =>
      updateTimes(store, provider, ids, {
        taken_at: sql`null`,
        next_read_at: sql`case when hinted_at > taken_at then ${now} else next_read_at end`,
      }),
    postpone: (provider, ids, pauseMs) => updateTimes(store, provider, ids, { next_read_at: sql`${now} + ${sql.lit(pauseMs)}` }),
  }
}

function* partsOf<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += maxAtOnce) yield items.slice(at, at + maxAtOnce)
}

/** Without those that have ended: they are dropped when they are due, which at a provider that is `off` is never. */
export async function watchedCounts({
  database,
  databaseTimeMs,
}: Pick<Store, 'database' | 'databaseTimeMs'>): Promise<readonly WatchedCount[]> {
  const counted = database
    .selectFrom('watched_transactions as watched')
    .innerJoin('transactions', (join) =>
      join.onRef('transactions.provider', '=', 'watched.provider').onRef('transactions.provider_id', '=', 'watched.provider_id'),
    )
    .select(({ fn }) => ['watched.provider', fn.countAll<number>().as('count'), fn.min<number>('watched.read_at').as('oldest')])
    .where(sql<boolean>`transactions.state = 'done' and ${mayChange(sql<number>`(select ${databaseTimeMs})`)}`)
    .groupBy('watched.provider')
  return (await counted.execute()).map((row) => ({ ...row, count: Number(row.count), oldest: Number(row.oldest) }))
}

/** By the gateway's own clock where it made the create: a provider's time may be wrong. */
const createdAt = sql`coalesce(transactions.attempted_at, -transactions.sort_key / 1000000)`

/** Whether a read may find a change that somebody waits for. */
function mayChange(now: RawBuilder<number>): RawBuilder<boolean> {
  const overdueSince = sql`coalesce(changed_at, -sort_key / 1000000)`
  return sql`(settled_at is null and (
    status is null or status in (${sql.join(openStatuses)}) or (status = 'overdue' and ${overdueSince} > ${now} - ${sql.lit(overdueWatchedForMs)})
  ))`
}

/**
 * What these owners have open, and nobody reads yet; `latelyMs`: if it was created so lately. Each part uses an index: overdue ones that of
 * changes, since most are old.
 */
async function unwatchedOf(
  { database, databaseTimeMs, isIn, toList }: Pick<Store, 'database' | 'databaseTimeMs' | 'isIn' | 'toList'>,
  owners: readonly string[],
  latelyMs?: number,
): Promise<readonly WatchedTransaction[]> {
  const now = sql<number>`(select ${databaseTimeMs})`
  const isLate = latelyMs === undefined ? sql`true` : sql`sort_key < (${sql.lit(latelyMs)} - ${now}) * 1000000`
  const withStatus = (some: unknown, status: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select owner, provider, provider_id as id from transactions
    where ${isIn('owner', some)} and state = 'done' and settled_at is null and ${status} and not exists (
      select 1 from watched_transactions
      where watched_transactions.provider = transactions.provider and watched_transactions.provider_id = transactions.provider_id
    )`
  const overdue = sql`status || '' = 'overdue' and ${sql.raw(changeTime)} > ${now} - ${sql.lit(overdueWatchedForMs)}`
  const found: WatchedTransaction[] = []
  for (const part of partsOf(owners)) {
    const some = toList(part)
    const { rows } = await sql<WatchedTransaction>`
      select * from (
        ${withStatus(some, sql`status in (${sql.join(openStatuses)}) and ${isLate}`)}
        union all ${withStatus(some, sql`status is null and ${isLate}`)}
        union all ${withStatus(some, latelyMs === undefined ? overdue : sql`false`)}
      ) as unwatched limit ${sql.lit(maxFound - found.length)}`.execute(database)
    found.push(...rows)
    if (found.length === maxFound) break
    await pause()
  }
  return found
}

/** Whether no hint came since the last read began. */
const wasReadAsHinted = sql`(hinted_at is null or (coalesce(taken_at, 0) >= hinted_at and read_at > taken_at))`

/** Now, or the next millisecond where the last read was taken in this one. */
function afterTaken(now: RawBuilder<number>): RawBuilder<number> {
  return sql`case when taken_at >= ${now} then taken_at + 1 else ${now} end`
}

/** Whether one that nobody watches was read as the last hint asked for, or cannot be. It stays for the pause until the next one. */
function isDone(now: RawBuilder<number>): RawBuilder<boolean> {
  const isPauseOver = sql`coalesce(taken_at, 0) <= ${now} - ${sql.lit(hintPauseMs)}`
  return sql`((${wasReadAsHinted} and ${isPauseOver}) or hinted_at is null or hinted_at <= ${now} - ${sql.lit(longestWatchPauseMs)})`
}

/** Counted from when it was due: a look that comes late delays no later one, unless it is later than a pause. */
function nextRead(now: RawBuilder<number>): RawBuilder<number> {
  const isOverdue = sql`exists (
    select 1 from transactions where transactions.provider = watched_transactions.provider
      and transactions.provider_id = watched_transactions.provider_id and transactions.status = 'overdue'
  )`
  const cases = watchPauses.map(
    ({ ageMs, pauseMs }) => sql`when ${now} - created_at < ${sql.lit(ageMs)} and not ${isOverdue} then ${sql.lit(pauseMs)}`,
  )
  const pause = sql`case ${sql.join(cases, sql` `)} else ${sql.lit(longestWatchPauseMs)} end`
  return sql`case when next_read_at between ${now} - ${sql.lit(maxDelayMs)} and ${now} then next_read_at else ${now} end + ${pause}`
}

/** A look at what is due comes each second. */
const maxDelayMs = 2_000

async function updateTimes(
  { writeOne, isIn, toList }: Store,
  provider: string,
  ids: readonly string[],
  times: Partial<Record<'read_at' | 'next_read_at' | 'taken_at', RawBuilder<number>>>,
): Promise<void> {
  if (ids.length === 0) return
  await writeOne(async (within) => {
    const updated = within.updateTable('watched_transactions').set(times).where('provider', '=', provider)
    await updated.where(isIn('provider_id', toList(ids))).execute()
  })
}

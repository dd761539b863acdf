/**
 * Kysely: the events of transactions (docs/contract.md §18.1). A row is written with its change, under the lock of its transaction, so
 * that the rows of one transaction are committed in the order of their ids. Its number, over all transactions of the owner, is given
 * after the commit, by one process at a time: a row that commits late gets a later number, and no change waits for another one.
 */
import { hash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { TransactionRecord } from '../core/ports/ledger.ts'
import type { EventRange, EventStore, Numbered, TransactionEvent } from '../core/ports/transaction-events.ts'
import { mayShowDeposit, visibleState } from '../core/visible-state.ts'
import { piece } from '../domain/processor-time.ts'
import { isFinal } from '../domain/status.ts'
import type { Database } from './database.ts'
import { type EntryRow, entryColumns, toEntry } from './entry.ts'
import { prepare, type Store } from './store.ts'
import { addDeliveries } from './webhook-deliveries.ts'

/** Every number that is given is above it: what was told before a restore does not come again. */
export const numberBase = sql<number>`coalesce((select max(base) from restore_marks), 0)`

// Written with the change

/** What an event keeps of an entry. */
export function eventOf(row: EntryRow) {
  const { requested, sent: _, owner: __, provider: ___, ...state } = row
  const entry = toEntry(row)
  return {
    digest: digestOf(entry),
    state: JSON.stringify({ ...state, requested: requested === null ? null : '' }),
    is_final: isFinal(row.status) || row.settled_at !== null ? 1 : 0,
  }
}

function digestOf(record: TransactionRecord): string {
  return hash('sha256', visibleState(record), 'base64url')
}

/** The digest of the last event of a row of `transactions`; null: there is none. */
export const lastDigest = sql<string | null>`(
  select digest from transaction_events
  where transaction_events.provider = transactions.provider and transaction_events.provider_id = transactions.provider_id
  order by transaction_number desc limit 1
)`

/**
 * Adds the event of a row that this transaction has written, unless the last one is the same to its owner. `after`: the numbers of the
 * transaction up to this one are taken.
 */
export async function addEvent(
  within: Database,
  row: EntryRow,
  provider_id: string,
  { databaseTimeMs, newEvents }: EventWriter,
  after = 0,
): Promise<void> {
  const { owner, provider } = row
  const { digest, state, is_final } = eventOf(row)
  const last = sql`coalesce(last.transaction_number, cast(${after} as bigint))`
  await sql`
    insert into transaction_events (owner, provider, provider_id, at, transaction_number, digest, state, is_final)
    select cast(${owner} as text), cast(${provider} as text), cast(${provider_id} as text), ${databaseTimeMs},
      case when ${last} < ${numberBase} then ${numberBase} else ${last} end + 1, cast(${digest} as text), cast(${state} as text), ${sql.lit(is_final)}
    from (select 1 as only_row) as one left join (
      select transaction_number, digest from transaction_events where provider = ${provider} and provider_id = ${provider_id}
      order by transaction_number desc limit 1
    ) as last on true
    where last.digest is distinct from cast(${digest} as text)`.execute(within)
  newEvents.note()
}

export type EventWriter = Pick<Store, 'databaseTimeMs' | 'newEvents'>

/** The last number of a transaction's events; 0: it has none. */
export async function lastNumberOf(within: Database, provider: string, provider_id: string): Promise<number> {
  const { rows } = await sql<{ readonly last: number }>`
    select coalesce(max(transaction_number), 0) as last from transaction_events
    where provider = ${provider} and provider_id = ${provider_id}`.execute(within)
  return rows[0]?.last ?? 0
}

/** Whether a row is not the last one of its transaction. */
export const hasLater = sql<boolean>`exists (
  select 1 from transaction_events as later
  where later.provider = transaction_events.provider and later.provider_id = transaction_events.provider_id
    and later.transaction_number > transaction_events.transaction_number
)`

// Numbered after the commit, and read

/** Of one database transaction, events and what webhooks are told of them: if it takes too long it is undone, and nobody gets a number. */
const maxNumberedAtOnce = 500
const maxToldAtOnce = 2_000
const maxCounted = 10_000

export function transactionEvents(store: Store): EventStore {
  const { database, write, isIn, toList, databaseTimeMs, newEvents, newDeliveries } = store
  const hasWaiting = async (): Promise<boolean> => {
    const { rows } = await sql`select 1 from transaction_events where number is null limit 1`.execute(database)
    return rows.length > 0
  }
  const ofOwner = prepare(database, ['owner', 'after', 'max'], ({ owner, after, max }) =>
    sql<EventRow>`
      select ${eventColumns} from ${eventsNow} where events.owner = ${owner} and number > ${after}
      order by number limit cast(${max} as bigint)`.compile(database),
  )
  const ofTransaction = prepare(database, ['owner', 'provider', 'id', 'after', 'max'], ({ owner, provider, id, after, max }) =>
    sql<EventRow>`
        select ${eventColumns} from ${eventsNow}
        where events.provider = ${provider} and events.provider_id = ${id} and events.owner || '' = ${owner}
          and transaction_number > ${after}
        order by transaction_number limit cast(${max} as bigint)`.compile(database),
  )
  return {
    onWritten: (listener) => newEvents.onCommit(listener),
    async number() {
      if (!(await hasWaiting())) return { count: 0, mayBeMore: false }
      const { hasDeliveries, ...numbered } = await write((within) => giveNumbers(within, store))
      if (hasDeliveries) newDeliveries.committed()
      return numbered
    },
    async lastNumbers(owners) {
      if (owners.length === 0) return new Map()
      const rows = await database
        .selectFrom('event_owners')
        .select(['owner', 'last_number'])
        .where(isIn('owner', toList(owners)))
        .execute()
      return new Map(rows.map(({ owner, last_number }) => [owner, last_number]))
    },
    async ofOwner(owner, after, maxEvents) {
      return toEvents(await ofOwner({ owner, after, max: maxEvents }))
    },
    async ofTransaction(owner, provider, id, after, maxEvents) {
      return toEvents(await ofTransaction({ owner, provider, id, after, max: maxEvents }))
    },
    rangeOfOwner: (owner) =>
      rangeOf(sql`
        (select min(number) from transaction_events where owner = ${owner} and number is not null) as oldest,
        (select last_number from event_owners where owner = ${owner}) as last`),
    rangeOfTransaction(owner, provider, id) {
      const ofIt = sql`provider = ${provider} and provider_id = ${id} and owner || '' = ${owner}`
      return rangeOf(sql`
        (select min(transaction_number) from transaction_events where ${ofIt}) as oldest,
        (select max(transaction_number) from transaction_events where ${ofIt}) as last`)
    },
    async newest(owner, provider, id) {
      const ofIt = sql<boolean>`provider = ${provider} and provider_id = ${id} and owner || '' = ${owner}`
      // In this order: what changes in between is seen as newer than its row, and its row is read next.
      const { rows } = await sql<EventRow & { readonly digest: string }>`
        select ${eventColumns}, digest from ${eventsNow}
        where events.provider = ${provider} and events.provider_id = ${id} and events.owner || '' = ${owner}
        order by transaction_number desc limit 1`.execute(database)
      const [last] = rows
      const found = database.selectFrom('transactions').select(entryColumns).where(ofIt).where('state', '=', 'done')
      const row = await found.executeTakeFirst()
      const entry = row && toEntry(row)
      const isSame = last !== undefined && entry !== undefined && digestOf(entry) === last.digest
      return { event: last && toEvent(last), entry: isSame ? undefined : entry }
    },
    async waiting() {
      const { rows } = await sql<{ readonly count: number; readonly age: number | null }>`
        select count(*) as count, ${databaseTimeMs} - min(at) as age from (
          select at from transaction_events where number is null order by id limit ${sql.lit(maxCounted)}
        ) as waiting`.execute(database)
      return { count: rows[0]?.count ?? 0, ageMs: Math.max(0, rows[0]?.age ?? 0) }
    },
  }

  async function rangeOf(columns: RawBuilder<unknown>): Promise<EventRange> {
    const { rows } = await sql<{ readonly oldest: number | null; readonly last: number | null; readonly base: number }>`
      select ${columns}, ${numberBase} as base`.execute(database)
    const [{ oldest, last, base } = { oldest: null, last: null, base: 0 }] = rows
    return { oldest: oldest ?? undefined, last: last ?? 0, ...(base > 0 && { base }) }
  }
}

/** A process that is killed in between has given none, and the numbers come again. */
async function giveNumbers(within: Database, store: Store): Promise<Numbered & { readonly hasDeliveries: boolean }> {
  const { lock, tryLock, recordset } = store
  if (!(await tryLock(within, 'events'))) return { count: 0, mayBeMore: true, hasDeliveries: false }
  await lock(within, 'removal')
  const found = await waitingEvents(within)
  const waiting = withinBound(found)
  if (waiting.length === 0) return { count: 0, mayBeMore: false, hasDeliveries: false }
  const ofOwners = [...Map.groupBy(waiting, ({ owner }) => owner)].map(([owner, rows]) => ({ owner, rows }))
  const counts = JSON.stringify(ofOwners.map(({ owner, rows }) => ({ owner, count: rows.length })))
  const { rows: last } = await sql<{ readonly owner: string; readonly last_number: number }>`
    insert into event_owners (owner, last_number)
    select owner, ${numberBase} + count from ${recordset(counts, { owner: 'text', count: 'integer' })} where true
    on conflict (owner) do update set last_number = case when event_owners.last_number < ${numberBase} then excluded.last_number
      else event_owners.last_number + excluded.last_number - ${numberBase} end
    returning owner, last_number`.execute(within)
  const lastNumbers = new Map(last.map(({ owner, last_number }) => [owner, last_number]))
  const numbers = ofOwners.flatMap(({ owner, rows }) => {
    const first = (lastNumbers.get(owner) ?? 0) - rows.length + 1
    return rows.map(({ id }, at) => ({ id, number: first + at }))
  })
  await sql`
    update transaction_events set number = input.number
    from ${recordset(JSON.stringify(numbers), { id: 'integer', number: 'integer' })}
    where transaction_events.id = input.id`.execute(within)
  const hasDeliveries = await addDeliveries(
    within,
    numbers.map(({ id }) => id),
    store,
  )
  const mayBeMore = found.length === maxNumberedAtOnce || waiting.length < found.length
  return { count: waiting.length, mayBeMore, hasDeliveries }
}

interface WaitingEvent {
  readonly id: number
  readonly owner: string
  /** To how many webhooks. */
  readonly told: number
}

async function waitingEvents(within: Database): Promise<readonly WaitingEvent[]> {
  const { rows } = await sql<WaitingEvent>`
    with waiting as (
      select id, owner from transaction_events where number is null order by id limit ${sql.lit(maxNumberedAtOnce)}
    )
    select waiting.id, waiting.owner, coalesce(webhooks_of.count, 0) as told from waiting left join (
      select owner, count(*) as count from webhooks where state = 'active' and owner in (select owner from waiting) group by owner
    ) as webhooks_of on webhooks_of.owner = waiting.owner order by waiting.id`.execute(within)
  return rows
}

/** The oldest, and further ones while there are not too many to tell. */
function withinBound(waiting: readonly WaitingEvent[]): readonly WaitingEvent[] {
  let [end, total] = [0, 0]
  for (const { told } of waiting) {
    total += told
    if (total > maxToldAtOnce && end > 0) break
    end++
  }
  return waiting.slice(0, end)
}

/** With the transaction as it is now. */
interface EventRow extends EntryRow {
  readonly at: number
  readonly number: number | null
  readonly transaction_number: number
  readonly event_state: string
  readonly is_final: number
}

const eventsNow = sql`transaction_events as events join transactions
  on transactions.provider = events.provider and transactions.provider_id = events.provider_id`
const eventColumns = sql`at, number, transaction_number, events.state as event_state, is_final,
  ${sql.join(entryColumns.map((column) => sql.ref(`transactions.${column}`)))}`

function toEvents(rows: readonly EventRow[]): readonly TransactionEvent[] {
  return piece(() => rows.map(toEvent))
}

function toEvent({ at, number, transaction_number, event_state, is_final, ...row }: EventRow): TransactionEvent {
  const { owner, provider } = row
  const entry = toEntry({ ...JSON.parse(event_state), owner, provider, sent: null })
  return {
    number: number ?? undefined,
    transactionNumber: transaction_number,
    at,
    entry,
    isPayable: mayShowDeposit(entry, toEntry(row)),
    isFinal: is_final === 1,
  }
}

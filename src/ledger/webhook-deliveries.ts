/**
 * Kysely: what webhooks are told. A delivery is made with the number of its event, in the same database transaction. What waits of one
 * transaction for one webhook is a queue, and its row the lock of its order:
 *
 *     addDeliveries ──> waiting ──> claim (of the oldest, with a lease) ──> finish: delivered · failed · waiting again, later
 *
 * A process that is killed leaves its claims, which end with their leases: the same is sent again.
 */
import { randomUUID } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { LedgerEntry } from '../core/ports/ledger.ts'
import {
  type Attempt,
  type ClaimedDelivery,
  type Claims,
  type DeliveryOutcome,
  type EncodeChange,
  isSuccess,
  leaseMs,
  maxAtOnce,
  type ToldChange,
  type Webhook,
  type WebhookStore,
} from '../core/ports/webhooks.ts'
import type { Database } from './database.ts'
import { type EntryRow, entryColumns, toEntry } from './entry.ts'
import { addAudit } from './operations.ts'
import type { WebhookDeliveries } from './schema/tables.ts'
import type { Store } from './store.ts'
import { activeWebhooks, findWebhook } from './webhooks.ts'

type Deliveries = Pick<WebhookStore, 'due' | 'claim' | 'finish' | 'findToReplay' | 'recordReplay' | 'gauges' | 'expire'>

/** Rows of the operator's page: an operator may send one again without end. */
const maxKeptAttempts = 30
const heldForMs = 30_000
const maxCounted = 10_000
const maxExpired = 500
const keyTypes = { webhook: 'text', provider: 'text', provider_id: 'text' } as const

/** Makes the deliveries of events that have got their numbers in this database transaction. Returns whether there are any. */
export async function addDeliveries(within: Database, events: readonly number[], store: Store): Promise<boolean> {
  const { databaseTimeMs: now, recordset } = store
  if (events.length === 0) return false
  const ids = recordset(JSON.stringify(events.map((id) => ({ id }))), { id: 'integer' })
  const { rows } = await sql<Pick<WebhookDeliveries, 'webhook' | 'provider' | 'provider_id'>>`
    insert into webhook_deliveries (id, webhook, provider, provider_id, event, state, attempt_count, attempts, created_at)
    select webhooks.id || '_' || cast(events.number as text), webhooks.id, events.provider, events.provider_id, events.id, 'waiting', 0, '[]', ${now}
    from ${ids} join transaction_events as events on events.id = input.id join webhooks on webhooks.owner = events.owner
    where webhooks.state = 'active'
    on conflict do nothing
    returning webhook, provider, provider_id`.execute(within)
  if (rows.length === 0) return false
  // In the order of `lockQueues`.
  await sql`
    insert into webhook_queues (webhook, provider, provider_id, due_at)
    select webhook, provider, provider_id, ${now} from (
      select distinct webhook, provider, provider_id from ${recordset(JSON.stringify(rows), keyTypes)}
    ) as queues where true
    order by webhook, provider, provider_id
    on conflict (webhook, provider, provider_id) do update set due_at = coalesce(webhook_queues.due_at, excluded.due_at)`.execute(
    within,
  )
  return true
}

export function deliveries(store: Store): Deliveries {
  const { database, write, databaseTimeMs: now } = store
  return {
    due: () =>
      activeWebhooks(
        database,
        sql<boolean>`(
          (select min(due_at) from webhook_queues where webhook = webhooks.id and due_at is not null) <= ${now}
          or exists (select 1 from webhook_queues where webhook = webhooks.id and ${hasWrongLease(store)})
        ) and (select count(*) from webhook_queues where webhook = webhooks.id and ${isUnderWay(store)}) < ${sql.lit(maxAtOnce)}`,
      ),
    claim: (webhook, encode) => write((within) => claim(within, webhook, encode, store)),
    finish: (webhook, delivery, attempt, outcome) => write((within) => finish(within, webhook, delivery, attempt, outcome, store)),
    findToReplay: (id, encode) =>
      write(async (within) => {
        const [row] = await deliveriesWithEvents(within, [id], store)
        const webhook = row && (await findWebhook(within, row.webhook))
        if (!row || webhook?.state !== 'active' || webhook.heldAt !== undefined) return undefined
        const { body } = await bodyOf(within, row, webhook, encode)
        return body === undefined ? undefined : { webhook, body }
      }),
    recordReplay: (id, attempt) =>
      write(async (within) => {
        const found = within.selectFrom('webhook_deliveries').select(['state', 'attempts']).where('id', '=', id).forUpdate()
        const row = await found.executeTakeFirst()
        if (!row) return
        const isSaved = row.state === 'failed' && isSuccess(attempt)
        await within
          .updateTable('webhook_deliveries')
          .set({ attempts: withAttempt(row.attempts, attempt), ...(isSaved && { state: 'delivered' as const }) })
          .where('id', '=', id)
          .execute()
      }),
    async gauges() {
      const { rows } = await sql<{ readonly waiting: number; readonly oldest: number | null }>`
        select count(*) as waiting, ${now} - min(created_at) as oldest from (
          select created_at from webhook_deliveries where state = 'waiting'
          and exists (select 1 from webhooks where webhooks.id = webhook_deliveries.webhook and webhooks.state = 'active')
          order by created_at limit ${sql.lit(maxCounted)}
        ) as waiting`.execute(database)
      return { waiting: Number(rows[0]?.waiting ?? 0), oldestWaitingMs: Math.max(0, Number(rows[0]?.oldest ?? 0)) }
    },
    expire: (keptMs) =>
      write(async (within) => {
        const { rows } = await sql<QueueKey & Pick<WebhookDeliveries, 'id'>>`
          select id, webhook, provider, provider_id from webhook_deliveries where created_at < ${now} - ${sql.lit(keptMs)} and (
            ended_at < ${now} - ${sql.lit(keptMs)} or webhook not in (select id from webhooks where state = 'active')
          ) order by created_at limit ${sql.lit(maxExpired)}`.execute(within)
        if (rows.length === 0) return false
        await lockQueues(within, isAmong(rows, store))
        const ids = store.toList(rows.map(({ id }) => id))
        await within.deleteFrom('webhook_deliveries').where(store.isIn('id', ids)).execute()
        await removeEmptyQueues(within, rows, store)
        return rows.length === maxExpired
      }),
  }
}

/** Of these, in one statement, and also those that are due where nobody sends any more. */
async function removeEmptyQueues(within: Database, keys: readonly QueueKey[], store: Store): Promise<void> {
  await sql`
    delete from webhook_queues where ${isAmong(keys, store)} and (due_at is null and claim is null or webhook not in (select id from webhooks where state = 'active')) and not exists (
      select 1 from webhook_deliveries as kept where kept.webhook = webhook_queues.webhook
      and kept.provider = webhook_queues.provider and kept.provider_id = webhook_queues.provider_id
    )`.execute(within)
}

function isAmong(keys: readonly QueueKey[], { recordset }: Pick<Store, 'recordset'>): RawBuilder<boolean> {
  return sql`(webhook, provider, provider_id) in (
    select webhook, provider, provider_id from ${recordset(JSON.stringify(keys), keyTypes)}
  )`
}

/** Whoever changes several queues locks them in this order, and before their deliveries, so that no two wait for each other. */
async function lockQueues(within: Database, condition: RawBuilder<boolean>): Promise<void> {
  const queues = within.selectFrom('webhook_queues').select('webhook').where(condition)
  await queues.orderBy('webhook').orderBy('provider').orderBy('provider_id').forUpdate().execute()
}

/** Before transactions are removed, and their queues and deliveries with them. */
export async function lockQueuesOf(
  within: Database,
  transactions: readonly Pick<QueueKey, 'provider' | 'provider_id'>[],
  { recordset }: Pick<Store, 'recordset'>,
): Promise<void> {
  if (transactions.length === 0) return
  const input = recordset(JSON.stringify(transactions), { provider: 'text', provider_id: 'text' })
  await lockQueues(within, sql`(provider, provider_id) in (select provider, provider_id from ${input})`)
}

function isUnderWay({ databaseTimeMs: now }: Store): RawBuilder<boolean> {
  return sql`claim is not null and due_at > ${now} and not ${hasWrongLease({ databaseTimeMs: now })}`
}

/** Its lease ends later than any that begins now: the clock was set back. */
function hasWrongLease({ databaseTimeMs: now }: Pick<Store, 'databaseTimeMs'>): RawBuilder<boolean> {
  return sql`(claim is not null and due_at > ${now} + ${sql.lit(leaseMs)})`
}

async function claim(
  within: Database,
  { id: webhookId }: Webhook,
  encode: EncodeChange,
  store: Store,
): Promise<Claims | undefined> {
  const { databaseTimeMs: now, recordset } = store
  const isDue = sql<boolean>`(due_at <= ${now} or ${hasWrongLease(store)})`
  // One process at a time counts what is under way.
  await lockWebhook(within, webhookId)
  const webhook = await findWebhook(within, webhookId)
  if (webhook?.state !== 'active' || webhook.heldAt !== undefined) return undefined
  const { rows: underWay } = await sql<{ readonly count: number }>`
    select count(*) as count from webhook_queues where webhook = ${webhook.id} and ${isUnderWay(store)}`.execute(within)
  const free = maxAtOnce - Number(underWay[0]?.count ?? 0)
  if (free <= 0) return undefined
  // Each by its index.
  const { rows: keys } = await sql<QueueKey>`
    select webhook, provider, provider_id from webhook_queues where webhook = ${webhook.id} and ${hasWrongLease(store)}
    union all select * from (
      select webhook, provider, provider_id from webhook_queues
      where webhook = ${webhook.id} and due_at <= ${now} order by due_at limit ${sql.lit(free)}
    ) as due limit ${sql.lit(free)}`.execute(within)
  if (keys.length === 0) return undefined
  const ofKeys = isAmong(keys, store)
  await lockQueues(within, ofKeys)
  const { rows: queues } = await sql<Queue>`
    select provider, provider_id, (
      select id from webhook_deliveries as waiting
      where waiting.webhook = webhook_queues.webhook and waiting.provider = webhook_queues.provider
      and waiting.provider_id = webhook_queues.provider_id and waiting.state = 'waiting' order by waiting.event limit 1
    ) as head
    from webhook_queues where ${ofKeys} and ${isDue} order by due_at`.execute(within)
  const told = await deliveriesWithEvents(
    within,
    queues.flatMap(({ head }) => head ?? []),
    store,
  )
  const claimed: ClaimedDelivery[] = []
  for (const row of told) {
    const { id, provider, provider_id: providerId, attempt_count } = row
    const claim = randomUUID()
    claimed.push({ id, provider, providerId, ...(await bodyOf(within, row, webhook, encode)), attemptCount: attempt_count, claim })
  }
  const texts = { provider: 'text', provider_id: 'text', claim: 'text' } as const
  const claims = claimed.map(({ provider, providerId, claim }) => ({ provider, provider_id: providerId, claim }))
  await sql`
    update webhook_queues set claim = input.claim, due_at = ${now} + ${sql.lit(leaseMs)}
    from ${recordset(JSON.stringify(claims), texts)}
    where webhook_queues.webhook = ${webhook.id} and webhook_queues.provider = input.provider
    and webhook_queues.provider_id = input.provider_id`.execute(within)
  for (const { provider, provider_id, head } of queues)
    if (head === null) await setQueue(within, { webhook: webhook.id, provider, provider_id }, sql`null`)
  return { webhook, deliveries: claimed }
}

async function lockWebhook(within: Database, id: string): Promise<void> {
  await within.selectFrom('webhooks').select('id').where('id', '=', id).forUpdate().execute()
}

interface Queue {
  readonly provider: string
  readonly provider_id: string
  /** Its oldest delivery; null: nothing waits. */
  readonly head: string | null
}

interface DeliveryWithEvent extends EntryRow, Pick<WebhookDeliveries, 'id' | 'webhook' | 'provider_id' | 'attempt_count' | 'body'> {
  readonly latest_state: string
  /** Null: an earlier version has removed the event. */
  readonly event_at: number | null
  readonly event_state: string | null
}

/** Deliveries with their events, and their transactions as they are now. */
async function deliveriesWithEvents(
  within: Database,
  ids: readonly string[],
  { isIn, toList }: Store,
): Promise<readonly DeliveryWithEvent[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<DeliveryWithEvent>`
    select deliveries.id, deliveries.webhook, deliveries.provider_id, deliveries.attempt_count, deliveries.body,
      events.at as event_at, events.state as event_state, transactions.state as latest_state,
      ${sql.join(entryColumns.map((column) => sql.ref(`transactions.${column}`)))}
    from webhook_deliveries as deliveries left join transaction_events as events on events.id = deliveries.event
    join transactions on transactions.provider = deliveries.provider and transactions.provider_id = deliveries.provider_id
    where ${isIn('deliveries.id', toList(ids))}`.execute(within)
  return rows
}

/** Written once, and once more without the deposit address where that may not be paid any more. */
async function bodyOf(within: Database, row: DeliveryWithEvent, { form }: Webhook, encode: EncodeChange): Promise<WrittenBody> {
  const latest = row.latest_state === 'done' ? attemptTo(() => toEntry(row)) : undefined
  const change = changeOf(row, latest)
  if (!change) return row.body !== null && mayBeSent(row.body, latest, encode, form) ? { body: row.body } : { problem: 'event' }
  const encoded = attemptTo(() => encode(change, form))
  if (!encoded) return { problem: 'body' }
  const { body, isPayable } = encoded
  if (row.body !== null && (isPayable || !hasAddress(row.body, change.entry))) return { body: row.body }
  await within.updateTable('webhook_deliveries').set({ body }).where('id', '=', row.id).execute()
  return { body }
}

function hasAddress(body: string, { transaction: { depositAddress } }: LedgerEntry): boolean {
  return Boolean(depositAddress) && body.includes(depositAddress ?? '')
}

type WrittenBody = Pick<ClaimedDelivery, 'body' | 'problem'>

function changeOf(
  { event_at, event_state, owner, provider }: DeliveryWithEvent,
  latest: LedgerEntry | undefined,
): ToldChange | undefined {
  if (event_state === null) return undefined
  const entry = attemptTo(() => toEntry({ ...JSON.parse(event_state), owner, provider, sent: null }))
  return entry && { at: Number(event_at), entry, latest }
}

/** Of a body that cannot be written again: whether it has no deposit address, or one that may be paid. */
function mayBeSent(body: string, latest: LedgerEntry | undefined, encode: EncodeChange, form: string): boolean {
  if (!latest || !hasAddress(body, latest)) return latest !== undefined
  return attemptTo(() => encode({ at: 0, entry: latest, latest }, form))?.isPayable === true
}

/** Undefined: it throws. One row that cannot be read must not hold up the others. */
function attemptTo<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

type QueueKey = Pick<WebhookDeliveries, 'webhook' | 'provider' | 'provider_id'>

/** `dueAt`: null where nothing waits. */
async function setQueue(within: Database, { webhook, provider, provider_id }: QueueKey, dueAt: RawBuilder<unknown>): Promise<void> {
  await sql`
    update webhook_queues set claim = null, due_at = ${dueAt}
    where webhook = ${webhook} and provider = ${provider} and provider_id = ${provider_id}`.execute(within)
}

async function finish(
  within: Database,
  webhook: Webhook,
  delivery: ClaimedDelivery,
  attempt: Attempt | undefined,
  outcome: DeliveryOutcome,
  store: Store,
): Promise<boolean> {
  const { databaseTimeMs: now } = store
  const { id, provider, providerId: provider_id, claim } = delivery
  const key = { webhook: webhook.id, provider, provider_id }
  // Before its queue, as in `claim`.
  if (outcome === 'gone') await lockWebhook(within, webhook.id)
  const queue = within
    .selectFrom('webhook_queues')
    .select('claim')
    .where('webhook', '=', key.webhook)
    .where('provider', '=', provider)
    .where('provider_id', '=', provider_id)
    .forUpdate()
  if ((await queue.executeTakeFirst())?.claim !== claim) return false
  const isRetried = typeof outcome === 'object'
  if (attempt) {
    const row = await within.selectFrom('webhook_deliveries').select('attempts').where('id', '=', id).forUpdate().executeTakeFirst()
    // Its webhook was removed meanwhile, and the delivery with what is old.
    if (!row) return false
    const state = isRetried ? 'waiting' : outcome === 'delivered' ? 'delivered' : 'failed'
    await within
      .updateTable('webhook_deliveries')
      .set({ attempts: withAttempt(row.attempts, attempt), attempt_count: delivery.attemptCount + 1, state })
      .set(isRetried ? {} : { ended_at: attempt.at })
      .where('id', '=', id)
      .execute()
  }
  if (outcome === 'gone') await switchOff(within, webhook, attempt, store)
  const nextAt = sql`(
    select ${now} from webhook_deliveries where webhook = ${key.webhook} and provider = ${provider} and provider_id = ${provider_id}
    and state = 'waiting' limit 1
  )`
  const pauseMs = isRetried ? outcome.retryAfterMs : outcome === 'held' ? heldForMs : undefined
  await setQueue(within, key, pauseMs === undefined ? nextAt : sql`${now} + ${sql.lit(pauseMs)}`)
  return true
}

async function switchOff(within: Database, { id, account }: Webhook, attempt: Attempt | undefined, store: Store): Promise<void> {
  const { numUpdatedRows } = await within
    .updateTable('webhooks')
    .set({ state: 'gone', ended_at: attempt?.at ?? null })
    .where('id', '=', id)
    .where('state', '=', 'active')
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 1n)
    await addAudit(within, store, {
      actor: `account:${account}`,
      action: 'webhook.gone',
      subject: id,
      after: { status: attempt?.status },
    })
}

function withAttempt(attempts: string, attempt: Attempt): string {
  return JSON.stringify([...(JSON.parse(attempts) as readonly Attempt[]), attempt].slice(-maxKeptAttempts))
}

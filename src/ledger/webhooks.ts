/** Kysely: the webhooks of accounts. */
import { type RawBuilder, sql } from 'kysely'
import type { Attempt, Delivery, Webhook, WebhookStore } from '../core/ports/webhooks.ts'
import { pause } from '../domain/async.ts'
import { Fault } from '../domain/fault.ts'
import { toIso } from '../domain/instant.ts'
import type { Database } from './database.ts'
import { addAudit } from './operations.ts'
import type { WebhookDeliveries, Webhooks } from './schema/tables.ts'
import type { Store } from './store.ts'

export function webhooks(
  store: Store,
): Pick<WebhookStore, 'onNew' | 'add' | 'list' | 'find' | 'remove' | 'rotate' | 'counts' | 'countsOfAll' | 'deliveries'> {
  const { database, write } = store
  return {
    onNew: (listener) => store.newDeliveries.onCommit(listener),
    add: ({ id, account, url, form, secret, createdAt }, actor) =>
      write(async (within) => {
        const named = within.selectFrom('accounts').select('id').where('name', '=', account.normalize())
        const owner = await named.forUpdate().executeTakeFirst() // so that the webhooks of an account are counted
        if (!owner) return undefined
        // An earlier run of this transaction may have been committed without a confirmation.
        const known = await findWebhook(within, id)
        if (known) return known
        await refuseTooMany(within, owner.id)
        const row = { id, owner: owner.id, url, form, secret, state: 'active' as const, created_at: createdAt }
        await within
          .insertInto('webhooks')
          .values({ ...row, previous_secret: null, previous_until: null, ended_at: null, held_at: null })
          .execute()
        await addAudit(within, store, {
          actor,
          action: 'webhook.add',
          subject: id,
          after: { account, host: new URL(url).host, form },
        })
        return await findWebhook(within, id)
      }),
    async list() {
      const found: Webhook[] = []
      for (let after = ''; ; await pause()) {
        const rows = await kept(database).where('webhooks.id', '>', after).orderBy('webhooks.id').limit(rowsPerPage).execute()
        for (const row of rows) found.push(toWebhook(row))
        const last = rows.at(-1)
        if (!last || rows.length < rowsPerPage) break
        after = last.id
      }
      return found.sort((one, other) => one.createdAt - other.createdAt)
    },
    find: (id) => findWebhook(database, id),
    remove: (id, at, actor) =>
      write(async (within) => {
        const { numUpdatedRows } = await within
          .updateTable('webhooks')
          .set({ state: 'removed', secret: '', previous_secret: null, previous_until: null, ended_at: at })
          .where('id', '=', id)
          .where('state', '<>', 'removed')
          .executeTakeFirstOrThrow()
        if (numUpdatedRows === 0n) return await wasEndedAt(within, id, at)
        await addAudit(within, store, { actor, action: 'webhook.remove', subject: id })
        return true
      }),
    rotate: (id, secret, at, until, actor) =>
      write(async (within) => {
        const found = within.selectFrom('webhooks').selectAll().where('id', '=', id).where('state', '<>', 'removed').forUpdate()
        const before = await found.executeTakeFirst()
        if (!before) return false
        if (before.secret === secret) return true
        const previous =
          until > at ? { previous_secret: before.secret, previous_until: until } : { previous_secret: null, previous_until: null }
        await within
          .updateTable('webhooks')
          .set({ secret, ...previous })
          .where('id', '=', id)
          .execute()
        await addAudit(within, store, { actor, action: 'webhook.rotate', subject: id, after: { oldSecretEndsAt: toIso(until) } })
        return true
      }),
    async counts(id) {
      const of = (state: RawBuilder<unknown>): RawBuilder<number> =>
        sql`(select count(*) from webhook_deliveries where webhook = ${id} and state = ${state})`
      const { rows } = await sql<{ waiting: number; failed: number }>`
        select ${of(sql`'waiting'`)} as waiting, ${of(sql`'failed'`)} as failed`.execute(database)
      return { waiting: Number(rows[0]?.waiting), failed: Number(rows[0]?.failed) }
    },
    async countsOfAll() {
      // Each part reads an index that has nothing else.
      const { rows } = await sql<{ webhook: string; waiting: number; failed: number }>`
        select webhook, sum(waiting) as waiting, sum(failed) as failed from (
          select webhook, count(*) as waiting, 0 as failed from webhook_deliveries where state = 'waiting' group by webhook
          union all
          select webhook, 0 as waiting, count(*) as failed from webhook_deliveries where state = 'failed' group by webhook
        ) as counts group by webhook`.execute(database)
      return new Map(rows.map(({ webhook, waiting, failed }) => [webhook, { waiting: Number(waiting), failed: Number(failed) }]))
    },
    async deliveries(webhook, { onlyFailed, size, after }) {
      const all = database.selectFrom('webhook_deliveries').where('webhook', '=', webhook)
      const chosen = onlyFailed ? all.where(sql<boolean>`state = 'failed'`) : all
      const named = all.select('event').where('id', '=', after ?? '')
      const older = after === undefined ? chosen : chosen.where('event', '<', named)
      const found = await older
        .select('id')
        .orderBy('event', 'desc')
        .limit(size + 1)
        .execute()
      if (found.length === 0 && after !== undefined && !(await named.executeTakeFirst()))
        throw new Fault(
          'notFound',
          'No delivery of this webhook has the id in `after` (any more): please begin with the first page.',
        )
      const ids = found.slice(0, size).map(({ id }) => id)
      return { parts: deliveriesInParts(store, ids), next: found.length > size ? ids.at(-1) : undefined }
    },
  }
}

/** Each may have thirty attempts with what their receivers have answered: a whole page would outlive the young generation of the heap. */
const deliveriesPerRead = 50

async function* deliveriesInParts({ database, isIn, toList }: Store, ids: readonly string[]): AsyncGenerator<readonly Delivery[]> {
  const columns = ['id', 'webhook', 'provider', 'provider_id', 'state', 'attempts', 'created_at', 'ended_at'] as const
  for (let at = 0; at < ids.length; at += deliveriesPerRead) {
    const some = toList(ids.slice(at, at + deliveriesPerRead))
    const rows = await database
      .selectFrom('webhook_deliveries')
      .select(columns)
      .where(isIn('id', some))
      .orderBy('event', 'desc')
      .execute()
    yield rows.map(toDelivery)
    await pause()
  }
}

/** Encrypted secrets in use, each with its webhook. */
export async function sealedSecrets(database: Database): Promise<readonly { readonly webhook: string; readonly secret: string }[]> {
  const rows = await database
    .selectFrom('webhooks')
    .select(['id', 'secret', 'previous_secret', 'previous_until'])
    .where('state', '<>', 'removed')
    .execute()
  return rows.flatMap(({ id, secret, previous_secret, previous_until }) => [
    { webhook: id, secret },
    ...(previous_secret !== null && Number(previous_until) > Date.now() ? [{ webhook: id, secret: previous_secret }] : []),
  ])
}

/** A file is read without a wait: between two pages requests come. */
const rowsPerPage = 1_000

/** Each change is written once for each of them. */
const maxActive = 50

async function refuseTooMany(within: Database, owner: string): Promise<void> {
  const { count } = await within
    .selectFrom('webhooks')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('owner', '=', owner)
    .where('state', '=', 'active')
    .executeTakeFirstOrThrow()
  if (Number(count) < maxActive) return
  throw new Fault('inProgress', `The account has ${maxActive} webhooks, the most that it may have; remove one first.`, {
    reason: 'refused',
  })
}

/** Those that are sent to, and meet the condition: not one that waits since a restore. */
export async function activeWebhooks(database: Database, condition: RawBuilder<boolean>): Promise<readonly Webhook[]> {
  return (
    await kept(database).where('webhooks.state', '=', 'active').where('webhooks.held_at', 'is', null).where(condition).execute()
  ).map(toWebhook)
}

function kept(database: Database) {
  return database
    .selectFrom('webhooks')
    .innerJoin('accounts', 'accounts.id', 'webhooks.owner')
    .selectAll('webhooks')
    .select('accounts.name')
    .where('webhooks.state', '<>', 'removed')
}

export async function findWebhook(database: Database, id: string): Promise<Webhook | undefined> {
  const row = await kept(database).where('webhooks.id', '=', id).executeTakeFirst()
  return row && toWebhook(row)
}

/** Whether an earlier run of the transaction did it. */
async function wasEndedAt(within: Database, id: string, at: number): Promise<boolean> {
  const row = await within
    .selectFrom('webhooks')
    .select('ended_at')
    .where('id', '=', id)
    .where('state', '=', 'removed')
    .executeTakeFirst()
  return row !== undefined && Number(row.ended_at) === at
}

function toWebhook({ name, ...row }: Webhooks & { readonly name: string }): Webhook {
  const { id, owner, url, form, secret, previous_secret, previous_until, state, created_at, ended_at, held_at } = row
  return {
    ...{ id, owner, account: name, url, form, secret },
    ...(previous_secret !== null && { previous: { secret: previous_secret, until: Number(previous_until) } }),
    state: state === 'gone' ? 'gone' : 'active',
    createdAt: Number(created_at),
    ...(ended_at !== null && { endedAt: Number(ended_at) }),
    ...(held_at !== null && { heldAt: Number(held_at) }),
  }
}

function toDelivery(row: Omit<WebhookDeliveries, 'event' | 'body' | 'attempt_count'>): Delivery {
  return {
    id: row.id,
    webhook: row.webhook,
    provider: row.provider,
    providerId: row.provider_id,
    state: row.state,
    attempts: JSON.parse(row.attempts) as readonly Attempt[],
    createdAt: Number(row.created_at),
    ...(row.ended_at !== null && { endedAt: Number(row.ended_at) }),
  }
}

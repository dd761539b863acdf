/** Kysely: what a ledger that was restored from a backup lacks (docs/contract.md §10.6). */
import { randomUUID } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { TransactionRecord } from '../core/ledger.ts'
import {
  type Assigned,
  type AssignedOrder,
  type FoundOrder,
  type OrderAssignment,
  type RestoredProvider,
  type RestoreStore,
  restoredForMs,
  type Unassigned,
  type UndecidedOrder,
} from '../core/restores.ts'
import { formatTransactionId } from '../domain/swap.ts'
import { isOfAccount } from './accounts.ts'
import { lateResultMs } from './creates.ts'
import type { Database } from './database.ts'
import { removeEntry, writeEntry } from './entries.ts'
import { addAudit } from './operations.ts'
import type { Store } from './store.ts'
import { hasLater } from './transaction-events.ts'

const maxCounted = 1_000
const maxListed = 10_000
const maxOrdersOfKey = 20
/** Of one account. Two are as good as more: none of them is known to be the order's. */
const maxKeysOfOrder = 2

export function restores(store: Store): RestoreStore {
  const { database, write, databaseTimeMs: now, isIn, listed, toList } = store
  const isThere = (): boolean => store.has('restores')
  const holds = sql<boolean>`ended_at is null and restored_at > ${now} - ${sql.lit(restoredForMs)}`
  return {
    async read() {
      if (!isThere()) return []
      const { rows } = await sql<RestoredRow>`
        select provider, restored_at, since, read_at, (
          select count(*) from (
            select 1 from found_orders where found_orders.provider = restored_providers.provider and ${isUndecided}
            limit ${sql.lit(maxCounted)}
          ) as counted
        ) as undecided
        from restored_providers where ${holds} order by provider`.execute(database)
      return rows.map(toRestored)
    },
    async isPossible() {
      await store.readSteps()
      return isThere()
    },
    mark: (tags, since, actor) =>
      write(async (within) => {
        const known = await within.selectFrom('providers').select('tag').execute()
        const all = [...new Set([...tags, ...known.map(({ tag }) => tag)])].toSorted()
        const oldest = since ?? (await oldestUnpruned(within, store))
        for (const provider of all)
          await sql`
            insert into restored_providers (provider, restored_at, since, read_at, ended_at)
            values (${provider}, ${now}, ${oldest ?? null}, null, null)
            on conflict (provider) do update set restored_at = excluded.restored_at, since = excluded.since, read_at = null, ended_at = null`.execute(
            within,
          )
        if (store.has('transaction events')) await leaveNumbers(within, store)
        const after = oldest === undefined ? {} : { since: new Date(oldest).toISOString() }
        await addAudit(within, store, { actor, action: 'restore.mark', subject: all.join(', '), after })
        return all
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
    async missing(provider, ids) {
      const { rows } = await sql<{ readonly id: string }>`
        select listed.value as id from ${listed(toList(ids))}
        where not ${isHeld(sql`listed.value`, provider)} and not exists (
          select 1 from pruned_ids where pruned_ids.provider_id = listed.value and ${isOfAccount('pruned_ids.provider', provider)}
        )`.execute(database)
      return rows.map(({ id }) => id)
    },
    async accountIds() {
      return (await database.selectFrom('accounts').select('id').execute()).map(({ id }) => id)
    },
    keep: (orders) =>
      write(async (within) => {
        for (const { provider, id, reports, hasDetails, owner, size } of orders) {
          const row = { reports: JSON.stringify(reports), details: hasDetails ? 1 : 0, size: size ?? null, owner: owner ?? null }
          await within
            .insertInto('found_orders')
            .values({ provider, provider_id: id, ...row, found_at: now, decided_at: null, decision: null })
            .onConflict((conflict) =>
              conflict.columns(['provider', 'provider_id']).doUpdateSet(row).where('found_orders.decided_at', 'is', null),
            )
            .execute()
        }
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
    async undecided(maxOrders = maxListed) {
      if (!isThere()) return []
      return await orders(database, sql<boolean>`${isUndecided}`, maxOrders)
    },
    async assigned(maxOrders = maxListed) {
      if (!isThere()) return []
      return await assignedOrders(database, maxOrders)
    },
    async findUndecided(provider, id) {
      if (!isThere()) return undefined
      const isIt = sql<boolean>`found_orders.provider = ${provider} and found_orders.provider_id = ${id} and ${isUndecided}`
      return (await orders(database, isIt, 1))[0]
    },
    async candidates(owner, sizes, maxOrders) {
      if (!isThere()) return []
      const isOfSize = sizes ? sql<boolean>`(size is null or size in (${sql.join(sizes)}))` : sql<boolean>`${sql.lit(1)} = 1`
      const isCandidate = sql<boolean>`
        ${isOfSize} and (found_orders.owner is null or found_orders.owner = ${owner})
        and found_orders.provider in (select provider from restored_providers where ${holds}) and ${isUndecided}`
      return await orders(database, isCandidate, maxOrders)
    },
    async noteKey(orders, owner, { key, fingerprint, request }) {
      if (!store.has('found order keys')) return
      await write(async (within) => {
        for (const { provider, id } of orders.slice(0, maxOrdersOfKey))
          await sql`
            insert into found_order_keys (provider, provider_id, owner, key, fingerprint, request, seen_at)
            select ${provider}, ${id}, ${owner}, ${key}, ${fingerprint}, ${request ? JSON.stringify(request) : null}, ${now}
            where (select count(*) from found_order_keys where provider = ${provider} and provider_id = ${id} and owner = ${owner})
              < ${sql.lit(maxKeysOfOrder)}
            on conflict do nothing`.execute(within)
      })
    },
    assign(assignment, actor) {
      // The work runs again if it is not known whether its commit succeeded.
      let isRepeated = false
      return write(async (within) => {
        const result = await assign(within, assignment, actor, isRepeated, store)
        isRepeated ||= result === 'assigned'
        return result
      })
    },
    unassign(provider, id, note, actor) {
      let done: Unassigned | undefined
      return write(async (within) => {
        const result = await unassign(within, { provider, id, note }, actor, store)
        if (result.outcome === 'missing' && done) return done
        if (result.outcome === 'unassigned') done = result
        return result
      })
    },
    dismiss(provider, id, note, actor) {
      let isRepeated = false
      return write(async (within) => {
        const found = await lockOrder(within, provider, id)
        if (isRepeated && found?.decision === 'dismissed') return true
        if (!found || found.decision !== null) return false
        await decide(within, provider, id, 'dismissed', store)
        const subject = formatTransactionId(provider, id)
        await addAudit(within, store, { actor, action: 'order.dismiss', subject, after: { note } })
        isRepeated = true
        return true
      })
    },
  }
}

interface RestoredRow {
  readonly provider: string
  readonly restored_at: number
  readonly since: number | null
  readonly read_at: number | null
  readonly undecided: number
}

function toRestored({ provider, restored_at, since, read_at, undecided }: RestoredRow): RestoredProvider {
  return {
    provider,
    restoredAt: Number(restored_at),
    undecided: Number(undecided),
    ...(since !== null && { since: Number(since) }),
    ...(read_at !== null && { readAt: Number(read_at) }),
  }
}

/** Whether the ledger has the id, of any owner and in any state, at a tag of the provider's account. */
function isHeld(id: RawBuilder<unknown>, provider: unknown): RawBuilder<boolean> {
  return sql`exists (
    select 1 from transactions where transactions.provider_id = ${id} and ${isOfAccount('transactions.provider', provider)}
  )`
}

/** Until a person has decided, or the result of its create is in the ledger. */
const isUndecided = sql<boolean>`found_orders.decided_at is null
  and not ${isHeld(sql`found_orders.provider_id`, sql.ref('found_orders.provider'))}`

/** More than an owner's events between a backup and its restore. */
const numbersLeft = 1_000_000_000

/** What was told after the backup has numbers that the ledger has forgotten: no other change gets them. */
async function leaveNumbers(within: Database, { lock }: Store): Promise<void> {
  await lock(within, 'removal')
  await sql`update event_owners set last_number = last_number + ${sql.lit(numbersLeft)}`.execute(within)
  // Those of transactions follow from their last rows: under the lock of who writes the next one.
  const open = within.selectFrom('transactions').select('provider').where('state', '=', 'done').where('settled_at', 'is', null)
  const notEnded = open.where(sql<boolean>`coalesce(status, '') not in ('success', 'refunded')`)
  await notEnded.orderBy('provider').orderBy('provider_id').forUpdate().execute()
  await sql`
    update transaction_events set transaction_number = transaction_number + ${sql.lit(numbersLeft)}
    where is_final = 0 and not ${hasLater}`.execute(within)
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

interface OrderRow {
  readonly provider: string
  readonly provider_id: string
  readonly reports: string
  readonly details: number
  readonly owner: string | null
  readonly found_at: number
  readonly account: string | null
}

async function orders(database: Database, condition: RawBuilder<boolean>, maxOrders: number): Promise<readonly UndecidedOrder[]> {
  const { rows } = await sql<OrderRow>`
    select found_orders.provider, found_orders.provider_id, reports, details, found_orders.owner, found_at, accounts.name as account
    from found_orders left join accounts on accounts.id = found_orders.owner
    where ${condition} order by found_at, found_orders.provider, found_orders.provider_id limit ${maxOrders}`.execute(database)
  return rows.map(({ provider, provider_id, reports, details, owner, found_at, account }) => ({
    ...orderOf(provider, provider_id, reports, details, owner),
    foundAt: Number(found_at),
    ...(account !== null && { account }),
  }))
}

interface AssignedRow extends OrderRow {
  readonly decided_at: number
  readonly account: string
}

/** Those whose swap is still there. */
async function assignedOrders(database: Database, maxOrders: number): Promise<readonly AssignedOrder[]> {
  const { rows } = await sql<AssignedRow>`
    select found_orders.provider, found_orders.provider_id, reports, details, found_orders.owner, found_at, decided_at,
      accounts.name as account
    from found_orders
      join transactions on transactions.provider = found_orders.provider and transactions.provider_id = found_orders.provider_id
        and transactions.state = 'done'
      join accounts on accounts.id = transactions.owner
    where decision = 'assigned' order by decided_at desc, found_orders.provider, found_orders.provider_id limit ${maxOrders}`.execute(
    database,
  )
  return rows.map(({ provider, provider_id, reports, details, owner, found_at, decided_at, account }) => ({
    ...orderOf(provider, provider_id, reports, details, owner),
    foundAt: Number(found_at),
    decidedAt: Number(decided_at),
    account,
  }))
}

function orderOf(provider: string, id: string, reports: string, details: number, owner: string | null): FoundOrder {
  return { provider, id, reports: JSON.parse(reports), hasDetails: details === 1, ...(owner !== null && { owner }) }
}

function lockOrder(within: Database, provider: string, id: string) {
  return within
    .selectFrom('found_orders')
    .select(['decision'])
    .where('provider', '=', provider)
    .where('provider_id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

async function decide(
  within: Database,
  provider: string,
  id: string,
  decision: 'assigned' | 'dismissed',
  { databaseTimeMs }: Store,
): Promise<void> {
  await sql`
    update found_orders set decision = ${decision}, decided_at = ${databaseTimeMs}
    where provider = ${provider} and provider_id = ${id}`.execute(within)
}

/** The order becomes a create of the account, with its result. */
async function assign(
  within: Database,
  { provider, id, account, transaction, createdAt, reportedAt, note }: OrderAssignment,
  actor: string,
  isRepeated: boolean,
  store: Store,
): Promise<Assigned> {
  const found = await lockOrder(within, provider, id)
  if (isRepeated && found?.decision === 'assigned') return 'assigned'
  if (!found || found.decision !== null) return 'missing'
  const owner = await within.selectFrom('accounts').select('id').where('name', '=', account.normalize()).executeTakeFirst()
  if (!owner) return 'noAccount'
  await store.lockId(within, id)
  const { rows } = await sql`select 1 where ${isHeld(sql`${id}`, provider)}`.execute(within)
  if (rows.length > 0) return 'known'
  const { ownAssets, reference: _, ...reported } = transaction
  const create = { intent: randomUUID(), owner: owner.id, provider, attempted_at: createdAt }
  await sql`
    insert into transactions (intent, owner, provider, state, requested, sent, attempted_at)
    values (${create.intent}, ${create.owner}, ${provider}, 'unknown', ${JSON.stringify(requestOf(reported))},
      ${ownAssets === undefined ? null : JSON.stringify(ownAssets)}, ${createdAt})`.execute(within)
  const record: TransactionRecord = { transaction: { ...reported, status: reported.status ?? 'wait' }, derived: [], reportedAt }
  await writeEntry(within, { kind: 'create', create, replaced: undefined }, record, store)
  if (store.has('found order keys')) await bindOnlyKey(within, create, id, store)
  await decide(within, provider, id, 'assigned', store)
  const subject = formatTransactionId(provider, id)
  await addAudit(within, store, { actor, action: 'order.assign', subject, after: { account, note } })
  return 'assigned'
}

/** Nothing of the account may stand on the swap: then it is as if it had never been assigned. */
async function unassign(
  within: Database,
  { provider, id, note }: { readonly provider: string; readonly id: string; readonly note: string },
  actor: string,
  store: Store,
): Promise<Unassigned> {
  await store.lock(within, 'removal')
  const found = await lockOrder(within, provider, id)
  if (found?.decision !== 'assigned') return { outcome: 'missing' }
  await store.lockId(within, id)
  const swap = await within
    .selectFrom('transactions')
    .select(['intent', 'owner', 'settled_at', sql<string>`cast(sort_key as text)`.as('sort_key')])
    .where('provider', '=', provider)
    .where('provider_id', '=', id)
    .where('state', '=', 'done')
    .forUpdate()
    .executeTakeFirst()
  if (!swap) return { outcome: 'missing' }
  const { intent, owner, settled_at, sort_key } = swap
  if (settled_at !== null) return { outcome: 'isSettled' }
  const { rows: keys } = await sql`select 1 from claims where intent = ${intent} limit 1`.execute(within)
  if (keys.length > 0) return { outcome: 'hasKey' }
  if (store.has('swap actions')) {
    const actions = within.selectFrom('swap_actions').select('kind').where('provider', '=', provider)
    if (await actions.where('provider_id', '=', id).executeTakeFirst()) return { outcome: 'hasAction' }
  }
  const { name: account } = await within.selectFrom('accounts').select('name').where('id', '=', owner).executeTakeFirstOrThrow()
  await removeEntry(within, provider, id, { owner, sort_key })
  if (store.has('watches'))
    await within.deleteFrom('watched_transactions').where('provider', '=', provider).where('provider_id', '=', id).execute()
  await sql`
    update found_orders set decision = null, decided_at = null where provider = ${provider} and provider_id = ${id}`.execute(within)
  const subject = formatTransactionId(provider, id)
  await addAudit(within, store, { actor, action: 'order.unassign', subject, before: { account }, after: { note } })
  return { outcome: 'unassigned', account }
}

/** The only create of the account that may have been the order gets it. */
async function bindOnlyKey(
  within: Database,
  { intent, owner, provider }: { readonly intent: string; readonly owner: string; readonly provider: string },
  id: string,
  { clock }: Store,
): Promise<void> {
  const noted = within.selectFrom('found_order_keys').select(['key', 'fingerprint', 'request']).where('owner', '=', owner)
  const [only, ...others] = await noted.where('provider', '=', provider).where('provider_id', '=', id).execute()
  if (!only || others.length > 0) return
  await sql`
    insert into claims (owner, key, intent, fingerprint, request, first, created_at)
    values (${owner}, ${only.key}, ${intent}, ${only.fingerprint}, ${only.request}, null, ${clock.at(clock.read())})
    on conflict do nothing`.execute(within)
}

/** What its create may have requested. */
function requestOf({
  codeFrom,
  coinFrom,
  networkFrom,
  codeTo,
  coinTo,
  networkTo,
  amountIn,
  withdrawalAddress,
  withdrawalExtraId,
  refundAddress,
  refundExtraId,
  rateType,
}: OrderAssignment['transaction']) {
  const names = { codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo }
  return { ...names, amountIn, withdrawalAddress, withdrawalExtraId, refundAddress, refundExtraId, rateType }
}

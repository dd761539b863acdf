/**
 * Kysely: orders in providers' lists that a restored ledger lacked, the keys of creates that may have made them, and what a person has decided
 * (docs/contract-operators.md §10.6):
 *
 *     keep ──> waiting ──> assigned (assign) ──> waiting again (unassign); the key that returned it is withheld (freeKey, assign)
 *                      ──> dismissed (dismiss) ──> waiting again (undismiss)
 *
 * A withheld key is a create without a known outcome, which no search looks for.
 */
import { randomUUID } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { DepositClaim, TransactionRecord } from '../core/ports/ledger.ts'
import type {
  Assigned,
  AssignedOrder,
  DismissedOrder,
  FoundOrder,
  NotedCreate,
  OrderAssignment,
  RestoreStore,
  Unassigned,
  UndecidedOrder,
  WithheldKey,
} from '../core/ports/restores.ts'
import { pause } from '../domain/async.ts'
import { LedgerConflict } from '../domain/fault.ts'
import { formatTransactionId, type NewTransaction } from '../domain/swap.ts'
import { isOfAccount } from './accounts.ts'
import { storeRequest } from './create-requests.ts'
import type { Database } from './database.ts'
import { removeEntry, writeEntry } from './entries.ts'
import { hasExpired, storeIdempotencyKey } from './idempotency-keys.ts'
import { addAudit } from './operations.ts'
import type { Store } from './store.ts'
import { lastNumberOf } from './transaction-events.ts'

const maxListed = 10_000
const maxOrdersOfKey = 20
/** Of one account. What is not kept gets 409 all the same. */
const maxKeysOfOrder = 100

type FoundOrders = Pick<
  RestoreStore,
  | 'missing'
  | 'isWaiting'
  | 'accountIds'
  | 'keep'
  | 'undecided'
  | 'findUndecided'
  | 'candidates'
  | 'dismissed'
  | 'assigned'
  | 'withheldKeys'
  | 'noteKey'
  | 'isNoted'
  | 'requestUnder'
  | 'assign'
  | 'unassign'
  | 'dismiss'
  | 'undismiss'
  | 'freeKey'
>

/** `holds`: of a row of `restored_providers`. */
export function foundOrders(store: Store, holds: RawBuilder<boolean>): FoundOrders {
  const { database, write, databaseTimeMs: now, listed, toList } = store
  return {
    async missing(provider, ids) {
      const { rows } = await sql<{ readonly id: string }>`
        select listed.value as id from ${listed(toList(ids))}
        where not ${isKnown(sql`listed.value`, provider)}`.execute(database)
      return rows.map(({ id }) => id)
    },
    async isWaiting(provider, ids) {
      const { rows } = await sql`
        select 1 from found_orders where provider = ${provider} and ${store.isIn('found_orders.provider_id', toList(ids))}
          and ${isUndecided} limit 1`.execute(database)
      return rows.length > 0
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
    async undecided(maxOrders = maxListed) {
      const keys = await keysOf(database, isUndecided, ({ found_at }) => Number(found_at), maxOrders)
      return await loaded(keys, async (part) =>
        withCreates(store, await orders(database, sql`${isAmong('found_orders', part, store)} and ${isUndecided}`), part),
      )
    },
    async findUndecided(provider, id) {
      const isIt = sql<boolean>`found_orders.provider = ${provider} and found_orders.provider_id = ${id} and ${isUndecided}`
      const [order] = await orders(database, isIt)
      return order && (await withCreates(store, [order], [{ provider, provider_id: id }]))[0]
    },
    async candidates(owner, sizes, maxOrders) {
      const isOfSize = sizes ? sql<boolean>`(size is null or size in (${sql.join(sizes)}))` : sql<boolean>`${sql.lit(1)} = 1`
      const isCandidate = sql<boolean>`
        ${isOfSize} and (found_orders.owner is null or found_orders.owner = ${owner})
        and found_orders.provider in (select provider from restored_providers where ${holds}) and ${isUndecided}`
      return await orders(
        database,
        sql`${isCandidate} order by found_at, found_orders.provider, found_orders.provider_id limit ${maxOrders}`,
      )
    },
    async dismissed(maxOrders = maxListed) {
      const keys = await keysOf(database, sql<boolean>`decision = 'dismissed'`, ({ decided_at }) => -Number(decided_at), maxOrders)
      return await loaded(keys, (part) => dismissedOrders(database, isAmong('found_orders', part, store)))
    },
    async assigned(maxOrders = maxListed) {
      const keys = await keysOf(database, isAssigned, ({ decided_at }) => -Number(decided_at), maxOrders)
      return await loaded(keys, (part) => assignedOrders(database, isAmong('found_orders', part, store)))
    },
    withheldKeys: () => withheldKeys(database, sql`true`),
    noteKey: (orders, owner, { key, fingerprint, request }) =>
      write(async (within) => {
        for (const { provider, id } of orders.slice(0, maxOrdersOfKey))
          await sql`
            insert into found_order_keys (provider, provider_id, owner, key, fingerprint, request, seen_at)
            select ${provider}, ${id}, ${owner}, ${key}, ${fingerprint}, ${request ? JSON.stringify(request) : null}, ${now}
            where (select count(*) from found_order_keys where provider = ${provider} and provider_id = ${id} and owner = ${owner})
              < ${sql.lit(maxKeysOfOrder)}
            on conflict do nothing`.execute(within)
      }),
    async isNoted(owner, key) {
      const { rows } = await sql`
        select 1 from found_order_keys as noted join found_orders
          on found_orders.provider = noted.provider and found_orders.provider_id = noted.provider_id
        where noted.owner = ${owner} and noted.key = ${key} and ${isUndecided} limit 1`.execute(database)
      return rows.length > 0
    },
    async requestUnder(account, key) {
      const owner = await ownerNamed(database, account)
      const named = owner && (await findNamed(database, owner.id, key, store))
      return named?.request && !named.isInUse ? JSON.parse(named.request) : undefined
    },
    assign(assignment, actor, deposit = {}) {
      // The work runs again if it is not known whether its commit succeeded.
      let done: Assigned | undefined
      return write(async (within) => {
        const found = await lockOrder(within, assignment.provider, assignment.id)
        if (done && found?.decision === 'assigned') return done
        const result: Assigned =
          found && found.decision === null
            ? await assign(within, assignment, actor, { ...found, deposit }, store)
            : { outcome: 'missing' }
        if (result.outcome === 'assigned') done = result
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
      let done: { readonly freed: readonly NotedCreate[] } | undefined
      return write(async (within) => {
        const found = await lockOrder(within, provider, id)
        if (done && found?.decision === 'dismissed') return done
        if (!found || found.decision !== null) return undefined
        await decide(within, provider, id, 'dismissed', store)
        const freed = await endNotes(within, provider, id)
        const subject = formatTransactionId(provider, id)
        await addAudit(within, store, { actor, action: 'order.dismiss', subject, after: { note, freedKeys: freed.length } })
        done = { freed }
        return done
      })
    },
    undismiss(provider, id, note, actor) {
      let isRepeated = false
      return write(async (within) => {
        const found = await lockOrder(within, provider, id)
        if (isRepeated && found?.decision === null) return true
        if (found?.decision !== 'dismissed') return false
        await waitAgain(within, provider, id)
        const subject = formatTransactionId(provider, id)
        await addAudit(within, store, { actor, action: 'order.undismiss', subject, after: { note } })
        isRepeated = true
        return true
      })
    },
    freeKey(account, key, note, actor) {
      let done: WithheldKey | undefined
      return write(async (within) => {
        const isIt = sql<boolean>`accounts.name = ${account.normalize()} and claims.key = ${key}`
        const [withheld] = await withheldKeys(within, isIt)
        if (!withheld) return done
        await within.deleteFrom('transactions').where('intent', '=', withheld.intent).execute()
        const { hasShownAddress } = withheld
        await addAudit(within, store, { actor, action: 'order.free_key', subject: account, after: { hasShownAddress, note } })
        done = withheld
        return withheld
      })
    },
  }
}

/** Whether the ledger has the id, of any owner and in any state, at a tag of the provider's account, or had it until it was pruned. */
function isKnown(id: RawBuilder<unknown>, provider: unknown): RawBuilder<boolean> {
  return sql`(exists (
    select 1 from transactions where transactions.provider_id = ${id} and ${isOfAccount('transactions.provider', provider)}
  ) or exists (
    select 1 from pruned_ids where pruned_ids.provider_id = ${id} and ${isOfAccount('pruned_ids.provider', provider)}
  ))`
}

/** Until a person has decided, or the result of its create is in the ledger. */
export const isUndecided = sql<boolean>`found_orders.decided_at is null
  and not ${isKnown(sql`found_orders.provider_id`, sql.ref('found_orders.provider'))}`

/** Of a file a statement is one turn of the event loop: requests come between two. */
const rowsPerPage = 500

interface OrderKey {
  readonly provider: string
  readonly provider_id: string
}

interface TimedKey extends OrderKey {
  readonly found_at: number
  readonly decided_at: number | null
}

/** Of the orders that meet the condition the first ones by their time. All rows are looked at, some at a time. */
async function keysOf(
  database: Database,
  condition: RawBuilder<boolean>,
  timeOf: (key: TimedKey) => number,
  maxOrders: number,
): Promise<readonly OrderKey[]> {
  const found: TimedKey[] = []
  for (let [provider, id] = ['', '']; ; await pause()) {
    const { rows } = await sql<TimedKey & { readonly is_it: number }>`
      select provider, provider_id, found_at, decided_at, case when ${condition} then 1 else 0 end as is_it from found_orders
      where (provider, provider_id) > (${provider}, ${id}) order by provider, provider_id limit ${sql.lit(rowsPerPage)}`.execute(
      database,
    )
    found.push(...rows.filter(({ is_it }) => is_it === 1))
    const last = rows.at(-1)
    if (!last || rows.length < rowsPerPage) break
    ;[provider, id] = [last.provider, last.provider_id]
  }
  return found.sort((one, other) => timeOf(one) - timeOf(other)).slice(0, maxOrders)
}

/** Some at a time, in this order; without those that have gone meanwhile. */
async function loaded<Order extends FoundOrder>(
  keys: readonly OrderKey[],
  load: (part: readonly OrderKey[]) => Promise<readonly Order[]>,
): Promise<readonly Order[]> {
  const found: Order[] = []
  for (let at = 0; at < keys.length; at += rowsPerPage) {
    const part = keys.slice(at, at + rowsPerPage)
    const byId = new Map((await load(part)).map((order) => [formatTransactionId(order.provider, order.id), order]))
    found.push(...part.flatMap(({ provider, provider_id }) => byId.get(formatTransactionId(provider, provider_id)) ?? []))
    await pause()
  }
  return found
}

function isAmong(table: string, keys: readonly OrderKey[], { recordset }: Pick<Store, 'recordset'>): RawBuilder<boolean> {
  const [provider, id] = [sql.ref(`${table}.provider`), sql.ref(`${table}.provider_id`)]
  const listed = recordset(JSON.stringify(keys), { provider: 'text', provider_id: 'text' })
  return sql`(${provider}, ${id}) in (select provider, provider_id from ${listed})`
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

type WithoutCreates = Omit<UndecidedOrder, 'creates'>

async function orders(database: Database, condition: RawBuilder<unknown>): Promise<readonly WithoutCreates[]> {
  const { rows } = await sql<OrderRow>`
    select found_orders.provider, found_orders.provider_id, reports, details, found_orders.owner, found_at, accounts.name as account
    from found_orders left join accounts on accounts.id = found_orders.owner where ${condition}`.execute(database)
  return rows.map(({ provider, provider_id, reports, details, owner, found_at, account }) => ({
    ...orderOf(provider, provider_id, reports, details, owner),
    foundAt: Number(found_at),
    ...(account !== null && { account }),
  }))
}

interface NotedRow {
  readonly provider: string
  readonly provider_id: string
  readonly name: string
  readonly key: string
  readonly seen_at: number
}

async function withCreates(
  store: Store,
  orders: readonly WithoutCreates[],
  keys: readonly OrderKey[],
): Promise<readonly UndecidedOrder[]> {
  const { rows } = await sql<NotedRow>`
    select provider, provider_id, accounts.name, key, seen_at
    from found_order_keys join accounts on accounts.id = found_order_keys.owner
    where ${isAmong('found_order_keys', keys, store)} order by seen_at, key`.execute(store.database)
  const byOrder = Map.groupBy(rows, ({ provider, provider_id }) => formatTransactionId(provider, provider_id))
  return orders.map((order) => ({
    ...order,
    creates: (byOrder.get(formatTransactionId(order.provider, order.id)) ?? []).map(toNoted),
  }))
}

function toNoted({ name, key, seen_at }: Pick<NotedRow, 'name' | 'key' | 'seen_at'>): NotedCreate {
  return { account: name, key, at: Number(seen_at) }
}

/** Its swap is still there. */
const isAssigned = sql<boolean>`decision = 'assigned' and exists (
  select 1 from transactions where transactions.provider = found_orders.provider
    and transactions.provider_id = found_orders.provider_id and transactions.state = 'done'
)`

interface AssignedRow extends OrderRow {
  readonly decided_at: number
  readonly account: string
}

async function assignedOrders(database: Database, condition: RawBuilder<boolean>): Promise<readonly AssignedOrder[]> {
  const { rows } = await sql<AssignedRow>`
    select found_orders.provider, found_orders.provider_id, reports, details, found_orders.owner, found_at, decided_at,
      accounts.name as account
    from found_orders
      join transactions on transactions.provider = found_orders.provider and transactions.provider_id = found_orders.provider_id
        and transactions.state = 'done'
      join accounts on accounts.id = transactions.owner
    where decision = 'assigned' and ${condition}`.execute(database)
  return rows.map(({ provider, provider_id, reports, details, owner, found_at, decided_at, account }) => ({
    ...orderOf(provider, provider_id, reports, details, owner),
    foundAt: Number(found_at),
    decidedAt: Number(decided_at),
    account,
  }))
}

async function dismissedOrders(database: Database, condition: RawBuilder<boolean>): Promise<readonly DismissedOrder[]> {
  const { rows } = await sql<Omit<OrderRow, 'account'> & { readonly decided_at: number }>`
    select provider, provider_id, reports, details, owner, found_at, decided_at from found_orders
    where decision = 'dismissed' and ${condition}`.execute(database)
  return rows.map(({ provider, provider_id, reports, details, owner, found_at, decided_at }) => ({
    ...orderOf(provider, provider_id, reports, details, owner),
    foundAt: Number(found_at),
    decidedAt: Number(decided_at),
  }))
}

function orderOf(provider: string, id: string, reports: string, details: number, owner: string | null): FoundOrder {
  return { provider, id, reports: JSON.parse(reports), hasDetails: details === 1, ...(owner !== null && { owner }) }
}

function lockOrder(within: Database, provider: string, id: string) {
  return within
    .selectFrom('found_orders')
    .select(['decision', 'last_number'])
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

async function waitAgain(within: Database, provider: string, id: string): Promise<void> {
  await sql`
    update found_orders set decision = null, decided_at = null where provider = ${provider} and provider_id = ${id}`.execute(within)
}

/** The order becomes a create of the account, with its result. */
async function assign(
  within: Database,
  { provider, id, account, key, transaction, createdAt, reportedAt, note, withdrawalAddress, despite }: OrderAssignment,
  actor: string,
  { last_number, deposit }: { readonly last_number: number | null; readonly deposit: DepositClaim },
  store: Store,
): Promise<Assigned> {
  const owner = await ownerNamed(within, account)
  if (!owner) return { outcome: 'noAccount' }
  await store.lockId(within, id)
  const { rows } = await sql`select 1 where ${isKnown(sql`${id}`, provider)}`.execute(within)
  if (rows.length > 0) return { outcome: 'known' }
  const named = key === null ? undefined : await findNamed(within, owner.id, key, store)
  if (named?.isInUse) return { outcome: 'keyInUse' }
  if (named?.withheld !== undefined) await within.deleteFrom('transactions').where('intent', '=', named.withheld).execute()
  const { ownAssets, reference: _, ...reported } = transaction
  const create = { intent: randomUUID(), owner: owner.id, provider, attempted_at: createdAt }
  await sql`
    insert into transactions (intent, owner, provider, state, requested, sent, attempted_at)
    values (${create.intent}, ${create.owner}, ${provider}, 'unknown', ${JSON.stringify(requestOf({ ...reported, ...(withdrawalAddress !== undefined && { withdrawalAddress }) }))},
      ${ownAssets === undefined ? null : JSON.stringify(ownAssets)}, ${createdAt})`.execute(within)
  const record: TransactionRecord = { transaction: { ...reported, status: reported.status ?? 'wait' }, derived: [], reportedAt }
  await writeEntry(within, { kind: 'create', create, replaced: undefined, deposit, lastNumber: last_number ?? 0 }, record, store)
  if (named && key !== null) {
    const idempotencyKey = {
      key,
      fingerprint: named.fingerprint,
      ...(named.request !== null && { request: JSON.parse(named.request) }),
    }
    const isBound = await storeIdempotencyKey(within, { id: create.intent, owner: owner.id, idempotencyKey }, store.clock)
    if (!isBound) throw new LedgerConflict('Another create has just taken the Idempotency-Key.')
  }
  await decide(within, provider, id, 'assigned', store)
  const freed = await endNotes(within, provider, id, key === null ? undefined : { owner: owner.id, account, key })
  const subject = formatTransactionId(provider, id)
  const after = {
    account,
    hasKey: key !== null,
    isConfirmed: withdrawalAddress !== undefined,
    despite,
    freedKeys: freed.length,
    note,
  }
  await addAudit(within, store, { actor, action: 'order.assign', subject, after })
  return { outcome: 'assigned', freed }
}

function ownerNamed(within: Database, account: string) {
  return within.selectFrom('accounts').select('id').where('name', '=', account.normalize()).executeTakeFirst()
}

interface NamedKey {
  /** Whether another create has it. */
  readonly isInUse: boolean
  /** The create in whose place the assignment comes. */
  readonly withheld?: string
  /** Empty: nobody knows what its create has requested. */
  readonly fingerprint: string
  readonly request: string | null
}

async function findNamed(within: Database, owner: string, key: string, { clock }: Store): Promise<NamedKey> {
  const { rows: claims } = await sql<{ intent: string; fingerprint: string; request: string | null; is_withheld: number }>`
    select claims.intent, claims.fingerprint, claims.request, case when ${isWithheld} then 1 else 0 end as is_withheld
    from claims join transactions on transactions.intent = claims.intent
    where claims.owner = ${owner} and claims.key = ${key} and (transactions.state <> 'done' or not ${hasExpired(clock)})`.execute(
    within,
  )
  const [claim] = claims
  if (claim) {
    const { intent, fingerprint, request, is_withheld } = claim
    return is_withheld === 1 ? { isInUse: false, withheld: intent, fingerprint, request } : { isInUse: true, fingerprint, request }
  }
  const noted = within.selectFrom('found_order_keys').select(['fingerprint', 'request']).where('owner', '=', owner)
  const found = await noted.where('key', '=', key).orderBy('seen_at').limit(1).executeTakeFirst()
  return { isInUse: false, fingerprint: found?.fingerprint ?? '', request: found?.request ?? null }
}

/** Of a row of `transactions`. */
const isWithheld = sql<boolean>`(transactions.state = 'unknown' and transactions.unknown_reason in ('taken_back', 'taken_back_after_response'))`

async function withheldKeys(database: Database, condition: RawBuilder<boolean | unknown>): Promise<readonly WithheldKey[]> {
  const { rows } = await sql<{ intent: string; name: string; key: string; provider: string; unknown_reason: string }>`
    select transactions.intent, accounts.name, claims.key, transactions.provider, transactions.unknown_reason
    from claims join transactions on transactions.intent = claims.intent join accounts on accounts.id = claims.owner
    where ${isWithheld} and ${condition} order by accounts.name, claims.key limit ${sql.lit(maxListed)}`.execute(database)
  return rows.map(({ intent, name: account, key, provider, unknown_reason }) => ({
    ...{ intent, account, key, provider },
    hasShownAddress: unknown_reason === 'taken_back_after_response',
  }))
}

/** Returns the creates that are ordinary ones now: not the named one, nor one that may have made another order that waits. */
async function endNotes(
  within: Database,
  provider: string,
  id: string,
  named?: { readonly owner: string; readonly account: string; readonly key: string },
): Promise<readonly NotedCreate[]> {
  const { rows } = await sql<NotedRow & { readonly owner: string }>`
    select noted.provider, noted.provider_id, noted.owner, accounts.name, noted.key, noted.seen_at
    from found_order_keys as noted join accounts on accounts.id = noted.owner
    where noted.provider = ${provider} and noted.provider_id = ${id} and not exists (
      select 1 from found_order_keys as other join found_orders
        on found_orders.provider = other.provider and found_orders.provider_id = other.provider_id
      where other.owner = noted.owner and other.key = noted.key and ${isUndecided}
        and not (other.provider = ${provider} and other.provider_id = ${id})
    ) order by noted.seen_at, noted.key`.execute(within)
  await within.deleteFrom('found_order_keys').where('provider', '=', provider).where('provider_id', '=', id).execute()
  if (named) await within.deleteFrom('found_order_keys').where('owner', '=', named.owner).where('key', '=', named.key).execute()
  return rows.filter(({ owner, key }) => owner !== named?.owner || key !== named.key).map(toNoted)
}

/** Nothing of the account may stand on the swap: then it is as if it had never been assigned, but for a key that returned it. */
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
    .select([
      'intent',
      'owner',
      'requested',
      'sent',
      'attempted_at',
      'settled_at',
      sql<string>`cast(sort_key as text)`.as('sort_key'),
    ])
    .where('provider', '=', provider)
    .where('provider_id', '=', id)
    .where('state', '=', 'done')
    .forUpdate()
    .executeTakeFirst()
  if (!swap) return { outcome: 'missing' }
  const { intent, owner, settled_at, sort_key } = swap
  if (settled_at !== null) return { outcome: 'isSettled' }
  const actions = within.selectFrom('swap_actions').select('kind').where('provider', '=', provider)
  if (await actions.where('provider_id', '=', id).executeTakeFirst()) return { outcome: 'hasAction' }
  const { name: account } = await within.selectFrom('accounts').select('name').where('id', '=', owner).executeTakeFirstOrThrow()
  // Locked: a response that shows the address notes that before, or finds it taken back.
  const claims = within.selectFrom('claims').select(['key', 'fingerprint', 'request', 'shown_at']).where('intent', '=', intent)
  const claim = await claims.forUpdate().executeTakeFirst()
  const lastNumber = await lastNumberOf(within, provider, id)
  await removeEntry(within, provider, id, { owner, sort_key })
  await within.deleteFrom('watched_transactions').where('provider', '=', provider).where('provider_id', '=', id).execute()
  if (claim) await withhold(within, { ...swap, provider }, claim, store)
  await waitAgain(within, provider, id)
  await sql`update found_orders set last_number = ${lastNumber} where provider = ${provider} and provider_id = ${id}`.execute(
    within,
  )
  const withheld = claim && { key: claim.key, hasShownAddress: claim.shown_at !== null }
  const subject = formatTransactionId(provider, id)
  const after = { ...(withheld && { withheldKeys: 1 }), note }
  await addAudit(within, store, { actor, action: 'order.unassign', subject, before: { account }, after })
  return { outcome: 'unassigned', account, ...(withheld && { withheld }) }
}

/** The create with the key has no known outcome any more. No check is due: only a person finds it out. */
async function withhold(
  within: Database,
  swap: {
    readonly intent: string | null
    readonly owner: string
    readonly provider: string
    readonly requested: string | null
    readonly sent: string | null
    readonly attempted_at: number | null
  },
  claim: { readonly key: string; readonly fingerprint: string; readonly request: string | null; readonly shown_at: number | null },
  store: Store,
): Promise<void> {
  const { intent, owner, provider, requested, sent, attempted_at } = swap
  const reason = claim.shown_at === null ? 'taken_back' : 'taken_back_after_response'
  await sql`
    insert into transactions (intent, owner, provider, state, requested, sent, attempted_at, unknown_reason)
    values (${intent}, ${owner}, ${provider}, 'unknown', ${requested}, ${sent}, ${attempted_at}, ${reason})`.execute(within)
  const request: NewTransaction = JSON.parse(requested ?? '{}')
  const idempotencyKey = {
    key: claim.key,
    fingerprint: claim.fingerprint,
    ...(claim.request !== null && { request: JSON.parse(claim.request) }),
  }
  const create = { id: intent ?? '', owner, attemptedAt: Number(attempted_at), requested: request, idempotencyKey }
  await storeIdempotencyKey(within, create, store.clock)
  await storeRequest(within, create)
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

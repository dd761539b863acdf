/**
 * Kysely: the state machine of a create, from before its request is sent until its outcome is known. Each transition is a function
 * here, in this order:
 *
 *     begin ───────────> pending: without its quote, if it gets one of its own (`quoting`), until markQuoted
 *     pending, unknown ─> done (complete, bindFound) · mismatch (complete, markMismatch) · unknown (markUnknown, beginCheck, scheduleNextCheck)
 *                         · gone (drop, dropUnquoted) · refused (refuse) · ended (markNotCreated)
 *     refused ─────────> mismatch (keepRefused, keepCandidates) · gone (scheduleNextRefusedCheck)
 *     ended ───────────> unknown again, for a late result (restore)
 *     by hand ─────────> done (bindByHand, acceptByHand) · ended (markNotCreatedByHand)
 *
 * `done` is an entry; what becomes of it is `writeEntry`'s. Refused and ended creates have tables of their own, without a key.
 */
import { type NotNull, type RawBuilder, sql } from 'kysely'
import {
  type BindingQuote,
  type DepositClaim,
  type Intent,
  isBeingChecked,
  type Ledger,
  maxOpenCreates,
  type TransactionRecord,
  type UnknownReason,
  type UnresolvedCreate,
} from '../core/ports/ledger.ts'
import { discrepanciesOf, wasThereBefore } from '../core/same-swap.ts'
import { paymentAddressKey } from '../domain/address/same-address.ts'
import { DepositInUse, LedgerBusy, LedgerConflict, QuoteNotHeld, TooManyOpenCreates, UncertainChange } from '../domain/fault.ts'
import { isFinal } from '../domain/status.ts'
import type { NewTransaction, Transaction } from '../domain/swap.ts'
import { Turns } from '../domain/turns.ts'
import { isBoundElsewhere, isOfAccount, isTakenElsewhere } from './accounts.ts'
import type { CreateProbe } from './create-probe.ts'
import { storeRequest } from './create-requests.ts'
import type { Database } from './database.ts'
import { contradictObserved, entryOfCreate, removeEntry, takeDeposit, writeEntry } from './entries.ts'
import { type CreateWithoutEntry, loadEntry, storeFirst } from './entry.ts'
import { useFirmQuote } from './firm-quotes.ts'
import { renewIdempotencyKey, storeIdempotencyKey } from './idempotency-keys.ts'
import { countMismatch, endStreaks } from './mismatch-streaks.ts'
import type { Store } from './store.ts'
import { lastNumberOf } from './transaction-events.ts'
import type { LedgerTurns } from './turns.ts'
import { countRefused, type RefusedCreate, removeRefused } from './usage.ts'

type Creates = Pick<
  Ledger,
  | 'begin'
  | 'markQuoted'
  | 'complete'
  | 'bindFound'
  | 'markUnknown'
  | 'drop'
  | 'markMismatch'
  | 'dropUnquoted'
  | 'dueCreates'
  | 'ownersOfUnresolved'
  | 'beginCheck'
  | 'scheduleNextCheck'
  | 'unresolvedBetween'
  | 'unresolvedElsewhere'
  | 'markNotCreated'
  | 'dueRefusedCreates'
  | 'scheduleNextRefusedCheck'
  | 'keepRefused'
  | 'keepCandidates'
  | 'boundCreate'
  | 'takeDeposit'
>

/** Of a create that does not begin together with others, like the wait for a connection. */
const maxAloneWaitMs = 2_000

export function creates(store: Store, { refusal, heed }: Pick<CreateProbe, 'refusal' | 'heed'>, turns: LedgerTurns): Creates {
  const { database, write, writeOne, atOnce } = store
  const alone = new Turns(atOnce?.maxAlone ?? Number.POSITIVE_INFINITY, { maxWaitMs: maxAloneWaitMs })
  /** What this process has begun, until it is told the outcome. */
  const sent = new Map<string, CreateWithoutEntry>()
  return {
    begin(intent, isAwaited = () => true) {
      const { id, owner, provider, attemptedAt } = intent
      return turns.begin(owner, async () => {
        const why = refusal()?.message
        if (why !== undefined) return await refuseNew(database, intent, why)
        let uncertain: UncertainChange | undefined
        const begun = await atOnce?.begin(intent, isAwaited).catch((reason) => {
          heed(reason)
          if (!(reason instanceof UncertainChange)) throw reason
          uncertain = reason
        })
        if (begun === 'keyInUse') return false
        if (begun === undefined) {
          if (!isAwaited()) throw uncertain ?? new LedgerBusy('timeout: the create is over')
          const isNew = await alone
            .run(owner, () => beginAlone(store, intent, isAwaited))
            .catch((reason) => {
              heed(reason)
              throw uncertain ?? reason
            })
          if (!isNew) return false
        }
        if (atOnce) sent.set(id, { intent: id, owner, provider, attempted_at: attemptedAt })
        return true
      })
    },
    markQuoted: (intent, quote) => writeOne((within) => markQuoted(within, intent, quote)),
    async complete(intent, record, judged = [], deposit = {}) {
      const create = sent.get(intent)
      sent.delete(intent)
      const [{ tags } = { tags: [] }] = judged
      if (create && (await atOnce?.complete({ id: intent, create, record, tags }))) return true
      return await write(async (within) => {
        const isAccepted = await complete(within, intent, record, store, deposit)
        if (isAccepted) await endStreaks(within, judged, store)
        return isAccepted
      }, 'result').catch(async (reason) => {
        heed(reason)
        if (!(reason instanceof LedgerConflict)) throw reason
        await write((within) => addBesideBound(within, intent, record, store), 'result').catch((beside) => {
          if (!(beside instanceof DepositInUse)) throw beside // another swap has its deposit address: it is not added
        })
        throw reason
      })
    },
    markUnknown(intent, nextCheckAt, reason) {
      sent.delete(intent)
      return writeOne((within) => markUnknown(within, intent, nextCheckAt, reason), 'result')
    },
    dropUnquoted: (now) => writeOne((within) => dropUnquoted(within, now)),
    dueCreates: (...query) => dueCreates(store, ...query),
    ownersOfUnresolved: () => ownersOfUnresolved(database),
    beginCheck: (create, until) => writeOne((within) => beginCheck(within, create, until)),
    scheduleNextCheck: (create, next, candidates, withheld = []) =>
      withheld.length === 0
        ? writeOne((within) => scheduleNextCheck(within, create, next, candidates))
        : write(async (within) => {
            const isFirst = await scheduleNextCheck(within, create, next, candidates)
            if (isFirst) await withhold(within, create, withheld, store)
            return isFirst
          }),
    unresolvedBetween: (provider, first, last) => unresolvedAt(database, isOfAccount('provider', provider), first, last),
    unresolvedElsewhere: (provider, first, last) =>
      unresolvedAt(database, sql<boolean>`not ${isOfAccount('provider', provider)}`, first, last),
    bindFound: (intent, record, deposit = {}) => write((within) => bindFound(within, intent, record, store, deposit), 'result'),
    drop(intent, checkAt) {
      sent.delete(intent)
      return checkAt === undefined
        ? writeOne((within) => dropRefused(within, intent, store), 'result')
        : write((within) => refuse(within, intent, checkAt), 'result')
    },
    dueRefusedCreates: (...query) => dueRefusedCreates(store, ...query),
    scheduleNextRefusedCheck: (create, next) => write((within) => scheduleNextRefusedCheck(within, create, next, store)),
    keepRefused: (create, reported, contradicted = []) =>
      write((within) => keepRefused(within, create, { reported, fields: ['refused', ...contradicted] }, store)),
    keepCandidates: (create, candidates, withheld = []) =>
      write(async (within) => {
        await keepCandidates(within, create, candidates)
        await withhold(within, create, withheld, store)
      }),
    markMismatch(intent, reported, fields, judged = []) {
      sent.delete(intent)
      return write(async (within) => {
        await markMismatch(within, intent, reported, fields, store)
        return await countMismatch(within, intent, judged, store)
      }, 'result')
    },
    markNotCreated: (create, windowMs) => write((within) => markNotCreated(within, create, windowMs, store)),
    boundCreate: (provider, id) => boundCreate(database, provider, id),
    takeDeposit: (provider, { id, depositAddress, depositExtraId }, claim) =>
      write(async (within) => {
        if (!depositAddress) return
        await takeDeposit(
          within,
          { provider, id },
          paymentAddressKey({ address: depositAddress, extraId: depositExtraId }),
          claim,
          store,
        )
      }, 'result'),
  }
}

async function boundCreate(database: Database, provider: string, id: string): Promise<UnresolvedCreate | undefined> {
  const { rows } = await sql<UnresolvedRow>`
    select ${unresolvedColumns} from transactions
    where provider = ${provider} and provider_id = ${id} and state = 'done' and requested is not null`.execute(database)
  return rows[0] && toUnresolvedCreate(rows[0])
}

/** No create begins whose result could not be stored. One whose key is in use is a repeat. */
async function refuseNew(database: Database, { id, owner, idempotencyKey }: Intent, why: string): Promise<false> {
  const key = idempotencyKey?.key ?? null
  const { rows } = await sql`select 1 from claims where owner = ${owner} and key = ${key} and intent <> ${id}`.execute(database)
  if (rows.length > 0) return false
  throw new Error(why)
}

function beginAlone(store: Store, intent: Intent, isAwaited: () => boolean): Promise<boolean> {
  return store.write(async (within) => {
    if (!isAwaited()) throw new LedgerBusy('timeout: the create is over')
    const isBegun = await begin(within, intent, store)
    if (!isAwaited()) throw new LedgerBusy('timeout: the create is over')
    return isBegun
  })
}

/** Conditions that repeat those of the indexes, or the database does not use them. */
const hasNoOutcome = sql<boolean>`state in ('pending', 'unknown')`
export const isUnresolved = sql<boolean>`state <> 'done'`
const isMismatch = sql<boolean>`state <> 'done' and state = 'mismatch'`

type CreateStore = Pick<Store, 'clock' | 'lockId' | 'databaseTimeMs' | 'newEvents' | 'recordset' | 'confirmEarlier'>

export type Create = NonNullable<Awaited<ReturnType<typeof lockCreate>>>

export async function lockCreate(within: Database, intent: string) {
  const row = await within
    .selectFrom('transactions')
    .select(['owner', 'provider', 'provider_id', 'state', 'attempted_at', 'requested', 'record'])
    .where('intent', '=', intent)
    .forUpdate()
    .$narrowType<{ attempted_at: NotNull; requested: NotNull }>()
    .executeTakeFirst()
  return row && { ...row, intent }
}

// Begin

async function begin(within: Database, intent: Intent, store: Store): Promise<boolean> {
  const { clock } = store
  const { id, owner, provider, attemptedAt, isQuoting, nextCheckAt, requested, sent, destination, deadline, traceparent } = intent
  const { numAffectedRows } = await sql`
    insert into transactions (
      intent, owner, provider, state, attempted_at, quoting, next_check_at, begun_at, requested, sent, destination, deadline, traceparent,
      quoted
    ) values (
      ${id}, ${owner}, ${provider}, 'pending', ${attemptedAt}, ${isQuoting ? 1 : null}, ${nextCheckAt}, ${clock.at(clock.read())},
      ${toJson(requested)}, ${toJson(sent)}, ${toJson(destination)}, ${deadline ?? null}, ${traceparent ?? null}, ${toJson(intent.quote)}
    ) on conflict (intent) do nothing`.execute(within)
  // The same create again: an earlier run inserted it, and its COMMIT was not confirmed.
  if (numAffectedRows === 0n) {
    await store.confirmEarlier(within)
    return true
  }
  if (await exceedsOpen(within, intent)) throw new TooManyOpenCreates()
  const isNew =
    (await storeIdempotencyKey(within, intent, clock)) ||
    ((await dropAbandoned(within, intent)) && (await storeIdempotencyKey(within, intent, clock)))
  await (isNew ? storeRequest(within, intent) : drop(within, id))
  if (isNew && intent.firmQuote !== undefined && !(await useFirmQuote(within, intent, store))) throw new QuoteNotHeld()
  return isNew
}

/** Counts no further than the bound. */
async function exceedsOpen(within: Database, { owner, provider }: Intent): Promise<boolean> {
  const { rows } = await sql`
    select intent from transactions where ${isUnresolved} and owner = ${owner} and provider = ${provider}
    limit 1 offset ${sql.lit(maxOpenCreates)}`.execute(within)
  return rows.length > 0
}

/** Deletes the create that has the key, if its quote was under way at its deadline: its process is gone, and it was not sent. */
async function dropAbandoned(within: Database, { owner, idempotencyKey: requested, attemptedAt }: Intent): Promise<boolean> {
  if (!requested) return false
  const { numAffectedRows } = await sql`
    delete from transactions
    where intent = (select intent from claims where owner = ${owner} and key = ${requested.key})
    and quoting = 1 and deadline < ${attemptedAt}`.execute(within)
  return numAffectedRows === 1n
}

/** Returns false if the create is gone. */
async function markQuoted(within: Database, intent: string, quote: BindingQuote | undefined): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update transactions set quoting = null, quoted = coalesce(${toJson(quote)}, quoted) where intent = ${intent} and state = 'pending'`.execute(
    within,
  )
  return numAffectedRows === 1n
}

// Complete: the response is the transaction

async function complete(
  within: Database,
  intent: string,
  record: TransactionRecord,
  store: CreateStore,
  deposit: DepositClaim,
): Promise<boolean> {
  const create = await lockCreateOrRestore(within, intent)
  if (!create) throw new LedgerConflict(`The ledger has no create ${intent}.`)
  if (create.state === 'mismatch') return false
  if (create.state === 'done') {
    await store.confirmEarlier(within)
    return isCompletedAs(create, record)
  }
  const { holder, isAnothers } = await lockId(within, create, record.transaction.id, store)
  if (isAnothers || (holder && isOlder(holder, record))) {
    await becomeMismatch(within, intent, null, { reported: record.transaction, fields: ['id'] }, store)
    return false
  }
  await completeAs(within, create, record, holder, store, deposit)
  return true
}

/** Accepts a repeated result. Throws a `LedgerConflict` if the create has another id. */
function isCompletedAs({ intent, provider_id }: Create, { transaction }: TransactionRecord): true {
  if (provider_id === transaction.id) return true
  throw new LedgerConflict(`The create ${intent} is already bound to another id.`)
}

/**
 * The create is already bound to another transaction: adds this one as an entry of the same owner, unless another create had it, or another
 * swap has its deposit address.
 */
async function addBesideBound(within: Database, intent: string, record: TransactionRecord, store: CreateStore): Promise<void> {
  const create = await lockCreate(within, intent)
  if (create?.state !== 'done' || (await lockId(within, create, record.transaction.id, store)).isAnothers) return
  const { provider, attempted_at } = create
  const { provider_id: id, deposit } = entryOfCreate({ attempted_at }, record)
  const isAdded = await writeEntry(within, { kind: 'nothing', owner: create.owner, provider }, record, store)
  if (isAdded) await takeDeposit(within, { provider, id }, deposit, {}, store)
}

async function completeAs(
  within: Database,
  create: Create,
  record: TransactionRecord,
  holder: Holder | undefined,
  store: CreateStore,
  deposit: DepositClaim,
): Promise<void> {
  await renewIdempotencyKey(within, create.intent, store.clock, { first: storeFirst(record) })
  await becomeEntry(within, create, record, holder, store, deposit)
}

/** Replaces an entry with this id that was only observed, of any owner. */
async function becomeEntry(
  within: Database,
  create: Create,
  record: TransactionRecord,
  holder: Holder | undefined,
  store: CreateStore,
  deposit: DepositClaim,
): Promise<void> {
  const replaced = holder?.state === 'done' ? holder : undefined
  const { lastNumber = 0 } = holder?.state === 'mismatch' ? loadMismatch(holder.record) : {}
  const before = { kind: 'create', create, replaced, lastNumber, deposit } as const
  await writeEntry(within, before, holder ? withLater(record, holder) : record, store)
}

// The row that has the id of a create's result

/**
 * Locks the row that has the id. `isAnothers`: another create has the id, or had it until it was pruned, at any tag of the account. A row
 * that was only observed is no create's.
 */
async function lockId(
  within: Database,
  { intent, provider }: Pick<Create, 'intent' | 'provider'>,
  id: string,
  store: CreateStore,
): Promise<{ readonly holder: Holder | undefined; readonly isAnothers: boolean }> {
  const holder = await lockHolder(within, provider, id)
  const isHeld = holder && holder.intent !== null && holder.intent !== intent
  return { holder, isAnothers: isHeld || (await isTakenElsewhere(within, provider, id, store)) }
}

type Holder = NonNullable<Awaited<ReturnType<typeof lockHolder>>>

async function lockHolder(within: Database, provider: string, id: string) {
  return await within
    .selectFrom('transactions')
    .select(['intent', 'owner', 'state', 'status', 'changed_at', 'sequence', 'record'])
    .select(sql<string>`cast(sort_key as text)`.as('sort_key'))
    .where('provider', '=', provider)
    .where('provider_id', '=', id)
    .forUpdate()
    .$narrowType<{ record: NotNull }>()
    .executeTakeFirst()
}

/** Whether the transaction was read before the create was sent, and is another one: then this create did not make it. */
function isOlder({ sequence, status, record }: Holder, created: Pick<TransactionRecord, 'transaction' | 'sequence'>): boolean {
  const { transaction } = loadEntry(record)
  return wasThereBefore({ sequence, transaction: { ...transaction, ...(status !== null && { status }) } }, created)
}

/** The create's record with the status of the later request, if that was about the same transaction. A final status does not change. */
function withLater(record: TransactionRecord, holder: Holder): TransactionRecord {
  const { status, changed_at, sequence } = holder
  const isLater = (sequence ?? 0) >= (record.sequence ?? 0) && !isFinal(record.transaction.status ?? null)
  const latest = { ...record, sequence: Math.max(sequence ?? 0, record.sequence ?? 0) || undefined }
  if (status === null || status === record.transaction.status || !(isLater || isFinal(status))) return latest
  if (discrepanciesOf(record, loadEntry(holder.record).transaction).rejected.length > 0) return latest
  return { ...latest, transaction: { ...record.transaction, status }, changedAt: changed_at ?? undefined }
}

// Unknown: no response, or none that says what happened. Reconciliation checks it, each check by one process

async function markUnknown(
  within: Database,
  intent: string,
  nextCheckAt: number,
  reason: UnknownReason | undefined,
): Promise<void> {
  await sql`
    update transactions set state = 'unknown', next_check_at = ${nextCheckAt}, unknown_reason = ${reason ?? null}
    where intent = ${intent} and ${hasNoOutcome}`.execute(within)
}

interface UnresolvedRow {
  readonly intent: string
  readonly owner: string
  readonly provider: string
  readonly requested: string
  readonly sent: string | null
  readonly destination: string | null
  readonly attempted_at: number
  readonly check_count: number
  readonly next_check_at: number | null
  readonly traceparent: string | null
  readonly quoted: string | null
}

const unresolvedColumns = sql`
  intent, owner, provider, requested, sent, destination, attempted_at, check_count, next_check_at, traceparent, quoted`

function toUnresolvedCreate(row: UnresolvedRow): UnresolvedCreate {
  return {
    intent: row.intent,
    owner: row.owner,
    provider: row.provider,
    requested: JSON.parse(row.requested),
    ...(row.sent !== null && { sent: JSON.parse(row.sent) }),
    ...(row.destination !== null && { destination: JSON.parse(row.destination) }),
    attemptedAt: row.attempted_at,
    checkCount: row.check_count,
    ...(row.next_check_at !== null && { nextCheckAt: row.next_check_at }),
    ...(row.traceparent !== null && { traceparent: row.traceparent }),
    ...(row.quoted !== null && { quote: JSON.parse(row.quoted) }),
  }
}

/** Nothing was sent for them, and the process that was getting the quote is gone. */
async function dropUnquoted(within: Database, now: number): Promise<void> {
  await sql`delete from transactions where ${hasNoOutcome} and next_check_at <= ${now} and quoting = 1`.execute(within)
}

async function dueCreates(
  store: Store,
  now: number,
  maxCreates: number,
  owners: readonly string[] | undefined,
  busy: readonly string[] = [],
): Promise<readonly UnresolvedCreate[]> {
  const { rows } = await sql<UnresolvedRow>`
    select ${unresolvedColumns} from transactions
    where ${hasNoOutcome} and quoting is null and next_check_at <= ${now} ${isSearchable(store, owners, busy)}
    order by next_check_at, attempted_at limit ${maxCreates}`.execute(store.database)
  return rows.map(toUnresolvedCreate)
}

/** Of these owners, and at none of the busy providers. */
function isSearchable({ isIn, toList }: Store, owners: readonly string[] | undefined, busy: readonly string[]) {
  const isOfOwners = owners ? sql`and ${isIn('owner', toList(owners))}` : sql``
  const isElsewhere = busy.length > 0 ? sql`and not ${isIn('provider', toList(busy))}` : sql``
  return sql`${isOfOwners} ${isElsewhere}`
}

async function ownersOfUnresolved(database: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ readonly owner: string }>`
    select owner from transactions where next_check_at is not null
    union select owner from refused_creates`.execute(database)
  return rows.map(({ owner }) => owner)
}

async function unresolvedAt(database: Database, isThere: RawBuilder<boolean>, first: number, last: number) {
  const attempted = (isOpen: RawBuilder<boolean>) => sql<UnresolvedRow>`
    select ${unresolvedColumns} from transactions
    where ${isOpen} and ${isThere} and attempted_at >= ${first} and attempted_at <= ${last}
    order by attempted_at`
  // In this order a create that becomes a mismatch in between is found twice, not missed.
  const open = await attempted(sql`${hasNoOutcome} and quoting is null`).execute(database)
  const mismatches = await attempted(isMismatch).execute(database)
  return [...open.rows, ...mismatches.rows].map(toUnresolvedCreate)
}

async function beginCheck(within: Database, create: UnresolvedCreate, until: number): Promise<UnresolvedCreate | undefined> {
  const checkCount = create.checkCount + (isBeingChecked(create.checkCount) ? 2 : 1) // its process is gone
  const checked = { ...create, checkCount, nextCheckAt: until }
  return (await replaceCheck(within, create, checked, sql`candidates`)) ? checked : undefined
}

function scheduleNextCheck(
  within: Database,
  create: UnresolvedCreate,
  nextCheckAt: number | undefined,
  candidates: readonly string[] | undefined,
): Promise<boolean> {
  const found = candidates ? sql`${candidates.length > 0 ? toJson(candidates) : null}` : sql`candidates`
  return replaceCheck(within, create, { checkCount: create.checkCount + 1, nextCheckAt }, found)
}

/** Takes effect only for the first process: a second one finds another check count. */
async function replaceCheck(
  within: Database,
  { intent, checkCount, nextCheckAt }: UnresolvedCreate,
  next: Pick<UnresolvedCreate, 'checkCount' | 'nextCheckAt'>,
  candidates: RawBuilder<unknown>,
): Promise<boolean> {
  // Of a pending one, its process has not said what happened.
  const { numAffectedRows } = await sql`
    update transactions
    set state = 'unknown', next_check_at = ${next.nextCheckAt ?? null}, check_count = ${next.checkCount}, candidates = ${candidates},
      unknown_reason = case when state = 'pending' then 'interrupted' else unknown_reason end
    where intent = ${intent} and check_count = ${checkCount} and next_check_at is not distinct from ${nextCheckAt ?? null}
    and ${hasNoOutcome}`.execute(within)
  return numAffectedRows === 1n
}

/**
 * Until the create has an outcome. What is withheld once stays so: a person decides about it. An entry that was only observed stays,
 * with its numbers, and is contradicted.
 */
async function withhold(
  within: Database,
  { intent, provider }: Pick<UnresolvedCreate, 'intent' | 'provider'>,
  ids: readonly string[],
  store: CreateStore,
): Promise<void> {
  for (const id of ids) {
    await sql`
      insert into withheld_candidates (provider, provider_id, intent) values (${provider}, ${id}, ${intent})
      on conflict do nothing`.execute(within)
    await contradictObserved(within, provider, id, store)
  }
}

/** Binds a create to a transaction found at the provider, which the ledger may already have in a later state. */
async function bindFound(
  within: Database,
  intent: string,
  record: TransactionRecord,
  store: CreateStore,
  deposit: DepositClaim,
): Promise<boolean> {
  const create = await lockCreateOrRestore(within, intent)
  if (!create) throw new LedgerConflict(`The ledger has no create ${intent}.`)
  if (create.state === 'done') return create.provider_id === record.transaction.id
  if (create.state === 'mismatch') return false
  const { holder, isAnothers } = await lockId(within, create, record.transaction.id, store)
  if (isAnothers || (await isBoundElsewhere(within, create.provider, record.transaction))) return false
  await completeAs(within, create, record, holder, store, deposit)
  return true
}

// Refused: nothing was created, unless the refusal was not the provider's own. Its list is checked, each time by one process

/** Deletes a create and its key. */
async function drop(within: Database, intent: string): Promise<void> {
  await sql`delete from transactions where intent = ${intent} and ${hasNoOutcome}`.execute(within)
}

/** The same, counted for its owner: in one statement at a server, else in the transaction of a file. */
async function dropRefused(within: Database, intent: string, store: Store): Promise<void> {
  const removal = sql<RefusedCreate>`
    delete from transactions where intent = ${intent} and ${hasNoOutcome} returning owner, attempted_at`
  if (store.atOnce) return await removeRefused(within, removal)
  await countRefused(within, (await removal.execute(within)).rows, store)
}

interface RefusedRow {
  readonly intent: string
  readonly owner: string
  readonly provider: string
  readonly requested: string
  readonly sent: string | null
  readonly destination: string | null
  readonly attempted_at: number
  readonly deadline: number | null
  readonly next_check_at: number
  readonly check_count: number
  readonly quoted: string | null
}

/** Deletes a create and its key; its provider's list is checked then. */
async function refuse(within: Database, intent: string, checkAt: number): Promise<void> {
  const { rows } = await sql<Omit<RefusedRow, 'next_check_at' | 'check_count'>>`
    delete from transactions where intent = ${intent} and ${hasNoOutcome}
    returning owner, provider, requested, sent, destination, attempted_at, deadline, quoted`.execute(within)
  for (const { owner, provider, requested, sent, destination, attempted_at, deadline, quoted } of rows)
    await sql`
      insert into refused_creates (intent, owner, provider, requested, sent, destination, attempted_at, deadline, quoted, next_check_at)
      values (
        ${intent}, ${owner}, ${provider}, ${requested}, ${sent}, ${destination}, ${attempted_at}, ${deadline}, ${quoted}, ${checkAt}
      )`.execute(within)
}

async function dueRefusedCreates(
  store: Store,
  now: number,
  maxCreates: number,
  owners: readonly string[] | undefined,
  busy: readonly string[] = [],
): Promise<readonly UnresolvedCreate[]> {
  const { rows } = await sql<RefusedRow>`
    select * from refused_creates where next_check_at <= ${now} ${isSearchable(store, owners, busy)}
    order by next_check_at limit ${maxCreates}`.execute(store.database)
  return rows.map(({ deadline, ...row }) => ({
    ...toUnresolvedCreate({ ...row, traceparent: null }),
    ...(deadline !== null && { deadline }),
  }))
}

/** Takes effect only for the first process: a second one finds another number of check_count. */
async function scheduleNextRefusedCheck(
  within: Database,
  { intent, checkCount }: UnresolvedCreate,
  next: number | undefined,
  store: CreateStore,
): Promise<boolean> {
  const isCounted = sql`intent = ${intent} and check_count = ${checkCount}`
  if (next === undefined) {
    const { rows } = await sql<RefusedCreate>`
      delete from refused_creates where ${isCounted} returning owner, attempted_at`.execute(within)
    await countRefused(within, rows, store)
    return rows.length === 1
  }
  const { numAffectedRows } = await sql`
    update refused_creates set next_check_at = ${next}, check_count = ${checkCount + 1} where ${isCounted}`.execute(within)
  return numAffectedRows === 1n
}

async function keepRefused(
  within: Database,
  create: UnresolvedCreate,
  record: MismatchRecord,
  store: CreateStore,
): Promise<boolean> {
  const { id } = record.reported
  const { holder, isAnothers } = await lockId(within, create, id, store)
  if (holder?.intent === create.intent) return true
  if (isAnothers) return false
  // An entry that was only observed under the id keeps it.
  await keep(within, create, { id: holder ? null : id, record: toJson(record), candidates: null })
  return true
}

/** A mismatch without a response: any of the candidates may be its transaction. */
async function keepCandidates(within: Database, create: UnresolvedCreate, candidates: readonly string[]): Promise<void> {
  await keep(within, create, { id: null, record: null, candidates: toJson(candidates) })
}

async function keep(
  within: Database,
  { intent, owner, provider, requested, sent, destination, attemptedAt, deadline, quote }: UnresolvedCreate,
  found: { readonly id: string | null; readonly record: string | null; readonly candidates: string | null },
): Promise<void> {
  // An earlier run kept it, and its COMMIT was not confirmed.
  await sql`
    insert into transactions (
      intent, owner, provider, state, attempted_at, deadline, requested, sent, destination, quoted, provider_id, record, candidates
    ) values (
      ${intent}, ${owner}, ${provider}, 'mismatch', ${attemptedAt}, ${deadline ?? null}, ${toJson(requested)}, ${toJson(sent)},
      ${toJson(destination)}, ${toJson(quote)}, ${found.id}, ${found.record}, ${found.candidates}
    ) on conflict (intent) do nothing`.execute(within)
  await storeRequest(within, { id: intent, attemptedAt, requested })
  await sql`delete from refused_creates where intent = ${intent}`.execute(within)
}

// Mismatch: the response contradicts the request

/** The JSON in `record` of a mismatch. Its keys never change, and an earlier version ignores what it does not know. */
interface MismatchRecord {
  readonly reported: Transaction
  readonly fields: readonly string[]
  /** Of the events that its owner has had of it; absent: of none. */
  readonly lastNumber?: number
}

export function loadMismatch(text: string): MismatchRecord {
  return JSON.parse(text)
}

async function markMismatch(
  within: Database,
  intent: string,
  reported: Transaction,
  fields: readonly string[],
  store: CreateStore,
): Promise<void> {
  const create = await lockCreateOrRestore(within, intent)
  if (!create || create.state === 'done') throw new LedgerConflict(`The ledger has no create ${intent} whose outcome is open.`)
  const { holder, isAnothers } = await lockId(within, create, reported.id, store)
  // The sequence of the response is not known: what has progressed, or receives elsewhere, is another one.
  const response = { transaction: reported, sequence: Number.POSITIVE_INFINITY }
  const isListed = holder?.state === 'done' && holder.intent === null && !isOlder(holder, response)
  const isOwn = isListed && holder.owner === create.owner
  const lastNumber = isOwn ? await lastNumberOf(within, create.provider, reported.id) : 0
  if (isListed) await removeEntry(within, create.provider, reported.id, holder)
  const isFree = !isAnothers && (!holder || isListed || holder.intent === intent)
  if (isFree) await contradictObserved(within, create.provider, reported.id, store)
  const record = { reported: reported, fields, ...(lastNumber > 0 && { lastNumber }) }
  await becomeMismatch(within, intent, isFree ? reported.id : null, record, store)
}

async function becomeMismatch(
  within: Database,
  intent: string,
  id: string | null,
  record: MismatchRecord,
  { clock }: CreateStore,
): Promise<void> {
  await renewIdempotencyKey(within, intent, clock)
  await sql`
    update transactions set state = 'mismatch', provider_id = ${id}, next_check_at = null, record = ${toJson(record)}
    where intent = ${intent}`.execute(within)
}

// Not created: the provider's complete list has no candidate

/** How long an ended create is kept, to recognize a late result. */
export const lateResultMs = 30 * 86_400_000
/** The ledger records the start up to this much later than `attemptedAt`. */
const toleranceMs = 1_000

/** Returns false if another process has checked the create since, or if it is not yet due by the ledger's clock. */
function markNotCreated(
  within: Database,
  { intent, checkCount, nextCheckAt }: UnresolvedCreate,
  windowMs: number,
  store: CreateStore,
): Promise<boolean> {
  const { clock } = store
  const now = clock.at(clock.read())
  const isDue = sql<boolean>`state = 'unknown' and check_count = ${checkCount} and next_check_at is not distinct from ${nextCheckAt ?? null}
    and coalesce(begun_at, 0) + ${sql.lit(windowMs - toleranceMs)} <= ${now}`
  return endWhere(within, intent, isDue, store)
}

interface EndedRow {
  readonly owner: string
  readonly provider: string
  readonly requested: string
  readonly sent: string | null
  readonly attempted_at: number
}

/** Deletes the create and its key, and keeps it as ended. */
async function endWhere(within: Database, intent: string, condition: RawBuilder<boolean>, store: CreateStore): Promise<boolean> {
  const { clock } = store
  const now = clock.at(clock.read())
  const { rows } = await sql<EndedRow>`
    delete from transactions where intent = ${intent} and ${condition}
    returning owner, provider, requested, sent, attempted_at`.execute(within)
  const [create] = rows
  if (!create) return false
  const { owner, provider, requested, sent, attempted_at } = create
  await sql`
    insert into ended (intent, owner, provider, requested, sent, attempted_at, ended_at)
    values (${intent}, ${owner}, ${provider}, ${requested}, ${sent}, ${attempted_at}, ${now})`.execute(within)
  const { rows: forgotten } = await sql<RefusedCreate>`
    delete from ended where ended_at < ${now} - ${sql.lit(lateResultMs)} returning owner, attempted_at`.execute(within)
  await countRefused(within, forgotten, store)
  return true
}

/** Also finds a create that has ended as not created, for a late result. */
async function lockCreateOrRestore(within: Database, intent: string): Promise<Create | undefined> {
  return (await lockCreate(within, intent)) ?? (await restore(within, intent))
}

/** Makes an ended create unresolved again. Undefined if it is not kept any more. */
async function restore(within: Database, intent: string): Promise<Create | undefined> {
  const { rows } = await sql<EndedRow>`
    delete from ended where intent = ${intent} returning owner, provider, requested, sent, attempted_at`.execute(within)
  const [create] = rows
  if (!create) return undefined
  const { owner, provider, requested, sent, attempted_at } = create
  await sql`
    insert into transactions (intent, owner, provider, state, requested, sent, attempted_at)
    values (${intent}, ${owner}, ${provider}, 'unknown', ${requested}, ${sent}, ${attempted_at})`.execute(within)
  await storeRequest(within, { id: intent, attemptedAt: attempted_at, requested: JSON.parse(requested) })
  return { intent, owner, provider, requested, attempted_at, state: 'unknown', provider_id: null, record: null }
}

// Resolved: a person records the outcome

/** The record from the request, without memos, which the provider has not confirmed. The next read adds the rest, as what must be sent for a requested amount. */
export function recordOfRequest({ requested, attempted_at }: Create, id: string, at: number): TransactionRecord {
  const createdAt = new Date(attempted_at).toISOString()
  const { withdrawalExtraId: _, refundExtraId: __, ...known }: NewTransaction = JSON.parse(requested)
  const transaction = { ...known, id, status: 'wait', createdAt } as Transaction
  return { transaction, derived: [], reportedAt: at }
}

/** Returns false if another create has this id, or had it until it was pruned. An entry that was only observed does not block it. */
export async function bindByHand(
  within: Database,
  create: Create,
  record: TransactionRecord,
  store: CreateStore,
  deposit: DepositClaim,
  first: { readonly first?: string } = {},
): Promise<boolean> {
  const { holder, isAnothers } = await lockId(within, create, record.transaction.id, store)
  if (isAnothers || (await isBoundElsewhere(within, create.provider, record.transaction))) return false
  await becomeEntry(within, create, record, holder, store, deposit)
  await renewIdempotencyKey(within, create.intent, store.clock, first)
  return true
}

/** The response of a mismatch becomes its result, and the one for its key. */
export async function acceptByHand(
  within: Database,
  create: Create,
  reported: Transaction,
  at: number,
  store: CreateStore,
  deposit: DepositClaim,
): Promise<boolean> {
  const record = acceptedRecord(reported, create, at)
  return await bindByHand(within, create, record, store, deposit, { first: storeFirst(record) })
}

/** The response as it would have been stored, in the words of the request. */
function acceptedRecord({ amountOut, ...reported }: Transaction, { requested }: Create, at: number): TransactionRecord {
  const { codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo }: NewTransaction = JSON.parse(requested)
  const names = { codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo }
  const transaction = { ...reported, status: reported.status ?? ('wait' as const), ...names }
  return { transaction, derived: [], quotedAmountOut: amountOut, reportedAt: at }
}

/** Returns false if the create is not unresolved. */
export function markNotCreatedByHand(within: Database, intent: string, store: CreateStore): Promise<boolean> {
  return endWhere(within, intent, isUnresolved, store)
}

function toJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value)
}

/** Kysely: creates, from before the request is sent until the outcome is known. */
import { type NotNull, type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Intent, type Ledger, maxOpenCreates, type TransactionRecord, type UnresolvedCreate } from '../core/ledger.ts'
import { discrepanciesOf, wasThereBefore } from '../core/same-swap.ts'
import { placeKey } from '../domain/address/same-address.ts'
import { LedgerBusy, LedgerConflict, TooManyOpenCreates } from '../domain/fault.ts'
import { isFinal } from '../domain/status.ts'
import type { Transaction } from '../domain/swap.ts'
import { isBoundElsewhere, isOfAccount, isTakenElsewhere } from './accounts.ts'
import { claim, renewClaim } from './claims.ts'
import type { Database, LedgerClock } from './database.ts'
import { insertEntry } from './entries.ts'
import { loadEntry, sortKey, storeFirst, toRow } from './entry.ts'
import { countMismatch, endStreaks } from './mismatch-streaks.ts'
import { addToPageIndex, removeFromPageIndex } from './page-index.ts'
import type { State } from './schema/tables.ts'
import type { Store } from './store.ts'

type Intents = Pick<Ledger, 'begin' | 'markQuoted' | 'drop' | 'markUnknown' | 'complete' | 'bindFound' | 'markMismatch'>

export function intents(store: Store): Intents {
  const { write, writeOne, clock } = store
  return {
    begin: (intent, isAwaited = () => true) =>
      write(async (within) => {
        if (!isAwaited()) throw new LedgerBusy('timeout: the create is over')
        const isBegun = await begin(within, intent, clock)
        if (!isAwaited()) throw new LedgerBusy('timeout: the create is over')
        return isBegun
      }),
    markQuoted: (intent) => writeOne((within) => markQuoted(within, intent)),
    drop: (intent, lookAt) =>
      lookAt === undefined
        ? writeOne((within) => drop(within, intent), 'result')
        : write((within) => refuse(within, intent, lookAt), 'result'),
    markUnknown: (intent, nextCheckAt) => writeOne((within) => markUnknown(within, intent, nextCheckAt), 'result'),
    complete: (intent, facts, judged = []) =>
      write(async (within) => {
        const isAccepted = await complete(within, intent, facts, store)
        if (isAccepted) await endStreaks(within, judged, store)
        return isAccepted
      }, 'result').catch(async (reason) => {
        if (reason instanceof LedgerConflict) await write((within) => addBesideBound(within, intent, facts, store), 'result')
        throw reason
      }),
    bindFound: (intent, facts) => write((within) => bindFound(within, intent, facts, store), 'result'),
    markMismatch: (intent, reported, fields, judged = []) =>
      write(async (within) => {
        await markMismatch(within, intent, reported, fields, store)
        return await countMismatch(within, intent, judged, store)
      }, 'result'),
  }
}

/** Must repeat the condition of the index, or the database does not use it. */
const isUndone = sql<boolean>`state <> 'done'`
const unresolvedStates: readonly State[] = ['pending', 'unknown']

async function begin(within: Database, intent: Intent, clock: LedgerClock): Promise<boolean> {
  const row = {
    intent: intent.id,
    owner: intent.owner,
    provider: intent.provider,
    state: 'pending',
    attempted_at: intent.attemptedAt,
    quoting: intent.isQuoting ? 1 : null,
    look_at: intent.nextCheckAt,
    begun_at: clock.at(clock.read()),
    asked: JSON.stringify(intent.requested),
    sent: intent.sent ? JSON.stringify(intent.sent) : null,
    destination: intent.destination ? JSON.stringify(intent.destination) : null,
    deadline: intent.deadline ?? null,
    traceparent: intent.traceparent ?? null,
  } as const
  const inserted = within
    .insertInto('transactions')
    .values(row)
    .onConflict((conflict) => conflict.column('intent').doNothing())
  const { numInsertedOrUpdatedRows } = await inserted.executeTakeFirstOrThrow()
  // The same create again: an earlier run inserted it, and its COMMIT was not confirmed.
  if (numInsertedOrUpdatedRows === 0n) return true
  if (await exceedsOpen(within, intent)) throw new TooManyOpenCreates()
  if (await claim(within, intent, clock)) return true
  if ((await dropAbandoned(within, intent)) && (await claim(within, intent, clock))) return true
  await drop(within, intent.id)
  return false
}

/** Counts no further than the bound. */
async function exceedsOpen(within: Database, { owner, provider }: Intent): Promise<boolean> {
  const open = within.selectFrom('transactions').select('intent').where(isUndone).where('owner', '=', owner)
  const beyond = open.where('provider', '=', provider).offset(maxOpenCreates).limit(1)
  return (await beyond.executeTakeFirst()) !== undefined
}

/** Returns false if the create is gone. */
async function markQuoted(within: Database, intent: string): Promise<boolean> {
  const quoted = within.updateTable('transactions').set({ quoting: null }).where('intent', '=', intent)
  const { numUpdatedRows } = await quoted.where('state', '=', 'pending').executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Deletes the create that has the key, if its quote was under way at its deadline: its process is gone, and it was not sent. */
async function dropAbandoned(within: Database, { owner, claim: requested, attemptedAt }: Intent): Promise<boolean> {
  if (!requested) return false
  const holder = within.selectFrom('claims').select('intent').where('owner', '=', owner).where('key', '=', requested.key)
  const abandoned = within.deleteFrom('transactions').where('intent', '=', holder).where('quoting', '=', 1)
  const { numDeletedRows } = await abandoned.where('deadline', '<', attemptedAt).executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Deletes a create and its claim. */
async function drop(within: Database, intent: string): Promise<void> {
  await within.deleteFrom('transactions').where('intent', '=', intent).where('state', 'in', unresolvedStates).execute()
}

/** Deletes a create and its claim; its provider's list is looked at then. */
async function refuse(within: Database, intent: string, look_at: number): Promise<void> {
  const unresolved = within.deleteFrom('transactions').where('intent', '=', intent).where('state', 'in', unresolvedStates)
  const create = await unresolved
    .returning(['owner', 'provider', 'asked', 'sent', 'destination', 'attempted_at', 'deadline'])
    .$narrowType<{ asked: NotNull; attempted_at: NotNull }>()
    .executeTakeFirst()
  if (create)
    await within
      .insertInto('refused_creates')
      .values({ ...create, intent, look_at })
      .execute()
}

/** The create is already bound to another transaction: adds this one as an entry of the same owner, unless another create had it. */
async function addBesideBound(within: Database, intent: string, facts: TransactionRecord, store: Store): Promise<void> {
  const create = await lockCreate(within, intent)
  if (create?.state !== 'done' || (await isTakenElsewhere(within, create.provider, facts.transaction.id, store))) return
  await insertEntry(within, create.owner, create.provider, facts)
}

async function markUnknown(within: Database, intent: string, nextCheckAt: number): Promise<void> {
  const doubted = within.updateTable('transactions').set({ state: 'unknown', look_at: nextCheckAt })
  await doubted.where('intent', '=', intent).where('state', 'in', unresolvedStates).execute()
}

// Kysely: turns an unresolved create into an entry or a mismatch.

type CreateStore = Pick<Store, 'clock' | 'lockId'>

async function complete(within: Database, intent: string, facts: TransactionRecord, store: CreateStore): Promise<boolean> {
  const create = await lockCreateOrRevive(within, intent)
  if (!create) throw new LedgerConflict(`The ledger has no create ${intent}.`)
  if (create.state === 'mismatch') return false
  if (create.state === 'done') return isCompletedAs(create, facts)
  const holder = await lockHolder(within, create.provider, facts.transaction.id)
  const isAnothers = holder && (holder.intent !== null || isOlder(holder, facts))
  if (isAnothers || (await isTakenElsewhere(within, create.provider, facts.transaction.id, store))) {
    await becomeMismatch(within, intent, null, { told: facts.transaction, fields: ['id'] }, store)
    return false
  }
  await completeAs(within, create, facts, holder, store)
  return true
}

/** Binds a create to a transaction found at the provider, which the ledger may already have in a later state. */
async function bindFound(within: Database, intent: string, facts: TransactionRecord, store: CreateStore): Promise<boolean> {
  const create = await lockCreateOrRevive(within, intent)
  if (!create) throw new LedgerConflict(`The ledger has no create ${intent}.`)
  if (create.state === 'done') return create.provider_id === facts.transaction.id
  const holder = await lockHolder(within, create.provider, facts.transaction.id)
  if (create.state === 'mismatch' || (holder && holder.intent !== null)) return false
  if (await isTakenElsewhere(within, create.provider, facts.transaction.id, store)) return false
  if (await isBoundElsewhere(within, create.provider, facts.transaction)) return false
  await completeAs(within, create, facts, holder, store)
  return true
}

async function completeAs(
  within: Database,
  create: Create,
  facts: TransactionRecord,
  holder: Holder | undefined,
  { clock }: CreateStore,
): Promise<void> {
  await renewClaim(within, create.intent, clock, { first: storeFirst(facts) })
  await becomeEntry(within, create, facts, holder)
}

/** Accepts a repeated result. Throws a `LedgerConflict` if the create has another id. */
function isCompletedAs({ intent, provider_id }: Create, { transaction }: TransactionRecord): true {
  if (provider_id === transaction.id) return true
  throw new LedgerConflict(`The create ${intent} is already bound to another id.`)
}

async function markMismatch(
  within: Database,
  intent: string,
  reported: Transaction,
  fields: readonly string[],
  store: CreateStore,
): Promise<void> {
  const create = await lockCreateOrRevive(within, intent)
  if (!create || create.state === 'done') throw new LedgerConflict(`The ledger has no create ${intent} whose outcome is open.`)
  const holder = await lockHolder(within, create.provider, reported.id)
  // The sequence of the response is not known: what has progressed, or receives elsewhere, is another one.
  const response = { transaction: reported, sequence: Number.POSITIVE_INFINITY }
  const isListed = holder?.state === 'done' && holder.intent === null && !isOlder(holder, response)
  if (isListed) await forget(within, create.provider, reported.id, holder)
  const isOwn = !holder || isListed || holder.intent === intent
  const isFree = isOwn && !(await isTakenElsewhere(within, create.provider, reported.id, store))
  await becomeMismatch(within, intent, isFree ? reported.id : null, { told: reported, fields }, store)
}

export type Create = NonNullable<Awaited<ReturnType<typeof lockCreate>>>

/** Also finds a create that has ended as not created, for a late result. */
async function lockCreateOrRevive(within: Database, intent: string) {
  return (await lockCreate(within, intent)) ?? (await restore(within, intent))
}

export async function lockCreate(within: Database, intent: string) {
  const found = within.selectFrom('transactions').where('intent', '=', intent).forUpdate()
  const create = found.select(['owner', 'provider', 'provider_id', 'state', 'attempted_at', 'asked'])
  const row = await create.$narrowType<{ attempted_at: NotNull; asked: NotNull }>().executeTakeFirst()
  return row && { ...row, intent }
}

/** The JSON in `facts` of a mismatch. Its keys never change. */
export interface MismatchRecord {
  readonly told: Transaction
  readonly fields: readonly string[]
}

async function becomeMismatch(
  within: Database,
  intent: string,
  id: string | null,
  record: MismatchRecord,
  { clock }: CreateStore,
): Promise<void> {
  await renewClaim(within, intent, clock)
  const row = { state: 'mismatch', provider_id: id, look_at: null, facts: JSON.stringify(record) } as const
  await within.updateTable('transactions').set(row).where('intent', '=', intent).execute()
}

/** Turns the create into an entry. Replaces an entry with this id that was only read, of any owner. */
export async function becomeEntry(
  within: Database,
  create: Create,
  facts: TransactionRecord,
  before: Holder | undefined,
): Promise<void> {
  const { intent, owner, provider } = create
  const provider_id = facts.transaction.id
  if (before?.state === 'done') await forget(within, create.provider, provider_id, before)
  const row = toRow(before ? withLater(facts, before) : facts)
  const at = { sort_key: sortKey(facts, create.attempted_at), provider_id, provider }
  const { depositAddress, depositExtraId } = facts.transaction
  const deposit = depositAddress ? placeKey({ address: depositAddress, extraId: depositExtraId }) : null
  const entry = { ...row, ...at, deposit, state: 'done', look_at: null } as const
  await within.updateTable('transactions').set(entry).where('intent', '=', intent).execute()
  await addToPageIndex(within, owner, at)
}

async function forget(within: Database, provider: string, provider_id: string, { owner, sort_key }: Holder): Promise<void> {
  const gone = within.deleteFrom('transactions').where('provider', '=', provider).where('provider_id', '=', provider_id)
  await gone.execute()
  await removeFromPageIndex(within, owner, { sort_key: BigInt(sort_key), provider_id, provider })
}

// Kysely: the row that has the id of a create's result.

type Holder = NonNullable<Awaited<ReturnType<typeof lockHolder>>>

/** Locks and returns the row that has this id. */
export async function lockHolder(within: Database, provider: string, id: string) {
  const found = within.selectFrom('transactions').where('provider', '=', provider).where('provider_id', '=', id).forUpdate()
  const key = sql<string>`cast(sort_key as text)`.as('sort_key')
  const holder = found.select(['intent', 'owner', 'state', 'status', 'changed_at', 'sequence', 'facts', key])
  return holder.$narrowType<{ facts: NotNull }>().executeTakeFirst()
}

/** Whether the transaction was read before the create was sent, and is another one: then this create did not make it. */
function isOlder(
  { sequence, status, facts: storedFacts }: Holder,
  created: Pick<TransactionRecord, 'transaction' | 'sequence'>,
): boolean {
  const { transaction } = loadEntry(storedFacts)
  return wasThereBefore({ sequence, transaction: { ...transaction, ...(status !== null && { status }) } }, created)
}

/** The create's facts with the status of the later request, if that was about the same transaction. A final status does not change. */
function withLater(facts: TransactionRecord, holder: Holder): TransactionRecord {
  const { status, changed_at, sequence } = holder
  const isLater = (sequence ?? 0) >= (facts.sequence ?? 0) && !isFinal(facts.transaction.status ?? null)
  const latest = { ...facts, sequence: Math.max(sequence ?? 0, facts.sequence ?? 0) || undefined }
  if (status === null || status === facts.transaction.status || !(isLater || isFinal(status))) return latest
  if (discrepanciesOf(facts, loadEntry(holder.facts).transaction).rejected.length > 0) return latest
  return { ...latest, transaction: { ...facts.transaction, status }, changedAt: changed_at ?? undefined }
}

// Kysely: finds the unresolved creates that are due for reconciliation, each for one process.

type DueCreates = Pick<
  Ledger,
  'dueCreates' | 'ownersOfUnresolved' | 'scheduleNextCheck' | 'unresolvedBetween' | 'unresolvedElsewhere' | 'markNotCreated'
>

export function dueCreates({ database, write, writeOne, isIn: isAmong, toList, clock }: Store): DueCreates {
  return {
    async dueCreates(now, maxCreates, owners) {
      const waiting = unresolvedCreates(database)
        .where('look_at', '<=', now)
        .orderBy('look_at')
        .orderBy('attempted_at')
        .limit(maxCreates)
      const rows = await (owners ? waiting.where(isAmong('owner', toList(owners))) : waiting).execute()
      const abandoned = rows.flatMap(({ intent, quoting }) => (quoting === null ? [] : [intent]))
      if (abandoned.length > 0) await writeOne((within) => dropIntents(within, isAmong('intent', toList(abandoned))))
      return rows.filter(({ quoting }) => quoting === null).map(toUnresolvedCreate)
    },
    async ownersOfUnresolved() {
      const refused = database.selectFrom('refused_creates').select('owner')
      const waiting = database.selectFrom('transactions').select('owner').where('look_at', 'is not', null).union(refused)
      return (await waiting.execute()).map(({ owner }) => owner)
    },
    scheduleNextCheck: (open, next, candidates) => writeOne((within) => scheduleNextCheck(within, open, next, candidates)),
    markNotCreated: (open, span) => write((within) => markNotCreated(within, open, span, clock)),
    unresolvedBetween: (provider, first, last) => unresolvedAt(database, isOfAccount('provider', provider), first, last),
    unresolvedElsewhere: (provider, first, last) =>
      unresolvedAt(database, sql<boolean>`not ${isOfAccount('provider', provider)}`, first, last),
  }
}

/** Must repeat the conditions of the indexes. */
const isUnresolved = sql<boolean>`state in ('pending', 'unknown')`
const isMismatch = sql<boolean>`state <> 'done' and state = 'mismatch'`

function unresolvedCreates(database: Database) {
  return creates(database).where(isUnresolved)
}

function creates(database: Database) {
  return database
    .selectFrom('transactions')
    .select([
      'intent',
      'owner',
      'provider',
      'asked',
      'sent',
      'destination',
      'attempted_at',
      'looks',
      'look_at',
      'quoting',
      'traceparent',
    ])
    .$narrowType<{ intent: NotNull; asked: NotNull; attempted_at: NotNull }>()
}

async function unresolvedAt(database: Database, isThere: RawBuilder<SqlBool>, first: number, last: number) {
  const between = creates(database).where(isThere).where('attempted_at', '>=', first)
  const attempted = between.where('attempted_at', '<=', last).orderBy('attempted_at')
  // In this order a create that becomes a mismatch in between is found twice, not missed.
  const open = await attempted.where(isUnresolved).where('quoting', 'is', null).execute()
  const mismatches = await attempted.where(isMismatch).execute()
  return [...open, ...mismatches].map(toUnresolvedCreate)
}

type Row = Awaited<ReturnType<ReturnType<typeof unresolvedCreates>['execute']>>[number]

function toUnresolvedCreate(row: Row): UnresolvedCreate {
  const { intent, owner, provider, asked, sent, destination, attempted_at, looks, look_at, traceparent } = row
  return {
    intent,
    owner,
    provider,
    requested: JSON.parse(asked),
    ...(sent !== null && { sent: JSON.parse(sent) }),
    ...(destination !== null && { destination: JSON.parse(destination) }),
    attemptedAt: attempted_at,
    checkCount: looks,
    ...(look_at !== null && { nextCheckAt: look_at }),
    ...(traceparent !== null && { traceparent }),
  }
}

/** Nothing was sent for them, and the process that was getting their quote is gone. */
async function dropIntents(within: Database, isOne: RawBuilder<SqlBool>): Promise<void> {
  await within.deleteFrom('transactions').where(isOne).where('quoting', '=', 1).execute()
}

/** Takes effect only for the first process: a second one finds another check count. */
async function scheduleNextCheck(
  within: Database,
  { intent, checkCount, nextCheckAt }: UnresolvedCreate,
  next: number | undefined,
  candidates: readonly string[] | undefined,
): Promise<boolean> {
  const found = candidates && { candidates: candidates.length > 0 ? JSON.stringify(candidates) : null }
  const taken = within
    .updateTable('transactions')
    .set({ state: 'unknown', look_at: next ?? null, looks: checkCount + 1, ...found })
    .where('intent', '=', intent)
    .where('looks', '=', checkCount)
    .where('look_at', 'is not distinct from', nextCheckAt ?? null)
    .where(isUnresolved)
  const { numUpdatedRows } = await taken.executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

// Kysely: refused creates whose provider's list is looked at, each look by one process.

type RefusedCreates = Pick<Ledger, 'dueLooks' | 'scheduleNextLook' | 'keepRefused' | 'keepCandidates'>

export function refusedCreates(store: Store): RefusedCreates {
  const { database, write, writeOne, isIn, toList } = store
  return {
    async dueLooks(now, maxCreates, owners) {
      const waiting = database
        .selectFrom('refused_creates')
        .selectAll()
        .where('look_at', '<=', now)
        .orderBy('look_at')
        .limit(maxCreates)
      const rows = await (owners ? waiting.where(isIn('owner', toList(owners))) : waiting).execute()
      return rows.map(({ asked, sent, destination, attempted_at, deadline, looks, look_at, ...row }) => ({
        ...row,
        requested: JSON.parse(asked),
        ...(sent !== null && { sent: JSON.parse(sent) }),
        ...(destination !== null && { destination: JSON.parse(destination) }),
        ...(deadline !== null && { deadline }),
        attemptedAt: attempted_at,
        checkCount: looks,
        nextCheckAt: look_at,
      }))
    },
    scheduleNextLook: (create, next) => writeOne((within) => scheduleNextLook(within, create, next)),
    keepRefused: (create, reported) => write((within) => keepRefused(within, create, reported, store)),
    keepCandidates: (create, candidates) => write((within) => keepCandidates(within, create, candidates)),
  }
}

/** Takes effect only for the first process: a second one finds another number of looks. */
async function scheduleNextLook(
  within: Database,
  { intent, checkCount }: UnresolvedCreate,
  next: number | undefined,
): Promise<boolean> {
  const taken =
    next === undefined
      ? within.deleteFrom('refused_creates').where('intent', '=', intent).where('looks', '=', checkCount).returning('intent')
      : within
          .updateTable('refused_creates')
          .set({ look_at: next, looks: checkCount + 1 })
          .where('intent', '=', intent)
          .where('looks', '=', checkCount)
          .returning('intent')
  return (await taken.execute()).length === 1
}

async function keepRefused(within: Database, create: UnresolvedCreate, reported: Transaction, store: Store): Promise<boolean> {
  const { intent, provider } = create
  const holder = await lockHolder(within, provider, reported.id)
  if (holder?.intent === intent) return true
  if ((holder && holder.intent !== null) || (await isTakenElsewhere(within, provider, reported.id, store))) return false
  const record: MismatchRecord = { told: reported, fields: ['refused'] }
  // An entry that was only read under the id keeps it.
  await keep(within, create, { facts: JSON.stringify(record), provider_id: holder ? null : reported.id })
  return true
}

/** A mismatch without a response: any of the candidates may be its transaction. */
async function keepCandidates(within: Database, create: UnresolvedCreate, candidates: readonly string[]): Promise<void> {
  await keep(within, create, { candidates: JSON.stringify(candidates) })
}

async function keep(
  within: Database,
  { intent, owner, provider, requested, sent, destination, attemptedAt, deadline }: UnresolvedCreate,
  found: { readonly facts: string; readonly provider_id: string | null } | { readonly candidates: string },
): Promise<void> {
  const row = {
    intent,
    owner,
    provider,
    state: 'mismatch',
    attempted_at: attemptedAt,
    deadline: deadline ?? null,
    asked: JSON.stringify(requested),
    sent: sent ? JSON.stringify(sent) : null,
    destination: destination ? JSON.stringify(destination) : null,
    ...found,
  } as const
  // An earlier run kept it, and its COMMIT was not confirmed.
  const kept = within
    .insertInto('transactions')
    .values(row)
    .onConflict((conflict) => conflict.column('intent').doNothing())
  await kept.execute()
  await within.deleteFrom('refused_creates').where('intent', '=', intent).execute()
}

// Kysely: ends unresolved creates that made no transaction, by the provider's list or by hand.

/** How long an ended create is kept, to recognize a late result. */
export const lateResultMs = 30 * 86_400_000
/** The ledger records the start up to this much later than the attempt. */
const toleranceMs = 1_000

/** Returns false if another process has checked the create since, or if it is not yet due by the ledger's clock. */
function markNotCreated(
  within: Database,
  { intent, checkCount, nextCheckAt }: UnresolvedCreate,
  windowMs: number,
  clock: LedgerClock,
): Promise<boolean> {
  const now = clock.at(clock.read())
  const isDue = sql<boolean>`state = 'unknown' and looks = ${checkCount} and look_at is not distinct from ${nextCheckAt ?? null}
    and coalesce(begun_at, 0) + ${sql.lit(windowMs - toleranceMs)} <= ${now}`
  return endWhere(within, intent, isDue, clock)
}

/** An operator records that the create made nothing. Returns false if the create is not unresolved. */
export function markNotCreatedByHand(within: Database, intent: string, clock: LedgerClock): Promise<boolean> {
  return endWhere(within, intent, sql<boolean>`state <> 'done'`, clock)
}

/** Deletes the create and its claim, and keeps it as ended. */
async function endWhere(within: Database, intent: string, condition: RawBuilder<boolean>, clock: LedgerClock): Promise<boolean> {
  const now = clock.at(clock.read())
  const gone = within.deleteFrom('transactions').where('intent', '=', intent).where(condition)
  const create = await gone
    .returning(['owner', 'provider', 'asked', 'sent', 'attempted_at'])
    .$narrowType<{ asked: NotNull; attempted_at: NotNull }>()
    .executeTakeFirst()
  if (!create) return false
  await within
    .insertInto('ended')
    .values({ ...create, intent, ended_at: now })
    .execute()
  await within
    .deleteFrom('ended')
    .where(sql<boolean>`ended_at < ${now} - ${sql.lit(lateResultMs)}`)
    .execute()
  return true
}

/** Makes an ended create unresolved again, for a late result. Undefined if it is not kept any more. */
async function restore(within: Database, intent: string) {
  const found = within.deleteFrom('ended').where('intent', '=', intent)
  const create = await found.returning(['owner', 'provider', 'asked', 'sent', 'attempted_at']).executeTakeFirst()
  if (!create) return undefined
  const row = { ...create, intent, state: 'unknown', provider_id: null } as const
  await within.insertInto('transactions').values(row).execute()
  return row
}

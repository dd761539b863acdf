/** Kysely: creates, from before the request is sent until the outcome is known. */
import { type NotNull, sql } from 'kysely'
import { type Intent, type Ledger, maxOpenCreates, type TransactionRecord } from '../../core/ledger.ts'
import { LedgerBusy, LedgerConflict, TooManyOpenCreates } from '../../domain/fault.ts'
import { isTakenElsewhere } from './account-ids.ts'
import { claim } from './claims.ts'
import type { LedgerClock } from './clock.ts'
import { bindFound, complete, lockCreate, markMismatch } from './complete.ts'
import type { Database } from './database.ts'
import { insertEntry } from './entries.ts'
import { countMismatch, endStreaks } from './mismatch-streaks.ts'
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

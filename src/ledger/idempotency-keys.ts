/** Kysely: the request and the outcome of each owner's `Idempotency-Key`. */
import { type RawBuilder, sql } from 'kysely'
import { type IdempotencyKeyState, type Intent, isBeingChecked, type Ledger, type UnknownReason } from '../core/ports/ledger.ts'
import { type Database, idempotencyKeyLifetimeMs, type LedgerClock } from './database.ts'
import { type EntryRow, entryColumns, loadFirst, toEntry } from './entry.ts'
import { readsOf } from './fresh-reads.ts'
import type { State } from './schema/tables.ts'
import { prepare, type Store } from './store.ts'
import type { LedgerTurns } from './turns.ts'

const createHasNoOutcome = sql<boolean>`exists (
  select 1 from transactions where transactions.intent = claims.intent and transactions.state in ('pending', 'unknown')
)`

type Keys = Pick<Ledger, 'findIdempotencyKey' | 'noteShown' | 'expireIdempotencyKeys'>

export function idempotencyKeys(store: Store, turns: LedgerTurns): Keys {
  const { database, writeOne, clock, databaseTimeMs } = store
  const reads = readsOf(store)
  const find = prepare<IdempotencyKeyRow, QueryParameters>(database, ['owner', 'key', 'now'], (blank) =>
    idempotencyKeyQuery(database, blank, clock),
  )
  return {
    async findIdempotencyKey(owner, key) {
      const row = await turns.read(owner, () =>
        reads.findWhileLagging(async (on) => (await find({ owner, key, now: clock.read() }, on))[0]),
      )
      return row && toState(row)
    },
    noteShown: (intent) =>
      writeOne(async (within) => {
        const { numAffectedRows } = await sql`
          update claims set shown_at = coalesce(shown_at, ${databaseTimeMs}) where intent = ${intent}
            and exists (select 1 from transactions where transactions.intent = claims.intent and transactions.state = 'done')`.execute(
          within,
        )
        return numAffectedRows === 1n
      }),
    expireIdempotencyKeys: () =>
      writeOne(async (within) => {
        const old = within.deleteFrom('claims').where(hasExpired(clock)).where(sql<boolean>`not ${createHasNoOutcome}`)
        return Number((await old.executeTakeFirst()).numDeletedRows)
      }),
  }
}

export function hasExpired(clock: LedgerClock, read: unknown = clock.read()): RawBuilder<boolean> {
  return sql`claims.created_at < ${clock.at(read)} - ${sql.lit(idempotencyKeyLifetimeMs)}`
}

/** Returns false if the owner has used the key before. An expired key is replaced. */
export async function storeIdempotencyKey(
  within: Database,
  { id, owner, idempotencyKey }: Pick<Intent, 'id' | 'owner' | 'idempotencyKey'>,
  clock: LedgerClock,
): Promise<boolean> {
  if (!idempotencyKey) return true
  const { fingerprint, request } = idempotencyKey
  const made = {
    intent: id,
    fingerprint,
    request: request ? JSON.stringify(request) : null,
    first: null,
    created_at: clock.at(clock.read()),
  }
  const { numInsertedOrUpdatedRows } = await within
    .insertInto('claims')
    .values({ ...made, owner, key: idempotencyKey.key })
    .onConflict((conflict) =>
      conflict.columns(['owner', 'key']).doUpdateSet(made).where(hasExpired(clock)).where(sql<boolean>`not ${createHasNoOutcome}`),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Restarts the lifetime of a key once its outcome is known, so that the client has the full time to repeat the request. */
export async function renewIdempotencyKey(
  within: Database,
  intent: string,
  clock: LedgerClock,
  outcome: { readonly first?: string } = {},
): Promise<void> {
  const renewed = within.updateTable('claims').set({ ...outcome, created_at: renewedAt(clock) })
  await renewed.where('intent', '=', intent).execute()
}

/** The lifetime has more room than that beyond the promised one. */
const renewedAfterMs = 60_000

/**
 * Most outcomes are known within moments. Then the time stays: it is in an index, and PostgreSQL changes the row in its page without a
 * change of an index.
 */
export function renewedAt(clock: LedgerClock): RawBuilder<number> {
  const now = clock.at(clock.read())
  return sql`case when claims.created_at > ${now} - ${sql.lit(renewedAfterMs)} then claims.created_at else ${now} end`
}

interface IdempotencyKeyRow extends EntryRow {
  readonly intent: string
  readonly fingerprint: string
  readonly request: string | null
  readonly first: string | null
  readonly expired: boolean | number
  readonly quoting: number | null
  readonly deadline: number | null
  readonly next_check_at: number | null
  readonly check_count: number
  readonly unknown_reason: UnknownReason | null
  readonly state: State
}

type QueryParameters = 'owner' | 'key' | 'now'

function idempotencyKeyQuery(database: Database, blank: Readonly<Record<QueryParameters, never>>, clock: LedgerClock) {
  return database
    .selectFrom('claims')
    .innerJoin('transactions', 'transactions.intent', 'claims.intent')
    .select(entryColumns.map((column) => `transactions.${column}` as const))
    .select([
      'claims.intent',
      'claims.fingerprint',
      'claims.request',
      'claims.first',
      'transactions.state',
      'transactions.quoting',
      'transactions.deadline',
      'transactions.next_check_at',
      'transactions.check_count',
      'transactions.unknown_reason',
    ])
    .select(hasExpired(clock, blank.now).as('expired'))
    .where('claims.owner', '=', blank.owner)
    .where('claims.key', '=', blank.key)
    .compile()
}

function toState(row: IdempotencyKeyRow): IdempotencyKeyState | undefined {
  const { intent, fingerprint, state, provider, first } = row
  const stored = { intent, fingerprint, ...(row.request !== null && { request: JSON.parse(row.request) }) }
  if (row.quoting !== null && (row.deadline ?? 0) < Date.now()) return undefined
  if (state === 'pending' || state === 'unknown') {
    const nextCheckAt = row.next_check_at === null ? undefined : Number(row.next_check_at)
    const isTakenBack = row.unknown_reason?.startsWith('taken_back') === true
    const isChecked = nextCheckAt !== undefined && isBeingChecked(row.check_count)
    const progress = { isRunning: state === 'pending', isBeingChecked: isChecked, nextCheckAt }
    return { ...stored, state: 'open', provider, ...progress, ...(isTakenBack && { isTakenBack }) }
  }
  if (row.expired) return undefined
  if (state === 'mismatch') return { ...stored, state, provider }
  return { ...stored, state, entry: toEntry(row), first: first === null ? undefined : loadFirst(first) }
}

/** Kysely: finds the unresolved creates that are due for reconciliation, each for one process. */
import { type NotNull, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Ledger, UnresolvedCreate } from '../../core/ledger.ts'
import { isOfAccount } from './account-ids.ts'
import type { Database } from './database.ts'
import { markNotCreated } from './not-created.ts'
import type { Store } from './store.ts'

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

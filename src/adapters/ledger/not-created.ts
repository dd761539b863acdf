/** Kysely: creates of unknown outcome that made nothing, as far as the provider's list or a person says. */
import { type NotNull, type RawBuilder, sql } from 'kysely'
import type { UnresolvedCreate } from '../../core/ledger.ts'
import type { LedgerClock } from './clock.ts'
import type { Database } from './database.ts'

/** A late result is known for so long, in milliseconds. */
export const lateResultMs = 30 * 86_400_000
/** The ledger notes the beginning a little after the attempt, in milliseconds. */
const toleranceMs = 1_000

/** False where another process has taken a look since, or the ledger's clock has not come so far. */
export function markNotCreated(
  within: Database,
  { intent, checkCount: looks, nextCheckAt: lookAt }: UnresolvedCreate,
  windowMs: number,
  clock: LedgerClock,
): Promise<boolean> {
  const now = clock.at(clock.read())
  const isDue = sql<boolean>`state = 'unknown' and looks = ${looks} and look_at is not distinct from ${lookAt ?? null}
    and coalesce(begun_at, 0) + ${sql.lit(windowMs - toleranceMs)} <= ${now}`
  return endWhere(within, intent, isDue, clock)
}

/** Somebody says that it made nothing. False where it is not in doubt. */
export function markNotCreatedByHand(within: Database, intent: string, clock: LedgerClock): Promise<boolean> {
  return endWhere(within, intent, sql<boolean>`state <> 'done'`, clock)
}

/** Its claim goes with it. */
async function endWhere(within: Database, intent: string, condition: RawBuilder<boolean>, clock: LedgerClock): Promise<boolean> {
  const now = clock.at(clock.read())
  const gone = within.deleteFrom('transactions').where('intent', '=', intent).where(condition)
  const create = await gone
    .returning(['owner', 'provider', 'asked', 'attempted_at'])
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

/** It did make something: it is in doubt again. Undefined where it is not remembered. */
export async function restore(within: Database, intent: string) {
  const found = within.deleteFrom('ended').where('intent', '=', intent)
  const create = await found.returning(['owner', 'provider', 'asked', 'attempted_at']).executeTakeFirst()
  if (!create) return undefined
  const row = { ...create, intent, state: 'unknown', provider_id: null } as const
  await within.insertInto('transactions').values(row).execute()
  return row
}

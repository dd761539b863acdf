/** Kysely: ends unresolved creates that made no transaction, by the provider's list or by hand. */
import { type NotNull, type RawBuilder, sql } from 'kysely'
import type { UnresolvedCreate } from '../../core/ledger.ts'
import type { LedgerClock } from './clock.ts'
import type { Database } from './database.ts'

/** How long an ended create is kept, to recognize a late result. */
export const lateResultMs = 30 * 86_400_000
/** The ledger records the start up to this much later than the attempt. */
const toleranceMs = 1_000

/** Returns false if another process has checked the create since, or if it is not yet due by the ledger's clock. */
export function markNotCreated(
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
export async function restore(within: Database, intent: string) {
  const found = within.deleteFrom('ended').where('intent', '=', intent)
  const create = await found.returning(['owner', 'provider', 'asked', 'sent', 'attempted_at']).executeTakeFirst()
  if (!create) return undefined
  const row = { ...create, intent, state: 'unknown', provider_id: null } as const
  await within.insertInto('transactions').values(row).execute()
  return row
}

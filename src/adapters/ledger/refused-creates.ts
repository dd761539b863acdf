/** Kysely: refused creates whose provider's list is looked at, each look by one process. */
import type { Ledger, UnresolvedCreate } from '../../core/ledger.ts'
import type { Transaction } from '../../domain/swap/swap.ts'
import { isTakenElsewhere } from './account-ids.ts'
import type { MismatchRecord } from './complete.ts'
import type { Database } from './database.ts'
import { lockHolder } from './holder.ts'
import type { Store } from './store.ts'

type RefusedCreates = Pick<Ledger, 'dueLooks' | 'scheduleNextLook' | 'keepRefused'>

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
      return rows.map(({ asked, sent, attempted_at, looks, look_at, ...row }) => ({
        ...row,
        requested: JSON.parse(asked),
        ...(sent !== null && { sent: JSON.parse(sent) }),
        attemptedAt: attempted_at,
        checkCount: looks,
        nextCheckAt: look_at,
      }))
    },
    scheduleNextLook: (create, next) => writeOne((within) => scheduleNextLook(within, create, next)),
    keepRefused: (create, reported) => write((within) => keepRefused(within, create, reported, store)),
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
  const { intent, owner, provider, requested, sent, attemptedAt } = create
  const holder = await lockHolder(within, provider, reported.id)
  if (holder?.intent === intent) return true
  if ((holder && holder.intent !== null) || (await isTakenElsewhere(within, provider, reported.id, store))) return false
  const record: MismatchRecord = { told: reported, fields: ['refused'] }
  const kept = {
    intent,
    owner,
    provider,
    attempted_at: attemptedAt,
    asked: JSON.stringify(requested),
    sent: sent ? JSON.stringify(sent) : null,
    facts: JSON.stringify(record),
  }
  // An entry that was only read under the id keeps it.
  const row = { ...kept, state: 'mismatch', provider_id: holder ? null : reported.id, look_at: null } as const
  await within.insertInto('transactions').values(row).execute()
  await within.deleteFrom('refused_creates').where('intent', '=', intent).execute()
  return true
}

/** Kysely: refused creates whose provider's list is looked at, each look by one process. */
import type { Ledger, UnresolvedCreate } from '../../core/ledger.ts'
import type { Transaction } from '../../domain/swap.ts'
import { isTakenElsewhere } from './account-ids.ts'
import type { MismatchRecord } from './complete.ts'
import type { Database } from './database.ts'
import { lockHolder } from './holder.ts'
import type { Store } from './store.ts'

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

/** Kysely: which creates of unknown outcome are to be looked for, and by whom. */
import { sql } from 'kysely'
import type { Ledger, Open } from '../../core/ledger.ts'
import type { NewTransaction } from '../../domain/swap.ts'
import { end } from './ended.ts'
import type { Database, Store } from './store.ts'

type Looks = Pick<Ledger, 'due' | 'waitingOwners' | 'take' | 'openBetween' | 'end'>

export function looks({ database, write, writeOne, isAmong, toList, clock }: Store): Looks {
  return {
    async due(now, most, owners) {
      const waiting = openCreates(database).where('look_at', '<=', now).orderBy('look_at').orderBy('attempted_at').limit(most)
      const rows = await (owners ? waiting.where(isAmong('owner', toList(owners))) : waiting).execute()
      return rows.map(toOpen)
    },
    async waitingOwners() {
      const waiting = database.selectFrom('transactions').select('owner').distinct().where('look_at', 'is not', null)
      return (await waiting.execute()).map(({ owner }) => owner)
    },
    take: (open, next) => writeOne((within) => take(within, open, next)),
    end: (open, span) => write((within) => end(within, open, span, clock)),
    async openBetween(provider, first, last) {
      const between = creates(database).where('provider', '=', provider).where('attempted_at', '>=', first)
      const attempted = between.where('attempted_at', '<=', last).orderBy('attempted_at')
      // One after the other: what becomes a mismatch in between is seen twice, and not never.
      const open = await attempted.where(isOpen).execute()
      const mismatches = await attempted.where(isMismatch).execute()
      return [...open, ...mismatches].map(toOpen)
    },
  }
}

/** Literally as in the indexes. */
const isOpen = sql<boolean>`state in ('pending', 'unknown')`
const isMismatch = sql<boolean>`state <> 'done' and state = 'mismatch'`

function openCreates(database: Database) {
  return creates(database).where(isOpen)
}

function creates(database: Database) {
  return database
    .selectFrom('transactions')
    .select(['intent', 'owner', 'provider', 'asked', 'attempted_at', 'looks', 'look_at', 'traceparent'])
}

type Row = Awaited<ReturnType<ReturnType<typeof openCreates>['execute']>>[number]

function toOpen({ intent, owner, provider, asked, attempted_at, looks, look_at, traceparent }: Row): Open {
  return {
    intent: intent as string,
    owner,
    provider,
    asked: JSON.parse(asked as string) as NewTransaction,
    attemptedAt: attempted_at as number,
    looks,
    ...(look_at !== null && { lookAt: look_at }),
    ...(traceparent !== null && { traceparent }),
  }
}

/** Whoever comes second finds another number of looks. */
async function take(within: Database, { intent, looks, lookAt }: Open, next: number | undefined): Promise<boolean> {
  const taken = within
    .updateTable('transactions')
    .set({ state: 'unknown', look_at: next ?? null, looks: looks + 1 })
    .where('intent', '=', intent)
    .where('looks', '=', looks)
    .where('look_at', 'is not distinct from', lookAt ?? null)
    .where(isOpen)
  const { numUpdatedRows } = await taken.executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

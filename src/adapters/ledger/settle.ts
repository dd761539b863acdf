/** Kysely: a create whose outcome is open becomes an entry, or a mismatch. */
import { sql } from 'kysely'
import type { Facts } from '../../core/ledger.ts'
import { LedgerConflict } from '../../domain/ledger-error.ts'
import type { Transaction } from '../../domain/swap.ts'
import { renewClaim } from './claims.ts'
import type { LedgerClock } from './clock.ts'
import { revive } from './ended.ts'
import { isFinal, sortKey, toRow } from './entry.ts'
import type { Database } from './store.ts'
import { addToTally, takeFromTally } from './tallies.ts'

export async function settle(within: Database, intent: string, facts: Facts, clock: LedgerClock): Promise<boolean> {
  const create = await lockCreate(within, intent)
  if (!create) throw new LedgerConflict(`The ledger has no create ${intent}.`)
  if (create.state === 'mismatch') return false
  if (create.state === 'done') return isSettledAs(create, facts)
  const holder = await lockHolder(within, create.provider, facts.transaction.id)
  if (holder && (holder.owner !== create.owner || holder.state !== 'done')) {
    await renewClaim(within, intent, clock)
    await becomeMismatch(within, intent, null, { told: facts.transaction, fields: ['id'] })
    return false
  }
  await renewClaim(within, intent, clock, { first: JSON.stringify(facts) })
  await becomeEntry(within, create, facts, holder)
  return true
}

/** A result that is told twice is taken once. */
function isSettledAs({ intent, provider_id }: Create, { transaction }: Facts): true {
  if (provider_id === transaction.id) return true
  throw new LedgerConflict(`The create ${intent} is settled with another id.`)
}

export async function contradict(within: Database, intent: string, told: Transaction, fields: readonly string[]): Promise<void> {
  const create = await lockCreate(within, intent)
  if (!create || create.state === 'done') throw new LedgerConflict(`The ledger has no create ${intent} whose outcome is open.`)
  const holder = await lockHolder(within, create.provider, told.id)
  const isFree = !holder || holder.intent === intent
  await becomeMismatch(within, intent, isFree ? told.id : null, { told, fields })
}

type Create = NonNullable<Awaited<ReturnType<typeof lockCreate>>>

export async function lockCreate(within: Database, intent: string) {
  const found = within.selectFrom('transactions').where('intent', '=', intent).forUpdate()
  const row = await found.select(['owner', 'provider', 'provider_id', 'state', 'attempted_at', 'asked']).executeTakeFirst()
  return row ? { ...row, intent } : await revive(within, intent)
}

type Holder = NonNullable<Awaited<ReturnType<typeof lockHolder>>>

/** Whoever has this id. */
export async function lockHolder(within: Database, provider: string, id: string) {
  const found = within.selectFrom('transactions').where('provider', '=', provider).where('provider_id', '=', id).forUpdate()
  const key = sql<string>`cast(sort_key as text)`.as('sort_key')
  return found.select(['intent', 'owner', 'state', 'status', 'changed_at', key]).executeTakeFirst()
}

/** What a mismatch keeps in place of facts. */
export interface Told {
  readonly told: Transaction
  readonly fields: readonly string[]
}

async function becomeMismatch(within: Database, intent: string, id: string | null, told: Told): Promise<void> {
  const row = { state: 'mismatch', provider_id: id, look_at: null, facts: JSON.stringify(told) } as const
  await within.updateTable('transactions').set(row).where('intent', '=', intent).execute()
}

/** What the owner had under this id before goes up in the entry. */
export async function becomeEntry(within: Database, create: Create, facts: Facts, before: Holder | undefined): Promise<void> {
  const { intent, owner, provider } = create
  const provider_id = facts.transaction.id
  if (before?.state === 'done') await forget(within, create, provider_id, before)
  const row = toRow(before ? keepEnd(facts, before) : facts)
  const at = { sort_key: sortKey(facts, create.attempted_at as number), provider_id, provider }
  const entry = { ...row, ...at, state: 'done', look_at: null } as const
  await within.updateTable('transactions').set(entry).where('intent', '=', intent).execute()
  await addToTally(within, owner, at)
}

async function forget(within: Database, { intent, owner, provider }: Create, provider_id: string, before: Holder): Promise<void> {
  if (before.intent !== null) await within.updateTable('claims').set({ intent }).where('intent', '=', before.intent).execute()
  const gone = within.deleteFrom('transactions').where('provider', '=', provider).where('provider_id', '=', provider_id)
  await gone.execute()
  await takeFromTally(within, owner, { sort_key: BigInt(before.sort_key), provider_id, provider })
}

/** What ended stays as it ended. */
function keepEnd(facts: Facts, { status, changed_at }: Holder): Facts {
  if (!isFinal(status) || facts.transaction.status === status) return facts
  return { ...facts, transaction: { ...facts.transaction, status: status ?? undefined }, changedAt: changed_at ?? undefined }
}

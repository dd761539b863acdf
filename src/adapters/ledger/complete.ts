/** Kysely: turns an unresolved create into an entry or a mismatch. */
import type { NotNull } from 'kysely'
import type { TransactionRecord } from '../../core/ledger.ts'
import { placeKey } from '../../domain/address/same-address.ts'
import { LedgerConflict } from '../../domain/fault.ts'
import type { Transaction } from '../../domain/swap.ts'
import { isBoundElsewhere, isTakenElsewhere } from './account-ids.ts'
import { renewClaim } from './claims.ts'
import type { Database } from './database.ts'
import { sortKey, toRow } from './entry.ts'
import { type Holder, isOlder, lockHolder, withLater } from './holder.ts'
import { restore } from './not-created.ts'
import { addToPageIndex, removeFromPageIndex } from './page-index.ts'
import type { Store } from './store.ts'
import { storeFirst } from './stored.ts'

type CreateStore = Pick<Store, 'clock' | 'lockId'>

export async function complete(within: Database, intent: string, facts: TransactionRecord, store: CreateStore): Promise<boolean> {
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
export async function bindFound(within: Database, intent: string, facts: TransactionRecord, store: CreateStore): Promise<boolean> {
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

export async function markMismatch(
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

/** Kysely: the known transactions, each of one owner. */
import { type NotNull, sql } from 'kysely'
import type { Ledger, LedgerEntry, TransactionRecord } from '../../core/ledger.ts'
import { isFinal } from '../../domain/status.ts'
import { accountsOf, isOfAccount } from './account-ids.ts'
import type { Database } from './database.ts'
import { entryColumns, sortKey, toEntry, toNanoseconds, toRow } from './entry.ts'
import { lister } from './list.ts'
import { addToPageIndex } from './page-index.ts'
import { prepare, type Store } from './store.ts'

type Entries = Pick<
  Ledger,
  'find' | 'findAll' | 'list' | 'listElsewhere' | 'upsert' | 'knownOwners' | 'openDeposits' | 'existingIds' | 'mismatchedIds'
>

export function entries({ database, write, writeOne, isIn: isAmong, listed, toList, dataVersion }: Store): Entries {
  /** The store's data version before an entry was read. */
  const dataVersions = new WeakMap<LedgerEntry, number>()
  const find = prepare(database, ['owner', 'provider', 'id'], ({ owner, provider, id }) =>
    ofOwner(database, owner).where('provider', '=', provider).where('provider_id', '=', id).compile(),
  )
  const findAll = prepare(database, ['owner', 'provider', 'ids'], ({ owner, provider, ids }) =>
    ofOwner(database, owner).where('provider', '=', provider).where(isAmong('provider_id', ids)).compile(),
  )
  const existingIds = prepare(database, ['provider', 'ids'], ({ provider, ids }) =>
    database
      .selectFrom('transactions')
      .select('provider_id')
      .where(isOfAccount('provider', provider))
      .where(isAmong('provider_id', ids))
      .where('intent', 'is not', null)
      .$narrowType<{ provider_id: NotNull }>()
      .unionAll(
        database
          .selectFrom('pruned_ids')
          .select('provider_id')
          .where(isOfAccount('provider', provider))
          .where(isAmong('provider_id', ids)),
      )
      .compile(),
  )
  const mismatchedIds = prepare(database, ['provider', 'ids'], ({ provider, ids }) =>
    database
      .selectFrom('transactions')
      .select('provider_id')
      .where(isOfAccount('provider', provider))
      .where(isAmong('provider_id', ids))
      .where('state', '=', 'mismatch')
      .$narrowType<{ provider_id: NotNull }>()
      .compile(),
  )
  return {
    async find(owner, provider, id, known) {
      // The data version costs a third of a read, so only callers that read again pay for it.
      const current = known && dataVersion?.()
      const isUnchanged = known && current !== undefined && dataVersions.get(known) === current
      if (isUnchanged && isOf(known, owner, provider, id)) return known
      const [row] = await find({ owner, provider, id })
      const entry = row && toEntry(row)
      if (entry && current !== undefined) dataVersions.set(entry, current)
      return entry
    },
    async findAll(owner, provider, ids) {
      return (await findAll({ owner, provider, ids: toList(ids) })).map(toEntry)
    },
    list: lister(database),
    async listElsewhere(owner, provider, maxEntries) {
      if (!(await hasOtherProviders(database, provider))) return { entries: [], isOneAccount: (tag, other) => tag === other }
      const rows = database.selectFrom('transactions').select(entryColumns).where('owner', '=', owner).where(isListed)
      const elsewhere = await rows.where('provider', '!=', provider).orderBy('sort_key').limit(maxEntries).execute()
      return { entries: elsewhere.map(toEntry), isOneAccount: await accountsOf(database) }
    },
    async upsert(owner, provider, facts, before) {
      const renewed = before && (await writeOne((within) => updateEntry(within, before, facts)))
      const changed = renewed ?? (await write((within) => insertEntry(within, owner, provider, facts)))
      if (changed) return changed
      const [row] = await find({ owner, provider, id: facts.transaction.id })
      return row && toEntry(row)
    },
    async knownOwners(owners) {
      const { rows } = await sql<{ readonly owner: string }>`
        select listed.value as owner from ${listed(toList(owners))}
        where exists (select 1 from transactions where owner = listed.value and state = 'done')
          or exists (select 1 from transactions where owner = listed.value and state <> 'done')`.execute(database)
      return new Set(rows.map(({ owner }) => owner))
    },
    async openDeposits(key, since) {
      const rows = await database
        .selectFrom('transactions')
        .select(entryColumns)
        .where('deposit', '=', key)
        .where(sql<boolean>`state = 'done' and settled_at is null and sort_key <= ${-toNanoseconds(since)}`)
        .where(sql<boolean>`(status is null or status not in ('success', 'refunded', 'overdue'))`)
        .limit(maxDeposits)
        .execute()
      return rows.map(toEntry)
    },
    async existingIds(provider, ids) {
      const rows = await existingIds({ provider, ids: toList(ids) })
      return new Set(rows.map(({ provider_id }) => provider_id))
    },
    async mismatchedIds(provider, ids) {
      const rows = await mismatchedIds({ provider, ids: toList(ids) })
      return new Set(rows.map(({ provider_id }) => provider_id))
    },
  }
}

/** Must repeat the condition of the index. */
const isListed = sql<boolean>`state = 'done'`

/** Two steps into the index of ids: that most ledgers have one provider must cost them nothing. */
async function hasOtherProviders(database: Database, provider: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from (select 1 from transactions where provider < ${provider} limit 1) as before
    union all
    select 1 from (select 1 from transactions where provider > ${provider} limit 1) as after`.execute(database)
  return rows.length > 0
}

/** More open swaps with one address are not looked at. */
const maxDeposits = 20

function isOf(entry: LedgerEntry, owner: string, provider: string, id: string): boolean {
  return entry.owner === owner && entry.provider === provider && entry.transaction.id === id
}

/**
 * Prevents the use of the index of owners, which may be slower than the one of ids. The database skips another owner's row,
 * so that it takes as long as a missing row.
 */
function ofOwner(database: Database, owner: string) {
  const isOfOwner = sql<boolean>`owner || '' = ${owner} and state = 'done'`
  return database.selectFrom('transactions').select(entryColumns).where(isOfOwner)
}

/** Inserts an entry. Undefined if any owner already has it. */
export async function insertEntry(
  within: Database,
  owner: string,
  provider: string,
  facts: TransactionRecord,
): Promise<LedgerEntry | undefined> {
  const row = toRow(facts)
  const at = { sort_key: sortKey(facts), provider_id: facts.transaction.id, provider }
  const { numInsertedOrUpdatedRows } = await within
    .insertInto('transactions')
    .values({ ...row, ...at, owner, state: 'done' })
    .onConflict((conflict) => conflict.columns(['provider', 'provider_id']).doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows === 0n) return undefined
  await addToPageIndex(within, owner, at)
  return toEntry({ ...row, owner, provider, asked: null, sent: null, settled_at: null })
}

const isFinalRow = sql<boolean>`status in ('success', 'refunded')`
const isSettledRow = sql<boolean>`(status in ('success', 'refunded') or settled_at is not null)`

/** Updates under the row's lock, safe with concurrent processes. A final status does not change, nor one that an operator recorded. */
async function updateEntry(within: Database, before: LedgerEntry, facts: TransactionRecord): Promise<LedgerEntry | undefined> {
  const { status, attention, changed_at, ...row } = toRow(facts)
  const isKept = isFinal(status) ? isFinalRow : isSettledRow
  const renewed = within
    .updateTable('transactions')
    .set({
      ...row,
      status: sql`case when ${isKept} then status else coalesce(${status}, status) end`,
      attention: sql`case when ${isSettledRow} then null else ${attention} end`,
      changed_at: sql`case when ${isKept} and ${status} is distinct from status then changed_at else ${changed_at} end`,
    })
    .where('owner', '=', before.owner)
    .where('provider', '=', before.provider)
    .where('provider_id', '=', facts.transaction.id)
    .where('state', '=', 'done')
    .where('sequence', 'is not distinct from', before.sequence ?? null)
    .where('asked', before.isCreated ? 'is not' : 'is', null)
    .returning(entryColumns)
  const found = await renewed.executeTakeFirst()
  return found && toEntry(found)
}

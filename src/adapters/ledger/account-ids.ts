/** Kysely: an id at a provider is one create's, over all tags with the same account (docs/contract.md §4), also after a prune. */
import { type NotNull, type RawBuilder, sql } from 'kysely'
import { isSameDeposit } from '../../core/same-swap.ts'
import type { Transaction } from '../../domain/swap.ts'
import type { Database } from './database.ts'
import type { Store } from './store.ts'
import { loadEntry } from './stored.ts'

/** The other tags whose last configuration has the same account or the same URL: also those that the file lacks by now. */
function otherTags(tag: unknown): RawBuilder<unknown> {
  return sql`select other.tag from providers as own join providers as other on other.account = own.account or other.url = own.url
    where own.tag = ${tag} and other.tag <> own.tag`
}

/** Whether the column has this tag or another one of the same account. One list, so that the index of ids is used whole. */
export function isOfAccount(column: string, tag: unknown): RawBuilder<boolean> {
  return sql`${sql.ref(column)} in (select cast(${tag} as text) union all ${otherTags(tag)})`
}

/** Whether two tags have the same account or the same URL, as last configured. */
export async function accountsOf(database: Database): Promise<(tag: string, other: string) => boolean> {
  const rows = await database.selectFrom('providers').select(['tag', 'account', 'url']).execute()
  const byTag = new Map(rows.map((row) => [row.tag, row]))
  return (tag, other) => {
    const [one, another] = [byTag.get(tag), byTag.get(other)]
    if (tag === other || !one || !another) return tag === other
    return one.url === another.url || (one.account !== null && one.account === another.account)
  }
}

/**
 * Whether a create under another tag of the account has the id, or a create had it until it was pruned. Called after the row that
 * may hold the id was locked, so that a prune that held the lock is visible.
 */
export async function isTakenElsewhere(
  within: Database,
  provider: string,
  id: string,
  { lockId }: Pick<Store, 'lockId'>,
): Promise<boolean> {
  const { isTaken, isShared } = await lookUp(within, provider, id)
  if (isTaken || !isShared) return isTaken
  await lockId(within, id)
  return (await lookUp(within, provider, id)).isTaken
}

async function lookUp(within: Database, provider: string, id: string) {
  const { rows } = await sql<{ readonly taken: number | boolean; readonly shared: number | boolean }>`
    select exists (
      select 1 from pruned_ids where provider_id = ${id} and ${isOfAccount('provider', provider)}
      union all
      select 1 from transactions where provider_id = ${id} and provider in (${otherTags(provider)}) and intent is not null
    ) as taken, exists (${otherTags(provider)}) as shared`.execute(within)
  const [{ taken, shared } = { taken: false, shared: false }] = rows
  return { isTaken: Boolean(taken), isShared: Boolean(shared) }
}

/**
 * Whether a create under any other tag has this swap, whatever the configuration says of accounts: no two swaps have the same id and
 * the same deposit address.
 */
export async function isBoundElsewhere(within: Database, provider: string, found: Transaction): Promise<boolean> {
  if (!found.depositAddress) return false
  const rows = await within
    .selectFrom('transactions')
    .select('facts')
    .where('provider_id', '=', found.id)
    .where(sql<boolean>`provider in (select tag from providers where tag <> ${provider})`)
    .where(sql<boolean>`intent is not null and state = 'done'`)
    .$narrowType<{ facts: NotNull }>()
    .execute()
  return rows.some(({ facts }) => isSameDeposit(loadEntry(facts).transaction, found))
}

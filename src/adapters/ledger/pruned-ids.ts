/** Kysely: ids that creates had whose transactions were pruned. An id is one create's, also when its row is gone. */
import { sql } from 'kysely'
import type { LedgerClock } from './clock.ts'
import type { Database } from './database.ts'
import { lateResultMs } from './not-created.ts'
import type { Store } from './store.ts'

/** Of one transaction, so that it is short. */
const maxForgottenPerStep = 2_000

export interface PrunedRow {
  readonly intent: string | null
  readonly provider: string
  readonly provider_id: string
}

/** Keeps the ids of creates. Transactions that were only read are not kept. */
export async function keepPrunedIds(
  within: Database,
  rows: readonly PrunedRow[],
  { clock, listed, toList }: Pick<Store, 'clock' | 'listed' | 'toList'>,
): Promise<void> {
  const created = rows.filter(({ intent }) => intent !== null)
  const now = clock.at(clock.read())
  for (const [provider, ofProvider] of Map.groupBy(created, (row) => row.provider)) {
    const ids = toList(ofProvider.map(({ provider_id }) => provider_id))
    await sql`
      insert into pruned_ids (provider, provider_id, pruned_at)
      select ${provider}, listed.value, ${now} from ${listed(ids)} where true
      on conflict do nothing`.execute(within)
  }
}

/** As long as a late result is taken, no other create may have the id. Returns whether some that are older may be left. */
export async function forgetPrunedIds(within: Database, clock: LedgerClock): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from pruned_ids where (provider, provider_id) in (
      select provider, provider_id from pruned_ids
      where pruned_at < ${clock.at(clock.read())} - ${sql.lit(lateResultMs)}
      order by pruned_at limit ${sql.lit(maxForgottenPerStep)}
    )`.execute(within)
  return numAffectedRows === BigInt(maxForgottenPerStep)
}

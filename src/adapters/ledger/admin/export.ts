/** Kysely: reads all entries in batches. */
import { type NotNull, sql } from 'kysely'
import type { LedgerAdmin } from '../../../core/ledger-admin.ts'
import type { Database } from '../database.ts'
import { clampSortKey, entryColumns, toEntry, toNanoseconds } from '../entry.ts'
import { beforeAll, type OwnerPosition, positionColumns, values } from '../page-index.ts'
import type { Store } from '../store.ts'

const batchSize = 500

/** Each batch is its own snapshot. An entry that exists during the whole export is returned exactly once. */
export function exporter({ database }: Store): LedgerAdmin['export'] {
  return async function* (since) {
    const oldest = clampSortKey(since === undefined ? 2n ** 64n : -toNanoseconds(since))
    let rows = await batch(database, beforeAll, oldest)
    for (;;) {
      yield* rows.map(toEntry)
      const last = rows.at(-1)
      if (!last || rows.length < batchSize) return
      rows = await batch(database, { ...last, sort_key: BigInt(last.sort_key) }, oldest)
    }
  }
}

function batch(database: Database, after: OwnerPosition, oldest: bigint) {
  return database
    .selectFrom('transactions')
    .select([...entryColumns, 'provider_id', sql<string>`cast(sort_key as text)`.as('sort_key')])
    .where(
      sql<boolean>`state = 'done' and (owner, ${positionColumns}) > (${after.owner}, ${values(after)}) and sort_key <= ${oldest}`,
    )
    .orderBy('owner')
    .orderBy(sql`transactions.sort_key`)
    .orderBy('provider_id')
    .orderBy('provider')
    .limit(batchSize)
    .$narrowType<{ provider_id: NotNull }>()
    .execute()
}

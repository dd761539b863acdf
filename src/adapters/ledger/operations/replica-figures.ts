/** Kysely: what each process counts, on the database's clock. */
import { sql } from 'kysely'
import type { ReplicaCounts, ReplicaFiguresStore } from '../../../core/operations/replica-figures.ts'
import type { Store } from '../store.ts'

/** Rows of processes that ended without a word. */
const forgottenAfterMs = 3_600_000

/** `maxSilenceMs`: older figures are not read. */
export function replicaFigures({ database, writeOne, databaseTimeMs }: Store, maxSilenceMs = 30_000): ReplicaFiguresStore {
  const age = sql<number>`${databaseTimeMs} - at`
  return {
    async write(replica, counts) {
      const row = { at: databaseTimeMs, figures: JSON.stringify(counts) }
      await writeOne((within) =>
        within
          .insertInto('replica_figures')
          .values({ replica, ...row })
          .onConflict((conflict) => conflict.column('replica').doUpdateSet(row))
          .execute(),
      )
    },
    async remove(replica) {
      await writeOne((within) =>
        within
          .deleteFrom('replica_figures')
          .where((where) => where.or([where('replica', '=', replica), where(age, '>', forgottenAfterMs)]))
          .execute(),
      )
    },
    async read() {
      const rows = await database
        .selectFrom('replica_figures')
        .select(['replica', 'figures', age.as('age')])
        .where(age, '<', maxSilenceMs)
        .orderBy('replica')
        .execute()
      return rows.map(({ replica, figures, age: ageMs }) => ({
        replica,
        ageMs: Math.max(0, ageMs),
        ...(JSON.parse(figures) as ReplicaCounts),
      }))
    },
  }
}

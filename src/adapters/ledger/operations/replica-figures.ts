/** Kysely: the figures of each process, with times of the database's clock. */
import { sql } from 'kysely'
import type { ReplicaCounts, ReplicaFiguresStore } from '../../../core/operations/provider-figures.ts'
import type { Store } from '../store.ts'

/** Rows of processes that ended without deleting theirs are deleted after this time. */
const retentionMs = 3_600_000

/** Figures older than `maxSilenceMs` are not returned. */
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
          .where((where) => where.or([where('replica', '=', replica), where(age, '>', retentionMs)]))
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
      return rows.map(({ replica, figures, age: ageMs }) => {
        const counts: ReplicaCounts = JSON.parse(figures)
        return { replica, ageMs: Math.max(0, ageMs), ...counts }
      })
    },
  }
}

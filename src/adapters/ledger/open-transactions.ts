/** Kysely: takes open transactions of a provider, each for one process at a time. The conditions repeat those of the indexes. */
import { sql } from 'kysely'
import type { Ledger, LedgerEntry } from '../../core/ledger.ts'
import { hasNotEnded } from './admin/gauges.ts'
import { openOverdueMs, overdueSince, overdueWithAttention, overdueWithoutAttention } from './admin/open-counts.ts'
import { entryColumns, toEntry } from './entry.ts'
import type { Store } from './store.ts'

type OpenTransactions = Pick<Ledger, 'claimOpen' | 'claimLost' | 'releaseOpen'>

export function openTransactions({ database, writeOne, clock, databaseTimeMs, isIn, toList }: Store): OpenTransactions {
  // In a subquery the time is read once, so that the database can use the index.
  const nowOf = () => sql<number>`(select ${clock.at(clock.read())})`
  const dueIds = async (provider: string, maxEntries: number, pauseMs: number): Promise<readonly string[]> => {
    const isDue = sql`provider = ${provider} and polled_at <= ${nowOf()} - ${sql.lit(pauseMs)}`
    const { rows } = await sql<{ readonly provider_id: string }>`
      select provider_id from (
        select * from (
          select provider_id, polled_at, sort_key from transactions where ${isDue} and ${hasNotEnded}
          order by polled_at, sort_key desc limit ${maxEntries}
        ) as unfinished
        union all
        select * from (
          select provider_id, polled_at, sort_key from transactions
          where ${isDue} and ${overdueWithoutAttention}
            and (${overdueSince}) > (select ${databaseTimeMs}) - ${sql.lit(openOverdueMs)}
          order by ${overdueSince} limit ${maxEntries}
        ) as overdue
        union all
        select * from (
          select provider_id, polled_at, sort_key from transactions where ${isDue} and ${overdueWithAttention}
          order by polled_at, sort_key desc limit ${maxEntries}
        ) as attended
      ) as due order by polled_at, sort_key desc limit ${maxEntries}`.execute(database)
    return rows.map(({ provider_id }) => provider_id)
  }
  const lostIds = async (provider: string, maxEntries: number, pauseMs: number, missingAt: number): Promise<readonly string[]> => {
    const { rows } = await sql<{ readonly provider_id: string }>`
      select provider_id from transactions
      where attention is not null and provider = ${provider} and attention = 'lost'
        and coalesce(missing_at, 0) <= ${missingAt} and polled_at <= ${nowOf()} - ${sql.lit(pauseMs)}
      order by sort_key desc limit ${maxEntries}`.execute(database)
    return rows.map(({ provider_id }) => provider_id)
  }
  const claim = async (provider: string, ids: readonly string[], pauseMs: number): Promise<readonly LedgerEntry[]> => {
    if (ids.length === 0) return []
    return writeOne(async (within) => {
      const claimed = await within
        .updateTable('transactions')
        .set({ polled_at: nowOf() })
        .where('provider', '=', provider)
        .where(isIn('provider_id', toList(ids)))
        .where(sql<boolean>`polled_at <= ${nowOf()} - ${sql.lit(pauseMs)}`) // another process may have been first
        .returning(entryColumns)
        .execute()
      const entries = new Map(claimed.map(toEntry).map((entry) => [entry.transaction.id, entry]))
      return ids.flatMap((id) => entries.get(id) ?? [])
    })
  }
  return {
    claimOpen: async (provider, maxEntries, pauseMs) => claim(provider, await dueIds(provider, maxEntries, pauseMs), pauseMs),
    claimLost: async (provider, maxEntries, pauseMs, missingAt) =>
      claim(provider, await lostIds(provider, maxEntries, pauseMs, missingAt), pauseMs),
    releaseOpen: (provider, ids) =>
      writeOne(async (within) => {
        const released = within.updateTable('transactions').set({ polled_at: 0 }).where('provider', '=', provider)
        await released.where(isIn('provider_id', toList(ids))).execute()
      }),
  }
}

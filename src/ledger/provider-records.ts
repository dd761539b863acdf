/** Kysely: providers' currency lists. Their age uses the database's clock or the machine's uptime. */
import { sql } from 'kysely'
import type { CurrencyListStore, ListSource } from '../core/quotes/read-currency-list.ts'
import type { TagRecord, TagRecords } from '../core/routing/tag-records.ts'
import type { Currency } from '../domain/swap.ts'
import type { Database } from './database.ts'
import type { Store } from './store.ts'

/** The stored lists of all providers, by what they are of. */
export async function storedLists(database: Database): Promise<readonly StoredRows[]> {
  const stored = await database.selectFrom('currency_lists').select(['provider', 'url', 'form', 'rows']).execute()
  return stored.map(({ rows, ...source }) => ({ ...source, rows: JSON.parse(rows) }))
}

export interface StoredRows extends ListSource {
  readonly rows: readonly Currency[]
}

/** A longer list (in characters) is not stored: writing and reading it would block other work. */
const maxListLength = 4_194_304

export function currencyLists({ database, writeOne, databaseTimeMs: databaseTime, uptimeMs: uptime }: Store): CurrencyListStore {
  return {
    async loadCurrencies({ provider, url, form }) {
      const stored = database
        .selectFrom('currency_lists')
        .select(['rows', 'read_at_uptime', sql<number>`${databaseTime} - read_at`.as('age')])
        .where('provider', '=', provider)
        .where('url', '=', url)
        .where('form', '=', form)
      const row = await stored.executeTakeFirst()
      if (!row) return undefined
      const minAgeMs = uptime && row.read_at_uptime !== null ? uptime() - row.read_at_uptime : 0
      const rows: readonly Currency[] = JSON.parse(row.rows)
      return { rows, ageMs: ageOf(row.age, minAgeMs) }
    },
    async saveCurrencies({ provider, url, form }, { rows, ageMs }) {
      if (lengthOf(rows) > maxListLength) {
        // The stored list is outdated.
        await writeOne((within) => within.deleteFrom('currency_lists').where('provider', '=', provider).execute())
        return
      }
      const age = Math.round(ageMs)
      const list = {
        url,
        form,
        rows: JSON.stringify(rows),
        read_at: sql<number>`${databaseTime} - ${age}`,
        read_at_uptime: uptime ? uptime() - age : null,
      }
      await writeOne((within) =>
        within
          .insertInto('currency_lists')
          .values({ provider, ...list })
          .onConflict((conflict) => conflict.column('provider').doUpdateSet(list))
          .execute(),
      )
    },
  }
}

function lengthOf(rows: readonly Currency[]): number {
  let length = 0
  for (const row of rows) for (const text of Object.values(row)) length += String(text ?? '').length
  return length
}

/** A negative age means that the clock was set back: the age is then unknown, and counts as infinite. */
function ageOf(age: number, minAgeMs: number): number {
  return age < 0 ? Number.POSITIVE_INFINITY : Math.max(age, minAgeMs)
}

// Kysely: the form, the URL and the account of each tag's last configuration.

export function tagRecords({ database, write }: Store): TagRecords {
  return {
    read: (tags) => readTagRecords(database, tags),
    save: (tags) =>
      write(async (within) => {
        for (const { tag, ...columns } of tags) {
          const provider = within.insertInto('providers').values({ tag, ...columns })
          await provider.onConflict((conflict) => conflict.column('tag').doUpdateSet(columns)).execute()
        }
      }),
  }
}

export async function readTagRecords(database: Database, tags: readonly string[]): Promise<readonly TagRecord[]> {
  const known = await database.selectFrom('providers').selectAll().execute()
  const all = new Map<string, Omit<TagRecord, 'isUsed'>>(tags.map((tag) => [tag, { tag }]))
  for (const { account, ...row } of known) all.set(row.tag, { ...row, ...(account !== null && { account }) })
  const records: TagRecord[] = []
  for (const record of all.values()) records.push({ ...record, isUsed: await isUsed(database, record.tag) })
  return records
}

async function isUsed(database: Database, tag: string): Promise<boolean> {
  const { rows } = await sql`select 1 from transactions where provider = ${tag} limit 1`.execute(database)
  return rows.length > 0
}

/** Kysely: the form, the URL and the account of each tag's last configuration. */
import { sql } from 'kysely'
import type { TagRecord, TagRecords } from '../../core/routing/tag-records.ts'
import type { Database } from './database.ts'
import type { Store } from './store.ts'

export function tagRecords({ database, write }: Store): TagRecords {
  return {
    read: (tags) => readTagRecords(database, tags),
    save: (tags) =>
      write(async (within) => {
        for (const { tag, ...facts } of tags) {
          const provider = within.insertInto('providers').values({ tag, ...facts })
          await provider.onConflict((conflict) => conflict.column('tag').doUpdateSet(facts)).execute()
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

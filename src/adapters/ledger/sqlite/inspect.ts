/** Kysely: reads a ledger that may be in use or of another version, without creating, changing or waiting. */
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { Kysely } from 'kysely'
import type { AssetCount, DestinationCount, OpenCount } from '../../../core/ledger-admin.ts'
import type { StoredOverride } from '../../../core/operations/settings.ts'
import type { TagRecord } from '../../../core/routing/tag-records.ts'
import { assetCounts, destinationCounts, openCounts } from '../admin/open-counts.ts'
import { readAllOverrides } from '../operations/overrides.ts'
import type { Tables } from '../schema/tables.ts'
import type { Store } from '../store.ts'
import { readTagRecords } from '../tag-records.ts'
import { sqliteDialect } from './dialect.ts'
import { sqliteTimeMs } from './store.ts'

export interface LedgerInspection {
  readonly tags: readonly TagRecord[]
  readonly openCounts: readonly OpenCount[]
  readonly destinationCounts: readonly DestinationCount[]
  readonly assetCounts: readonly AssetCount[]
  readonly overrides: readonly StoredOverride[]
}

export async function inspect(
  store: Pick<Store, 'database' | 'databaseTimeMs'>,
  tags: readonly string[],
): Promise<LedgerInspection> {
  return {
    tags: await readTagRecords(store.database, tags),
    openCounts: await openCounts(store),
    destinationCounts: await destinationCounts(store.database),
    assetCounts: await assetCounts(store.database),
    overrides: await readAllOverrides(store.database),
  }
}

/** Throws if the file does not exist or cannot be read in this way. */
export async function inspectSqlite(file: string, tags: readonly string[]): Promise<LedgerInspection> {
  const location = pathToFileURL(file)
  // Without a write-ahead log the file is complete. In normal mode SQLite would create an empty log.
  if (!existsSync(`${file}-wal`)) location.searchParams.set('immutable', '1')
  const database = new Kysely<Tables>({ dialect: sqliteDialect(new DatabaseSync(location, { readOnly: true, timeout: 0 })) })
  try {
    return await inspect({ database, databaseTimeMs: sqliteTimeMs }, tags)
  } finally {
    await database.destroy()
  }
}

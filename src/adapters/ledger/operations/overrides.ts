/** Kysely: overrides of the configuration file, each with its audit records. */
import { isDeepStrictEqual } from 'node:util'
import { type RawBuilder, sql } from 'kysely'
import { assetText, isSuspended } from '../../../core/mismatch-streaks.ts'
import type { AuditAction } from '../../../core/operations/audit.ts'
import type { Override, OverrideChange, OverrideKey, OverrideStore, StoredOverride } from '../../../core/operations/settings.ts'
import type { Database } from '../database.ts'
import { endStreaksAt } from '../mismatch-streaks.ts'
import type { Store } from '../store.ts'
import { addAudit } from './audit.ts'

export function overrides(store: Store): OverrideStore {
  const { database, write, writeOne } = store
  return {
    read: () => readOpen(database),
    readAll: () => readAllOverrides(database),
    change: (changes, actor, expected, resumed = new Map()) =>
      write(async (within) => {
        await store.lock(within, 'overrides')
        const stored = await readAllOverrides(within)
        if (expected && !isDeepStrictEqual(openOf(stored), expected)) return false
        await resume(within, resumed, actor, store)
        for (const change of changes) await apply(within, store, change, actor, stored)
        return true
      }),
    end: (override, { key, before, after }) =>
      write(async (within) => {
        const ended = within.updateTable('overrides').set({ ended: 1 }).where(isRow(override)).where('ended', '=', 0)
        const { numUpdatedRows } = await ended.executeTakeFirstOrThrow()
        if (numUpdatedRows === 0n) return false
        await addAudit(within, store, { actor: 'file', action: 'override.ended', subject: key, before, after })
        return true
      }),
    forget: (override) =>
      writeOne(async (within) => {
        await within.deleteFrom('overrides').where(isRow(override)).where('ended', '=', 1).execute()
      }),
  }
}

async function readOpen(database: Database): Promise<readonly Override[]> {
  return openOf(await readAllOverrides(database))
}

function openOf(stored: readonly StoredOverride[]): readonly Override[] {
  return stored.filter(({ isEnded }) => !isEnded).map(({ isEnded: _, ...override }) => override)
}

export async function readAllOverrides(database: Database): Promise<readonly StoredOverride[]> {
  const rows = await database.selectFrom('overrides').selectAll().orderBy('key').execute()
  return rows.map(({ key, value, file_value, actor, since, ended }) => ({
    key,
    value: JSON.parse(value),
    fileValue: JSON.parse(file_value),
    actor,
    since,
    isEnded: ended === 1,
  }))
}

/** One record for each provider at which assets were suspended. */
async function resume(within: Database, names: ReadonlyMap<string, string>, actor: string, store: Store): Promise<void> {
  const ended = await endStreaksAt(within, [...names.keys()], store)
  for (const [tag, subject] of names) {
    const suspended = ended.filter((streak) => streak.provider === tag && isSuspended(streak))
    const before = suspended.map(({ kind, asset }) => ({ kind, asset: assetText(asset) }))
    if (before.length > 0) await addAudit(within, store, { actor, action: 'provider.resume', subject, before })
  }
}

async function apply(
  within: Database,
  store: Store,
  { key, value, fileValue, shown }: OverrideChange,
  actor: string,
  stored: readonly StoredOverride[],
): Promise<void> {
  const current = stored.find((override) => override.key === key)
  const { before, after } = shown
  if (value === undefined) {
    await within.deleteFrom('overrides').where('key', '=', key).execute()
    if (!current || current.isEnded || isDeepStrictEqual([current.value, before], [fileValue, after])) return
    await addAudit(within, store, { actor, action: 'override.reset', subject: shown.key, before, after })
    return
  }
  if (current && !current.isEnded && isDeepStrictEqual([current.value, current.fileValue], [value, fileValue])) return
  const row = { value: JSON.stringify(value), file_value: JSON.stringify(fileValue), actor, since: store.databaseTimeMs, ended: 0 }
  await within
    .insertInto('overrides')
    .values({ key, ...row })
    .onConflict((conflict) => conflict.column('key').doUpdateSet(row))
    .execute()
  await addAudit(within, store, { actor, ...subjectOf(shown.key), before, after })
}

function subjectOf(key: OverrideKey): { readonly action: AuditAction; readonly subject: string } {
  if (key === 'weights' || key === 'shadow') return { action: `routing.${key}`, subject: 'routing' }
  return { action: 'provider.state', subject: key.slice('state:'.length) }
}

/** Matches exactly this override, not one that has replaced it. */
function isRow({ key, value, actor, since }: Override): RawBuilder<boolean> {
  return sql`key = ${key} and value = ${JSON.stringify(value)} and actor = ${actor} and since = ${since}`
}

/** Kysely: what operators changed and see: the audit log, overrides of the configuration, and the figures of each process. */

import { isDeepStrictEqual } from 'node:util'
import { type RawBuilder, sql } from 'kysely'
import { assetText, isSuspended } from '../core/mismatch-streaks.ts'
import type { AuditAction, AuditEntry, AuditLog, AuditQuery, AuditRecord } from '../core/operations/audit.ts'
import type { ReplicaCounts, ReplicaFiguresStore } from '../core/operations/provider-figures.ts'
import {
  type Override,
  type OverrideChange,
  type OverrideKey,
  type OverrideStore,
  type StoredOverride,
  toSetting,
} from '../core/operations/settings.ts'
import { inSlices } from '../domain/async.ts'
import type { Database } from './database.ts'
import { endStreaksAt } from './mismatch-streaks.ts'
import type { Overrides } from './schema/tables.ts'
import type { Store } from './store.ts'
import { noteAct } from './timeline.ts'

export function auditLog(store: Store): AuditLog {
  const { database, writeOne } = store
  return {
    async read(query) {
      const rows = await auditQuery(database, query).execute()
      const records: AuditRecord[] = []
      await inSlices(rows, (row) => records.push(toRecord(row)))
      return records
    },
    append: async (entry) => {
      await writeOne((within) => addAudit(within, store, entry))
    },
  }
}

/** Adds a record in the transaction of its change. Returns its id. */
export async function addAudit(
  within: Database,
  { databaseTimeMs }: Pick<Store, 'databaseTimeMs'>,
  entry: AuditEntry,
): Promise<number> {
  const { actor, action, subject, before, after } = entry
  if (decisions.includes(action)) await noteAct(within, subject, { event: 'person', actor, action, decision: after })
  const row = { at: databaseTimeMs, actor, action, subject, before: toJson(before), after: toJson(after) }
  const { id } = await within.insertInto('audit').values(row).returning('id').executeTakeFirstOrThrow()
  if (Number(id) % recordsPerCut === 0) await cut(within, Number(id))
  return id
}

/** About one swap, whose timeline has them too. */
const decisions: readonly AuditAction[] = [
  ...(['ledger.resolve', 'transaction.settle'] as const),
  ...(['transaction.refund', 'transaction.continue', 'transaction.refund_address'] as const),
]

/** Of all records, and of those after which reads go. A cut is made by one insert of many. */
const maxRecords = 1_000_000
const maxRecordsWithReads = 100_000
const recordsPerCut = 1_000
const reads: readonly AuditAction[] = [
  'transaction.read',
  'transaction.ask',
  'transaction.search',
  'unresolved.read',
  'role.refused',
]

async function cut(within: Database, last: number): Promise<void> {
  await within
    .deleteFrom('audit')
    .where('id', '<=', last - maxRecordsWithReads)
    .where(({ eb, or }) => or([eb('action', 'in', reads), eb('id', '<=', last - maxRecords)]))
    .execute()
}

/** Updates the result of a change that takes several transactions; call it in each of them. */
export async function updateAudit(within: Database, id: number, after: unknown): Promise<void> {
  await within
    .updateTable('audit')
    .set({ after: toJson(after) })
    .where('id', '=', id)
    .execute()
}

function auditQuery(database: Database, { since, maxRecords }: AuditQuery) {
  let query = database.selectFrom('audit').selectAll().orderBy('at', 'desc').orderBy('id', 'desc')
  if (since !== undefined) query = query.where('at', '>=', since)
  return maxRecords === undefined ? query : query.limit(maxRecords)
}

type AuditRow = Awaited<ReturnType<ReturnType<typeof auditQuery>['execute']>>[number]

function toRecord({ id, action, subject, before, after, ...row }: AuditRow): AuditRecord {
  const isOverride = action === 'override.reset' || action === 'override.ended'
  return {
    ...row,
    id: String(id),
    action: action === 'routing.shadow' ? 'routing.mirror' : action,
    subject: isOverride ? keyOfStored(subject) : subject,
    ...(before !== null && { before: JSON.parse(before) }),
    ...(after !== null && { after: JSON.parse(after) }),
  }
}

function toJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value)
}

// Overrides of the configuration file, each with its audit records.

/** The mirror is stored under its earlier name, which a version that runs beside this one reads too. */
const storedMirror = 'shadow'

function storedKeyOf(key: OverrideKey): Overrides['key'] {
  return key === 'mirror' ? storedMirror : key
}

function keyOfStored(key: string): string {
  return key === storedMirror ? 'mirror' : key
}

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
  return rows.flatMap(({ key, value, file_value, actor, since, ended }) => {
    // A value of another version means nothing here, and changes nothing.
    const setting = toSetting(keyOfStored(key), JSON.parse(value))
    return setting ? { ...setting, fileValue: JSON.parse(file_value), actor, since, isEnded: ended === 1 } : []
  })
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
    await within.deleteFrom('overrides').where('key', '=', storedKeyOf(key)).execute()
    if (!current || current.isEnded || isDeepStrictEqual([current.value, before], [fileValue, after])) return
    await addAudit(within, store, { actor, action: 'override.reset', subject: shown.key, before, after })
    return
  }
  if (current && !current.isEnded && isDeepStrictEqual([current.value, current.fileValue], [value, fileValue])) return
  const row = { value: JSON.stringify(value), file_value: JSON.stringify(fileValue), actor, since: store.databaseTimeMs, ended: 0 }
  await within
    .insertInto('overrides')
    .values({ key: storedKeyOf(key), ...row })
    .onConflict((conflict) => conflict.column('key').doUpdateSet(row))
    .execute()
  await addAudit(within, store, { actor, ...subjectOf(shown.key), before, after })
}

function subjectOf(key: OverrideKey): { readonly action: AuditAction; readonly subject: string } {
  if (key === 'weights' || key === 'mirror') return { action: `routing.${key}`, subject: 'routing' }
  return { action: 'provider.state', subject: key.slice('state:'.length) }
}

/** Matches exactly this override, not one that has replaced it. */
function isRow({ key, value, actor, since }: Override): RawBuilder<boolean> {
  return sql`key = ${storedKeyOf(key)} and value = ${JSON.stringify(value)} and actor = ${actor} and since = ${since}`
}

// The figures of each process, with times of the database's clock.

/** Rows of processes that ended without deleting theirs are deleted after this time. */
const retentionMs = 3_600_000

/** Figures older than `maxSilenceMs` are not returned. */
export function replicaFigures(
  { database, freshReads, writeOne, databaseTimeMs }: Store,
  maxSilenceMs = 30_000,
): ReplicaFiguresStore {
  const age = sql<number>`${databaseTimeMs} - at`
  return {
    async write(replica, counts) {
      const row = { at: databaseTimeMs, figures: JSON.stringify(counts) }
      const written = await writeOne((within) =>
        within
          .insertInto('replica_figures')
          .values({ replica, ...row })
          .onConflict((conflict) => conflict.column('replica').doUpdateSet(row))
          .returning('at')
          .executeTakeFirstOrThrow(),
      )
      if (!freshReads) return
      const read = await database.selectFrom('replica_figures').select('at').where('replica', '=', replica).executeTakeFirst()
      if (!read || read.at < written.at) freshReads.noteLag()
    },
    async remove(replica) {
      await writeOne((within) =>
        within
          .deleteFrom('replica_figures')
          .where((where) => where.or([where('replica', '=', replica), where(age, '>', retentionMs)]))
          .execute(),
      )
    },
    async countOthers(replica) {
      const { count } = await database
        .selectFrom('replica_figures')
        .select(sql<number>`count(*)`.as('count'))
        .where('replica', '!=', replica)
        .where(age, '<', maxSilenceMs)
        .executeTakeFirstOrThrow()
      return Number(count)
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

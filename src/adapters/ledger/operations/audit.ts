/** Kysely: the audit log. */
import type { AuditAction, AuditEntry, AuditLog, AuditQuery, AuditRecord } from '../../../core/operations/audit.ts'
import type { Database } from '../database.ts'
import type { Store } from '../store.ts'

export function auditLog(store: Store): AuditLog {
  const { database, writeOne } = store
  return {
    async read(query) {
      const rows = await auditQuery(database, query).execute()
      return rows.map(toRecord)
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
  const row = { at: databaseTimeMs, actor, action, subject, before: toJson(before), after: toJson(after) }
  const { id } = await within.insertInto('audit').values(row).returning('id').executeTakeFirstOrThrow()
  if (Number(id) % recordsPerCut === 0) await cut(within, Number(id))
  return id
}

/** Of all records, and of those after which reads go. A cut is made by one insert of many. */
const maxRecords = 1_000_000
const maxRecordsWithReads = 100_000
const recordsPerCut = 1_000
const reads: readonly AuditAction[] = ['transaction.read', 'transaction.search', 'unresolved.read']

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

function toRecord({ id, action, before, after, ...row }: AuditRow): AuditRecord {
  return {
    ...row,
    id: String(id),
    action,
    ...(before !== null && { before: JSON.parse(before) }),
    ...(after !== null && { after: JSON.parse(after) }),
  }
}

function toJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value)
}

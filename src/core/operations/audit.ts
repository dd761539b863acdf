/** The audit log of changes by operators (docs/contract.md §5). */
import { toIso } from '../../domain/instant.ts'

export const auditActions = [
  'provider.state',
  'provider.resume',
  'routing.weights',
  'routing.mirror',
  'override.reset',
  'override.ended',
  'key.create',
  'key.revoke',
  'key.rotate',
  'account.create',
  'account.limits',
  'ledger.resolve',
  'ledger.prune',
  'transaction.read',
  'transaction.ask',
  'transaction.search',
  'unresolved.read',
  'role.refused',
  'transaction.settle',
  'transaction.refund',
  'transaction.continue',
  'transaction.refund_address',
  'restore.mark',
  'restore.read',
  'restore.end',
  'restore.webhook',
  'restore.actions',
  'order.assign',
  'order.dismiss',
  'order.unassign',
  'order.undismiss',
  'order.free_key',
  'order.read',
  'webhook.add',
  'webhook.remove',
  'webhook.rotate',
  'webhook.test',
  'webhook.replay',
  'webhook.gone',
] as const

export type AuditAction = (typeof auditActions)[number]

/** A change by an operator, or what a client has done about a swap. It never contains a key, a token, a URL's password or a full address. */
export interface AuditEntry {
  /** The name of an admin token, `cli:<system user>@<host>`, `account:<name>` for a client, or `file`: a change of the configuration file ended an override. */
  readonly actor: string
  readonly action: AuditAction
  /** A provider's name, a key's id, an intent, …. */
  readonly subject: string
  /** JSON. */
  readonly before?: unknown
  readonly after?: unknown
}

export interface AuditRecord extends AuditEntry {
  readonly id: string
  /** Milliseconds since 1970 on the database's clock. */
  readonly at: number
}

/** A record as JSON, for the command and the operator's API. */
export function auditRow({ at, before = null, after = null, ...record }: AuditRecord) {
  return { ...record, at: toIso(at), before, after }
}

export interface AuditQuery {
  /** Milliseconds since 1970: records of then and later. */
  readonly since?: number | undefined
  readonly maxRecords?: number | undefined
}

/** Port: the audit log in the ledger. */
export interface AuditLog {
  /** Newest first. */
  readonly read: (query: AuditQuery) => Promise<readonly AuditRecord[]>
  /** For actions that change nothing else in the ledger. All other changes write their record in their own transaction. */
  readonly append: (entry: AuditEntry) => Promise<void>
}

import type { AuditAction, AuditLog } from '../core/operations/audit.ts'

/** Between two notes of one actor's reads. */
const noteIntervalMs = 60_000

/** Reads of what has whole addresses, in the audit log. A page that follows them would fill it, so each actor's are there once a minute. */
export class NotedReads {
  private readonly audit: Pick<AuditLog, 'append'>
  private readonly action: AuditAction
  private readonly notedAt = new Map<string, number>()

  constructor(audit: Pick<AuditLog, 'append'>, action: AuditAction) {
    this.audit = audit
    this.action = action
  }

  async note(actor: string, count: number): Promise<void> {
    const isNoted = Date.now() - (this.notedAt.get(actor) ?? 0) < noteIntervalMs
    if (count === 0 || isNoted) return
    await this.audit.append({ actor, action: this.action, subject: String(count) })
    this.notedAt.set(actor, Date.now())
  }
}

/** `swapgate audit`: prints the audit log of manual changes (docs/contract.md §5). */
import type { Command } from 'commander'
import { auditRow } from '../core/operations/audit.ts'
import { durations, toSince } from '../core/operations/duration.ts'
import { toIso } from '../domain/instant.ts'
import { type ExitCode, type Session, withLedger } from './session.ts'
import type { Terminal } from './terminal.ts'
import { configOption, formatTable, jsonOption, type Options, parsedBy } from './values.ts'

const times = `a time before now ${durations}, or a date like 2026-11-20 or 2026-11-20T08:00:00Z`
const asSince = parsedBy(toSince, times)

interface AuditOptions extends Options {
  readonly since?: number
}

export function addAudit(program: Command, terminal: Terminal, end: (exitCode: ExitCode) => void): void {
  program
    .command('audit')
    .description('print the audit log: manual changes of keys, accounts, providers or the ledger, newest first')
    .option('--since <when>', `only changes since: ${times}`, asSince)
    .option(...configOption)
    .option(...jsonOption)
    .action(async (options: AuditOptions) => end(await withLedger(options, terminal, (session) => printAudit(options, session))))
}

async function printAudit({ since, json }: AuditOptions, { stores, terminal }: Session): Promise<ExitCode> {
  const records = await stores.audit.read({ since })
  if (json) {
    terminal.out(JSON.stringify(records.map(auditRow)))
    return 0
  }
  const rows = records.map(({ at, actor, action, subject, before, after }) => [
    toIso(at),
    actor,
    action,
    subject,
    changeText(before, after),
  ])
  if (rows.length === 0) terminal.out('There are no manual changes.')
  else for (const line of formatTable([['time', 'who', 'what', 'of', 'change'], ...rows])) terminal.out(line)
  return 0
}

function changeText(before: unknown, after: unknown): string {
  const [from, to] = [before, after].map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
  return from === undefined ? (to ?? '') : `${from} -> ${to ?? ''}`
}

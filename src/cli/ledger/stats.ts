import type { Options } from '../option.ts'
import type { ExitCode, Session } from '../session.ts'
import { formatTable } from '../table.ts'
import { toIso } from '../timestamp.ts'

/** Prints counts of the ledger. */
export async function printStats({ json }: Options, { stores, terminal }: Session): Promise<ExitCode> {
  const { entries, oldestAttempt, ...totals } = await stores.ledgerAdmin.stats(Date.now())
  if (json) {
    const counts = entries.map(({ provider, status = null, count }) => ({ provider, status, count }))
    terminal.out(JSON.stringify({ entries: counts, ...totals, oldestAttempt: toIso(oldestAttempt) }))
    return 0
  }
  const since = oldestAttempt === undefined ? '' : `, the oldest from ${toIso(oldestAttempt)}`
  const rows = [
    ...entries.map(({ provider, status, count }) => [`transactions at ${provider}, ${status ?? 'unknown status'}`, String(count)]),
    ['creates running or interrupted', String(totals.pending)],
    ['creates with an unknown outcome', `${totals.unknown}${since}`],
    ['creates with a contradicting response', String(totals.mismatches)],
    ['transactions that need a person', String(totals.needPerson)],
    ['idempotency keys', String(totals.claims)],
    ['accounts', String(totals.accounts)],
    ['valid keys', String(totals.validKeys)],
  ]
  for (const line of formatTable(rows)) terminal.out(line)
  return 0
}

import { columns } from './columns.ts'
import { toIso } from './moment.ts'
import type { Options } from './option.ts'
import type { ExitCode, Session } from './session.ts'

/** What the ledger holds, in figures. */
export async function tellStats({ json }: Options, { stores, terminal }: Session): Promise<ExitCode> {
  const { entries, oldestAttempt, ...figures } = await stores.bookkeeping.stats(Date.now())
  if (json) {
    const counts = entries.map(({ provider, status = null, count }) => ({ provider, status, count }))
    terminal.out(JSON.stringify({ entries: counts, ...figures, oldestAttempt: toIso(oldestAttempt) }))
    return 0
  }
  const since = oldestAttempt === undefined ? '' : `, the oldest of ${toIso(oldestAttempt)}`
  const rows = [
    ...entries.map(({ provider, status, count }) => [
      `transactions at ${provider}, ${status ?? 'status not known'}`,
      String(count),
    ]),
    ['creates under way or cut off', String(figures.pending)],
    ['creates of unknown outcome', `${figures.unknown}${since}`],
    ['creates that a provider contradicted', String(figures.mismatches)],
    ['idempotency keys', String(figures.claims)],
    ['accounts', String(figures.accounts)],
    ['valid keys', String(figures.validKeys)],
  ]
  for (const line of columns(rows)) terminal.out(line)
  return 0
}

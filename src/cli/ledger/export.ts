import type { LedgerEntry } from '../../core/ledger.ts'
import type { Options } from '../option.ts'
import type { ExitCode, Session } from '../session.ts'
import { toIso } from '../timestamp.ts'

export interface ExportOptions extends Options {
  readonly since?: number
}

/** Prints transactions while they are read: memory does not grow with their number. */
export async function exportEntries({ since, json }: ExportOptions, { stores, terminal }: Session): Promise<ExitCode> {
  const entries = stores.ledgerAdmin.export(since)
  await terminal.stream(json ? asArray(entries) : asLines(entries))
  return 0
}

async function* asLines(entries: AsyncIterable<LedgerEntry>): AsyncIterable<string> {
  for await (const entry of entries) yield JSON.stringify(exportedFields(entry))
}

async function* asArray(entries: AsyncIterable<LedgerEntry>): AsyncIterable<string> {
  let last: string | undefined
  yield '['
  for await (const line of asLines(entries)) {
    if (last !== undefined) yield `${last},`
    last = line
  }
  if (last !== undefined) yield last
  yield ']'
}

/** The transaction under its id for clients. Amounts are text with the provider's digits. */
function exportedFields({ transaction, owner, provider, isCreated, quotedAmountOut, derived, ...times }: LedgerEntry) {
  const { id, ...fields } = transaction
  const timestamps = { seenAt: toIso(times.reportedAt), readAt: toIso(times.fetchedAt), changedAt: toIso(times.changedAt) }
  const settledAt = toIso(times.settledAt) ?? undefined
  return { id: `${provider}~${id}`, owner, isCreated, ...fields, promised: quotedAmountOut, derived, ...timestamps, settledAt }
}

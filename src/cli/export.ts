import type { Entry } from '../core/ledger.ts'
import { toIso } from './moment.ts'
import type { Options } from './option.ts'
import type { ExitCode, Session } from './session.ts'

export interface ExportOptions extends Options {
  readonly since?: number
}

/** Prints transactions as they are read: never are all of them in memory. */
export async function exportEntries({ since, json }: ExportOptions, { stores, terminal }: Session): Promise<ExitCode> {
  const entries = stores.bookkeeping.export(since)
  await terminal.stream(json ? asArray(entries) : asLines(entries))
  return 0
}

async function* asLines(entries: AsyncIterable<Entry>): AsyncIterable<string> {
  for await (const entry of entries) yield JSON.stringify(factsOf(entry))
}

async function* asArray(entries: AsyncIterable<Entry>): AsyncIterable<string> {
  let last: string | undefined
  yield '['
  for await (const line of asLines(entries)) {
    if (last !== undefined) yield `${last},`
    last = line
  }
  if (last !== undefined) yield last
  yield ']'
}

/** The transaction under the id that clients see; amounts are text, with the provider's digits. */
function factsOf({ transaction, owner, provider, isCreated, promised, derived, ...seen }: Entry) {
  const { id, ...facts } = transaction
  const times = { seenAt: toIso(seen.seenAt), readAt: toIso(seen.readAt), changedAt: toIso(seen.changedAt) }
  return { id: `${provider}~${id}`, owner, isCreated, ...facts, promised, derived, ...times }
}

/** Finds rows of a provider's list that may belong to creates of unknown outcome (docs/contract.md §10.2). */
import type { Amount } from '../../../domain/amount.ts'
import { millisecondsOf } from '../../../domain/instant.ts'
import type { Capabilities, Context, SwapService } from '../../../domain/service.ts'
import type { Destination } from '../../destination.ts'
import type { UnresolvedCreate } from '../../ledger.ts'
import {
  compareCreate,
  createdAfterMs,
  createdBeforeMs,
  hasReferenceOf,
  maxSkewMs,
  type ReportReading,
  zoneErrorMs,
} from '../../same-swap.ts'
import type { JudgePolicies } from '../judge.ts'
import type { DateWindow, ListedRow } from './list-scan.ts'
import type { ListScans } from './list-scans.ts'

/** Reads a provider's transactions, with the table's asset names. */
export interface TransactionReader extends ReportReading {
  readonly service: SwapService
  /** The fields of the provider's form. */
  readonly capabilities: Capabilities
  /** Whether the provider refuses to list: then nothing is looked for. */
  readonly isListRefused?: (() => boolean) | undefined
  readonly destination: Destination
  /** `providers.<name>.judge`. */
  readonly policies: JudgePolicies
}

/** The rows of the list that do not contradict a create; only those with its reference if there are any. */
export type CandidatesOf = (create: UnresolvedCreate) => readonly ListedRow[]

export interface ScanOptions {
  readonly scans: ListScans
  /** Identifies the caller and the provider. */
  readonly scanKey: string
  /** Milliseconds since 1970, on the clock of the attempts. */
  readonly now: number
  /** A scan that began earlier is not reused. */
  readonly notBefore: number
  /** How long after its attempt a create is looked for. */
  readonly windowMs: number
}

/** Reads the list once for all these creates. Throws if it is not complete yet. */
export async function readCandidates(
  creates: readonly UnresolvedCreate[],
  reader: TransactionReader,
  context: Context,
  { scans, scanKey, now, notBefore, windowMs }: ScanOptions,
): Promise<CandidatesOf> {
  const { service, capabilities, timezone } = reader
  const filters = capabilities.requestFields.listTransactions
  const ranges = creates.map(({ attemptedAt }) => rangeOf(attemptedAt, now >= attemptedAt + windowMs, timezone))
  const since = Math.min(...ranges.map(({ first }) => first))
  const intents = creates.map(({ intent }) => intent)
  const rows: ListedRow[] = []
  for (const window of filters.has('dateFrom') ? windowsOf(ranges) : [{}]) {
    const { pageSize } = capabilities
    const knownWindow = filters.has('dateTo') ? window : { dateFrom: window.dateFrom }
    const options = { window: knownWindow, since, startedAt: now, isProof: notBefore > 0, notBefore, intents, pageSize, timezone }
    const read = await scans.finish(scanKey, options, async (query) => {
      const listed = await service.call('listTransactions', query, { ...context, acceptsUnreadableRows: true })
      return listed.body
    })
    rows.push(...read)
  }
  const referenced = rows.filter(({ reported }) => Boolean(reported.reference))
  const times = referenced.flatMap(({ reported: { createdAt } }) => millisecondsOf(createdAt ?? '', timezone) ?? [])
  // Another account may keep none.
  const referencesSince = scans.referencesSince(JSON.stringify([scanKey, reader.destination]), times)
  const reading = { ...reader, referencesSince }
  const bySize = Map.groupBy(rows, ({ reported: { amountIn } }) => sizeOf(amountIn))
  return (create) => {
    const own = referenced.filter(({ reported }) => hasReferenceOf(create, reported))
    if (own.length > 0) return own
    const size = sizeOf(create.requested.amountIn) ?? 0
    const near = [size - 1, size, size + 1, undefined].flatMap((key) => bySize.get(key) ?? [])
    return near.filter(({ reported }) => compareCreate([reported], create, reading) !== 'other')
  }
}

/** Similar amounts have the same size, or the next one. Undefined if the amount is not known. */
function sizeOf(amount: Amount | undefined): number | undefined {
  const value = Number(amount)
  return value > 0 ? Math.round(Math.log(value) / Math.log(1.1)) : undefined
}

interface Range {
  readonly first: number
  readonly last: number
}

/** The times that the create's transaction may have in the list. For the proof that there is none, they may be in any zone, and are read in the configured one. */
function rangeOf(attemptedAt: number, isProof: boolean, timezone = 'UTC'): Range {
  const errorMs = isProof ? (timezone === 'UTC' ? zoneErrorMs : 2 * zoneErrorMs) : maxSkewMs
  return { first: attemptedAt - createdBeforeMs - errorMs, last: attemptedAt + createdAfterMs + errorMs }
}

/** Overlapping ranges are joined. */
function windowsOf(ranges: readonly Range[]): readonly DateWindow[] {
  const joined: Range[] = []
  for (const range of ranges.toSorted((a, b) => a.first - b.first)) {
    const before = joined.at(-1)
    if (before && range.first <= before.last) joined.splice(-1, 1, { first: before.first, last: Math.max(before.last, range.last) })
    else joined.push(range)
  }
  return joined.map(({ first, last }) => ({ dateFrom: new Date(first).toISOString(), dateTo: new Date(last).toISOString() }))
}

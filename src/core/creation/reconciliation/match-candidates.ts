/** Finds rows of a provider's list that may belong to creates of unknown outcome (docs/contract.md §10.2). */
import { plainAmount } from '../../../domain/amount.ts'
import type { Capabilities } from '../../../domain/swap/capabilities.ts'
import type { Context, SwapService } from '../../../domain/swap/service.ts'
import type { UnresolvedCreate } from '../../ledger.ts'
import { compareCreate, createdAfterMs, createdBeforeMs, type ReportReading } from './compare-create.ts'
import type { DateWindow, ListedRow } from './list-scan.ts'
import type { ListScans } from './list-scans.ts'

/** Reads a provider's transactions, with the table's asset names. */
export interface TransactionReader extends ReportReading {
  readonly service: SwapService
  /** The fields of the provider's form. */
  readonly capabilities: Capabilities
}

/** The rows of the list that do not contradict a create. */
export type CandidatesOf = (create: UnresolvedCreate) => readonly ListedRow[]

export interface ScanOptions {
  readonly scans: ListScans
  /** Identifies the caller and the provider. */
  readonly scanKey: string
  /** Milliseconds since 1970, on the clock of the attempts. */
  readonly now: number
  /** A scan that began earlier is not reused. */
  readonly notBefore: number
}

/** Reads the list once for all these creates. Throws if it is not complete yet. */
export async function readCandidates(
  creates: readonly UnresolvedCreate[],
  reader: TransactionReader,
  context: Context,
  { scans, scanKey, now, notBefore }: ScanOptions,
): Promise<CandidatesOf> {
  const { service, capabilities, timezone } = reader
  const filters = capabilities.requestFields.listTransactions
  const since = Math.min(...creates.map(({ attemptedAt }) => attemptedAt)) - createdBeforeMs
  const intents = creates.map(({ intent }) => intent)
  const rows: ListedRow[] = []
  for (const window of filters.has('dateFrom') ? windowsOf(creates) : [{}]) {
    const { pageSize } = capabilities
    const knownWindow = filters.has('dateTo') ? window : { dateFrom: window.dateFrom }
    const options = { window: knownWindow, since, startedAt: now, notBefore, intents, pageSize, timezone }
    const read = await scans.finish(scanKey, options, async (query) => {
      const listed = await service.call('listTransactions', query, { ...context, acceptsUnreadableRows: true })
      return listed.body
    })
    rows.push(...read)
  }
  const byAmount = Map.groupBy(rows, ({ reported: { amountIn } }) => amountIn && plainAmount(amountIn))
  return (create) => {
    const sameAmount = [...(byAmount.get(plainAmount(create.requested.amountIn)) ?? []), ...(byAmount.get(undefined) ?? [])]
    return sameAmount.filter(({ reported }) => compareCreate([reported], create, reader) !== 'other')
  }
}

/** The time ranges in which the creates may have been made. Overlapping ranges are joined. */
function windowsOf(creates: readonly UnresolvedCreate[]): readonly DateWindow[] {
  const attempts = creates.map(({ attemptedAt }) => attemptedAt).toSorted((a, b) => a - b)
  const ranges: { first: number; last: number }[] = []
  for (const attempt of attempts) {
    const range = ranges.at(-1)
    if (range && attempt - createdBeforeMs <= range.last) range.last = attempt + createdAfterMs
    else ranges.push({ first: attempt - createdBeforeMs, last: attempt + createdAfterMs })
  }
  return ranges.map(({ first, last }) => ({ dateFrom: new Date(first).toISOString(), dateTo: new Date(last).toISOString() }))
}

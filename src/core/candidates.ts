/** What a provider's own list has that creates of unknown outcome may have made (docs/contract.md §10.2). */
import { plainAmount } from '../domain/amount.ts'
import type { Context, SwapService } from '../domain/operations.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import { after, before, judge } from './comparison.ts'
import type { Open } from './ledger.ts'
import type { ListedRow, Window } from './list-reading.ts'
import type { ListReadings } from './list-readings.ts'
import type { Naming } from './naming.ts'

/** A provider's transactions, in the stable words for their assets. */
export interface Reader {
  readonly service: SwapService
  /** What its form can say. */
  readonly said: Vocabulary
  readonly naming: Naming
}

/** The rows that do not contradict a create, as far as the list tells. */
export type Candidates = (open: Open) => readonly ListedRow[]

export interface ListOptions {
  readonly readings: ListReadings
  /** Who reads it, at which provider. */
  readonly whose: string
  /** In milliseconds since 1970, as are the attempts. */
  readonly now: number
  /** A reading that began earlier does not count. */
  readonly notBefore: number
}

/** One reading of the list serves all of these creates. Throws where it is not whole yet: then nothing is known. */
export async function readCandidates(
  opens: readonly Open[],
  { service, said, naming }: Reader,
  context: Context,
  { readings, whose, now, notBefore }: ListOptions,
): Promise<Candidates> {
  const isDated = said.asks.listTransactions.has('dateFrom')
  const since = Math.min(...opens.map(({ attemptedAt }) => attemptedAt)) - before
  const intents = opens.map(({ intent }) => intent)
  const rows: ListedRow[] = []
  for (const window of isDated ? windowsOf(opens) : [{}]) {
    const options = { window, since, beganAt: now, notBefore, intents }
    const read = await readings.finish(whose, options, async (query) => {
      const listed = await service.call('listTransactions', query, { ...context, takesUnreadableRows: true })
      return listed.body
    })
    rows.push(...read)
  }
  const byAmount = Map.groupBy(rows, ({ account: { amountIn } }) => amountIn && plainAmount(amountIn))
  return (open) => {
    const ofAmount = [...(byAmount.get(plainAmount(open.asked.amountIn)) ?? []), ...(byAmount.get(undefined) ?? [])]
    return ofAmount.filter(({ account }) => judge([account], open, naming) !== 'other')
  }
}

/** When they may have been made; spans that meet are one. */
function windowsOf(opens: readonly Open[]): readonly Window[] {
  const attempts = opens.map(({ attemptedAt }) => attemptedAt).toSorted((a, b) => a - b)
  const spans: { first: number; last: number }[] = []
  for (const attempt of attempts) {
    const span = spans.at(-1)
    if (span && attempt - before <= span.last) span.last = attempt + after
    else spans.push({ first: attempt - before, last: attempt + after })
  }
  return spans.map(({ first, last }) => ({ dateFrom: new Date(first).toISOString(), dateTo: new Date(last).toISOString() }))
}

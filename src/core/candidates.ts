/** What a provider's own list has that creates of unknown outcome may have made (`spec/contract.md` §10). */
import { type Amount, plainAmount } from '../domain/amount.ts'
import { sameName } from '../domain/asset.ts'
import { Fault } from '../domain/fault.ts'
import { toInstant } from '../domain/instant.ts'
import type { Context, SwapService } from '../domain/operations.ts'
import type { Pair, Transaction } from '../domain/swap.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import type { Open } from './ledger.ts'
import { readWhole } from './pages.ts'
import { from, to, wordsOf } from './pair.ts'
import { contradictedTerms } from './terms.ts'

/** A provider's transactions, in the stable words for their assets. */
export interface Reader {
  readonly service: SwapService
  /** What its form can say. */
  readonly said: Vocabulary
}

/** The transactions that fit a create, as far as the list tells. */
export type Candidates = (open: Open) => readonly Transaction[]

/** A transaction is the create's if it was made so long before or after the attempt, in milliseconds. */
export const before = 120_000
export const after = 600_000
/** Of one span of time; of all that there is, where the form asks for no dates. */
const mostRows = 50_000

/** One reading of the list serves all of these creates. Throws where it cannot be read whole: then nothing is known. */
export async function readCandidates(opens: readonly Open[], { service, said }: Reader, context: Context): Promise<Candidates> {
  const isDated = said.asks.listTransactions.has('dateFrom')
  const rows: Transaction[] = []
  for (const query of isDated ? spansOf(opens) : [{}]) rows.push(...(await readSpan(query, service, context)))
  const byAmount = Map.groupBy(rows, ({ amountIn }) => plainAmount(amountIn))
  return (open) => (byAmount.get(plainAmount(open.asked.amountIn)) ?? []).filter((row) => fits(row, open))
}

/** What is not told fits: the details will tell it. */
export function fits(row: Transaction, { asked, attemptedAt }: Open): boolean {
  return (
    sameAmount(row.amountIn, asked.amountIn) &&
    samePair(row, asked) &&
    isAround(row.createdAt, attemptedAt) &&
    contradictedTerms(asked, row).length === 0
  )
}

type Span = { readonly dateFrom: string; readonly dateTo: string }

/** When they may have been made; spans that meet are one. */
function spansOf(opens: readonly Open[]): readonly Span[] {
  const attempts = opens.map(({ attemptedAt }) => attemptedAt).toSorted((a, b) => a - b)
  const spans: { first: number; last: number }[] = []
  for (const attempt of attempts) {
    const span = spans.at(-1)
    if (span && attempt - before <= span.last) span.last = attempt + after
    else spans.push({ first: attempt - before, last: attempt + after })
  }
  return spans.map(({ first, last }) => ({ dateFrom: new Date(first).toISOString(), dateTo: new Date(last).toISOString() }))
}

async function readSpan(query: Partial<Span>, service: SwapService, context: Context): Promise<readonly Transaction[]> {
  const { rows, isComplete } = await readWhole<'listTransactions', Transaction>(service, 'listTransactions', context, {
    query,
    identify: ({ id }) => id,
    most: mostRows,
    tooMany: () => new Fault('unavailable', 'The list is too long to look through.'),
  })
  if (!isComplete) throw new Fault('unavailable', 'The list broke off before its end.')
  return rows
}

function sameAmount(a: Amount, b: Amount): boolean {
  return a === b || plainAmount(a) === plainAmount(b)
}

function isAround(createdAt: string, attemptedAt: number): boolean {
  const instant = toInstant(createdAt) ?? toInstant(`${createdAt}Z`)
  if (instant === undefined) return false
  const difference = Number(instant / 1_000_000n) - attemptedAt
  return difference >= -before && difference <= after
}

function samePair(told: Pair, asked: Pair): boolean {
  return [from, to].every((side) => {
    const there = wordsOf(told, side)
    const here = wordsOf(asked, side)
    return (['code', 'coin', 'network'] as const).every((word) => {
      const [a, b] = [there[word], here[word]]
      return a === undefined || b === undefined || sameName(a, b)
    })
  })
}

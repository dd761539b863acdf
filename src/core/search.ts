/** Looks in a provider's own list for the one transaction that a create must have made (`spec/contract.md` §10). */
import { compareAmounts } from '../domain/amount.ts'
import { sameName } from '../domain/asset.ts'
import { Fault } from '../domain/fault.ts'
import { toInstant } from '../domain/instant.ts'
import type { Answer, Caller, Context, SwapService } from '../domain/operations.ts'
import type { Span } from '../domain/span.ts'
import type { Pair, Transaction } from '../domain/swap.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import { sameTerm, terms } from './agreement.ts'
import type { Ledger, Open } from './ledger.ts'
import { readWhole } from './pages.ts'
import { from, namesOf, to, wordsOf } from './pair.ts'
import { fillFrom } from './question.ts'

/** A provider's transactions, in the stable words for their assets. */
export interface Reader {
  readonly service: SwapService
  /** What its form can say. */
  readonly said: Vocabulary
}

export interface Found {
  /** The only one that fits. */
  readonly found?: Answer<'getTransaction'>
  /** Whether several fit, or it fits several creates. */
  readonly isAmbiguous: boolean
}

/** A transaction is the create's if it was made so long before or after the attempt, in milliseconds. */
const before = 120_000
const after = 600_000
const mostRows = 5_000
/** More candidates than these are not told apart by asking for each. */
const mostCandidates = 20

export async function search(open: Open, { service, said }: Reader, caller: Caller, ledger: Ledger, span?: Span): Promise<Found> {
  const context: Context = { requestId: crypto.randomUUID(), caller, client: said, deadline: Number.POSITIVE_INFINITY, span }
  const rows = (await listAround(open, service, context)).filter((row) => fits(row, open))
  const held = await ledger.held(
    open.provider,
    rows.map(({ id }) => id),
  )
  const candidates = rows.filter(({ id }) => !held.has(id))
  if (candidates.length > mostCandidates) return { isAmbiguous: true }
  const details: Answer<'getTransaction'>[] = []
  for (const { id } of candidates) details.push(await service.call('getTransaction', { id }, context))
  const [only, ...others] = details.filter(({ body }) => fits(body, open))
  if (!only) return { isAmbiguous: false }
  const rivals = await ledger.openBetween(open.provider, open.attemptedAt - after - before, open.attemptedAt + after + before)
  const isContested = rivals.some((rival) => rival.intent !== open.intent && fits(only.body, rival))
  if (others.length > 0 || isContested) return { isAmbiguous: true }
  const body = { ...fillFrom(open.asked, only.body), ...namesOf(open.asked) }
  return { found: { ...only, body }, isAmbiguous: false }
}

async function listAround({ attemptedAt }: Open, service: SwapService, context: Context): Promise<readonly Transaction[]> {
  const dateFrom = new Date(attemptedAt - before).toISOString()
  const dateTo = new Date(attemptedAt + after).toISOString()
  const whole = await readWhole<'listTransactions', Transaction>(service, 'listTransactions', context, {
    query: { dateFrom, dateTo },
    identify: ({ id }) => id,
    most: mostRows,
    tooMany: () => new Fault('unavailable', 'The list is too long to look through.'),
  })
  return whole.rows
}

/** What is not told fits: the details will tell it. */
function fits(row: Transaction, { asked, attemptedAt }: Open): boolean {
  return (
    isAround(row.createdAt, attemptedAt) &&
    compareAmounts(row.amountIn, asked.amountIn) === 0 &&
    samePair(row, asked) &&
    terms.every((term) => !row[term] || sameTerm(asked[term], row[term]))
  )
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

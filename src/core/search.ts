/** Looks for the one transaction that a create must have made (`spec/contract.md` §10). */
import { plainAmount } from '../domain/amount.ts'
import type { Answer, Caller, Context } from '../domain/operations.ts'
import type { Span } from '../domain/span.ts'
import { after, before, type Candidates, fits, type Reader, readCandidates } from './candidates.ts'
import type { Ledger, Open } from './ledger.ts'
import { namesOf } from './pair.ts'
import { fillFrom } from './question.ts'

export interface Found {
  /** The only one that fits. */
  readonly found?: Answer<'getTransaction'>
  /** Whether several fit, or it fits several creates. */
  readonly isAmbiguous: boolean
}

/** What was found of one of the creates that were looked for. */
export type Find = (open: Open, span?: Span) => Promise<Found>

/** More candidates than these are not told apart by asking for each. */
const mostCandidates = 20

/** Of one provider, and seen by one caller. Throws where its list cannot be read: then nothing is known of any of them. */
export async function search(opens: readonly Open[], reader: Reader, caller: Caller, ledger: Ledger, root?: Span): Promise<Find> {
  const { service, said } = reader
  const context: Context = {
    requestId: crypto.randomUUID(),
    caller,
    client: said,
    deadline: Number.POSITIVE_INFINITY,
    span: root,
    isOwn: true,
  }
  const candidatesOf = await readCandidates(opens, reader, context)
  // First whose outcome is open, then what is held: what is settled in between is seen twice, and not never.
  const rivals = Map.groupBy(await openAround(opens, ledger), ({ asked }) => plainAmount(asked.amountIn))
  const held = await heldOf(opens, candidatesOf, ledger)
  return async (open, span) => {
    const candidates = candidatesOf(open).filter(({ id }) => !held.has(id))
    if (candidates.length > mostCandidates) return { isAmbiguous: true }
    const details: Answer<'getTransaction'>[] = []
    for (const { id } of candidates) details.push(await service.call('getTransaction', { id }, { ...context, span }))
    const [only, ...others] = details.filter(({ body }) => fits(body, open))
    if (!only) return { isAmbiguous: false }
    const rivalsOfAmount = rivals.get(plainAmount(open.asked.amountIn)) ?? []
    const isContested = rivalsOfAmount.some((rival) => rival.intent !== open.intent && fits(only.body, rival))
    if (others.length > 0 || isContested) return { isAmbiguous: true }
    const body = { ...fillFrom(open.asked, only.body), ...namesOf(open.asked) }
    return { found: { ...only, body }, isAmbiguous: false }
  }
}

/** Creates that may have made the same transactions. */
function openAround(opens: readonly Open[], ledger: Ledger): Promise<readonly Open[]> {
  const attempts = opens.map(({ attemptedAt }) => attemptedAt)
  const [{ provider }] = opens as [Open]
  return ledger.openBetween(provider, Math.min(...attempts) - after - before, Math.max(...attempts) + after + before)
}

function heldOf(opens: readonly Open[], candidatesOf: Candidates, ledger: Ledger): Promise<ReadonlySet<string>> {
  const [{ provider }] = opens as [Open]
  const ids = opens.flatMap((open) => candidatesOf(open).map(({ id }) => id))
  return ledger.held(provider, [...new Set(ids)])
}

import { Fault } from '../domain/fault.ts'
import type { CreateOutcome, Observer } from '../domain/observation.ts'
import type { Span } from '../domain/span.ts'
import type { Link } from '../domain/traceparent.ts'
import type { Ledger, Open } from './ledger.ts'
import type { Find } from './search.ts'

export type LookOutcome = Extract<
  CreateOutcome,
  'found' | 'notFound' | 'notCreated' | 'ambiguous' | 'takenId' | 'contradicted' | 'notSeen'
>

export interface LookResult {
  /** Undefined where the provider of the create is not configured. */
  readonly outcome: LookOutcome | undefined
  /** Whether it need not be looked for again. */
  readonly isOver: boolean
  /** When there is something new to see, where that is known. */
  readonly retryAfterMs?: number | undefined
}

export interface LookOptions {
  readonly ledger: Ledger
  /** How long a create is looked for, in milliseconds. */
  readonly span: number
  /** Whether that time is over: a list without a candidate then means that nothing was created. */
  readonly isLast: boolean
  /** In milliseconds since 1970. */
  readonly at: number
  readonly observe: Observer
  readonly trace: { readonly root: Span | undefined; readonly links: readonly Link[] }
}

/** One look for one create. Throws where the ledger fails. */
export async function look(open: Open, finding: Promise<Find> | undefined, options: LookOptions): Promise<LookResult> {
  const { observe, trace } = options
  const { provider } = open
  if (!finding) return { outcome: undefined, isOver: false }
  const span = trace.root?.begin('look', { 'swapgate.provider': provider }, 'internal', trace.links)
  try {
    const result = await resultOf(open, finding, options, span)
    const { outcome } = result
    if (outcome) {
      observe({ what: 'create', provider, outcome })
      span?.tell({ 'swapgate.outcome': outcome })
    }
    return result
  } finally {
    span?.end()
  }
}

async function resultOf(open: Open, finding: Promise<Find>, options: LookOptions, span: Span | undefined): Promise<LookResult> {
  const { ledger, at } = options
  try {
    const { found, isAmbiguous } = await (await finding)(open, span)
    if (isAmbiguous) return { outcome: 'ambiguous', isOver: false }
    if (!found) return await conclude(open, options)
    const { derived = [], body, contradicted = [], sequence } = found
    if (contradicted.length > 0) {
      await ledger.contradict(open.intent, body, contradicted)
      return { outcome: 'contradicted', isOver: true }
    }
    const transaction = { ...body, status: body.status ?? ('wait' as const) }
    const isBound = await ledger.bindFound(open.intent, { transaction, derived, seenAt: at, readAt: at, sequence })
    return { outcome: isBound ? 'found' : 'takenId', isOver: isBound }
  } catch (reason) {
    const { kind, retryAfter, busyCause } = Fault.from(reason)
    if (kind === 'internal') throw reason
    return { outcome: 'notSeen', isOver: false, ...(busyCause === 'budget' && retryAfter && { retryAfterMs: retryAfter * 1000 }) }
  }
}

/** The whole list has no candidate. */
async function conclude(open: Open, { ledger, span, isLast }: LookOptions): Promise<LookResult> {
  if (!isLast) return { outcome: 'notFound', isOver: false }
  const isEnded = await ledger.end(open, span)
  // The ledger's clock may be behind this machine's: what it needs is at most that time once more.
  return isEnded ? { outcome: 'notCreated', isOver: true } : { outcome: 'notFound', isOver: false, retryAfterMs: span }
}

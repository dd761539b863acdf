import { Fault } from '../../../domain/fault.ts'
import type { CreateOutcome, Observer } from '../../../domain/observation.ts'
import type { Link, Span } from '../../../domain/trace.ts'
import type { Ledger, UnresolvedCreate } from '../../ledger.ts'
import type { MatchCreate } from './match-create.ts'

export type CheckOutcome = Extract<
  CreateOutcome,
  'found' | 'notFound' | 'notCreated' | 'ambiguous' | 'duplicateId' | 'contradicted' | 'lookupFailed'
>

/** The result of one check. */
export interface CheckResult {
  /** Undefined if the provider of the create is not configured, or has no list. */
  readonly outcome: CheckOutcome | undefined
  /** Whether the create needs no further check. */
  readonly isDone: boolean
  /** Time until a new check makes sense, if known. */
  readonly retryAfterMs?: number | undefined
  /** Ids of transactions that may be the create's, for the person who decides. */
  readonly candidates?: readonly string[] | undefined
}

export interface CheckOptions {
  readonly ledger: Ledger
  /** How long after its attempt a create is checked: `ledger.reconcile` (default: 86400 seconds). */
  readonly windowMs: number
  /** Whether the window is over: a list without a candidate then means that nothing was created. */
  readonly isLastCheck: boolean
  /** Milliseconds since 1970. */
  readonly at: number
  readonly observe: Observer
  readonly trace: { readonly root: Span | undefined; readonly links: readonly Link[] }
}

/** Checks one create once: searches for its transaction and stores the result. Throws if the ledger fails. */
export async function checkCreate(
  create: UnresolvedCreate,
  matching: Promise<MatchCreate> | undefined,
  options: CheckOptions,
): Promise<CheckResult> {
  const { observe, trace } = options
  const { provider } = create
  if (!matching) return { outcome: undefined, isDone: false }
  const span = trace.root?.begin('check', { 'swapgate.provider': provider }, 'internal', trace.links)
  try {
    const result = await resultOf(create, matching, options, span)
    const { outcome } = result
    if (outcome) {
      observe({ what: 'create', provider, outcome })
      span?.setAttributes({ 'swapgate.outcome': outcome })
    }
    return result
  } finally {
    span?.end()
  }
}

async function resultOf(
  create: UnresolvedCreate,
  matching: Promise<MatchCreate>,
  options: CheckOptions,
  span: Span | undefined,
): Promise<CheckResult> {
  const { ledger, at, observe } = options
  try {
    const { matched, counted = [], isAmbiguous, isPossible = false, candidates } = await (await matching)(create, span)
    if (isAmbiguous) return { outcome: 'ambiguous', isDone: false, candidates }
    if (!matched) return { ...(await conclude(create, isPossible, options)), candidates: isPossible ? candidates : [] }
    const { derived = [], body, contradicted = [], sequence } = matched
    if (contradicted.length > 0) {
      await ledger.markMismatch(create.intent, body, contradicted)
      return { outcome: 'contradicted', isDone: true }
    }
    const transaction = { ...body, status: body.status ?? ('wait' as const) }
    const isBound = await ledger.bindFound(create.intent, { transaction, derived, reportedAt: at, fetchedAt: at, sequence })
    if (isBound)
      for (const judged of counted) observe({ what: 'judgement', provider: create.provider, outcome: 'counted', ...judged })
    return { outcome: isBound ? 'found' : 'duplicateId', isDone: isBound }
  } catch (reason) {
    const { kind, retryAfter, unavailableCause } = Fault.from(reason)
    if (kind === 'internal') throw reason
    return {
      outcome: 'lookupFailed',
      isDone: false,
      ...(unavailableCause === 'budget' && retryAfter && { retryAfterMs: retryAfter * 1000 }),
    }
  }
}

/** The result if the complete list has no candidate. With a possible one only a person may say that nothing was created. */
async function conclude(
  create: UnresolvedCreate,
  isPossible: boolean,
  { ledger, windowMs, isLastCheck }: CheckOptions,
): Promise<CheckResult> {
  if (!isLastCheck) return { outcome: 'notFound', isDone: false }
  if (isPossible) return { outcome: 'ambiguous', isDone: false }
  const isEnded = await ledger.markNotCreated(create, windowMs)
  // The ledger's clock may be behind this machine's, by at most one window.
  return isEnded ? { outcome: 'notCreated', isDone: true } : { outcome: 'notFound', isDone: false, retryAfterMs: windowMs }
}

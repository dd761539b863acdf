import { Fault } from '../../../domain/faults/fault.ts'
import type { CreateOutcome, Observer } from '../../../domain/telemetry/observation.ts'
import type { Span } from '../../../domain/tracing/span.ts'
import type { Link } from '../../../domain/tracing/traceparent.ts'
import type { Ledger, UnresolvedCreate } from '../../ledger.ts'
import type { MatchCreate } from './match-create.ts'

export type CheckOutcome = Extract<
  CreateOutcome,
  'found' | 'notFound' | 'notCreated' | 'ambiguous' | 'duplicateId' | 'contradicted' | 'lookupFailed'
>

export interface CheckResult {
  /** Undefined where the provider of the create is not configured. */
  readonly outcome: CheckOutcome | undefined
  /** Whether it need not be looked for again. */
  readonly isDone: boolean
  /** When there is something new to see, where that is known. */
  readonly retryAfterMs?: number | undefined
}

export interface CheckOptions {
  readonly ledger: Ledger
  /** How long a create is looked for, in milliseconds. */
  readonly windowMs: number
  /** Whether that time is over: a list without a candidate then means that nothing was created. */
  readonly isLastCheck: boolean
  /** In milliseconds since 1970. */
  readonly at: number
  readonly observe: Observer
  readonly trace: { readonly root: Span | undefined; readonly links: readonly Link[] }
}

/** One look for one create. Throws where the ledger fails. */
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
  const { ledger, at } = options
  try {
    const { matched, isAmbiguous } = await (await matching)(create, span)
    if (isAmbiguous) return { outcome: 'ambiguous', isDone: false }
    if (!matched) return await conclude(create, options)
    const { derived = [], body, contradicted = [], sequence } = matched
    if (contradicted.length > 0) {
      await ledger.markMismatch(create.intent, body, contradicted)
      return { outcome: 'contradicted', isDone: true }
    }
    const transaction = { ...body, status: body.status ?? ('wait' as const) }
    const isBound = await ledger.bindFound(create.intent, { transaction, derived, reportedAt: at, fetchedAt: at, sequence })
    return { outcome: isBound ? 'found' : 'duplicateId', isDone: isBound }
  } catch (reason) {
    const { kind, retryAfter, unavailableCause: busyCause } = Fault.from(reason)
    if (kind === 'internal') throw reason
    return {
      outcome: 'lookupFailed',
      isDone: false,
      ...(busyCause === 'budget' && retryAfter && { retryAfterMs: retryAfter * 1000 }),
    }
  }
}

/** The whole list has no candidate. */
async function conclude(create: UnresolvedCreate, { ledger, windowMs, isLastCheck }: CheckOptions): Promise<CheckResult> {
  if (!isLastCheck) return { outcome: 'notFound', isDone: false }
  const isEnded = await ledger.markNotCreated(create, windowMs)
  // The ledger's clock may be behind this machine's: what it needs is at most that time once more.
  return isEnded ? { outcome: 'notCreated', isDone: true } : { outcome: 'notFound', isDone: false, retryAfterMs: windowMs }
}

/** Leaves a provider alone that keeps failing, and finds out by a read when it is well again (`spec/contract.md` §8). */
import { Fault } from '../domain/fault.ts'
import type { BreakerState, Observer } from '../domain/observation.ts'
import type { Context, Op, SwapService } from '../domain/operations.ts'
import { holdBack } from './busy.ts'
import { type Layer, layer } from './layer.ts'

/** `unsaid`: it tells nothing of how the provider is. */
export type Ending = 'answered' | 'failed' | 'unsaid'

/** Opens after failures in a row; then it rests, and one call at a time finds out whether it may close again. */
export interface Breaker {
  readonly state: () => BreakerState
  /** While it is open: milliseconds until a call may find out. */
  readonly rest: () => number
  /** Counts how the call ends, and throws what it throws. Not to be called while it rests, or while another finds out. */
  readonly run: <T>(call: () => Promise<T>, endingOf: (reason: unknown, isProbe: boolean) => Ending) => Promise<T>
}

export type MakeBreaker = (onState: (state: BreakerState) => void) => Breaker

export interface BreakingOptions {
  readonly breaker: Breaker
  /** Tag of the provider. */
  readonly provider: string
  /** The provider's, in milliseconds. */
  readonly timeout: number
  readonly observe: Observer
}

/** Silence counts where a call had so much of the time-out: a quote that waits for a list and may go elsewhere has a quarter. */
const fairShare = 0.2
/** How soon to come back while somebody finds out, in milliseconds. */
const soon = 1_000

export interface Breaking {
  /** Refuses with `unavailable`, for certain. Stands before everything that costs. */
  readonly admission: Layer
  /** Counts. Stands before the provider alone: what is held back on the way tells nothing of it. */
  readonly count: Layer
}

/** A create never finds out: where only creates come, a question of the gateway's own does. */
export function breaking({ breaker, provider, timeout, observe }: BreakingOptions): Breaking {
  const refuse = holdBack(provider, 'breaker', observe)
  const refusalOf = (op: Op, onDue: () => void): Fault | undefined => {
    const state = breaker.state()
    if (state === 'closed') return undefined
    const rest = state === 'open' ? breaker.rest() : soon
    if (rest > 0) return refuse(rest)
    if (op !== 'createTransaction') return undefined
    onDue()
    return refuse(soon)
  }
  return {
    admission: layer((op, request, context, next) => {
      const refusal = refusalOf(op, () => probe(next, context, timeout))
      return refusal ? Promise.reject(refusal) : next.call(op, request, context)
    }),
    count: layer((op, request, context, next) => {
      const refusal = refusalOf(op, () => {})
      if (refusal) return Promise.reject(refusal)
      const given = context.deadline - performance.now()
      return breaker.run(
        () => next.call(op, request, context),
        (reason, isProbe) => endingOf(Fault.from(reason), isProbe || given >= timeout * fairShare),
      )
    }),
  }
}

/** What comes of it is counted; nobody waits for it. */
function probe(service: SwapService, context: Context, timeout: number): void {
  const own = { ...context, caller: { address: '' }, deadline: performance.now() + timeout, isOwn: true }
  service.call('listCurrencies', { page: 1, size: 1 }, own).catch(() => {})
}

/** What the provider says of a question is an answer. `hadTime`: whether it could have answered. */
function endingOf({ kind, certain, provider }: Fault, hadTime: boolean): Ending {
  if (kind === 'timedOut') return hadTime ? 'failed' : 'unsaid'
  if (kind === 'unreachable' || kind === 'unreadable') return 'failed'
  if (kind === 'failed') return certain ? 'answered' : 'failed'
  return provider === undefined ? 'unsaid' : 'answered'
}

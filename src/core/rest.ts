/** A provider that has had enough is left alone for as long as it says, and one that refuses the gateway's key for a while. */
import { Fault } from '../domain/fault.ts'
import type { Observer } from '../domain/observation.ts'
import { type Context, keyed, type Op, type SwapService } from '../domain/operations.ts'
import { holdBack } from './busy.ts'
import { type Layer, layer } from './layer.ts'
import { type Policy, policyOf } from './limits.ts'
import { ownRead } from './own-read.ts'

export interface RestOptions {
  /** Tag of the provider. */
  readonly provider: string
  /** Whether what needs a key goes up with the gateway's own; else what is said to a client's is about that client alone. */
  readonly isOwnKey: boolean
  /** The provider's, in milliseconds. */
  readonly timeout: number
  /** Milliseconds, on a clock that is never set back. */
  readonly clock: () => number
  readonly observe: Observer
}

/** However long a provider asks for, it is tried again after so many milliseconds. */
const longestRest = 3_600_000
const refusedRest = 30_000
/** Milliseconds from one look at the gateway's own key to the next. */
const betweenLooks = 10_000

/**
 * A 429 rests its row of limits (docs/service.md §8), a refusal of the gateway's own key all of them. What a client's call is
 * answered may be about that call: the key counts as refused where a read of the gateway's own is. Throws `unavailable`, for certain.
 */
export function resting(options: RestOptions): Layer {
  const { provider, isOwnKey, clock, observe } = options
  const refuse = holdBack(provider, 'rest', observe)
  const restUntil: Record<Policy, number> = { quotes: 0, create: 0, read: 0 }
  const rest = (rows: readonly Policy[], time: number): void => {
    for (const row of rows) restUntil[row] = Math.max(restUntil[row], clock() + Math.min(time, longestRest))
  }
  const look = looking(options, () => {
    observe({ what: 'rest', provider, reason: 'keyRefused' })
    rest(['quotes', 'create', 'read'], refusedRest)
  })
  const note = (op: Op, { kind, retryAfter = 1, provider: answered }: Fault, context: Context, next: SwapService): void => {
    if (kind === 'limited' && (isOwnKey || !keyed.has(op))) {
      observe({ what: 'rest', provider, reason: 'limited' })
      rest([policyOf[op]], retryAfter * 1000)
    }
    if (isOwnKey && keyed.has(op) && answered !== undefined && kind === 'unauthorized') look(next, context)
  }
  return layer((op, request, context, next) => {
    const left = restUntil[policyOf[op]] - clock()
    if (left > 0) return Promise.reject(refuse(left))
    return next.call(op, request, context).catch((reason) => {
      note(op, Fault.from(reason), context, next)
      throw reason
    })
  })
}

/** Reads with the gateway's own key, and calls back where it is refused. */
function looking({ clock, timeout }: RestOptions, onRefusal: () => void): (service: SwapService, context: Context) => void {
  let lookedAt = Number.NEGATIVE_INFINITY
  return (service, { client }) => {
    if (clock() - lookedAt < betweenLooks) return
    lookedAt = clock()
    ownRead('listTransactions', service, client, timeout).catch((reason) => {
      const { kind, provider } = Fault.from(reason)
      if (kind === 'unauthorized' && provider !== undefined) onRefusal()
    })
  }
}

/** A provider that has had enough is left alone for as long as it says, and one that refuses the gateway's key for a while. */
import { Fault } from '../domain/fault.ts'
import type { Observer } from '../domain/observation.ts'
import { keyed, type Op } from '../domain/operations.ts'
import { holdBack } from './busy.ts'
import { type Layer, layer } from './layer.ts'
import { type Policy, policyOf } from './limits.ts'

export interface RestOptions {
  /** Tag of the provider. */
  readonly provider: string
  /** Whether what needs a key goes up with the gateway's own; else what is said to a client's is about that client alone. */
  readonly isOwnKey: boolean
  /** Milliseconds, on a clock that is never set back. */
  readonly clock: () => number
  readonly observe: Observer
}

/** However long a provider asks for, it is tried again after so many milliseconds. */
const longestRest = 3_600_000
/** One refusal may be about what a client wrote; two in a row are about the key. */
const refusalsInRow = 2
const refusedRest = 30_000

/** A 429 rests its row of limits (`spec/service.md`, Limits), a refused key all. Throws `unavailable`, for certain. */
export function resting({ provider, isOwnKey, clock, observe }: RestOptions): Layer {
  const refuse = holdBack(provider, 'rest', observe)
  const restUntil: Record<Policy, number> = { quotes: 0, create: 0, read: 0 }
  let refusals = 0
  const rest = (rows: readonly Policy[], time: number): void => {
    for (const row of rows) restUntil[row] = Math.max(restUntil[row], clock() + Math.min(time, longestRest))
  }
  const note = (op: Op, { kind, retryAfter = 1, provider: answered }: Fault): void => {
    if (kind === 'limited' && (isOwnKey || !keyed.has(op))) {
      observe({ what: 'rest', provider, reason: 'limited' })
      rest([policyOf[op]], retryAfter * 1000)
    }
    if (!isOwnKey || !keyed.has(op) || answered === undefined) return
    refusals = kind === 'unauthorized' ? refusals + 1 : 0
    if (refusals < refusalsInRow) return
    observe({ what: 'rest', provider, reason: 'keyRefused' })
    rest(['quotes', 'create', 'read'], refusedRest)
  }
  return layer((op, request, context, next) => {
    const left = restUntil[policyOf[op]] - clock()
    if (left > 0) return Promise.reject(refuse(left))
    return next.call(op, request, context).then(
      (answer) => {
        if (refusals > 0 && keyed.has(op)) refusals = 0
        return answer
      },
      (reason) => {
        note(op, Fault.from(reason))
        throw reason
      },
    )
  })
}

/** How much of a provider's read budget the gateway's own looks take: never so much that clients have none (docs/contract.md §10.2). */
import { standardFault } from '../../../domain/faults/standard-fault.ts'
import { aroundAll, type Layer } from '../../layer.ts'

const windowMs = 60_000

export interface OwnReadLimitOptions {
  /** The provider's read budget in any 60 seconds, of one key where each has its own; 0 is none. */
  readonly limit: number
  /** Milliseconds, on a clock that is never set back. */
  readonly clock: () => number
}

/** Lets half of the budget pass in any 60 seconds, of each caller; what is beyond is `unavailable` until then. */
export function ownReadLimit({ limit, clock }: OwnReadLimitOptions): Layer {
  if (limit === 0) return (next) => next
  const share = Math.ceil(limit / 2)
  const passedTimes = new Map<string, number[]>()
  return aroundAll((op, request, context, next) => {
    const now = clock()
    for (const [name, times] of passedTimes) {
      if ((times.at(-1) ?? 0) > now - windowMs) break
      passedTimes.delete(name)
    }
    const name = context.caller.identity ?? ''
    const times = (passedTimes.get(name) ?? []).filter((time) => time > now - windowMs)
    const [oldest = now] = times
    if (times.length >= share) {
      const retryAfter = Math.ceil((oldest + windowMs - now) / 1000)
      return Promise.reject(standardFault('unavailable', { retryAfter, noEffect: true, unavailableCause: 'budget' }))
    }
    passedTimes.delete(name) // the last one to ask is the last one in it
    passedTimes.set(name, [...times, now])
    return next.call(op, request, context)
  })
}

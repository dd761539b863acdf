/** Limits the gateway's own reads to a share of a provider's read budget, so that clients keep the rest (docs/contract.md §10.2). */
import { standardFault } from '../../../domain/faults/standard-fault.ts'
import type { SteadyClock } from '../../clock.ts'
import { aroundAll, type Layer } from '../../layer.ts'

const windowMs = 60_000

export interface OwnReadLimitOptions {
  /** Calls in any 60 seconds (per key, if each key has a budget); 0: unlimited. `providers.<name>.budget.read` (default: 120). */
  readonly limit: number
  readonly clock: SteadyClock
}

/** Admits half of the budget per caller in any 60 seconds. Throws `unavailable` with `noEffect` above that. */
export function ownReadLimit({ limit, clock }: OwnReadLimitOptions): Layer {
  if (limit === 0) return (next) => next
  const share = Math.ceil(limit / 2)
  const passedTimes = new Map<string, number[]>()
  return aroundAll(function ownReadLimit(op, request, context, next) {
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
    passedTimes.delete(name) // moves the caller to the end of the map
    passedTimes.set(name, [...times, now])
    return next.call(op, request, context)
  })
}

/** The limit on pages beside the API (`/docs`, `openapi.json`): by client address, and the first load to be shed. */
import type { Admission, Quota } from '../domain/gate.ts'
import type { Observer } from '../domain/observation.ts'
import { standardFault } from '../domain/standard-fault.ts'
import type { Limiter } from './limits.ts'
import { type Load, overloaded } from './shedding.ts'
import { subjectOf } from './subject.ts'

export type PageGate = (address: string) => Promise<Admission>

const policy = 'pages'
/** Requests of one address in a window; a visit with an empty cache takes eight. */
const limit = 120
/** Seconds. */
const window = 60

export function pageLimit(limiter: Limiter, load: Load, observe: Observer): PageGate {
  return async (address) => {
    if (load.strain > 0) return { refusal: overloaded() }
    const { isOver, remaining, reset } = await limiter.charge(`${policy}:address:${subjectOf(address)}`, limit, window)
    observe({ what: 'limit', policy, decision: isOver ? 'refused' : 'admitted' })
    const quota: Quota = { policy, limit, window, remaining, reset }
    return isOver ? { quota, refusal: standardFault('limited', { retryAfter: Math.max(reset, 1) }) } : { quota }
  }
}

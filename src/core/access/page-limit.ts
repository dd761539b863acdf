/** The limit on pages beside the API (`/docs`, `openapi.json`): per client network. Pages are shed before any operation. */

import { overloaded, standardFault } from '../../domain/fault.ts'
import type { Observer } from '../../domain/observation.ts'
import type { Admission, Quota } from '../../domain/service.ts'
import { clientNetworkOf } from './client-network.ts'
import type { Limiter } from './limits.ts'
import type { Load } from './load-shedding.ts'

export type PageGate = (address: string) => Promise<Admission>

const policy = 'pages'
/** Requests of one client network in a window. A visit with an empty cache takes eight. */
const limit = 120
/** Seconds. */
const windowSeconds = 60

/** Returns the pages' gate: 503 at any load level above 0, 429 above the limit. */
export function pageLimit(limiter: Limiter, load: Load, observe: Observer): PageGate {
  return async (address) => {
    if (load.level > 0) return { refusal: overloaded() }
    const { isOver, remaining, resetSeconds } = await limiter.charge(
      `${policy}:address:${clientNetworkOf(address)}`,
      limit,
      windowSeconds,
    )
    observe({ what: 'limit', policy, decision: isOver ? 'refused' : 'admitted' })
    const quota: Quota = { policy, limit, windowSeconds, remaining, resetSeconds }
    return isOver ? { quota, refusal: standardFault('limited', { retryAfter: Math.max(resetSeconds, 1) }) } : { quota }
  }
}

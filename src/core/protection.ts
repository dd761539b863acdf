/** What stands between the gateway and every call that goes up to a provider, the outermost first. */
import type { Observer } from '../domain/observation.ts'
import type { MakeBreaker } from './breaker.ts'
import type { Budgets } from './budget.ts'
import { bulkhead } from './bulkhead.ts'
import type { Layer } from './layer.ts'
import type { Policy } from './limits.ts'
import { resting } from './rest.ts'
import { retry } from './retry.ts'
import { spending } from './spending.ts'
import { queued } from './traced.ts'

export interface ProtectionOptions {
  /** Tag of the provider. */
  readonly provider: string
  /** The provider's, in milliseconds. */
  readonly timeout: number
  readonly budget: Readonly<Record<Policy, number>>
  readonly budgets: Budgets
  readonly breaker: MakeBreaker
  /** Whether what needs a key goes up with the gateway's own. */
  readonly isOwnKey: boolean
  /** Milliseconds, on a clock that is never set back. */
  readonly clock: () => number
  /** From 0 to 1. */
  readonly random: () => number
  readonly observe: Observer
}

/** As many as the pool of connections has; whoever waits costs less than whoever is refused and comes again at once. */
const most = 128
const mostWaiting = 4_096
const patience = 1_000

export function protection(options: ProtectionOptions): readonly Layer[] {
  const { provider, observe } = options
  const { admission, count } = options.breaker(options)
  return [
    retry(options), //                       a read that failed, once more
    resting(options), //                     not while it has had enough
    admission, //                            not while it keeps failing
    queued(
      [
        bulkhead({ provider, most, mostWaiting, patience, observe }), // not too many at a time
        spending(options), // not more than it lets us ask
      ],
      provider,
    ),
    count,
  ]
}

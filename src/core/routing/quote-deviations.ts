/** Providers whose creates promise less than their quotes do not win by quotes (docs/contract.md §12). */
import { type Amount, multiplySubtract, toAmount, zero } from '../../domain/amount.ts'
import type { Observer } from '../../domain/observation.ts'
import type { SteadyClock } from '../clock.ts'

/** How long one create counts. */
const lifetimeMs = 600_000

export class QuoteDeviations {
  private readonly maxDeviation: number
  private readonly clock: SteadyClock
  /** By tag: the deviation of the last create that promised too little. */
  private readonly last = new Map<string, { readonly deviation: number; readonly until: number }>()

  /** `maxDeviation`: `routing.maxDeviation`; 0: nothing counts. */
  constructor(maxDeviation: number, clock: SteadyClock) {
    this.maxDeviation = maxDeviation
    this.clock = clock
  }

  readonly observe: Observer = (observation) => {
    if (observation.what !== 'quoteDeviation' || this.maxDeviation === 0) return
    const { provider, deviation } = observation
    if (deviation >= -this.maxDeviation) this.last.delete(provider)
    else this.last.set(provider, { deviation, until: this.clock() + lifetimeMs })
  }

  /** The quoted amount, less by the share by which the last create there was below its quote. */
  discounted(tag: string, amountOut: Amount): Amount {
    const { deviation, until } = this.last.get(tag) ?? { deviation: 0, until: 0 }
    const share = toAmount((1 + deviation).toFixed(6))
    return this.clock() < until && share !== undefined ? multiplySubtract(amountOut, share, zero) : amountOut
  }
}

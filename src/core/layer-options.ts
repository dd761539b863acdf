/** Options that many layers share. */
import type { Observer } from '../domain/observation.ts'
import type { SteadyClock } from './clock.ts'

/** Of a layer in front of one provider. */
export interface ProviderLayerOptions {
  /** Tag of the provider. */
  readonly provider: string
  readonly observe: Observer
}

/** Time and chance; a test has its own. */
export interface Timing {
  readonly clock: SteadyClock
  /** From 0 to 1, as `Math.random`. */
  readonly random: () => number
}

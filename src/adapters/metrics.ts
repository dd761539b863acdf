/** Everything that is counted, for Prometheus. What there is, and what it means, is `docs/observability.md`. */
import type { Observation, Observer } from '../domain/observation.ts'
import { addressMetrics } from './metrics/addresses.ts'
import { attemptMetrics } from './metrics/attempts.ts'
import { cacheMetrics } from './metrics/caches.ts'
import { Exposition, type Printed } from './metrics/exposition.ts'
import { fidelityMetrics } from './metrics/fidelity.ts'
import type { FormOf, Handlers, Providers } from './metrics/handler.ts'
import { ledgerMetrics, type ReadFigures } from './metrics/ledger.ts'
import { limitMetrics } from './metrics/limits.ts'
import { type ProgramFacts, processMetrics } from './metrics/process.ts'
import { providerMetrics } from './metrics/providers.ts'
import { requestMetrics } from './metrics/requests.ts'

export interface Metrics {
  /** Costs a few look-ups: labels are made when they are read. */
  readonly observe: Observer
  /** Everything counted, in the exposition format that an `Accept` header asks for. */
  readonly print: (accept: string) => Promise<Printed>
}

export interface MetricsOptions extends ProgramFacts {
  /** Whether more is counted than the process's own figures. */
  readonly isCounting: boolean
  readonly providers: Providers
  readonly formOf: FormOf
  /** What the ledger holds; it is asked when the metrics are read, and now and then at most. */
  readonly figures: ReadFigures
}

export function createMetrics(options: MetricsOptions): Metrics {
  const { isCounting, providers, formOf, figures } = options
  const exposition = new Exposition()
  const process = processMetrics(exposition, options)
  const print = (accept: string): Promise<Printed> => exposition.print(accept)
  if (!isCounting) return { print, observe: () => {} }
  const handlers: Handlers<Observation['what']> = {
    ...process,
    ...requestMetrics(exposition, formOf),
    ...attemptMetrics(exposition, providers),
    ...addressMetrics(exposition),
    ...providerMetrics(exposition, providers),
    ...limitMetrics(exposition),
    ...cacheMetrics(exposition),
    ...ledgerMetrics(exposition, providers, figures),
    ...fidelityMetrics(exposition, providers, formOf),
  }
  return { print, observe: (observation) => (handlers[observation.what] as Observer)(observation) }
}

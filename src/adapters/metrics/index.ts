/** All metrics for Prometheus. `docs/observability.md` explains each. */
import type { LedgerWaits } from '../../core/access/admission.ts'
import type { Observation, Observer } from '../../domain/observation.ts'
import { addressMetrics } from './addresses.ts'
import { attemptMetrics } from './attempts.ts'
import { cacheMetrics } from './caches.ts'
import { Exposition, type Printed } from './exposition.ts'
import { fidelityMetrics } from './fidelity.ts'
import type { FormOf, Handlers, Providers } from './handler.ts'
import { judgementMetrics } from './judgements.ts'
import { ledgerMetrics, type ReadLedgerGauges } from './ledger.ts'
import { limitMetrics } from './limits.ts'
import { type ProcessInfo, processMetrics } from './process.ts'
import { providerMetrics } from './providers.ts'
import { requestMetrics } from './requests.ts'
import { shadowMetrics } from './shadow.ts'

export interface Metrics {
  /** Costs a few map reads: label objects are made when metrics are printed. */
  readonly observe: Observer
  /** Prints all metrics in the exposition format that the `Accept` header selects. */
  readonly print: (accept: string) => Promise<Printed>
}

export interface MetricsOptions extends ProcessInfo {
  /** Whether to count requests and calls, not only the metrics of the process. */
  readonly isCounting: boolean
  readonly providers: Providers
  readonly formOf: FormOf
  /** Reads the ledger's counts. Called when metrics are printed, but not each time. */
  readonly readLedgerGauges: ReadLedgerGauges
  /** Undefined before the ledger is open. */
  readonly readLedgerWaits: () => LedgerWaits | undefined
}

export function createMetrics(options: MetricsOptions): Metrics {
  const { isCounting, providers, formOf, readLedgerGauges, readLedgerWaits } = options
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
    ...ledgerMetrics(exposition, providers, readLedgerGauges, readLedgerWaits),
    ...judgementMetrics(exposition, providers),
    ...fidelityMetrics(exposition, providers, formOf),
    ...shadowMetrics(exposition),
  }
  return { print, observe: (observation) => (handlers[observation.what] as Observer)(observation) }
}

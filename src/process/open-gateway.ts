/** The gateway with its stores and background jobs, but without a port. */

import type { Config } from '../config/index.ts'
import { withDefault } from '../domain/async.ts'
import type { StaticPages } from '../edges/static-page.ts'
import { type OpenLedger, openLedger } from '../ledger/index.ts'
import type { Http } from '../wire/http.ts'
import { startBackgroundJobs } from './background-jobs.ts'
import { ConfigurationInForce } from './configuration/configuration-in-force.ts'
import { CurrentGeneration } from './configuration/generation.ts'
import { openGatewayBuilder } from './gateway-builder.ts'
import type { Monitoring } from './monitoring.ts'
import { freshLookup } from './name-lookup.ts'

export interface OpenGateway {
  readonly configuration: ConfigurationInForce
  /** Warnings for the operator. */
  readonly warnings: readonly string[]
  readonly ledgerStores: OpenLedger
  readonly handle: Http
  /** Applies what operators have changed in the ledger. Throws if it cannot be read. */
  readonly follow: () => Promise<void>
}

/** The longest wait of the start for the assets that are suspended; later they are read all the same. */
const maxWaitMs = 1_000

/** Registers all that it opens in `resources`. Throws a `ConfigError` if the ledger contradicts the configuration. */
export async function openGateway(
  config: Config,
  monitoring: Monitoring,
  pages: StaticPages,
  resources: AsyncDisposableStack,
): Promise<OpenGateway> {
  const { observe, telemetry } = monitoring
  const ledgerStores = await openLedger(config.ledger.url, { mustExist: config.ledger.mustExist, lookup: freshLookup })
  resources.defer(ledgerStores.close)
  telemetry.observeLedger(ledgerStores)
  const { configuration, warnings } = await ConfigurationInForce.open(config, ledgerStores, observe)
  const { build, shadowStatistics, suspensions } = await openGatewayBuilder(config, ledgerStores, monitoring, pages, resources)
  await withDefault(suspensions.follow(), maxWaitMs, undefined)
  const generation = new CurrentGeneration(build, configuration.config)
  configuration.onChange((next) => {
    generation.replace(next)
    telemetry.log.configure(next.log)
  })
  resources.defer(() => configuration.close())
  startBackgroundJobs({ generation, configuration, ledgerStores, monitoring, shadowStatistics, suspensions }, resources)
  const follow = async (): Promise<void> => void (await Promise.all([configuration.follow(), suspensions.follow()]))
  return { configuration, warnings: [...ledgerStores.warnings, ...warnings], ledgerStores, handle: generation.handle, follow }
}

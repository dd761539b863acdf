/** Builds the gateway of each configuration from the parts of the process. */

import type { Config } from '../config/index.ts'
import { PendingCreateKeys } from '../core/creation/idempotency.ts'
import { DeferredResults } from '../core/creation/record-result.ts'
import { Suspensions } from '../core/creation/suspensions.ts'
import { createBreaker } from '../core/resilience/breaker.ts'
import { ShadowStatistics } from '../core/routing/shadow.ts'
import type { StaticPages } from '../edges/static-page.ts'
import { knownForms } from '../forms/index.ts'
import { createGateway } from '../gateway.ts'
import type { OpenLedger } from '../ledger/index.ts'
import { inTurns } from '../ledger/turns.ts'
import { Connections } from '../provider/connections.ts'
import { Generation } from './configuration/generation.ts'
import { keyIdentity } from './key-identity.ts'
import { openLimitStores } from './limit-stores.ts'
import type { Monitoring } from './monitoring.ts'
import { lookup } from './name-lookup.ts'
import { noPages } from './pages.ts'
import { openTraces } from './traces.ts'
import { version } from './version.ts'

export interface GatewayBuilder {
  readonly shadowStatistics: ShadowStatistics
  readonly suspensions: Suspensions
  readonly build: (config: Config) => Generation
}

/** Opens what all generations share: the stores of limits, traces, results that the ledger could not store, and connections. */
export async function openGatewayBuilder(
  config: Config,
  ledgerStores: OpenLedger,
  { load, observe }: Monitoring,
  pages: StaticPages,
  resources: AsyncDisposableStack,
): Promise<GatewayBuilder> {
  const { accounts, currencyLists, suspensions: store } = ledgerStores
  const { close, ...limitStores } = await openLimitStores(config, observe)
  resources.defer(close)
  const tracing = await openTraces(config.telemetry, observe)
  if (tracing) resources.defer(tracing.close)
  const deferredResults = new DeferredResults({ observe })
  resources.defer(() => deferredResults.close())
  const connections = new Connections(lookup)
  resources.defer(() => connections.close())
  const shadowStatistics = new ShadowStatistics()
  const suspensions = new Suspensions(store, () => performance.now())
  const pendingKeys = new PendingCreateKeys()
  const shared = {
    ...limitStores,
    tracing,
    load,
    ...inTurns(ledgerStores.ledger, ledgerStores.turns, observe),
    currencyLists,
    deferredResults,
    suspensions,
    connections,
  }
  return {
    shadowStatistics,
    suspensions,
    build(next) {
      const gateway = createGateway({
        ...shared,
        config: next,
        ...knownForms,
        shadowStatistics,
        pendingKeys,
        breaker: createBreaker,
        steadyClock: () => performance.now(),
        identify: keyIdentity(next, accounts, observe),
        observe,
        version,
        pages: next.docs ? pages : noPages,
      })
      return new Generation(gateway, connections.retain(gateway.connected))
    },
  }
}

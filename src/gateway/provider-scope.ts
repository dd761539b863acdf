import type { Provider } from '../config/index.ts'
import { judgeFirstDeposit } from '../core/creation/first-deposit.ts'
import type { Layer } from '../core/layer.ts'
import type { ProviderScope } from '../core/provider-scope.ts'
import { traced } from '../core/traced.ts'
import { CreatedHere } from '../core/transactions/created-here.ts'
import { enrichFromLedger } from '../core/transactions/enrich-from-ledger.ts'
import { knownStateOnly } from '../core/transactions/from-ledger.ts'
import { createdHereOnly, ownership } from '../core/transactions/ownership.ts'
import { briefWhileFailing } from '../core/transactions/sorted-list.ts'
import { type ConnectedProvider, destinationOf } from '../provider/connected-provider.ts'
import { confidentialOf } from '../provider/connections.ts'
import { intentIdOf } from '../provider/intent-id.ts'
import type { GatewayScope } from './process-scope.ts'

/** The scope of one provider, from its configuration, its connections and the gateway. */
export function providerScope(provider: Provider, connected: ConnectedProvider, gateway: GatewayScope): ProviderScope {
  const {
    config,
    connections,
    deferredResults,
    ledger,
    journal,
    restoredLedger,
    absentSwaps,
    otherDeposits,
    pendingKeys,
    freshness,
    timelines,
    failedReads,
    observe,
    clock,
    steadyClock,
  } = gateway
  const { routing, assets: table, cache } = config
  const { upstream, currencyList, maximums, quotedFirst, quoteTermsOf, offers } = connected
  const { tag, account } = provider
  const others = config.providers.filter((other) => other.account === account && other.tag !== tag)
  const hasList = upstream.capabilities.responseFields.listTransactions.size > 0
  return {
    ...upstream,
    // Of this gateway: the connections may be older.
    configured: provider,
    clock,
    steadyClock,
    observe,
    state: provider.state,
    currencyList,
    maximums,
    quotedFirst,
    quoteTermsOf,
    offers,
    table,
    cache,
    routing,
    freshness,
    timelines,
    failedReads,
    pendingKeys,
    accountTags: [tag, ...others.map((other) => other.tag)],
    isRouted: routing.providers.includes(provider.name),
    isOneOfSeveral: routing.providers.length > 1 || routing.mirror?.provider === provider.name,
    isPersonal: (query) => connected.needsAddress('getRate', query),
    clockSkewMs: connected.clockSkewMs,
    isFailing: connected.isFailing,
    hasList: () => hasList && !connected.isListRefused(),
    destination: destinationOf(provider, config),
    intentIdOf,
    sequences: connections.sequences,
    confidential: confidentialOf(config),
    absentSwaps,
    judgeFirstDeposit: judgeFirstDeposit(
      { tag, configured: provider, currencyList, capabilities: upstream.capabilities, ledger },
      otherDeposits,
    ),
    createdHere: upstream.usesGatewayKey ? undefined : new CreatedHere(),
    mayTakeBack: () => restoredLedger.mayTakeBack(tag),
    ledger,
    journal: deferredResults.changesAt(tag, journal, otherDeposits),
  }
}

/** Whose a transaction is. Managed mode: the ledger decides. Passthrough mode: the provider, by the client's key, and the ledger completes its responses. */
export function ownershipLayers(scope: ProviderScope): readonly Layer[] {
  const { tag, state, isRouted, usesGatewayKey } = scope
  if (usesGatewayKey) return [traced('ownership', ownership(scope), tag)]
  const enriched =
    state === 'off'
      ? knownStateOnly(scope) // never calls the provider
      : traced('enrichFromLedger', enrichFromLedger(scope), tag)
  const listed = [briefWhileFailing(scope), enriched]
  return isRouted ? listed : [traced('createdHereOnly', createdHereOnly(scope), tag), ...listed]
}

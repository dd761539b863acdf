/** Which provider takes which request, by the configuration. */
import type { Config } from '../config/index.ts'
import { OutsideTable } from '../core/assets/outside-table.ts'
import type { Layer } from '../core/layer.ts'
import type { ProviderScope } from '../core/provider-scope.ts'
import { BestQuote } from '../core/routing/best.ts'
import { type Dispatch, dispatcher, priority, QuotedProviders, weighted } from '../core/routing/dispatch.ts'
import { OtherProviders } from '../core/routing/failover.ts'
import { mirror } from '../core/routing/mirror.ts'
import { QuoteFailures } from '../core/routing/quote-failures.ts'
import type { RouteTargets } from '../core/routing/route.ts'
import { unconfiguredProviders } from '../core/transactions/from-ledger.ts'
import type { ListElsewhereOptions } from '../core/transactions/list-from-ledger.ts'
import type { Caller } from '../domain/service.ts'
import type { GatewayScope } from './process-scope.ts'
import type { RoutedProvider } from './routed-provider.ts'

export interface Routes {
  readonly targets: RouteTargets
  /** Providers that may take quotes and creates, in the order of `routing.providers`. */
  readonly active: readonly RoutedProvider[]
  /** Those whose firm quotes hold: they are active, and routed or for callers to choose. */
  readonly firm: readonly RoutedProvider[]
  /** Those of `active` that take new swaps of clients who choose none: not with weight 0. */
  readonly taking: readonly RoutedProvider[]
  /** Tags of the providers that may be called: of all others there is only what the ledger has. */
  readonly readTags: ReadonlySet<string>
  /** Whether lists come from the ledger: an account's own transactions, or what is known of a provider that is off. */
  readonly listsFromLedger: boolean
  /** What a list of the routed provider lacks; undefined if lists come from the ledger. */
  readonly elsewhere: ListElsewhereOptions | undefined
  /** The active provider of `routing.mirror`. */
  readonly candidate: RoutedProvider | undefined
}

export function routesOf(providers: readonly RoutedProvider[], gateway: GatewayScope): Routes {
  const { config, isManaged, ledger, absentSwaps, freshness, observe } = gateway
  const { routing } = config
  const routed = routing.providers.flatMap((name) => providers.filter((provider) => provider.name === name))
  const [first] = routed
  if (!first) throw new Error('routing.providers names no provider.')
  const readTags = new Set(providers.filter(({ scope }) => scope.state !== 'off').map(({ tag }) => tag))
  const listsFromLedger = isManaged || !readTags.has(first.tag)
  const firm = providers.filter(
    (provider) => isActive(provider) && (routed.includes(provider) || routing.pick.includes(provider.tag)),
  )
  const timezones = new Map(config.providers.map(({ tag, timezone }) => [tag, timezone]))
  const { tag: listed, scope } = first
  return {
    active: routed.filter(isActive),
    firm,
    taking: routed.filter((provider) => isActive(provider) && hasWeight(provider, config)),
    readTags,
    listsFromLedger,
    elsewhere: listsFromLedger
      ? undefined
      : { ledger, freshness, readTags, listed, pageSize: scope.capabilities.pageSize, timezones },
    candidate: providers.find((provider) => provider.name === routing.mirror?.provider && isActive(provider)),
    targets: {
      dispatch: dispatchOf(providers, routed, firm, gateway), // chooses the provider; fails over if nothing was sent
      lists: first,
      servicesByTag: new Map(providers.map(({ tag, service }) => [tag, service])),
      getUnconfigured: unconfiguredProviders(ledger, absentSwaps, freshness, observe),
      untagged: isManaged ? undefined : routed.find(({ name }) => name === routing.untagged)?.tag,
    },
  }
}

/** The tags of the providers at this origin. */
export function tagsAt(origin: string, { providers }: Config): ReadonlySet<string> {
  return new Set(providers.filter(({ url }) => new URL(url).origin === origin).map(({ tag }) => tag))
}

/** Chooses the provider of quotes and creates: by the strategy, or the one that the caller has picked. */
function dispatchOf(
  providers: readonly RoutedProvider[],
  routed: readonly RoutedProvider[],
  firm: readonly RoutedProvider[],
  { config, winners, deviations, steadyClock }: GatewayScope,
): Dispatch {
  const { strategy, weights, patience, maxDeviation } = config.routing
  const active = routed.filter(isActive)
  const timeoutMs = Math.max(...scopesOf(routed).map((scope) => scope.timeoutMs))
  const failures = new QuoteFailures({ table: config.assets, clock: steadyClock, timeoutMs })
  const settingsOf = (caller: Caller): string =>
    scopesOf(routed)
      .map(({ quoteTermsOf }) => quoteTermsOf(caller))
      .join()
  const others = new OtherProviders({ winners, table: config.assets, maxDeviation })
  return dispatcher({
    active: active.map((provider) => failures.watch(provider)),
    failures,
    inactive: new Map(routed.flatMap(({ tag, scope: { state } }) => (state === 'active' ? [] : [[tag, state]]))),
    others,
    outsideTable: new OutsideTable(scopesOf(active), config.assets),
    strategy: strategy === 'weighted' ? weighted(new Map(routed.map(({ name, tag }) => [tag, weights?.[name] ?? 0]))) : priority,
    quoted: strategy === 'weighted' ? new QuotedProviders(winners, config.assets) : undefined,
    best:
      strategy === 'best'
        ? new BestQuote({
            ...{ winners, others, failures, settingsOf, deviations, maxDeviation, table: config.assets },
            patienceMs: patience * 1000,
          })
        : undefined,
    firm: new Map(firm.map((provider) => [provider.tag, provider])),
    pickable: new Map(providers.filter(isActive).map((provider) => [provider.tag, provider])),
    timeoutMs,
  })
}

/** Of each provider. */
export function scopesOf(providers: readonly RoutedProvider[]): readonly ProviderScope[] {
  return providers.map(({ scope }) => scope)
}

function hasWeight({ name }: RoutedProvider, { routing: { strategy, weights } }: Config): boolean {
  return strategy !== 'weighted' || (weights?.[name] ?? 0) > 0
}

function isActive({ scope }: RoutedProvider): boolean {
  return scope.state === 'active'
}

/** Repeats some quotes at the provider of `routing.mirror`; empty without one that is active. */
export function mirrorLayers({ candidate, taking }: Routes, { config, mirrorStatistics }: GatewayScope): readonly Layer[] {
  if (!candidate) return []
  const sample = config.routing.mirror?.sample ?? 0
  const routed = scopesOf(taking).map(({ currencyList }) => currencyList)
  return [mirror(candidate.scope, candidate.service, { sample, statistics: mirrorStatistics, routed })]
}

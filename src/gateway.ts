/** The path of a request, from the top: the client's form, its gate, the ledger, the provider's layers, the provider's form. */
import type { Config, Provider } from './config/index.ts'
import { admission } from './core/access/admission.ts'
import { gatewayKeyErrors } from './core/access/gateway-key-errors.ts'
import { clientLimits, type Limiter } from './core/access/limits.ts'
import { type LedgerWaits, type Load, loadShedding } from './core/access/load-shedding.ts'
import { pageLimit } from './core/access/page-limit.ts'
import { recordVerifiedKeys } from './core/access/record-verified-keys.ts'
import type { RefusedAddresses } from './core/access/refused-addresses.ts'
import { type VerifiedKeys, verifiedOrInLedger } from './core/access/verified-keys.ts'
import { checkAddresses } from './core/assets/check-addresses.ts'
import { refuseExtraIds } from './core/assets/refuse-extra-ids.ts'
import { lacksDepositMemo } from './core/assets/require-deposit-memo.ts'
import { translateAssets } from './core/assets/translate-assets.ts'
import { creation } from './core/creation/creation.ts'
import type { DeferredResults } from './core/creation/deferred-results.ts'
import { fillFromRequest } from './core/creation/fill-from-request.ts'
import { idempotency } from './core/creation/idempotency.ts'
import { intent } from './core/creation/intent.ts'
import { captureKeys, type PendingCreateKeys } from './core/creation/pending-create-keys.ts'
import { ListScans } from './core/creation/reconciliation/list-scans.ts'
import type { TransactionReader } from './core/creation/reconciliation/match-candidates.ts'
import { reconcile } from './core/creation/reconciliation/reconcile.ts'
import { recordResult } from './core/creation/record-result.ts'
import { verifyQuote, verifyResponse } from './core/creation/verify-response.ts'
import { instrumented } from './core/instrumented-ledger.ts'
import { compose, type Layer } from './core/layer.ts'
import type { Ledger } from './core/ledger.ts'
import { currencies } from './core/quotes/currencies.ts'
import type { CurrencyListStore } from './core/quotes/currency-list-store.ts'
import { quoteCache } from './core/quotes/quote-cache.ts'
import type { MakeBreaker } from './core/resilience/breaker/breaker.ts'
import type { Budgets } from './core/resilience/budget/budgets.ts'
import { deadline } from './core/resilience/deadline.ts'
import { BestQuote } from './core/routing/best.ts'
import { type Dispatch, dispatcher } from './core/routing/dispatch.ts'
import { checkPick } from './core/routing/pick.ts'
import { recordProvider } from './core/routing/record-provider.ts'
import { route } from './core/routing/route.ts'
import { shadow } from './core/routing/shadow.ts'
import type { ShadowStatistics } from './core/routing/shadow-statistics.ts'
import { priority } from './core/routing/strategy.ts'
import { weighted } from './core/routing/weighted.ts'
import type { WinnerStore } from './core/routing/winners.ts'
import { traced } from './core/traced.ts'
import { createdHereOnly } from './core/transactions/created-here-only.ts'
import { defaultStatus } from './core/transactions/default-status.ts'
import { deriveFields } from './core/transactions/derive-fields.ts'
import { enrichFromLedger } from './core/transactions/enrich-from-ledger.ts'
import { knownStateOnly } from './core/transactions/known-state.ts'
import { listFromLedger } from './core/transactions/list-from-ledger.ts'
import { ownership } from './core/transactions/ownership.ts'
import { openPoll } from './core/transactions/poll-open.ts'
import { sortedList } from './core/transactions/sorted-list.ts'
import { Freshness } from './core/transactions/state/freshness.ts'
import type { ProviderState } from './domain/swap/provider-state.ts'
import type { Observer } from './domain/telemetry/observation.ts'
import type { Tracing } from './domain/tracing/trace.ts'
import { mounts } from './edges/mounts.ts'
import { type NativeLane, serveNative } from './edges/native/serve-native.ts'
import { serve } from './edges/serve.ts'
import type { StaticPages } from './edges/static-page.ts'
import { formNamed } from './forms/index.ts'
import { nativeLaneOf } from './native-lane.ts'
import {
  type ConnectedProvider,
  type Connections,
  confidentialOf,
  reportedBy,
  requireDepositMemos,
  transactionReader,
} from './provider.ts'
import type { Form } from './wire/form.ts'
import type { Http } from './wire/http.ts'

export interface GatewayParts {
  readonly config: Config
  readonly forms: readonly Form[]
  readonly limiter: Limiter
  readonly verifiedKeys: VerifiedKeys
  readonly refusedAddresses: RefusedAddresses
  /** The providers' budgets, over all replicas. */
  readonly budgets: Budgets
  /** The provider that won a quote, for the create that follows. */
  readonly winners: WinnerStore
  /** Deviations of the quotes of `routing.shadow` from the served ones. */
  readonly shadowStatistics: ShadowStatistics
  readonly load: Load
  /** The longest current waits for the ledger. */
  readonly ledgerWaits: () => LedgerWaits
  readonly ledger: Ledger
  /** Results of creates that the ledger could not store at once. */
  readonly deferredResults: DeferredResults
  /** Persistent store of currency lists. */
  readonly currencyLists: CurrencyListStore
  readonly breaker: MakeBreaker
  /** Milliseconds on a monotonic clock, for cooldowns and caches. */
  readonly steadyClock: () => number
  /** The identity of a client's key; undefined for an unknown key. */
  readonly identify: (key: string) => Promise<string | undefined>
  /** Connects providers, and reuses existing connections. */
  readonly connections: Connections
  /** Keys of clients with unresolved creates, if clients send the provider's own keys. */
  readonly pendingKeys: PendingCreateKeys
  readonly observe: Observer
  /** Set if requests are traced. */
  readonly tracing?: Tracing | undefined
  readonly version: string
  /** Pages beside the API on its port. */
  readonly pages: StaticPages
}

/** A gateway for one configuration. */
export interface Gateway {
  readonly handle: Http
  /** Runs one reconciliation of creates with an unknown outcome. */
  readonly reconcile: () => Promise<void>
  /** Reads the open transactions at draining providers that are due. */
  readonly pollDraining: () => Promise<void>
  /** After this the gateway starts no background calls: another configuration is in force. */
  readonly retire: () => void
  /** The connected providers that it uses. */
  readonly connected: readonly ConnectedProvider[]
}

const clock = (): number => Date.now()
/** A monotonic clock with the wall clock's value at the start of the process. */
const steadyWallClock = (): number => performance.timeOrigin + performance.now()

/** Builds the gateway for one configuration. It opens connections only through `parts.connections`. */
export function createGateway(parts: GatewayParts): Gateway {
  const { config, forms, limiter, load, ledgerWaits, identify, observe, tracing } = parts
  const isManaged = config.auth.mode === 'managed'
  const ledger = instrumented(parts.ledger, observe)
  const currencyLists = instrumented(parts.currencyLists, observe)
  const verifiedKeys = verifiedOrInLedger(parts.verifiedKeys, ledger)
  const pendingKeys = isManaged ? undefined : parts.pendingKeys
  const freshness = new Freshness({ refreshMs: config.ledger.refresh * 1000, clock, steadyClock: steadyWallClock })
  let isRetired = false
  const providers = config.providers.map((provider) =>
    buildProvider(provider, { ...parts, ledger, currencyLists, verifiedKeys, freshness, isRetired: () => isRetired }, pendingKeys),
  )
  const routed = config.routing.providers.flatMap((name) => providers.filter((provider) => provider.name === name))
  const active = routed.filter(({ state }) => state === 'active')
  const offTags = new Set(providers.filter(({ state }) => state === 'off').map(({ tag }) => tag))
  const [first] = routed as [GatewayProvider]

  const { refusedAddresses } = parts
  const gate = admission({
    isShed: loadShedding({ load, ledgerWaits, readsNeedLedger: isManaged }), // overload: 503, quotes first, creates last
    limits: clientLimits({ limiter, configured: config.limits, refusedAddresses, observe }), // too many requests: 429
    refusedAddresses, // missing or invalid key: 401
    verifiedKeys: isManaged ? undefined : verifiedKeys,
  })
  const candidate = providers.find(({ name, state }) => name === config.routing.shadow?.provider && state === 'active')
  const layers = [
    checkPick(new Set(isManaged ? config.routing.pick : [])), // 400 for a provider that the caller may not choose
    ...(pendingKeys ? [captureKeys(pendingKeys)] : []), // keeps the key of a client with an unresolved create
    traced('idempotency', idempotency(ledger, config.assets)), // replays the response of an earlier create with this key
    traced('currencies', currencies(active)), // merges, searches and pages the providers' lists
    // An account's own transactions; with the provider's keys, what is known of them while the provider is off.
    ...(isManaged || offTags.has(first.tag) ? [traced('listFromLedger', listFromLedger({ ledger, freshness, offTags }))] : []),
    ...(candidate ? [shadowOf(candidate, active, parts)] : []), // repeats some quotes at a candidate, after the response
  ]
  const servicesByTag = new Map(providers.map(({ tag, service }) => [tag, service]))
  const untagged = isManaged ? undefined : routed.find(({ name }) => name === config.routing.untagged)?.tag
  const dispatch = dispatchTo(providers, routed, parts) // chooses the provider; fails over if nothing was sent
  const service = compose(layers, route({ dispatch, lists: first, servicesByTag, untagged }))

  const pageGate = pageLimit(limiter, load, observe)
  const hasPicks = isManaged && config.routing.pick.length > 0
  const lifetimes = { listCurrencies: config.cache.currencies, getRate: config.cache.rate }
  const served = forms.map(
    (form) =>
      [form, serve({ form, service, gate, pageGate, identify, maxAgeSeconds: lifetimes, hasPicks, observe, tracing })] as const,
  )
  // A provider's own paths: bytes pass unchanged, for clients with an issued key.
  const lanes = new Map(providers.flatMap(({ native }) => (native ? [[native.tag, native] as const] : [])))
  const native = serveNative({ lanes, gate, identify, observe, tracing })
  const readers = new Map(providers.filter(({ state }) => state !== 'off').map(({ tag, reader }) => [tag, reader]))
  const scans = new ListScans()
  const windowMs = config.ledger.reconcile * 1000
  return {
    handle: mounts(new Map(served), formNamed(config.defaultForm, forms), parts.pages, native),
    reconcile: () =>
      reconcile({
        ledger: parts.deferredResults.withoutDeferred(ledger),
        readers,
        scans,
        pendingKeys,
        windowMs,
        clock,
        observe,
        tracing,
      }).then(() => observe({ what: 'reconciled', at: clock() })),
    pollDraining: async () => void (await Promise.allSettled(providers.map(({ poll }) => poll?.()))),
    retire() {
      isRetired = true
    },
    connected: providers.map(({ connected }) => connected),
  }
}

function shadowOf(candidate: GatewayProvider, routed: readonly GatewayProvider[], parts: GatewayParts): Layer {
  const { config, shadowStatistics: statistics, observe } = parts
  const { tag, service, timeoutMs } = candidate
  return shadow({
    candidate: { tag, service },
    sample: config.routing.shadow?.sample ?? 0,
    timeoutMs,
    table: config.assets,
    statistics,
    listings: () => ({
      routed: routed.flatMap(({ catalogue }) => catalogue.lastListing() ?? []),
      candidate: candidate.catalogue.lastListing(),
    }),
    random: Math.random,
    observe,
  })
}

/** Chooses the provider of quotes and creates: by the strategy, or the one that the caller has picked. */
function dispatchTo(
  providers: readonly GatewayProvider[],
  routed: readonly GatewayProvider[],
  { config, winners }: Pick<GatewayParts, 'config' | 'winners'>,
): Dispatch {
  const { strategy, weights, patienceMs } = config.routing
  const isActive = ({ state }: GatewayProvider): boolean => state === 'active'
  return dispatcher({
    active: routed.filter(isActive),
    strategy: strategy === 'weighted' ? weighted(new Map(routed.map(({ name, tag }) => [tag, weights?.[name] ?? 0]))) : priority,
    best: strategy === 'best' ? new BestQuote({ winners, table: config.assets, patienceMs }) : undefined,
    pickable: new Map(providers.filter(isActive).map((provider) => [provider.tag, provider])),
    timeoutMs: Math.max(...routed.map(({ timeoutMs }) => timeoutMs)),
  })
}

interface ProviderLayerParts extends GatewayParts {
  readonly freshness: Freshness
  readonly isRetired: () => boolean
}

/** A provider with its layers. */
interface GatewayProvider extends Pick<ConnectedProvider, 'name' | 'tag' | 'timeoutMs' | 'service' | 'capabilities' | 'catalogue'> {
  readonly connected: ConnectedProvider
  readonly state: ProviderState
  /** Absent if nothing is open. */
  readonly native: NativeLane | undefined
  /** Reads transactions as the provider reports them, for reconciliation. */
  readonly reader: TransactionReader
  /** Reads what is open there; for a draining provider in managed mode. */
  readonly poll: (() => Promise<void>) | undefined
}

/** `pendingKeys`: passthrough mode. */
function buildProvider(provider: Provider, parts: ProviderLayerParts, pendingKeys: PendingCreateKeys | undefined): GatewayProvider {
  const { config, forms, verifiedKeys, connections, steadyClock, version } = parts
  const form = formNamed(provider.form, forms)
  const connected = connections.connect(provider, {
    ...parts,
    form,
    keyOf: ({ caller }) => (pendingKeys ? caller.key : provider.key),
    access: pendingKeys ? recordVerifiedKeys(verifiedKeys, parts.refusedAddresses) : gatewayKeyErrors(),
    usesGatewayKey: pendingKeys === undefined,
  })
  connected.setPaused(provider.state !== 'active')
  return {
    ...connected,
    connected,
    state: provider.state,
    native: nativeLaneOf(config, provider, { form, connection: connected.native, confidential: confidentialOf(config), version }),
    service: compose(providerLayers(provider, connected, parts, pendingKeys), connected.service),
    reader: transactionReader(connected, provider, steadyClock),
    poll: provider.state === 'draining' && !pendingKeys ? pollOf(provider, connected, parts) : undefined,
  }
}

/** A request passes the layers from the first to the last, its response from the last to the first. */
function providerLayers(
  provider: Provider,
  connected: ConnectedProvider,
  parts: ProviderLayerParts,
  pendingKeys: PendingCreateKeys | undefined,
): readonly Layer[] {
  const { config, ledger, deferredResults, steadyClock, observe } = parts
  const { tag, capabilities, catalogue } = connected
  const { naming } = catalogue
  const mayIgnoreMemos = provider.extraIds === 'unconfirmed'
  const verification = {
    naming,
    mustConfirmMemos: !mayIgnoreMemos,
    lacksDepositMemo: lacksDepositMemo(provider.depositMemo, naming),
  }
  const createOptions = { ledger: deferredResults.wrap(ledger, tag), provider: tag, capabilities, clock, observe, pendingKeys }
  const isOneOfSeveral = config.routing.providers.length > 1 || config.routing.shadow?.provider === provider.name
  return [
    recordProvider(tag), // notes the provider for logs and metrics
    deadline(connected.timeoutMs), // one deadline for the whole request
    creation({
      provider: tag,
      record: recordResult(createOptions), // a create is in the ledger before the client gets its response
      layers: [
        ...ownershipLayers(provider, connected, parts), // 404 for another's transaction; adds what the ledger has
        defaultStatus(), // a new transaction with an unmapped status is `wait`
        deriveFields(capabilities), // fee, rate, updatedAt, if the provider's form has none
        sortedList(capabilities), // newest first, within the date range
        fillFromRequest(confidentialOf(config), mayIgnoreMemos), // what the response may omit: rate type, addresses
        refuseExtraIds(provider.extraIds), // 400 for a memo that the provider may lose
        translateAssets(catalogue, isOneOfSeveral), // the table's names <-> the provider's names; 400 for an unknown asset or network
        checkAddresses({ table: config.assets, isChecked: provider.addresses === 'checked', observe }), // 400 for an address that the network does not have
        requireDepositMemos(provider, naming), // no deposit address without its memo
        traced('quoteCache', quoteCache({ lifetimeMs: config.cache.rate * 1000, clock: steadyClock, observe }), tag), // recent quotes, shared by all clients
        verifyQuote(naming), // a quote must be for the requested pair
      ],
      verify: verifyResponse(verification), // the response of a create must match its request
      send: intent(createOptions), // a create is in the ledger before it is sent; then it is done, refused or unknown
    }),
  ]
}

function pollOf(provider: Provider, connected: ConnectedProvider, parts: ProviderLayerParts): () => Promise<void> {
  const { tag, capabilities } = connected
  const { steadyClock, isRetired } = parts
  return openPoll({ ...stateOptions(tag, parts), service: reportedBy(connected, provider), capabilities, steadyClock, isRetired })
}

/** What it takes to merge a report of the provider into the ledger. */
function stateOptions(provider: string, { config, ledger, connections, freshness, observe }: ProviderLayerParts) {
  return { ledger, provider, table: config.assets, sequences: connections.sequences, freshness, clock, observe }
}

/** In managed mode the ledger decides who owns a transaction. Otherwise the provider does, and the ledger completes its responses. */
function ownershipLayers(
  { name, state }: Provider,
  { tag, capabilities }: ConnectedProvider,
  parts: ProviderLayerParts,
): readonly Layer[] {
  const options = { ...stateOptions(tag, parts), isOff: state === 'off' }
  const { config, ledger, freshness } = parts
  if (config.auth.mode === 'managed') return [traced('ownership', ownership(options), tag)]
  const enriched = options.isOff
    ? knownStateOnly(ledger, tag, freshness) // never calls the provider
    : traced('enrichFromLedger', enrichFromLedger({ ...options, capabilities }), tag)
  return config.routing.providers.includes(name)
    ? [enriched]
    : [traced('createdHereOnly', createdHereOnly(ledger, tag), tag), enriched]
}

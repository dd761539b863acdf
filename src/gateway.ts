/** The path of a request, from the top: the client's form, its gate, the layers, the route to a provider, the provider's layers. */
import type { Config } from './config/index.ts'
import { admission, loadShedding } from './core/access/admission.ts'
import { clientLimits } from './core/access/limits.ts'
import { keyVerification } from './core/access/verified-keys.ts'
import type { ActionParts } from './core/actions/act.ts'
import { clientActions } from './core/actions/by-client.ts'
import { operatorActions } from './core/actions/by-operator.ts'
import { showCapabilities } from './core/actions/capabilities.ts'
import { checkAddress, checkAddresses, checkAmount, recommendMemos, refuseExtraIds } from './core/assets/check-request.ts'
import { countExcessDecimals, refuseExtremeAmounts } from './core/assets/plausible-amounts.ts'
import { translateAssets } from './core/assets/translate-assets.ts'
import { confirmCreate, fillFromRequest } from './core/creation/confirm-create.ts'
import { creation } from './core/creation/creation.ts'
import { captureKeys, idempotency, SentCreateKeys } from './core/creation/idempotency.ts'
import { intent } from './core/creation/intent.ts'
import { judgeCreate, verifyQuote, verifyResponse } from './core/creation/judge.ts'
import { OutcomeWaits } from './core/creation/outcome-waits.ts'
import { recordResult } from './core/creation/record-result.ts'
import { eventFeeds } from './core/events/event-feeds.ts'
import { instrumented } from './core/instrumented-ledger.ts'
import { compose, deadline, type Layer } from './core/layer.ts'
import type { ProviderScope } from './core/provider-scope.ts'
import { currencies } from './core/quotes/currencies.ts'
import { describePair } from './core/quotes/describe-pair.ts'
import { firmQuotes } from './core/quotes/firm-quotes.ts'
import { allNetworks, coinNetworks } from './core/quotes/networks.ts'
import { quoteCache, RecentQuotes } from './core/quotes/quote-cache.ts'
import { ratesOf } from './core/routing/rates.ts'
import { checkPick, recordProvider, route } from './core/routing/route.ts'
import { traced } from './core/traced.ts'
import { chosenOrder } from './core/transactions/chosen-order.ts'
import { defaultStatus, deriveFields, nameCoins } from './core/transactions/derive-fields.ts'
import { driveSandbox } from './core/transactions/drive-sandbox.ts'
import { listElsewhere, listFromLedger } from './core/transactions/list-from-ledger.ts'
import { sortedList } from './core/transactions/sorted-list.ts'
import type { EventFeeds } from './domain/event-stream.ts'
import { scopeOf } from './domain/policy.ts'
import type { Answers } from './domain/question.ts'
import type { Gate, SwapService } from './domain/service.ts'
import { type Gateway, type GatewayScope, gatewayScope, type ProcessScope } from './gateway/process-scope.ts'
import { ownershipLayers } from './gateway/provider-scope.ts'
import { routedProvider } from './gateway/routed-provider.ts'
import { mirrorLayers, type Routes, routesOf, scopesOf, tagsAt } from './gateway/routes.ts'
import { actionPartsOf, backgroundWork, served } from './gateway/served.ts'
import { safeDeposits } from './provider/readers.ts'

/** Builds the gateway for one configuration. It opens connections only through `process.connections`. */
export function createGateway(config: Config, process: ProcessScope): Gateway {
  const retirement = new AbortController()
  const gateway = gatewayScope(config, process, retirement.signal)
  const providers = config.providers.map((provider) => routedProvider(provider, gateway, providerLayers))
  const routes = routesOf(providers, gateway)
  const sentCreateKeys = new SentCreateKeys(gateway.steadyClock)
  const lookMs = new Map<string, number>()
  const service = compose(commonLayers(routes, gateway, sentCreateKeys, lookMs), route(routes.targets)) // behind the route: a provider with its layers; 404, 503 if none can take it; an unknown tag: the ledger
  const actions = actionPartsOf(providers, gateway)
  return {
    handle: served(
      service,
      gateOf(routes, gateway),
      answersOf(service, routes, actions, gateway),
      feedsOf(service, gateway),
      sentCreateKeys,
      providers,
      gateway,
    ), // in each form: key, gate, decode, service or answer, encode
    ...backgroundWork(providers, actions, lookMs, gateway),
    operatorActions: operatorActions(actions, gateway.isManaged),
    retire: () => retirement.abort(),
    connected: providers.map(({ connected }) => connected),
  }
}

/** Before a request is decoded. */
function gateOf({ active: [first] }: Routes, gateway: GatewayScope): Gate {
  const { config, limiter, load, processorShares, ledgerWaits, isManaged, refusedAddresses, verifiedKeys, steadyClock, observe } =
    gateway
  const limits = clientLimits({ limiter, configured: config.limits, refusedAddresses, observe })
  return admission({
    isShed: loadShedding({ load, processorShares, ledgerWaits, readsNeedLedger: isManaged, clock: steadyClock }), // overload: 503, quotes first, creates last
    limits, // too many requests: 429
    refusedAddresses, // missing or invalid key: 401
    verifiedKeys: isManaged ? undefined : verifiedKeys,
    verifyKey:
      first?.readWithKey &&
      keyVerification({ read: first.readWithKey, refusedAddresses, verifiedKeys, mayVerify: limits.mayVerify }), // a good key is verified before it is held up
  })
}

/** In the place of the service, for what the gateway is asked beside the operations. */
function answersOf(
  service: SwapService,
  { active, taking, targets }: Routes,
  actions: ActionParts,
  { config, isManaged, sandbox, steadyClock }: GatewayScope,
): Answers {
  const { pick, strategy } = config.routing
  const scopes = scopesOf(active)
  const timeoutMs = Math.max(0, ...scopes.map((scope) => scope.timeoutMs))
  return {
    checkAddress: checkAddress(config.assets, scopesOf(taking)), // an address and a memo, by the table: nothing is sent
    describePair: describePair(service, config.assets, scopes, strategy === 'weighted', steadyClock), // a pair, by the table and by quotes
    coinNetworks: coinNetworks(service, config.assets), // by the lists of the providers, as `/currencies` has them
    allNetworks: allNetworks(service, config.assets),
    ...(isManaged && clientActions(actions, service)), // a refund, and what else its provider can do about a swap: once
    ...(sandbox && driveSandbox(service, sandbox, tagsAt(sandbox.url, config), targets.untagged)), // a payment, or what else may happen to a swap of the built-in sandbox: 404 for any other
    ...(isManaged && pick.length > 0 && { listRates: ratesOf(service, pick, timeoutMs) }), // the quotes of all providers that a caller may choose
  }
}

/** The changes of a caller's swaps, as they come. */
function feedsOf(
  service: SwapService,
  { config, events, eventHub: hub, isManaged, identification, retired, observe }: GatewayScope,
): EventFeeds {
  const identify = identification(config.auth)
  const { onWritten: _, ...calls } = events
  return eventFeeds({
    service,
    events: instrumented(calls, observe),
    hub,
    isManaged,
    maxStreamsOf: (own) => (config.limits.dryRun ? Number.POSITIVE_INFINITY : (own?.streams ?? config.limits.streams)),
    async isAllowed({ caller: { key, address } }) {
      // With the provider's own key a stream reads by this gateway's connections: the client goes on at the next one.
      if (key === undefined || (!isManaged && retired.aborted)) return false
      const known = await identify(key, false, address)
      return known !== undefined && (known.scope?.includes(scopeOf.getTransaction) ?? true)
    },
  })
}

/** In front of all providers. A request passes the layers from the first to the last, its response from the last to the first. */
function commonLayers(
  routes: Routes,
  gateway: GatewayScope,
  sentCreateKeys: SentCreateKeys,
  lookMs: ReadonlyMap<string, number>,
): readonly Layer[] {
  const { config, isManaged, ledger, deferredResults, pendingKeys, freshness, restoredLedger, restoredOrders } = gateway
  const tags = config.providers.map(({ tag }) => tag)
  const { active, taking, readTags } = routes
  // Also where no new creates go: theirs are looked for.
  const timeoutsMs = config.providers.flatMap(({ tag, timeout }) => (readTags.has(tag) ? [[tag, timeout * 1000] as const] : []))
  const waits = new OutcomeWaits(ledger, new Map(timeoutsMs))
  return [
    ...(pendingKeys ? [captureKeys(pendingKeys)] : []), // keeps the key of a client with an unresolved create
    nameCoins(config.assets), // full names of coins, for forms that have them
    recommendMemos(config.assets), // names a create without a memo whose network has memos, also in a replay
    traced('idempotency', idempotency({ ledger, deferredResults, lookMs, waits }, config.assets, sentCreateKeys)), // replays the response of an earlier create with this key, before its content is checked: 409 no outcome yet (a client may prefer to wait for it), 422 another request, 502 after a mismatch, 503 no ledger
    ...(isManaged ? [restoredLedger.layer(restoredOrders, tags, config.assets)] : []), // after a restore: 409 for a create that may be an order that the ledger lacks, also where it has forgotten the quote, 503 until all lists were read; a warning with a list that may lack some
    checkPick(new Set(isManaged ? config.routing.pick : [])), // 400 for a provider that the caller may not choose
    firmQuotes({ ledger, table: config.assets, scopes: scopesOf(routes.firm) }), // keeps a quote that binds, and finds it for its create; 400 or 401 without what it needs, 409 if it does not hold
    traced('currencies', currencies(scopesOf(active), new Set(taking.map(({ tag }) => tag)))), // merges, searches and pages the providers' lists, also stale ones; 503 if no provider is active
    chosenOrder(), // a list from its end, or the one swap with an id
    ...(routes.elsewhere ? [listElsewhere(routes.elsewhere)] : []), // a key's transactions at other providers
    ...(routes.listsFromLedger ? [traced('listFromLedger', listFromLedger(ledger, freshness, readTags))] : []), // a client's own transactions: 400 for dates or too many rows, 503 without the ledger or a whole list
    ...mirrorLayers(routes, gateway), // repeats some quotes at a candidate, after the response
  ]
}

/** In front of one provider. */
function providerLayers(scope: ProviderScope, gateway: GatewayScope): readonly Layer[] {
  const { suspensions, otherDeposits, winners, restoredLedger, swapActions } = gateway
  const { tag, capabilities, currencyList, table, observe } = scope
  const quotes = new RecentQuotes(scope, winners)
  return [
    recordProvider(tag), // notes the provider for logs and metrics
    restoredLedger.refuseUnread(tag), // after a restore: 503 for a create until the provider's list was read
    deadline(scope.timeoutMs), // one deadline for all calls of the request: 504
    creation({
      provider: tag,
      record: recordResult(scope), // a create is in the ledger before the client gets its response: 502 for a mismatch, 504 while the ledger cannot take it
      layers: [
        showCapabilities(scope, swapActions), // what can be done about a swap
        ...ownershipLayers(scope), // 404 for another's transaction: by the ledger, or the provider's by the client's key; 503 without the ledger, or at a provider that is off
        defaultStatus(), // a new transaction with an unmapped status is `wait`
        deriveFields(capabilities), // fee, rate, updatedAt, if the provider's form has none
        sortedList(scope), // newest first, within the date range: 400 over 5,000 rows, 503 for half a list
        fillFromRequest(scope), // what the response may omit: rate type, addresses; 400 for a message without an amount
        refuseExtraIds(scope), // 400 for a memo that the provider may lose
        countExcessDecimals(tag, table, observe), // amounts with more decimals than the table's
        translateAssets(currencyList, scope.isOneOfSeveral), // the table's names <-> the provider's names; 400 for an unknown asset or network, 503 without the list that a create needs
        refuseExtremeAmounts(scope.maximums), // 400 for an amount far above the largest maximum of its coin
        checkAmount(scope), // 400 for an amount that the network cannot carry, or the amount below
        checkAddresses(scope), // 400 for an address that the network does not have
        suspensions.layer(scope), // 503, or the next provider, for an asset whose last creates were refused
        safeDeposits(scope.configured, currencyList), // no deposit address that cannot be one, or without its memo; 400 for a coin whose memo the provider cannot say
        traced('quoteCache', quoteCache(scope), tag), // recent quotes, shared by all clients; 504 if the shared call outlasts this request's deadline
        quotes.layer, // keeps the newest quotes, which the creates that follow are compared with
        verifyQuote(scope), // a quote must be for the requested pair: 502
      ],
      judge: judgeCreate(scope, quotes, otherDeposits), // what the provider says of its own must be possible: a mark, which `record` refuses
      verify: verifyResponse(scope), // the response of a create must match its request: a mark, which `record` refuses
      send: intent(scope), // a create is in the ledger before it is sent (503 without, 409 if its key was taken meanwhile); then it is done, refused or unknown (504)
    }),
    confirmCreate(scope), // a create whose response leaves a network or a memo out is read again: 504 if no get confirms it
  ]
}

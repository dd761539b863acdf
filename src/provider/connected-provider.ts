import type { LookupFunction } from 'node:net'
import { hashKey, signer } from '../adapters/crypto.ts'
import type { Tunnel } from '../adapters/tunnel.ts'
import { type OpenConnections, upstream } from '../adapters/undici.ts'
import type { Config, Provider } from '../config/index.ts'
import { forwardAddress, type NeedsAddress } from '../core/access/client-address.ts'
import { type AssetNaming, createAssetNaming } from '../core/assets/asset-naming.ts'
import type { CachedCurrencyList } from '../core/assets/currency-list.ts'
import { KnownMaximums, plausibleLimits } from '../core/assets/plausible-amounts.ts'
import type { Clock, SequenceClock, SteadyClock } from '../core/clock.ts'
import { isOtherPair } from '../core/creation/judge.ts'
import type { Destination } from '../core/destination.ts'
import { aroundAll, compose, type Layer } from '../core/layer.ts'
import type { UpstreamScope } from '../core/provider-scope.ts'
import { cachedCurrencyList } from '../core/quotes/cached-currency-list.ts'
import type { CurrencyListStore } from '../core/quotes/read-currency-list.ts'
import type { Breaker, MakeBreaker } from '../core/resilience/breaker.ts'
import { type Budgets, budgetSpending } from '../core/resilience/budget-limit.ts'
import { type AccountHealth, KeyCheck } from '../core/resilience/health-check.ts'
import { resilience } from '../core/resilience/resilience.ts'
import { plausibleExpiry } from '../core/transactions/derive-fields.ts'
import { numberRequests } from '../core/transactions/save-observed.ts'
import type { AssetTable } from '../domain/asset.ts'
import { needsAmountRangeOnly } from '../domain/call-options.ts'
import type { Confidential } from '../domain/confidential.ts'
import { valueIn } from '../domain/context-values.ts'
import type { Observer, Server } from '../domain/observation.ts'
import { namesByCode, ops, type SwapService } from '../domain/service.ts'
import type { RateType } from '../domain/swap.ts'
import type { ActionOffer, SwapAction } from '../domain/swap-action.ts'
import { amountSideOf, type Connection, isOffered, notOffered, rateTypeOf } from '../edges/call.ts'
import { connect, connectActions, type SendAction } from '../edges/connect.ts'
import { nativeGuard } from '../native/guard.ts'
import { connectNative, type NativeConnection } from '../native/lane.ts'
import { callsOf, carriesAddress, type ProviderForm } from '../wire/provider-form.ts'
import { keepOwnQuotes, quoteTermsOf, settingsOf } from './settings.ts'

export interface ProviderParts {
  readonly config: Config
  readonly form: ProviderForm
  /** The key that is sent with a call. */
  readonly keyOf: Connection['keyOf']
  /** The outermost layer of every call. */
  readonly access: Layer
  readonly budgets: Budgets
  readonly breaker: MakeBreaker
  readonly currencyLists: CurrencyListStore
  /** Whether keyed operations are sent with the gateway's own key. */
  readonly usesGatewayKey: boolean
  readonly clock: Clock
  readonly steadyClock: SteadyClock
  readonly observe: Observer
  readonly version: string
}

/** What a provider shares with others, over all configurations. */
interface SharedByProviders {
  readonly sequences: SequenceClock
  readonly confidential: Confidential
  readonly lookup: LookupFunction
  /** Through the provider's proxy, if it has one. */
  readonly tunnel: Tunnel | undefined
  /** With those of its account. */
  readonly health: AccountHealth
}

/** A provider with its connections, resilience layers and currency list. */
export interface ConnectedProvider {
  readonly name: string
  /** How it is called. */
  readonly upstream: UpstreamScope
  readonly service: SwapService
  readonly currencyList: CachedCurrencyList
  /** Of the amounts that it takes. */
  readonly maximums: KnownMaximums
  /** Rate types whose creates get a quote of their own first. */
  readonly quotedFirst: ReadonlySet<RateType>
  /** What tells the quotes of callers with other settings apart. */
  readonly quoteTermsOf: ReturnType<typeof quoteTermsOf>
  /** Whether an operation sends the client's address. */
  readonly needsAddress: NeedsAddress
  /** Whether the gateway's key may not list transactions there: the provider counts as one without a list. */
  readonly isListRefused: () => boolean
  /** By how much its clock is ahead of this machine's, at most a quarter of an hour either way. */
  readonly clockSkewMs: () => number
  readonly native: NativeConnection
  /** What it can do about a swap. */
  readonly offers: ReadonlyMap<SwapAction, ActionOffer>
  /** Sends an action within the budget of creates, once: it is never sent again. */
  readonly act: SendAction
  readonly openConnections: () => OpenConnections
  /** Whether it is known not to answer this operation now. */
  readonly isFailing: Breaker['isFailing']
  /** While paused, nothing is read in the background. */
  readonly setPaused: (isPaused: boolean) => void
  /** Closes the connections after the calls in flight. */
  readonly retire: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Connects a configured provider: its form, its connections, its resilience layers and its currency list. */
export function connectProvider(
  provider: Provider,
  parts: ProviderParts,
  { sequences, confidential, lookup, tunnel, health }: SharedByProviders,
): ConnectedProvider {
  const { keyOf, access, budgets, usesGatewayKey, steadyClock, observe, version } = parts
  const { name, tag } = provider
  const named = parts.form.withExtraIdNames(provider.extraIdNames)
  const withAmounts = (provider.amountTo && named.withReceivedAmounts?.()) || named
  const form = (provider.actions && withAmounts.withActions?.()) || withAmounts
  const timeoutMs = provider.timeout * 1000
  const { http, openConnections, retire, close } = upstream({
    url: provider.url,
    timeoutMs,
    maxConnections: provider.bulkhead.maxConcurrentCalls,
    maxAgeMs: provider.maxConnectionAge * 1000,
    lookup,
    tunnel,
    onCertificate: (notAfter) => observe({ what: 'certificate', provider: tag, notAfter }),
  })
  const naming = namingOf(provider, form, parts.config.assets)
  const clockSkew = new ClockSkew()
  const connection: Connection = {
    form,
    http,
    provider: tag,
    server: serverOf(provider.url),
    keyOf,
    settingsOf: settingsOf(provider),
    signer,
    secret: provider.secret,
    statuses: new Map(Object.entries(provider.statuses)),
    confidential,
    isOtherPair: (requested, reported, pair) => isOtherPair(requested, reported, currencyList, pair),
    userAgent: `swapgate/${version}`,
    timeoutMs,
    onServerDate: (date) => clockSkew.read(date),
    observe,
  }
  const edge = connect(connection)
  const needsAddress: NeedsAddress = (op, request) => carriesAddress(form, op, rateTypeOf(request), amountSideOf(request))
  const scope: UpstreamScope = {
    tag,
    configured: provider,
    timeoutMs,
    capabilities: form.capabilities,
    mayHideAmountRange: form.refusal.mayHideAmountRange ?? false,
    keyed: new Set(ops.filter((op) => form.keyed.has(op) && form.operation(op))),
    keyedRead: form.operation('listTransactions') ? 'listTransactions' : 'listCurrencies',
    callsOf: (op, request, context) =>
      valueIn(context, needsAmountRangeOnly)
        ? [op]
        : callsOf(form, op, rateTypeOf(request), amountSideOf(request), 'quoteId' in request && request.quoteId !== undefined),
    usesGatewayKey,
    clock: parts.clock,
    steadyClock,
    random: Math.random,
    observe,
  }
  const keyCheck = new KeyCheck(scope, health)
  const breaker = parts.breaker(scope)
  const service = compose(
    [
      onlyOffered(form),
      forwardAddress(needsAddress),
      keepOwnQuotes(provider),
      access,
      ...resilience(scope, budgets, keyCheck, breaker),
      numberRequests(sequences),
      plausibleLimits(tag, observe),
      plausibleExpiry(scope),
    ],
    edge,
  )
  const currencyList = cachedCurrencyList(scope, service, {
    naming,
    lists: parts.currencyLists,
    source: { provider: tag, url: provider.url, form: form.name },
    cache: parts.config.cache,
  })
  const spendBudget = budgetSpending(scope, budgets)
  const guard = nativeGuard(scope, breaker.native, spendBudget)
  const sendAction = connectActions(connection)
  return {
    name,
    upstream: scope,
    service,
    currencyList,
    maximums: new KnownMaximums(steadyClock),
    quotedFirst: form.quotedFirst,
    quoteTermsOf: quoteTermsOf(provider),
    needsAddress,
    isListRefused: () => keyCheck.isListRefused,
    clockSkewMs: () => clockSkew.milliseconds,
    native: connectNative(provider.url, serverOf(provider.url), { lookup, tunnel }, guard),
    offers: form.actions,
    async act(action, request, context) {
      await spendBudget('create', true, context)
      await sendAction(action, request, context)
    },
    openConnections,
    isFailing: breaker.isFailing,
    setPaused: currencyList.setPaused,
    retire: closeListFirst(currencyList, retire),
    close: closeListFirst(currencyList, close),
  }
}

/** Refuses what the provider does not have before a call is counted. */
function onlyOffered(form: ProviderForm): Layer {
  return aroundAll(function onlyOffered(op, request, context, next) {
    return isOffered(form, op, request) ? next.call(op, request, context) : Promise.reject(notOffered(form, op, request))
  })
}

/** Its words for the assets of the table. */
export function namingOf(provider: Provider, { assets, capabilities, networks }: ProviderForm, table: AssetTable): AssetNaming {
  const byCode = namesByCode(capabilities)
  const listsNetworks = byCode || capabilities.responseFields.listCurrencies.has('network')
  const ownAssets = [...Object.entries(assets), ...Object.entries(provider.assets)]
  return createAssetNaming(table, { byCode, listsNetworks, networks }, ownAssets)
}

/** Stops the refresh of the list before `end`. */
function closeListFirst(currencyList: CachedCurrencyList, end: () => Promise<void>): () => Promise<void> {
  return () => {
    currencyList.close()
    return end()
  }
}

function serverOf(url: string): Server {
  const { hostname, port, protocol } = new URL(url)
  return { address: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) }
}

// How far a provider's clock is from this machine's, by the `Date` of its latest response (RFC 9110, section 6.6.1).

class ClockSkew {
  private latestMs = 0

  /** `date`: the header of a response that has just come. What is no date changes nothing. */
  read(date: string | undefined): void {
    const serverTime = date === undefined ? Number.NaN : Date.parse(date)
    if (!Number.isNaN(serverTime)) this.latestMs = serverTime - Date.now()
  }

  /** Positive: the provider's clock is ahead. */
  get milliseconds(): number {
    return this.latestMs
  }
}

/** Enough to tell two keys of one provider apart. */
const digestLength = 16

/** Where creates of this configuration go. */
export function destinationOf(provider: Provider, { auth }: Pick<Config, 'auth'>): Destination {
  const { url, form, timezone, account, namesAccount, key, listKey } = provider
  const digestOf = (own: string): string | null => (auth.mode === 'managed' ? hashKey(own).slice(0, digestLength) : null)
  return {
    url: baseUrlOf(url),
    form,
    timezone,
    account: namesAccount ? account : null,
    key: digestOf(key),
    listKey: digestOf(listKey || key),
  }
}

/** Origin and path, without credentials: a base URL means the same with and without slashes at its end. */
export function baseUrlOf(url: string): string {
  const { origin, pathname } = new URL(url)
  let end = pathname.length
  while (pathname[end - 1] === '/') end--
  return origin + pathname.slice(0, end)
}

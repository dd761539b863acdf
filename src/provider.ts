/** Connects the configured providers: each has its form, its connections, its resilience layers and its currency list. */
import { signer } from './adapters/signer.ts'
import { upstream } from './adapters/undici/index.ts'
import type { Config, Provider } from './config/index.ts'
import { type AssetNaming, createAssetNaming, type NamingRules } from './core/assets/asset-naming.ts'
import type { Catalogue } from './core/assets/catalogue.ts'
import { requireDepositMemo } from './core/assets/require-deposit-memo.ts'
import { translateAssets } from './core/assets/translate-assets.ts'
import type { TransactionReader } from './core/creation/reconciliation/match-candidates.ts'
import { compose, type Layer } from './core/layer.ts'
import { cachedCatalogue } from './core/quotes/cached-catalogue.ts'
import type { CurrencyListStore } from './core/quotes/currency-list-store.ts'
import type { MakeBreaker } from './core/resilience/breaker/breaker.ts'
import type { Budgets } from './core/resilience/budget/budgets.ts'
import { ownReadLimit } from './core/resilience/budget/own-read-limit.ts'
import { deadline } from './core/resilience/deadline.ts'
import { resilience } from './core/resilience/resilience.ts'
import { deriveFields } from './core/transactions/derive-fields.ts'
import { numberRequests, SequenceClock } from './core/transactions/state/request-sequence.ts'
import { Confidential, type ConfidentialWords } from './domain/faults/confidential.ts'
import { type Capabilities, namesByCode } from './domain/swap/capabilities.ts'
import type { Op, Request } from './domain/swap/operations.ts'
import type { SwapService } from './domain/swap/service.ts'
import type { Observer, Server } from './domain/telemetry/observation.ts'
import { connect } from './edges/connect.ts'
import type { Connection } from './edges/send-call.ts'
import { connectNative, type NativeConnection } from './native-lane.ts'
import { callsOf, type ProviderForm } from './wire/provider/form.ts'

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
  /** Milliseconds on a monotonic clock. */
  readonly steadyClock: () => number
  readonly observe: Observer
  readonly version: string
}

/** A provider with its connections, resilience layers and currency list. */
export interface ConnectedProvider {
  readonly name: string
  readonly tag: string
  readonly timeoutMs: number
  readonly service: SwapService
  readonly catalogue: Catalogue
  readonly capabilities: Capabilities
  readonly native: NativeConnection
  /** While paused, nothing is read in the background. */
  readonly setPaused: (isPaused: boolean) => void
  /** Closes the connections after the calls in flight. */
  readonly retire: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Keeps connected providers over reloads: one whose settings (except `state` and the native lane) are unchanged keeps its connections, list and breakers. */
export class Connections {
  /** Orders the requests to all providers, over all configurations. */
  readonly sequences = new SequenceClock(() => Date.now())
  private readonly connectedByFingerprint = new Map<string, ConnectedProvider>()
  private readonly useCounts = new WeakMap<ConnectedProvider, number>()
  private readonly confidential = new Confidential({ keys: [], hosts: [], names: [] })
  private config: Config | undefined

  connect(provider: Provider, parts: ProviderParts): ConnectedProvider {
    const { assets, auth, cache } = parts.config
    const settings = { ...provider, state: undefined, native: undefined, nativeMaxBytes: undefined, nativeIdle: undefined }
    const fingerprint = JSON.stringify([settings, assets.coins, auth.mode, cache])
    this.protect(parts.config)
    return this.connectedByFingerprint.getOrInsertComputed(fingerprint, () =>
      connectProvider(provider, parts, this.sequences, this.confidential),
    )
  }

  /** Words of this configuration are confidential, and those of the one before: its requests may be under way. */
  private protect(config: Config): void {
    if (this.config === config) return
    const providers = [...(this.config?.providers ?? []), ...config.providers]
    this.confidential.replace(confidentialWordsOf({ providers }))
    this.config = config
  }

  /** Adds a use of these providers. The returned function removes it, and closes providers without another use. */
  retain(providers: readonly ConnectedProvider[]): () => void {
    for (const connected of providers) this.useCounts.set(connected, (this.useCounts.get(connected) ?? 0) + 1)
    return () => {
      for (const [fingerprint, connected] of this.connectedByFingerprint)
        if (providers.includes(connected)) this.release(fingerprint, connected)
    }
  }

  private release(fingerprint: string, connected: ConnectedProvider): void {
    const remaining = (this.useCounts.get(connected) ?? 1) - 1
    this.useCounts.set(connected, remaining)
    if (remaining > 0) return
    this.connectedByFingerprint.delete(fingerprint)
    connected.retire().catch(() => {}) // already closed
  }

  async close(): Promise<void> {
    await Promise.all([...this.connectedByFingerprint.values()].map(({ close }) => close()))
  }
}

function connectProvider(
  provider: Provider,
  parts: ProviderParts,
  sequences: SequenceClock,
  confidential: Confidential,
): ConnectedProvider {
  const { config, keyOf, access, steadyClock: clock, observe, version } = parts
  const { name, tag } = provider
  const form = parts.form.withExtraIdNames(provider.extraIdNames)
  const timeoutMs = provider.timeout * 1000
  const { http, retire, close } = upstream({ url: provider.url, timeoutMs })
  const edge = connect({
    form,
    http,
    provider: tag,
    server: serverOf(provider.url),
    keyOf,
    settings: provider.settings,
    signer,
    statuses: new Map(Object.entries(provider.statuses)),
    confidential,
    userAgent: `swapgate/${version}`,
    observe,
  })
  const limits = {
    ...parts,
    ...{ clock, provider: tag, timeoutMs, budget: provider.budget, random: Math.random },
    keyCheck: form.operation('listTransactions') ? ('listTransactions' as const) : ('listCurrencies' as const),
    callsOf: (op: Op, request: Request<Op>) => callsOf(form, op, 'rateType' in request ? request.rateType : undefined),
  }
  const breaker = parts.breaker(limits)
  const resilienceLayers = resilience({ ...limits, breaker })
  const service = compose([access, ...resilienceLayers, numberRequests(sequences)], edge)
  const currencyList = cachedCatalogue({
    service,
    naming: createAssetNaming(config.assets, namingRules(form), new Map(Object.entries({ ...form.assets, ...provider.assets }))),
    capabilities: form.capabilities,
    lists: parts.currencyLists,
    source: { provider: tag, url: provider.url, form: form.name },
    lifetimeMs: config.cache.currencies * 1000,
    staleForMs: config.cache.staleFor * 1000,
    timeoutMs,
    drift: (drift) => observe({ what: 'drift', provider: tag, field: '_other', drift }),
    onLookup: (outcome, age) =>
      observe({ what: 'cache', cache: 'currencies', outcome, ...(age !== undefined && { ageSeconds: age / 1000 }) }),
  })
  const { setPaused } = currencyList
  const native = connectNative({ ...limits, breaker, url: provider.url, server: serverOf(provider.url) })
  const base = { name, tag, timeoutMs, service, catalogue: currencyList, capabilities: form.capabilities, native, setPaused }
  return { ...base, retire: closeListFirst(currencyList, retire), close: closeListFirst(currencyList, close) }
}

function namingRules({ capabilities, networks }: ProviderForm): NamingRules {
  const byCode = namesByCode(capabilities)
  return { byCode, listsNetworks: byCode || capabilities.responseFields.listCurrencies.has('network'), networks }
}

/** Reads a provider's transactions for reconciliation, within the limit on own reads. */
export function transactionReader(connected: ConnectedProvider, provider: Provider, clock: () => number): TransactionReader {
  const { capabilities, catalogue } = connected
  const limited = compose([ownReadLimit({ limit: provider.budget.read, clock })], reportedBy(connected, provider))
  return { service: limited, capabilities, naming: catalogue.naming }
}

/** Reads a provider's transactions as it reports them, with the table's asset names. */
export function reportedBy({ service, capabilities, catalogue, timeoutMs }: ConnectedProvider, provider: Provider): SwapService {
  const layers = [
    deadline(timeoutMs),
    deriveFields(capabilities),
    translateAssets(catalogue, false),
    requireDepositMemos(provider, catalogue.naming),
  ]
  return compose(layers, service)
}

/** On networks with shared deposit addresses: no deposit address without its memo. */
export function requireDepositMemos({ depositMemo: networks, extraIds }: Provider, naming: AssetNaming): Layer {
  return requireDepositMemo({ networks, acceptsMemos: extraIds !== false, naming })
}

/** Stops the refresh of the list before `end`. */
function closeListFirst(currencyList: Catalogue, end: () => Promise<void>): () => Promise<void> {
  return () => {
    currencyList.close()
    return end()
  }
}

function serverOf(url: string): Server {
  const { hostname, port, protocol } = new URL(url)
  return { address: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) }
}

/** Keys, hosts and names that must not reach a client in a provider's text. */
export function confidentialOf(config: Config): Confidential {
  return new Confidential(confidentialWordsOf(config))
}

function confidentialWordsOf({ providers }: Pick<Config, 'providers'>): ConfidentialWords {
  return {
    keys: providers.flatMap(({ key }) => key ?? []),
    hosts: providers.map(({ url }) => new URL(url).hostname),
    names: providers.flatMap(({ name, tag }) => [name, tag]),
  }
}

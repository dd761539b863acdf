import type { LookupFunction } from 'node:net'
import { type Tunnel, tunnelThrough } from '../adapters/tunnel.ts'
import type { OpenConnections } from '../adapters/undici.ts'
import type { Config, Provider } from '../config/index.ts'
import { keysIn } from '../config/secrets.ts'
import { SequenceClock } from '../core/clock.ts'
import { AccountHealth } from '../core/resilience/health-check.ts'
import { Confidential, type ConfidentialWords } from '../domain/confidential.ts'
import { type ConnectedProvider, connectProvider, type ProviderParts } from './connected-provider.ts'

/** Keeps connected providers over reloads: one whose settings (except `state` and the native lane) are unchanged keeps its connections, list and breakers. */
export class Connections {
  /** Orders the requests to all providers, over all configurations. */
  readonly sequences = new SequenceClock(() => Date.now())
  private readonly connectedByFingerprint = new Map<string, ConnectedProvider>()
  private readonly useCounts = new WeakMap<ConnectedProvider, number>()
  private readonly confidential = new Confidential({ keys: [], hosts: [], names: [] })
  private readonly healthByAccount = new Map<string, { readonly access: string; readonly health: AccountHealth }>()
  private readonly lookup: LookupFunction
  /** By the proxy. */
  private readonly tunnels = new Map<string, Tunnel>()
  private config: Config | undefined

  constructor(lookup: LookupFunction) {
    this.lookup = lookup
  }

  connect(provider: Provider, parts: ProviderParts): ConnectedProvider {
    const { assets, auth, cache } = parts.config
    const settings = { ...provider, state: undefined, native: undefined, nativeMaxBytes: undefined, nativeIdle: undefined }
    const fingerprint = JSON.stringify([settings, assets.coins, auth.mode, cache])
    this.protect(parts.config)
    return this.connectedByFingerprint.getOrInsertComputed(fingerprint, () =>
      connectProvider(provider, parts, {
        sequences: this.sequences,
        confidential: this.confidential,
        lookup: this.lookup,
        tunnel: this.tunnelOf(provider),
        health: this.healthOf(provider, parts.config),
      }),
    )
  }

  private tunnelOf({ proxy }: Provider): Tunnel | undefined {
    return proxy === '' ? undefined : this.tunnels.getOrInsertComputed(proxy, () => tunnelThrough(proxy, this.lookup))
  }

  /** Shared by the providers of the account, until one of them has another key or URL. */
  private healthOf({ account }: Provider, { providers }: Config): AccountHealth {
    const ofAccount = providers.filter((provider) => provider.account === account)
    const access = JSON.stringify(ofAccount.map(({ name, url, key, listKey, secret }) => [name, url, key, listKey, secret]))
    const known = this.healthByAccount.get(account)
    if (known?.access === access) return known.health
    const health = new AccountHealth()
    this.healthByAccount.set(account, { access, health })
    return health
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

  /** Of each provider, by tag. */
  open(): readonly (OpenConnections & { readonly provider: string })[] {
    return [...this.connectedByFingerprint.values()].map(({ upstream, openConnections }) => ({
      provider: upstream.tag,
      ...openConnections(),
    }))
  }

  async close(): Promise<void> {
    await Promise.all([...this.connectedByFingerprint.values()].map(({ close }) => close()))
  }
}

/** Keys, hosts and names that must not reach a client in a provider's text. */
export function confidentialOf(config: Config): Confidential {
  return new Confidential(confidentialWordsOf(config))
}

function confidentialWordsOf({ providers }: Pick<Config, 'providers'>): ConfidentialWords {
  return {
    keys: providers.flatMap((provider) => keysIn(provider, ['providers', provider.name])),
    hosts: providers.map(({ url }) => new URL(url).hostname),
    names: providers.flatMap(({ name, tag }) => [name, tag]),
  }
}

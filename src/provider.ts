/** Configured providers, connected: each with its form over its connections, its list of currencies, and what its form can say. */
import { upstream } from './adapters/undici.ts'
import type { Config, Provider } from './config.ts'
import { assets } from './core/assets.ts'
import type { MakeBreaker } from './core/breaker.ts'
import type { Budgets } from './core/budget.ts'
import type { Reader } from './core/candidates.ts'
import { type Catalogue, catalogue } from './core/catalogue.ts'
import type { CurrencyLists } from './core/currency-lists.ts'
import { deadline } from './core/deadline.ts'
import { depositMemo } from './core/deposit-memo.ts'
import { derivation } from './core/derivation.ts'
import { type Layer, stack } from './core/layer.ts'
import { type Naming, naming } from './core/naming.ts'
import { protection } from './core/protection.ts'
import { readShare } from './core/read-share.ts'
import { SequenceClock, sequenced } from './core/sequence.ts'
import { Confidential, type ConfidentialWords } from './domain/confidential.ts'
import type { Observer, Server } from './domain/observation.ts'
import type { Context, SwapService } from './domain/operations.ts'
import { namesByCode, type Vocabulary } from './domain/vocabulary.ts'
import { connect } from './edges/connect.ts'
import type { Form } from './wire/form.ts'

export interface ProviderParts {
  readonly config: Config
  readonly form: Form
  /** The key that a call goes up with. */
  readonly keyOf: (context: Context) => string | undefined
  /** What stands before every call. */
  readonly access: Layer
  readonly budgets: Budgets
  readonly breaker: MakeBreaker
  readonly currencyLists: CurrencyLists
  /** Whether what needs a key goes up with the gateway's own. */
  readonly isOwnKey: boolean
  /** Milliseconds, on a clock that is never set back. */
  readonly steadyClock: () => number
  readonly observe: Observer
  readonly version: string
}

export interface Connected {
  readonly name: string
  readonly tag: string
  /** Milliseconds. */
  readonly timeout: number
  readonly service: SwapService
  readonly catalogue: Catalogue
  readonly said: Vocabulary
  /** Lets go of it when what is in flight there is answered. */
  readonly retire: () => Promise<void>
  readonly close: () => Promise<void>
}

/** One that is configured as it was before keeps its connections and its list, whatever else has changed. */
export class Connections {
  /** Orders what goes up to all providers, whatever configuration counts. */
  readonly sequences = new SequenceClock(() => Date.now())
  private readonly open = new Map<string, Connected>()
  private readonly keepers = new WeakMap<Connected, number>()

  connect(provider: Provider, parts: ProviderParts): Connected {
    const { assets, auth, cache } = parts.config
    const made = JSON.stringify([provider, wordsOf(parts.config), assets.coins, auth.mode, cache])
    return this.open.getOrInsertComputed(made, () => connectProvider(provider, parts, this.sequences))
  }

  /** Keeps these; the function lets go of those that nobody else keeps. */
  keep(used: readonly Connected[]): () => void {
    for (const connected of used) this.keepers.set(connected, (this.keepers.get(connected) ?? 0) + 1)
    return () => {
      for (const [made, connected] of this.open) if (used.includes(connected)) this.letGo(made, connected)
    }
  }

  private letGo(made: string, connected: Connected): void {
    const left = (this.keepers.get(connected) ?? 1) - 1
    this.keepers.set(connected, left)
    if (left > 0) return
    this.open.delete(made)
    connected.retire().catch(() => {}) // closed in the meantime
  }

  async close(): Promise<void> {
    await Promise.all([...this.open.values()].map(({ close }) => close()))
  }
}

function connectProvider(provider: Provider, parts: ProviderParts, sequences: SequenceClock): Connected {
  const { config, keyOf, access, steadyClock: clock, observe, version } = parts
  const { name, tag } = provider
  const form = parts.form.withExtraIdNames(provider.extraIdNames)
  const timeout = provider.timeout * 1000
  const { http, retire, close } = upstream({ url: provider.url, timeout })
  const edge = connect({
    form,
    http,
    provider: tag,
    server: serverOf(provider.url),
    keyOf,
    statuses: new Map(Object.entries(provider.statuses)),
    confidential: confidentialOf(config),
    userAgent: `swapgate/${version}`,
    observe,
  })
  const protecting = protection({ ...parts, clock, provider: tag, timeout, budget: provider.budget, random: Math.random })
  const service = stack([access, ...protecting, sequenced(sequences)], edge)
  const listing = catalogue({
    service,
    naming: naming(config.assets, namesByCode(form.vocabulary), new Map(Object.entries(provider.assets))),
    said: form.vocabulary,
    lists: parts.currencyLists,
    source: { provider: tag, url: provider.url, form: form.name },
    lifetime: config.cache.currencies * 1000,
    staleFor: config.cache.staleFor * 1000,
    timeout,
    drift: (drift) => observe({ what: 'drift', provider: tag, field: '_other', drift }),
    looked: (outcome, age) =>
      observe({ what: 'cache', cache: 'currencies', outcome, ...(age !== undefined && { age: age / 1000 }) }),
  })
  const known = { name, tag, timeout, service, catalogue: listing, said: form.vocabulary }
  return { ...known, retire: ending(listing, retire), close: ending(listing, close) }
}

/** Its transactions by its own account of them, whoever holds them here. */
export function readerOf({ service, said, catalogue, timeout }: Connected, provider: Provider, clock: () => number): Reader {
  const { naming } = catalogue
  const layers = [
    deadline(timeout),
    readShare({ limit: provider.budget.read, clock }),
    derivation(said),
    assets(catalogue, false),
    sharedDeposits(provider, naming),
  ]
  return { service: stack(layers, service), said, naming }
}

/** No deposit address without its memo, where the provider's addresses are shared. */
export function sharedDeposits({ depositMemo: networks, extraIds }: Provider, naming: Naming): Layer {
  return depositMemo({ networks, isTaken: extraIds !== false, naming })
}

/** Ends the readings of the list first. */
function ending(listing: Catalogue, end: () => Promise<void>): () => Promise<void> {
  return () => {
    listing.close()
    return end()
  }
}

function serverOf(url: string): Server {
  const { hostname, port, protocol } = new URL(url)
  return { address: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) }
}

/** What no text of a provider may tell a client. */
export function confidentialOf(config: Config): Confidential {
  return new Confidential(wordsOf(config))
}

function wordsOf({ providers }: Config): ConfidentialWords {
  return {
    keys: providers.flatMap(({ key }) => key ?? []),
    hosts: providers.map(({ url }) => new URL(url).hostname),
    names: providers.flatMap(({ name, tag }) => [name, tag]),
  }
}

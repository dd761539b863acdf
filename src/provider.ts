/** Configured providers, connected: each with its form over its connections, its list of currencies, and what its form can say. */
import { upstream } from './adapters/undici.ts'
import type { Config, Provider } from './config.ts'
import { type Catalogue, catalogue } from './core/catalogue.ts'
import { type Layer, stack } from './core/layer.ts'
import { naming } from './core/naming.ts'
import type { Observer } from './domain/observation.ts'
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
  readonly observe: Observer
  readonly version: string
}

export interface Connected {
  readonly name: string
  readonly tag: string
  readonly service: SwapService
  readonly catalogue: Catalogue
  readonly said: Vocabulary
  /** Lets go of it when what is in flight there is answered. */
  readonly retire: () => Promise<void>
  readonly close: () => Promise<void>
}

/** One that is configured as it was before keeps its connections and its list, whatever else has changed. */
export class Connections {
  private readonly open = new Map<string, Connected>()

  connect(provider: Provider, parts: ProviderParts): Connected {
    const { assets, auth, cache } = parts.config
    const made = JSON.stringify([provider, namesOf(parts.config), assets.coins, auth.mode, cache])
    return this.open.getOrInsertComputed(made, () => connectProvider(provider, parts))
  }

  /** Lets go of all but these. */
  retain(used: readonly Connected[]): void {
    for (const [made, connected] of this.open) {
      if (used.includes(connected)) continue
      this.open.delete(made)
      connected.retire().catch(() => {}) // closed in the meantime
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.open.values()].map(({ close }) => close()))
  }
}

function connectProvider(provider: Provider, parts: ProviderParts): Connected {
  const { config, form, keyOf, access, observe, version } = parts
  const { name, tag } = provider
  const timeout = provider.timeout * 1000
  const { http, retire, close } = upstream({ url: provider.url, timeout })
  const edge = connect({
    form,
    http,
    provider: tag,
    keyOf,
    statuses: new Map(Object.entries(provider.statuses)),
    names: namesOf(config),
    userAgent: `swapgate/${version}`,
    observe,
  })
  const service = stack([access], edge)
  const listing = catalogue({
    service,
    naming: naming(config.assets, namesByCode(form.vocabulary), new Map(Object.entries(provider.assets))),
    lifetime: config.cache.currencies * 1000,
    staleFor: config.cache.staleFor * 1000,
    timeout,
    drift: (drift) => observe({ what: 'drift', provider: tag, field: '_other', drift }),
  })
  return { name, tag, service, catalogue: listing, said: form.vocabulary, retire, close }
}

/** What no message to a client may hold. */
export function namesOf({ providers }: Config): readonly string[] {
  return providers.flatMap(({ name, tag }) => [name, tag])
}

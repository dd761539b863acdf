/** The whole path of a request. Read from the bottom up: a client's form, gates, the route, a provider's layers, its form. */
import { identityOf } from './adapters/identity.ts'
import { upstream } from './adapters/undici.ts'
import type { Config, Provider } from './config.ts'
import { assets } from './core/assets.ts'
import { catalogue } from './core/catalogue.ts'
import { chronology } from './core/chronology.ts'
import { completion } from './core/completion.ts'
import { currencies } from './core/currencies.ts'
import { deadline } from './core/deadline.ts'
import { derivation } from './core/derivation.ts'
import { extraIds } from './core/extra-ids.ts'
import { stack } from './core/layer.ts'
import { type Limiter, limits } from './core/limits.ts'
import { naming } from './core/naming.ts'
import { outcome } from './core/outcome.ts'
import { type Proofs, proof } from './core/proof.ts'
import { question } from './core/question.ts'
import { route } from './core/route.ts'
import { statuses } from './core/statuses.ts'
import type { Observer } from './domain/observation.ts'
import { namesByCode } from './domain/vocabulary.ts'
import { connect } from './edges/connect.ts'
import { mounts } from './edges/mounts.ts'
import { serve } from './edges/serve.ts'
import type { Form } from './wire/form.ts'
import type { Http } from './wire/http.ts'

export interface Parts {
  readonly config: Config
  readonly forms: readonly Form[]
  readonly limiter: Limiter
  readonly proofs: Proofs
  readonly observe: Observer
  readonly version: string
}

export interface Gateway {
  readonly handle: Http
  readonly close: () => Promise<void>
}

export function createGateway({ config, forms, limiter, proofs, observe, version }: Parts): Gateway {
  const names = config.providers.flatMap((provider) => [provider.name, provider.tag])
  const formOf = (name: string): Form => forms.find((form) => form.name === name) as Form

  const provide = (provider: Provider) => {
    const form = formOf(provider.form)
    const said = form.vocabulary
    const timeout = provider.timeout * 1000
    const { http, close } = upstream({ url: provider.url, timeout })
    const edge = connect({
      form,
      http,
      provider: provider.tag,
      keyOf: ({ caller }) => caller.key,
      statuses: new Map(Object.entries(provider.statuses)),
      names,
      userAgent: `swapgate/${version}`,
      observe,
    })
    const listing = catalogue({
      service: edge,
      naming: naming(config.assets, namesByCode(said), new Map(Object.entries(provider.assets))),
      lifetime: config.cache.currencies * 1000,
      staleFor: config.cache.staleFor * 1000,
      drift: (drift) => observe({ what: 'drift', provider: provider.tag, field: '_other', drift }),
    })
    const service = stack(
      [
        deadline(timeout),
        statuses(), //        words that nobody has explained
        derivation(said), //  fee, rate, updatedAt
        completion(said), //  list items made whole
        chronology(said), //  newest first, between dates
        question(names), //   what the question says and the answer need not
        currencies(listing, said),
        extraIds(provider.extraIds),
        assets(listing), //   the table's words, the provider's words
        outcome(), //         done, refused or unknown
        proof(proofs),
      ],
      edge,
    )
    return { service, close }
  }

  const [name] = config.routing.providers
  const provider = config.providers.find((candidate) => candidate.name === name) as Provider
  const { service, close } = provide(provider)
  const routed = route({ tag: provider.tag, provider: service, ownsUntagged: config.routing.untagged === provider.name })
  const gate = limits(limiter, proofs, config.limits)
  const lifetimes = { listCurrencies: config.cache.currencies, getRate: config.cache.rate }
  const served = forms.map(
    (form) => [form, serve({ form, service: routed, gate, identify: identityOf, lifetimes, observe })] as const,
  )
  return { handle: mounts(new Map(served), formOf(config.defaultForm)), close }
}

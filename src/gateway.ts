/** The whole path of a request, from the top: the client's form, its gate, the provider's layers, the provider's form. */
import { identityOf } from './adapters/identity.ts'
import { upstream } from './adapters/undici.ts'
import type { Config, Provider } from './config.ts'
import { assets } from './core/assets.ts'
import { type Catalogue, catalogue } from './core/catalogue.ts'
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
import type { SwapService } from './domain/operations.ts'
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

export function createGateway(parts: Parts): Gateway {
  const { config, forms, limiter, proofs, observe } = parts
  const provider = config.providers.find(({ name }) => name === config.routing.providers[0]) as Provider
  const upstreamOf = upstream({ url: provider.url, timeout: provider.timeout * 1000 })

  const gate = limits(limiter, proofs, config.limits) // whoever comes too often, and strangers
  const service = route({
    tag: provider.tag,
    provider: layered(provider, upstreamOf.http, parts),
    ownsUntagged: config.routing.untagged === provider.name,
  })
  const lifetimes = { listCurrencies: config.cache.currencies, getRate: config.cache.rate }
  const served = forms.map((form) => [form, serve({ form, service, gate, identify: identityOf, lifetimes, observe })] as const)
  return { handle: mounts(new Map(served), formOf(config.defaultForm, forms)), close: upstreamOf.close }
}

/** A provider as the gateway offers it: a question goes down through the layers, its answer comes back up. */
function layered(provider: Provider, http: Http, parts: Parts): SwapService {
  const { config, forms, proofs, observe, version } = parts
  const form = formOf(provider.form, forms)
  const said = form.vocabulary
  const names = config.providers.flatMap(({ name, tag }) => [name, tag])
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
  const listing = catalogueOf(provider, edge, form, parts)
  const layers = [
    deadline(provider.timeout * 1000), // no answer later than this
    statuses(), //                        words that nobody has explained
    derivation(said), //                  fee, rate, updatedAt
    completion(said), //                  list items made whole; outside the order: only the page that is shown
    chronology(said), //                  newest first, between dates
    question(names), //                   what the question says and the answer need not
    currencies(listing, said), //         the whole list, searched and cut into pages
    extraIds(provider.extraIds), //       refused where the provider may lose them
    assets(listing), //                   the table's words, the provider's words
    outcome(), //                         a create is done, refused or unknown; nothing outside refuses one that is done
    proof(proofs), //                     whose key was accepted
  ]
  return stack(layers, edge)
}

function catalogueOf(provider: Provider, service: SwapService, form: Form, { config, observe }: Parts): Catalogue {
  return catalogue({
    service,
    naming: naming(config.assets, namesByCode(form.vocabulary), new Map(Object.entries(provider.assets))),
    lifetime: config.cache.currencies * 1000,
    staleFor: config.cache.staleFor * 1000,
    timeout: provider.timeout * 1000,
    drift: (drift) => observe({ what: 'drift', provider: provider.tag, field: '_other', drift }),
  })
}

/** The configuration names no form that is not in the list. */
function formOf(name: string, forms: readonly Form[]): Form {
  return forms.find((form) => form.name === name) as Form
}

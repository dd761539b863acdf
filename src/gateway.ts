/** The whole path of a request, from the top: the client's form, its gate, the ledger, the provider's layers, the provider's form. */
import type { Config, Provider } from './config.ts'
import { addresses } from './core/addresses.ts'
import { agreement } from './core/agreement.ts'
import { asking } from './core/asking.ts'
import { assets } from './core/assets.ts'
import type { MakeBreaker } from './core/breaker.ts'
import type { Budgets } from './core/budget.ts'
import type { Reader } from './core/candidates.ts'
import { chronology } from './core/chronology.ts'
import { currencies } from './core/currencies.ts'
import type { CurrencyLists } from './core/currency-lists.ts'
import { custody } from './core/custody.ts'
import { deadline } from './core/deadline.ts'
import type { DeferredResults } from './core/deferred-results.ts'
import { dependable } from './core/dependable.ts'
import { derivation } from './core/derivation.ts'
import { extraIds } from './core/extra-ids.ts'
import { Freshness } from './core/freshness.ts'
import { idempotency } from './core/idempotency.ts'
import { intent } from './core/intent.ts'
import { type Layer, stack } from './core/layer.ts'
import type { Ledger } from './core/ledger.ts'
import { type Limiter, limits } from './core/limits.ts'
import { ListReadings } from './core/list-readings.ts'
import { memory } from './core/memory.ts'
import { outcome } from './core/outcome.ts'
import { ownKey } from './core/own-key.ts'
import { ownership } from './core/ownership.ts'
import { pageLimit } from './core/page-limit.ts'
import { type Proofs, proof, provenBy } from './core/proof.ts'
import { question } from './core/question.ts'
import { rates } from './core/rates.ts'
import { reconcile } from './core/reconciliation.ts'
import type { RefusedAddresses } from './core/refused-addresses.ts'
import { register } from './core/register.ts'
import { route } from './core/route.ts'
import { settlement } from './core/settlement.ts'
import { type LedgerWaits, type Load, shedding } from './core/shedding.ts'
import { statuses } from './core/statuses.ts'
import { traced } from './core/traced.ts'
import { hearing, type WaitingKeys } from './core/waiting-keys.ts'
import type { Observer } from './domain/observation.ts'
import type { Tracing } from './domain/trace.ts'
import { mounts } from './edges/mounts.ts'
import type { Pages } from './edges/page.ts'
import { serve } from './edges/serve.ts'
import { type Connected, type Connections, confidentialOf, readerOf, sharedDeposits } from './provider.ts'
import type { Form } from './wire/form.ts'
import type { Http } from './wire/http.ts'

export interface Parts {
  readonly config: Config
  readonly forms: readonly Form[]
  readonly limiter: Limiter
  readonly proofs: Proofs
  readonly refusedAddresses: RefusedAddresses
  /** What each provider lets all replicas together ask. */
  readonly budgets: Budgets
  readonly load: Load
  /** How long the first has waited for the ledger. */
  readonly ledgerWaits: () => LedgerWaits
  readonly ledger: Ledger
  /** Results of creates that the ledger could not take at once. */
  readonly results: DeferredResults
  /** Where currency lists outlive the process. */
  readonly currencyLists: CurrencyLists
  readonly breaker: MakeBreaker
  /** Milliseconds that are never set back, for whatever rests or is kept a while. */
  readonly steadyClock: () => number
  /** Whom a client's key stands for. */
  readonly identify: (key: string) => Promise<string | undefined>
  /** Where providers are connected, or are so already. */
  readonly connections: Connections
  /** Keys of clients whose creates are looked for, where these are the provider's own. */
  readonly keys: WaitingKeys
  readonly observe: Observer
  /** Where requests are traced. */
  readonly tracing?: Tracing | undefined
  readonly version: string
  /** What stands beside the API on its port. */
  readonly pages: Pages
}

export interface Gateway {
  readonly handle: Http
  /** Looks once for the creates whose outcome is unknown. */
  readonly reconcile: () => Promise<void>
  /** What it uses of the connections. */
  readonly connected: readonly Connected[]
}

const clock = (): number => Date.now()
/** By the wall clock when the process began. */
const steadyWallClock = (): number => performance.timeOrigin + performance.now()

export function createGateway(given: Parts): Gateway {
  const { config, forms, limiter, load, ledgerWaits, identify, observe, tracing } = given
  const isManaged = config.auth.mode === 'managed'
  const ledger = dependable(given.ledger, observe)
  const currencyLists = dependable(given.currencyLists, observe)
  const proofs = provenBy(given.proofs, ledger)
  const keys = isManaged ? undefined : given.keys
  const freshness = new Freshness({ refreshMs: config.ledger.refresh * 1000, clock, steadyClock: steadyWallClock })
  const held = config.providers.map((provider) => hold(provider, { ...given, ledger, currencyLists, proofs, freshness }, keys))
  const active = config.routing.providers.map((name) => held.find((holder) => holder.name === name) as Holder)

  const strangers = { refusedAddresses: given.refusedAddresses, proofs: isManaged ? undefined : proofs }
  const limited = limits({ limiter, configured: config.limits, observe, ...strangers }) // whoever comes too often, and strangers
  const gate = shedding({ load, ledgerWaits, readsNeedLedger: isManaged }, limited) // what cannot be done in time
  const layers = [
    ...(keys ? [hearing(keys)] : []), //  whose create is still looked for
    traced('idempotency', idempotency(ledger, config.assets)), // a question that was asked before
    traced('currencies', currencies(active)), // the whole lists, searched and cut into pages
    ...(isManaged ? [traced('register', register({ ledger, freshness }))] : []), // an account's list
  ]
  const holders = new Map(held.map(({ tag, service }) => [tag, service]))
  const untagged = isManaged ? undefined : active.find(({ name }) => name === config.routing.untagged)?.tag
  const timeout = Math.max(...active.map((holder) => holder.timeout))
  const service = stack(layers, route({ active, holders, untagged, timeout }))

  const pageGate = pageLimit(limiter, load, observe)
  const lifetimes = { listCurrencies: config.cache.currencies, getRate: config.cache.rate }
  const served = forms.map(
    (form) => [form, serve({ form, service, gate, pageGate, identify, lifetimes, observe, tracing })] as const,
  )
  const readers = new Map(held.map(({ tag, reader }) => [tag, reader]))
  const readings = new ListReadings()
  const span = config.ledger.reconcile * 1000
  return {
    handle: mounts(new Map(served), formOf(config.defaultForm, forms), given.pages),
    reconcile: () =>
      reconcile({ ledger: given.results.withoutHeld(ledger), readers, readings, keys, span, clock, observe, tracing }).then(() =>
        observe({ what: 'reconciled', at: clock() }),
      ),
    connected: held.map(({ connected }) => connected),
  }
}

interface HeldParts extends Parts {
  readonly freshness: Freshness
}

/** A provider as the gateway offers it. */
interface Holder extends Pick<Connected, 'name' | 'tag' | 'timeout' | 'service' | 'said' | 'catalogue'> {
  readonly connected: Connected
  /** Its transactions by its own account of them, whoever holds them here. */
  readonly reader: Reader
}

/** A question goes down through the layers, its answer comes back up. `keys`: where clients hold the provider's own. */
function hold(provider: Provider, parts: HeldParts, keys: WaitingKeys | undefined): Holder {
  const { config, forms, ledger, results, proofs, connections, steadyClock, observe } = parts
  const connected = connections.connect(provider, {
    ...parts,
    form: formOf(provider.form, forms),
    keyOf: ({ caller }) => (keys ? caller.key : provider.key),
    access: keys ? proof(proofs, parts.refusedAddresses) : ownKey(), // whose key was accepted; what a provider says to the gateway's own
    isOwnKey: keys === undefined,
  })
  const { tag, said, catalogue } = connected
  const book = { ledger: results.over(ledger, tag), provider: tag, said, clock, observe, keys }
  const hasChoice = config.routing.providers.length > 1
  const layers = [
    asking(tag), //                       whose answer it is
    deadline(connected.timeout), //       no answer later than this
    traced('settlement', settlement(book), tag), // what was created is in the ledger before anybody hears of it
    ...possession(provider, connected, parts), // whose it is, and what is known of it already
    statuses(), //                        words that nobody has explained
    derivation(said), //                  fee, rate, updatedAt
    chronology(said), //                  newest first, between dates
    question(confidentialOf(config), provider.extraIds === 'unconfirmed'), // what the question says and the answer need not
    extraIds(provider.extraIds), //       refused where the provider may lose them
    assets(catalogue, hasChoice), //      the table's words, the provider's words
    addresses({ table: config.assets, isChecked: provider.addresses === 'checked', observe }), // those that the network cannot have
    sharedDeposits(provider, catalogue.naming), // no deposit address without its memo
    traced('rates', rates({ lifetime: config.cache.rate * 1000, clock: steadyClock, observe }), tag), // what somebody asked for just now
    agreement(catalogue.naming, provider.extraIds !== 'unconfirmed'), // whether the answer is about the question
    traced('intent', intent(book), tag), // a create is in the ledger before it goes up
    outcome(), //                         it is done, refused or unknown; nothing outside refuses one that is done
  ]
  return { ...connected, connected, service: stack(layers, connected.service), reader: readerOf(connected, provider, steadyClock) }
}

/** With issued keys the ledger decides whose a transaction is; else the provider does, and the ledger completes its answers. */
function possession({ name }: Provider, { tag, said }: Connected, parts: HeldParts): readonly Layer[] {
  const { config, ledger, connections, freshness, observe } = parts
  const record = { ledger, provider: tag, table: config.assets, sequences: connections.sequences, freshness, clock, observe }
  if (config.auth.mode === 'managed') return [traced('ownership', ownership(record), tag)]
  const remembered = traced('memory', memory({ ...record, said }), tag)
  return config.routing.providers.includes(name) ? [remembered] : [traced('custody', custody(ledger, tag), tag), remembered]
}

/** The configuration names no form that is not in the list. */
function formOf(name: string, forms: readonly Form[]): Form {
  return forms.find((form) => form.name === name) as Form
}

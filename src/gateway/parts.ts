/** What a gateway is built from, and what it offers to the process. */
import type { Config } from '../config/index.ts'
import type { LedgerWaits, Load } from '../core/access/admission.ts'
import type { Limiter } from '../core/access/limits.ts'
import { type RefusedAddresses, type VerifiedKeys, verifiedOrInLedger } from '../core/access/verified-keys.ts'
import type { Clock, SteadyClock } from '../core/clock.ts'
import type { PendingCreateKeys } from '../core/creation/idempotency.ts'
import { JustGivenDeposits } from '../core/creation/other-deposits.ts'
import type { DeferredResults } from '../core/creation/record-result.ts'
import type { Suspensions } from '../core/creation/suspensions.ts'
import { instrumented } from '../core/instrumented-ledger.ts'
import type { Ledger } from '../core/ledger.ts'
import type { CurrencyListStore } from '../core/quotes/read-currency-list.ts'
import type { MakeBreaker } from '../core/resilience/breaker.ts'
import type { Budgets } from '../core/resilience/budget-limit.ts'
import type { ShadowStatistics } from '../core/routing/shadow.ts'
import { QuoteDeviations, type WinnerStore } from '../core/routing/winners.ts'
import { ledgerWithoutAttention } from '../core/transactions/derive-fields.ts'
import { Freshness } from '../core/transactions/freshness.ts'
import type { Observer } from '../domain/observation.ts'
import type { SwapService } from '../domain/service.ts'
import type { Tracing } from '../domain/trace.ts'
import type { StaticPages } from '../edges/static-page.ts'
import type { ConnectedProvider } from '../provider/connected-provider.ts'
import type { Connections } from '../provider/connections.ts'
import type { Form } from '../wire/form.ts'
import type { Http } from '../wire/http.ts'
import type { ProviderForm } from '../wire/provider-form.ts'

export interface GatewayParts {
  readonly config: Config
  readonly forms: readonly Form[]
  readonly providerForms: readonly ProviderForm[]
  readonly limiter: Limiter
  readonly verifiedKeys: VerifiedKeys
  readonly refusedAddresses: RefusedAddresses
  /** The providers' budgets, over all replicas. */
  readonly budgets: Budgets
  /** The provider that won a quote, for the create that follows. */
  readonly winners: WinnerStore
  /** Deviations of the quotes of `routing.mirror` from the served ones. */
  readonly shadowStatistics: ShadowStatistics
  readonly load: Load
  /** The longest current waits for the ledger of an account. */
  readonly ledgerWaits: (account: string) => LedgerWaits
  readonly ledger: Ledger
  /** Results of creates that the ledger could not store at once. */
  readonly deferredResults: DeferredResults
  /** Assets that are out of new swaps. */
  readonly suspensions: Suspensions
  /** Persistent store of currency lists. */
  readonly currencyLists: CurrencyListStore
  readonly breaker: MakeBreaker
  /** For cooldowns and caches. */
  readonly steadyClock: SteadyClock
  /** The identity of a client's key; undefined for an unknown key. For a quote it may be that of a minute ago. */
  readonly identify: (key: string, isQuote: boolean) => Promise<string | undefined>
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

/** What the layers of one gateway share. The ledger is instrumented. */
export interface SharedParts extends Omit<GatewayParts, 'pendingKeys'> {
  /** Whether the gateway issues the clients' keys. */
  readonly isManaged: boolean
  /** Undefined in managed mode. */
  readonly pendingKeys: PendingCreateKeys | undefined
  readonly freshness: Freshness
  readonly deviations: QuoteDeviations
  /** Reads transactions as their provider reports them, by its tag; not those of a provider that is off. */
  readonly reported: Map<string, SwapService>
  readonly justGivenDeposits: JustGivenDeposits
  readonly clock: Clock
  /** Aborted when another configuration is in force. */
  readonly retired: AbortSignal
}

const clock: Clock = () => Date.now()
/** A monotonic clock with the wall clock's value at the start of the process. */
const steadyWallClock = (): number => performance.timeOrigin + performance.now()

export function sharedParts(parts: GatewayParts, retired: AbortSignal): SharedParts {
  const { config } = parts
  const deviations = new QuoteDeviations(config.routing.maxDeviation, parts.steadyClock)
  const observe: Observer = (observation) => {
    parts.observe(observation)
    deviations.observe(observation)
  }
  const isManaged = config.auth.mode === 'managed'
  const ledger = instrumented(isManaged ? parts.ledger : ledgerWithoutAttention(parts.ledger), observe)
  return {
    ...parts,
    observe,
    deviations,
    reported: new Map(),
    justGivenDeposits: new JustGivenDeposits(steadyWallClock),
    isManaged,
    ledger,
    currencyLists: instrumented(parts.currencyLists, observe),
    verifiedKeys: verifiedOrInLedger(parts.verifiedKeys, ledger),
    pendingKeys: isManaged ? undefined : parts.pendingKeys,
    freshness: new Freshness({ refreshMs: config.ledger.refreshAfter * 1000, clock, steadyClock: steadyWallClock }),
    clock,
    retired,
  }
}

/** The process, as its gateways see it, and what each of them makes of it. */
import type { Config } from '../config/index.ts'
import type { LedgerWaits, Load } from '../core/access/admission.ts'
import type { Limiter } from '../core/access/limits.ts'
import type { ProcessorShares } from '../core/access/processor-shares.ts'
import { type RefusedAddresses, type VerifiedKeys, verifiedOrInLedger } from '../core/access/verified-keys.ts'
import type { OperatorActions } from '../core/actions/by-operator.ts'
import type { Clock, SteadyClock } from '../core/clock.ts'
import type { PendingCreateKeys } from '../core/creation/idempotency.ts'
import { OtherDeposits, type ReaderOf } from '../core/creation/other-deposits.ts'
import type { DeferredResults } from '../core/creation/record-result.ts'
import type { RestoredLedger, RestoredOrders } from '../core/creation/restored-ledger.ts'
import type { Suspensions } from '../core/creation/suspensions.ts'
import type { EventHub } from '../core/events/event-hub.ts'
import type { FailedReads } from '../core/failed-reads.ts'
import { Freshness } from '../core/freshness.ts'
import { instrumented } from '../core/instrumented-ledger.ts'
import { type CreatesInFlight, Journal } from '../core/journal.ts'
import type { JournaledLedger, Ledger, LedgerChanges } from '../core/ports/ledger.ts'
import type { SwapActionStore } from '../core/ports/swap-actions.ts'
import type { EventStore } from '../core/ports/transaction-events.ts'
import type { WatchStore } from '../core/ports/watches.ts'
import type { CurrencyListStore } from '../core/quotes/read-currency-list.ts'
import type { MakeBreaker } from '../core/resilience/breaker.ts'
import type { Budgets } from '../core/resilience/budget-limit.ts'
import type { MirrorStatistics } from '../core/routing/mirror.ts'
import { QuoteDeviations, type WinnerStore } from '../core/routing/winners.ts'
import type { Timelines } from '../core/timelines.ts'
import type { AbsentSwaps } from '../domain/absent-swaps.ts'
import type { Observer } from '../domain/observation.ts'
import type { SandboxControl } from '../domain/sandbox-event.ts'
import type { Identity, SwapService } from '../domain/service.ts'
import type { Tracing } from '../domain/trace.ts'
import type { StaticPages } from '../edges/static-page.ts'
import type { ConnectedProvider } from '../provider/connected-provider.ts'
import type { Connections } from '../provider/connections.ts'
import type { Form } from '../wire/form.ts'
import type { Http } from '../wire/http.ts'
import type { ProviderForm } from '../wire/provider-form.ts'

/** What survives a reload: stores, connections and counts of the process. */
export interface ProcessScope {
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
  readonly mirrorStatistics: MirrorStatistics
  readonly load: Load
  /** What identities take of the processor. */
  readonly processorShares: ProcessorShares
  /** The longest current waits for the ledger of an account. */
  readonly ledgerWaits: (account: string) => LedgerWaits
  readonly ledger: Ledger
  readonly createsInFlight: CreatesInFlight
  /** Results of creates that the ledger could not store at once. */
  readonly deferredResults: DeferredResults
  /** What happens to swaps. */
  readonly timelines: Timelines
  readonly failedReads: FailedReads
  /** The changes of swaps, and who listens to them. */
  readonly events: EventStore
  readonly eventHub: EventHub
  /** Assets that are out of new swaps. */
  readonly suspensions: Suspensions
  /** What the ledger lacks, if it was restored from a backup. */
  readonly restoredLedger: RestoredLedger
  readonly restoredOrders: RestoredOrders
  /** What is done about swaps. */
  readonly swapActions: SwapActionStore
  /** Which open transactions somebody watches. */
  readonly watches: WatchStore
  /** Persistent store of currency lists. */
  readonly currencyLists: CurrencyListStore
  readonly breaker: MakeBreaker
  /** For cooldowns and caches. */
  readonly steadyClock: SteadyClock
  /** Identifies clients by their keys, as this configuration says. */
  readonly identification: (auth: Config['auth']) => Identify
  /** Connects providers, and reuses existing connections. */
  readonly connections: Connections
  /** Keys of clients with unresolved creates, if clients send the provider's own keys. */
  readonly pendingKeys: PendingCreateKeys
  readonly observe: Observer
  /** Set if requests are traced. */
  readonly tracing?: Tracing | undefined
  readonly version: string
  /** Pages beside the API on its port, if `docs` shows them, for a configuration. */
  readonly pages: (config: Config) => StaticPages
  /** The built-in sandbox, if it runs. */
  readonly sandbox?: SandboxControl | undefined
}

/** The identity of a client's key; undefined for an unknown key. For a quote it may be that of a minute ago. */
export type Identify = (key: string, isQuote: boolean, address: string) => Promise<Identity | undefined>

/** A gateway for one configuration. */
export interface Gateway {
  readonly handle: Http
  // Of these another call may begin before one ends: no provider waits for another.

  /** Looks for creates and actions with an unknown outcome. */
  readonly reconcile: () => Promise<void>
  /** Reads the open transactions at draining providers that are due. */
  readonly pollTransactions: () => Promise<void>
  /** Reads the watched transactions that are due. */
  readonly readWatched: () => Promise<void>
  /** What an operator does about a swap, whoever owns it. */
  readonly operatorActions: OperatorActions
  /** After this the gateway starts no background calls: another configuration is in force. */
  readonly retire: () => void
  /** The connected providers that it uses. */
  readonly connected: readonly ConnectedProvider[]
}

/** The process with one configuration: what the providers of one gateway share. The ledger is instrumented. */
export interface GatewayScope extends Omit<ProcessScope, 'ledger' | 'pendingKeys'> {
  readonly config: Config
  readonly ledger: JournaledLedger
  readonly journal: LedgerChanges
  /** Whether the gateway issues the clients' keys. */
  readonly isManaged: boolean
  /** Undefined in managed mode. */
  readonly pendingKeys: PendingCreateKeys | undefined
  readonly absentSwaps: AbsentSwaps
  readonly freshness: Freshness
  readonly deviations: QuoteDeviations
  /** Reads transactions as their provider reports them, by its tag; not those of a provider that is off. */
  readonly reported: Map<string, SwapService>
  readonly otherDeposits: OtherDeposits
  readonly clock: Clock
  /** Aborted when another configuration is in force. */
  readonly retired: AbortSignal
}

const clock: Clock = () => Date.now()
/** A monotonic clock with the wall clock's value at the start of the process. */
const steadyWallClock = (): number => performance.timeOrigin + performance.now()

export function gatewayScope(config: Config, process: ProcessScope, retired: AbortSignal): GatewayScope {
  const deviations = new QuoteDeviations(config.routing.maxDeviation, process.steadyClock)
  const observe: Observer = (observation) => {
    process.observe(observation)
    deviations.observe(observation)
  }
  const isManaged = config.auth.mode === 'managed'
  const ledger = instrumented(process.ledger, observe)
  // In this order they learn what becomes of a create or a swap.
  const journal = new Journal()
  process.createsInFlight.listen(journal)
  process.timelines.listen(journal)
  process.suspensions.listen(journal, observe)
  const restoredOrders = instrumented(process.restoredOrders, observe)
  const reported = new Map<string, SwapService>()
  // With issued keys every swap can be read; with a provider's own keys only those of the caller.
  const readerOf: ReaderOf = (tag, owner, { caller }) => (isManaged || owner === caller.identity ? reported.get(tag) : undefined)
  return {
    ...process,
    config,
    observe,
    deviations,
    reported,
    otherDeposits: new OtherDeposits(ledger, readerOf),
    isManaged,
    ledger,
    journal: journal.changesOf(ledger, isManaged),
    restoredOrders,
    absentSwaps: process.restoredLedger.absentSwaps(restoredOrders),
    swapActions: instrumented(process.swapActions, observe),
    watches: instrumented(process.watches, observe),
    currencyLists: instrumented(process.currencyLists, observe),
    verifiedKeys: verifiedOrInLedger(process.verifiedKeys, ledger),
    pendingKeys: isManaged ? undefined : process.pendingKeys,
    freshness: new Freshness({ refreshMs: config.ledger.refreshAfter * 1000, clock, steadyClock: steadyWallClock }),
    clock,
    retired,
  }
}

/** Events for metrics and logs. Every member that may be a label comes from a closed list, or is the tag of a provider. */
import type { FailureCause } from './failure-cause.ts'
import type { CallOutcome, ErrorType, Fault } from './fault.ts'
import type { RequestName } from './question.ts'
import type { CallName, OperationName } from './service.ts'
import type { StoreTrouble } from './store-trouble.ts'
import type { SwapAction } from './swap-action.ts'

export type Observation =
  | RequestEnd
  | CallEnd
  /** A client's key was refused. */
  | { readonly what: 'keyRefused'; readonly reason: KeyRefusal }
  /** A token of an operator was wrong. `isFirst`: the first one of the address within a minute. */
  | { readonly what: 'operatorTokenRefused'; readonly address: string; readonly isFirst: boolean }
  /** A connection was closed before its time, for others. */
  | { readonly what: 'connectionClosed'; readonly port: PortName; readonly reason: ConnectionClosing }
  /** The decision of a limit on a request. */
  | { readonly what: 'limit'; readonly policy: LimitPolicy; readonly decision: LimitDecision }
  /** A create was refused, because its address is invalid on the network. */
  | { readonly what: 'addressRefused'; readonly network: string }
  /** The remaining calls of a budget at a provider. */
  | { readonly what: 'budget'; readonly provider: string; readonly policy: BudgetPolicy; readonly remaining: number }
  /** A look-up in a cache. `ageSeconds`: the age of the returned entry. */
  | { readonly what: 'cache'; readonly cache: CacheName; readonly outcome: CacheOutcome; readonly ageSeconds?: number }
  | Deviation
  /** A field of the client's form that the response lacks, or that the gateway derived. */
  | {
      readonly what: 'omitted' | 'derived'
      readonly client: string
      readonly provider: string | undefined
      readonly field: string
    }
  /** An irregular outcome of a create, or a result of its reconciliation. */
  | { readonly what: 'create'; readonly provider: string; readonly outcome: CreateOutcome }
  /** A provider's response to a create was judged. `network`: of the deposit, by the table. */
  | {
      readonly what: 'judgement'
      readonly provider: string
      readonly kind: JudgedKind
      readonly outcome: JudgementOutcome
      readonly network: string | undefined
    }
  /** An asset of the provider is taken out of new swaps, after mismatches of this kind. `network`: of the deposit, by the table. */
  | { readonly what: 'suspended'; readonly provider: string; readonly kind: JudgementKind; readonly network: string | undefined }
  /** A create promises another amount received than the newest quote of the provider. `deviation`: as a share of the quote. */
  | { readonly what: 'quoteDeviation'; readonly provider: string; readonly deviation: number }
  /** Number of results of creates that this process keeps, because the ledger could not store them. */
  | { readonly what: 'resultsHeld'; readonly count: number }
  /** Events of timelines were lost: too many wait for the ledger. */
  | { readonly what: 'timelineLost'; readonly count: number }
  /** Events of transactions got their numbers. */
  | { readonly what: 'eventsNumbered'; readonly count: number }
  /** A provider's report of a transaction differs from the ledger in this field. */
  | {
      readonly what: 'discrepancy'
      readonly provider: string
      readonly field: Discrepancy
      /** `rejected`: the last known state is returned and kept. */
      readonly action: DiscrepancyAction
    }
  /** An action on a swap. `unknown`: it may have been carried out; `found`: a look has shown that it was, or `notDone`: that it was not. */
  | { readonly what: 'action'; readonly provider: string; readonly action: SwapAction; readonly outcome: ActionOutcome }
  | SearchEnd
  /** A reconciliation run has checked all due creates. `at`: milliseconds since 1970. */
  | { readonly what: 'reconciled'; readonly at: number }
  /** A call to the ledger got no turn in time, since its account has too many others. */
  | { readonly what: 'turnRefused'; readonly work: LedgerWork }
  /** A quote got what was known of its key before, since the ledger has not answered yet. */
  | { readonly what: 'staleKey' }
  /** A call to the ledger. `action`: the name of the method. */
  | { readonly what: 'ledger'; readonly action: string; readonly seconds: number; readonly isFailure: boolean }
  /** A provider's currency list was read to its end, or the read failed. */
  | { readonly what: 'currencyList'; readonly provider: string; readonly isWhole: boolean }
  /** A provider's list has assets twice, and nothing says which row counts: other ones than the list before. A line for each. */
  | { readonly what: 'assetsUnclear'; readonly provider: string; readonly messages: readonly string[] }
  /** A connection to a provider was made with this certificate. `notAfter`: when that ends, in milliseconds since 1970. */
  | { readonly what: 'certificate'; readonly provider: string; readonly notAfter: number }
  /** The server of the ledger has lost commits, or is another one. */
  | { readonly what: 'commitsLost'; readonly by: LostCommits }
  /** Something is wrong with a store, or with the way to it. `isNew`: not what was wrong with it within the last minute. */
  | ({ readonly what: 'storeTrouble'; readonly store: 'ledger' | 'redis'; readonly isNew: boolean } & StoreTrouble)
  /** The new state of the circuit breaker of an operation at a provider. */
  | { readonly what: 'breaker'; readonly provider: string; readonly operation: OperationName; readonly state: BreakerState }
  /** A cooldown of a provider begins, after a 429 or a refusal of the gateway's own key. */
  | { readonly what: 'cooldown'; readonly provider: string; readonly reason: CooldownReason }
  /** A provider refuses this operation to the gateway's key, and accepts the key for others. */
  | { readonly what: 'operationRefused'; readonly provider: string; readonly operation: OperationName }
  /** The gateway itself rejected a call to a provider. */
  | { readonly what: 'localRejection'; readonly provider: string; readonly by: LocalRejectionCause }
  /** A failed read: retried, or not because the retry budget is used up. */
  | { readonly what: 'retry'; readonly provider: string; readonly isMade: boolean }
  /** The new state of the store of limits. */
  | { readonly what: 'limitStore'; readonly state: StoreState }
  /** While the store is lost, this process's share refused what the whole limit of clients, or `rateLimit` of a provider, may have had room for. */
  | { readonly what: 'shareRefusal'; readonly of: SharedLimit }
  /** Number of requests above a limit that replicas admitted while the store was lost. */
  | { readonly what: 'overAdmission'; readonly count: number }
  /** The result of an export of spans. */
  | { readonly what: 'spans'; readonly result: SpanResult; readonly count: number }
  /** A quote was repeated at the mirror's candidate. `deviation`: of the amount received, as a share of it. */
  | { readonly what: 'mirror'; readonly provider: string; readonly result: MirrorResult; readonly deviation?: number }
  /** Number of the table's assets that a routed provider offers and the mirror's candidate does not. */
  | { readonly what: 'mirrorAssets'; readonly provider: string; readonly missing: number }
  /** The configuration was reloaded: it is applied, or it is invalid and the old one stays. */
  | {
      readonly what: 'reload'
      readonly result: ReloadResult
      readonly messages: readonly string[]
      /** SHA-256 of the applied file. */
      readonly hash?: string
    }
  | OverrideChanged
  /** An attempt to tell a webhook of a change. `webhook`: its id, for the log. `why`: the status, or why there is none. */
  | {
      readonly what: 'webhookAttempt'
      readonly outcome: WebhookOutcome
      readonly webhook: string
      readonly account: string
      readonly why: string
    }
  /** The number of processes behind the public port has changed. `ended`: the exit code or signal of one that has ended by itself. */
  | { readonly what: 'workers'; readonly running: number; readonly ended?: string }
  /** A process behind the public port hangs. */
  | { readonly what: 'workerSilent'; readonly id: number }

/** A provider's response deviates from its form. */
export interface Deviation {
  readonly what: 'drift'
  readonly provider: string
  /** A field of the form, or `_other`. */
  readonly field: string
  readonly drift: Drift
  /** The provider's own name of an unknown field: any text, so never a label and never logged. */
  readonly name?: string
}

/** This process applied an override of the configuration file, or returned to the file's value. */
export interface OverrideChanged {
  readonly what: 'override'
  /** `state:` and a provider's name, `weights` or `mirror`. */
  readonly key: string
  /** `reset`: removed by an operator. `ended`: by a change of the file. `asleep`: the file lacks its providers. */
  readonly change: 'applied' | 'reset' | 'ended' | 'asleep'
  readonly value: unknown
  readonly fileValue: unknown
  /** The operator who set it. */
  readonly actor: string
}

/** The end of a client's request, exactly one per request. */
export interface RequestEnd {
  readonly what: 'request'
  readonly requestId: string
  readonly traceId: string | undefined
  /** Whether the trace is exported. */
  readonly isTraceKept: boolean
  /** Absent if the request had no operation or it was not determined. */
  readonly operation: RequestName | undefined
  readonly method: Method
  /** The template of the path, such as `/a/api/v2/transactions/{id}`; empty if there is none. */
  readonly route: string
  readonly status: number
  readonly errorType: ErrorType
  readonly fault: Fault | undefined
  /** Whether the response is that to an earlier request with its `Idempotency-Key`. */
  readonly isReplay: boolean
  /** Name of the client's form. */
  readonly client: string
  /** Tag of the provider that responded, or was called or rejected last. */
  readonly provider: string | undefined
  /** The first characters of the caller's identity, to correlate the requests of one caller. */
  readonly caller: string | undefined
  /** Of an issued key: the name and the id of its account, and its public id. */
  readonly account: string | undefined
  readonly accountId: string | undefined
  readonly keyId: string | undefined
  /** The client's address: the socket's, or the one from trusted proxies. */
  readonly address: string | undefined
  /** Of a create that is in the ledger: its id there. */
  readonly intent: string | undefined
  readonly seconds: number
  /** Time with at least one pending call to a provider. */
  readonly providerSeconds: number
  /** Time without a wait for a provider or for the client's body. */
  readonly addedSeconds: number
}

/** The end of one call to a provider. */
export interface CallEnd {
  readonly what: 'call'
  readonly operation: CallName
  readonly method: string
  readonly provider: string
  readonly server: Server
  /** Absent if there was no response. */
  readonly status: number | undefined
  readonly outcome: CallOutcome
  /** Of a provider that could not be reached, or whose response could not be read. */
  readonly failureCause?: FailureCause | undefined
  readonly seconds: number
}

/**
 * The end of one search for creates of unknown outcome at a provider. `at`: milliseconds since 1970. `unfinished`: the budget is used up,
 * and it goes on later. `creates`: of how many nothing was found out.
 */
export type SearchEnd = { readonly what: 'search'; readonly provider: string; readonly at: number } & (
  | { readonly result: 'read' | 'unfinished' }
  | { readonly result: 'failed'; readonly fault: Fault; readonly creates: number }
)

/** The address of a provider. */
export interface Server {
  readonly address: string
  readonly port: number
}

export type Observer = (observation: Observation) => void

// Closed lists: the values of metric labels and log fields.

export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE', '_OTHER'] as const

export type Method = (typeof methods)[number]

export const keyRefusals = ['missing', 'unknown', 'scope', 'providerRefused'] as const

export type KeyRefusal = (typeof keyRefusals)[number]

export const budgetPolicies = ['quotes', 'create', 'read'] as const

export type BudgetPolicy = (typeof budgetPolicies)[number]

export const limitPolicies = [...budgetPolicies, 'unverified', 'pages', 'hooks'] as const

export type LimitPolicy = (typeof limitPolicies)[number]

/** `near`: admitted with at most a tenth of the limit left. `dry_run`: above the limit, but admitted in a dry run. */
export const limitDecisions = ['admitted', 'near', 'refused', 'dry_run'] as const

export type LimitDecision = (typeof limitDecisions)[number]

export const ports = ['public', 'admin'] as const

type PortName = (typeof ports)[number]

/** `address`: one too many of an address. `full`: of all. `idle`: for a new one. `unfinished`: its request was not whole yet. `unread`: its response was not. */
export const connectionClosings = ['address', 'full', 'idle', 'unfinished', 'unread'] as const

/** Why a connection was closed before its time. */
export type ConnectionClosing = (typeof connectionClosings)[number]

export type CacheName = 'currencies' | 'rate' | 'transaction'

/** `shared`: with a pending call of another request. `stale`: an old entry, because no newer one is available. */
export type CacheOutcome = 'hit' | 'miss' | 'shared' | 'stale'

/** `halfOpen`: one trial call is pending. */
export const breakerStates = ['closed', 'open', 'halfOpen'] as const

export type BreakerState = (typeof breakerStates)[number]

/** `dropped`: the queue was full. `failed`: the collector did not accept them. */
export const spanResults = ['exported', 'failed', 'dropped'] as const

export type SpanResult = (typeof spanResults)[number]

export const cooldownReasons = ['limited', 'keyRefused'] as const

type CooldownReason = (typeof cooldownReasons)[number]

/** `caller`: the calls of this caller keep failing, and those of others do not. */
export const localRejectionCauses = ['budget', 'breaker', 'caller', 'bulkhead', 'cooldown'] as const

export type LocalRejectionCause = (typeof localRejectionCauses)[number]

/** `missing`: the candidate does not offer the pair. `skipped`: its budget was used up. */
export const mirrorResults = ['compared', 'missing', 'failed', 'skipped'] as const

export type MirrorResult = (typeof mirrorResults)[number]

export const storeStates = ['shared', 'local', 'recovering'] as const

/** `recovering`: the store responds again, but other replicas may not have added their local points yet. */
export type StoreState = (typeof storeStates)[number]

export const sharedLimits = ['limit', 'rateLimit'] as const

/** What processes divide among them while the store is lost: a limit of clients, or a provider's budget. */
export type SharedLimit = (typeof sharedLimits)[number]

export const reloadResults = ['applied', 'refused'] as const

type ReloadResult = (typeof reloadResults)[number]

export const createOutcomes = [
  'unknown',
  'contradicted',
  'duplicateId', // the provider returned an id that belongs to another create
  'otherAmount',
  'finalAtOnce', // the first response had a final status: it counts as `wait` until a get confirms it
  'belowQuote', // it promises less than the newest quote by more than `routing.maxDeviation`, or its own quote does at a fixed rate
  'found', // the transaction of an unknown create was found
  'notFound',
  'foundAfterRefusal', // the provider has the transaction of a create that it refused
  'notCreated', // its window is over, and the provider's complete list has no candidate
  'ambiguous',
  'lookupFailed', // the provider's list or details could not be read
  'unrecorded', // the ledger could not store the result: it is kept in memory
  'recorded', // the ledger has stored the kept result
  'conflicting', // the ledger has another result
  'abandoned', // too many results were kept, or the process ended: left to reconciliation
] as const

export const judgementKinds = ['depositAddress', 'depositMemo', 'amount', 'contract', 'network'] as const

/** What a provider says of its own in the response of a create. Three mismatches of one kind in a row suspend an asset. */
export type JudgementKind = (typeof judgementKinds)[number]

/** `quote`: at a fixed rate, the price beside the quote that the caller saw. The market may have moved: no suspension counts it. */
export const judgedKinds = [...judgementKinds, 'quote'] as const

export type JudgedKind = (typeof judgedKinds)[number]

/** `tolerated`: honest rounding, or an amount that says nothing. `counted`: wrong, and accepted by configuration. */
export const judgementOutcomes = ['passed', 'tolerated', 'counted', 'refused'] as const

type JudgementOutcome = (typeof judgementOutcomes)[number]

export type CreateOutcome = (typeof createOutcomes)[number]

/** `coinFrom`, `coinTo`: the coin or its network. */
export const discrepancies = [
  'coinFrom',
  'coinTo',
  'withdrawalAddress',
  'withdrawalExtraId',
  'depositAddress',
  'depositExtraId',
  'refundAddress',
  'refundExtraId',
  'rateType',
] as const

export type Discrepancy = (typeof discrepancies)[number]

/** Of the database server's log. `position`: it ends before a position that was flushed. `server`: it is that of another server. */
export const lostCommits = ['position', 'server'] as const

export type LostCommits = (typeof lostCommits)[number]

export const discrepancyActions = ['rejected', 'accepted'] as const

type DiscrepancyAction = (typeof discrepancyActions)[number]

export type Drift =
  | 'unknownField'
  | 'numberAsText'
  | 'textAsNumber'
  | 'unknownStatus'
  | 'badRow'
  | 'contradictingNetwork'
  | 'contradictingContract'
  | 'ambiguousName'
  | 'implausible'
  | 'excessDecimals'
  | 'unreadable'

/** What waits for the ledger: creates before they are sent, or gets and lists. */
export const ledgerWorks = ['create', 'read'] as const
type LedgerWork = (typeof ledgerWorks)[number]

const known = new Map<string, string>()

/** `halfOpen` as `half_open`, for labels and logs. Results are cached without a bound: use only words of closed lists. */
export function snakeCase(word: string): string {
  const before = known.get(word)
  if (before !== undefined) return before
  const made = word.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  known.set(word, made)
  return made
}

// A part of each budget is reserved for the gateway's own reads: lists, reconciliation, health checks.

/** Reserved calls of `budget`. None for creates, because the gateway itself never creates. */
export function reservedForGatewayReads(policy: BudgetPolicy, budget: number): number {
  return policy === 'create' ? 0 : Math.floor(budget / 10)
}

export type ActionOutcome = 'done' | 'refused' | 'unknown' | 'found' | 'notDone'

/** `failed`: for good. `gone`: the receiver wants no more. `held`: nothing is sent, since no key reads its secret. */
export const webhookOutcomes = ['delivered', 'retried', 'failed', 'gone', 'held'] as const
export type WebhookOutcome = (typeof webhookOutcomes)[number]

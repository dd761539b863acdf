/** Events for metrics and logs. Every member that may be a label comes from a closed list, or is the tag of a provider. */
import type { ConnectFailure } from '../faults/connect-failure.ts'
import type { ErrorType } from '../faults/error-type.ts'
import type { Fault } from '../faults/fault.ts'
import type { OperationName } from '../swap/operations.ts'
import type {
  AttemptOutcome,
  BreakerState,
  BudgetPolicy,
  CacheName,
  CacheOutcome,
  ConnectionClosing,
  CooldownReason,
  CreateOutcome,
  Discrepancy,
  DiscrepancyAction,
  Drift,
  JudgementKind,
  JudgementOutcome,
  KeyRefusal,
  LedgerWork,
  LimitDecision,
  LimitPolicy,
  LocalRejectionCause,
  LostCommits,
  Method,
  PortName,
  ReloadResult,
  ShadowResult,
  SpanResult,
  StoreState,
} from './labels.ts'

export type Observation =
  | RequestEnd
  | AttemptEnd
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
      readonly kind: JudgementKind
      readonly outcome: JudgementOutcome
      readonly network: string | undefined
    }
  /** An asset of the provider is taken out of new swaps, after mismatches of this kind. `network`: of the deposit, by the table. */
  | { readonly what: 'suspended'; readonly provider: string; readonly kind: JudgementKind; readonly network: string | undefined }
  /** A create promises another amount received than the newest quote of the provider. `deviation`: as a share of the quote. */
  | { readonly what: 'quoteDeviation'; readonly provider: string; readonly deviation: number }
  /** Number of results of creates that this process keeps, because the ledger could not store them. */
  | { readonly what: 'resultsHeld'; readonly count: number }
  /** A provider's report of a transaction differs from the ledger in this field. */
  | {
      readonly what: 'discrepancy'
      readonly provider: string
      readonly field: Discrepancy
      /** `rejected`: the last known state is returned and kept. */
      readonly action: DiscrepancyAction
    }
  /** A reconciliation run has checked all due creates. `at`: milliseconds since 1970. */
  | { readonly what: 'reconciled'; readonly at: number }
  /** A call to the ledger got no turn in time, since its account has too many others. */
  | { readonly what: 'turnRefused'; readonly work: LedgerWork }
  /** A quote got what was known of its key before, since the ledger has not answered yet. */
  | { readonly what: 'staleKey' }
  /** A call to the ledger. `action`: the name of the method. */
  | { readonly what: 'ledger'; readonly action: string; readonly seconds: number; readonly isFailure: boolean }
  /** The server of the ledger has lost commits, or is another one. */
  | { readonly what: 'commitsLost'; readonly by: LostCommits }
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
  /** Number of requests above a limit that replicas admitted while the store was lost. */
  | { readonly what: 'overAdmission'; readonly count: number }
  /** The result of an export of spans. */
  | { readonly what: 'spans'; readonly result: SpanResult; readonly count: number }
  /** A quote was repeated at the shadow's candidate. `deviation`: of the amount received, as a share of it. */
  | { readonly what: 'shadow'; readonly provider: string; readonly result: ShadowResult; readonly deviation?: number }
  /** Number of the table's assets that a routed provider offers and the shadow's candidate does not. */
  | { readonly what: 'shadowAssets'; readonly provider: string; readonly missing: number }
  /** The configuration was reloaded: it is applied, or it is invalid and the old one stays. */
  | {
      readonly what: 'reload'
      readonly result: ReloadResult
      readonly messages: readonly string[]
      /** SHA-256 of the applied file. */
      readonly hash?: string
    }
  | OverrideChanged

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
  /** `state:` and a provider's name, `weights` or `shadow`. */
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
  readonly operation: OperationName | undefined
  readonly method: Method
  /** The template of the path, such as `/a/api/v2/transactions/{id}`; empty if there is none. */
  readonly route: string
  readonly status: number
  readonly errorType: ErrorType
  readonly fault: Fault | undefined
  /** Name of the client's form. */
  readonly client: string
  /** Tag of the provider that responded, or was called or rejected last. */
  readonly provider: string | undefined
  /** The first characters of the caller's identity, to correlate the requests of one caller. */
  readonly caller: string | undefined
  readonly seconds: number
  /** Time with at least one pending call to a provider. */
  readonly providerSeconds: number
  /** Time without a wait for a provider or for the client's body. */
  readonly addedSeconds: number
}

/** The end of one call to a provider. */
export interface AttemptEnd {
  readonly what: 'attempt'
  readonly operation: OperationName
  readonly method: string
  readonly provider: string
  readonly server: Server
  /** Absent if there was no response. */
  readonly status: number | undefined
  readonly outcome: AttemptOutcome
  /** Of an unreachable provider. */
  readonly connectFailure?: ConnectFailure | undefined
  readonly seconds: number
}

/** The address of a provider. */
export interface Server {
  readonly address: string
  readonly port: number
}

export type Observer = (observation: Observation) => void

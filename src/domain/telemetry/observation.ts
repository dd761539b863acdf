/** What is counted and logged. Every member that may be a label comes from a closed list, or is the tag of a provider. */
import type { ErrorType } from '../faults/error-type.ts'
import type { Fault } from '../faults/fault.ts'
import type { Op } from '../swap/operations.ts'

export type Observation =
  | RequestEnd
  | AttemptEnd
  /** A client's key was refused. */
  | { readonly what: 'keyRefused'; readonly reason: KeyRefusal }
  /** What a limit said to a request. */
  | { readonly what: 'limit'; readonly policy: LimitPolicy; readonly decision: LimitDecision }
  /** A create went no further, since the network of the table cannot have its address. */
  | { readonly what: 'addressRefused'; readonly network: string }
  /** What is left of a budget at a provider. */
  | { readonly what: 'budget'; readonly provider: string; readonly policy: BudgetPolicy; readonly remaining: number }
  /** A look-up in a cache; the age is that of the entry that answered. */
  | { readonly what: 'cache'; readonly cache: CacheName; readonly outcome: CacheOutcome; readonly ageSeconds?: number }
  /** A provider's answer that was not quite its form: `field` is a field of the form, or `_other`. */
  | { readonly what: 'drift'; readonly provider: string; readonly field: string; readonly drift: Drift }
  /** A field that the client's form has and the answer lacks, or that the gateway worked out. */
  | {
      readonly what: 'omitted' | 'derived'
      readonly client: string
      readonly provider: string | undefined
      readonly field: string
    }
  /** A create that did not simply end as it was asked, or what was found out about one later. */
  | { readonly what: 'create'; readonly provider: string; readonly outcome: CreateOutcome }
  /** How many results of creates this process keeps now, since the ledger could not take them. */
  | { readonly what: 'resultsHeld'; readonly count: number }
  /** A provider's account of a transaction differs from the ledger in this field. */
  | {
      readonly what: 'discrepancy'
      readonly provider: string
      readonly field: Discrepancy
      /** `rejected`: the last known state is served, and kept. */
      readonly action: DiscrepancyAction
    }
  /** All creates of unknown outcome that were due have been looked for; `at` in milliseconds since 1970. */
  | { readonly what: 'reconciled'; readonly at: number }
  /** Something that the ledger did, or could not do, by the name of its method. */
  | { readonly what: 'ledger'; readonly action: string; readonly seconds: number; readonly isFailure: boolean }
  /** Where the breaker of an operation at a provider stands from now on. */
  | { readonly what: 'breaker'; readonly provider: string; readonly operation: Op; readonly state: BreakerState }
  /** A provider is left alone for a while: it said that it has had enough, or it refuses the gateway's own key. */
  | { readonly what: 'cooldown'; readonly provider: string; readonly reason: CooldownReason }
  /** A call that did not go up to the provider. */
  | { readonly what: 'localRejection'; readonly provider: string; readonly by: LocalRejectionCause }
  /** A read that failed: sent once more, or not, since too many were. */
  | { readonly what: 'retry'; readonly provider: string; readonly isMade: boolean }
  /** Where limits are counted from now on. */
  | { readonly what: 'limitStore'; readonly state: StoreState }
  /** So many requests were let in beyond a limit while replicas counted alone. */
  | { readonly what: 'overAdmission'; readonly count: number }
  /** What became of so many spans of traces that were kept. */
  | { readonly what: 'spans'; readonly result: SpanResult; readonly count: number }
  /** A quote was repeated at the candidate of the shadow; `deviation` of the amount received, as a share of it. */
  | { readonly what: 'shadow'; readonly provider: string; readonly result: ShadowResult; readonly deviation?: number }
  /** Assets of the table that a routed provider offers and the candidate of the shadow does not. */
  | { readonly what: 'shadowAssets'; readonly provider: string; readonly missing: number }
  /** The configuration was read again: from now on it counts, or it has faults and the old one stays. */
  | {
      readonly what: 'reload'
      readonly result: ReloadResult
      readonly messages: readonly string[]
      /** SHA-256 of a file that counts from now on. */
      readonly hash?: string
    }
  | OverrideChanged

/** This process goes by what a person has set in place of the configuration file, or by the file again. */
export interface OverrideChanged {
  readonly what: 'override'
  /** `state:` and a provider's name, `weights` or `shadow`. */
  readonly key: string
  /** `reset`: taken back by a person. `ended`: by a change of the file. */
  readonly change: 'applied' | 'reset' | 'ended'
  readonly value: unknown
  readonly fileValue: unknown
  /** Who set it. */
  readonly actor: string
}

/** The one end of a client's request, whatever came of it. */
export interface RequestEnd {
  readonly what: 'request'
  readonly requestId: string
  readonly traceId: string | undefined
  /** Whether somebody will find the trace. */
  readonly isTraceKept: boolean
  /** Absent where none was found out, or none was wanted. */
  readonly operation: Op | undefined
  readonly method: Method
  /** The template of the path, such as `/a/api/v2/transactions/{id}`; empty where there is none. */
  readonly route: string
  readonly status: number
  readonly errorType: ErrorType
  readonly fault: Fault | undefined
  /** Name of the client's form. */
  readonly client: string
  /** Tag of the provider that answered, or should have. */
  readonly provider: string | undefined
  /** The first characters of the caller's identity, by which requests of one caller can be told to be so. */
  readonly caller: string | undefined
  readonly seconds: number
  /** In which at least one call at a provider was waited for. */
  readonly providerSeconds: number
  /** In which neither a provider nor the client's own body was waited for. */
  readonly addedSeconds: number
}

/** The end of one call that went up to a provider. */
export interface AttemptEnd {
  readonly what: 'attempt'
  readonly operation: Op
  readonly method: string
  readonly provider: string
  readonly server: Server
  /** Absent where none came. */
  readonly status: number | undefined
  readonly outcome: AttemptOutcome
  readonly seconds: number
}

/** Where a provider listens. */
export interface Server {
  readonly address: string
  readonly port: number
}

export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE', '_OTHER'] as const

export type Method = (typeof methods)[number]

/** `unreachable`: no byte was sent. */
export type AttemptOutcome = 'done' | 'refused' | 'keyRefused' | 'limited' | 'failed' | 'timedOut' | 'unreadable' | 'unreachable'

export const keyRefusals = ['missing', 'unknown', 'providerRefused'] as const

export type KeyRefusal = (typeof keyRefusals)[number]

export const budgetPolicies = ['quotes', 'create', 'read'] as const

export type BudgetPolicy = (typeof budgetPolicies)[number]

export const limitPolicies = [...budgetPolicies, 'unproven', 'pages'] as const

export type LimitPolicy = (typeof limitPolicies)[number]

/** `near`: let in with at most a tenth of the limit left. `shadowed`: let in only because limits do not refuse. */
export const limitDecisions = ['admitted', 'near', 'refused', 'shadowed'] as const

export type LimitDecision = (typeof limitDecisions)[number]

export type CacheName = 'currencies' | 'rate' | 'transaction'

/** `shared`: with the same question of somebody else, which is on its way. `stale`: old, since nothing newer is to be had. */
export type CacheOutcome = 'hit' | 'miss' | 'shared' | 'stale'

/** `halfOpen`: one call is on its way to find out. */
export const breakerStates = ['closed', 'open', 'halfOpen'] as const

export type BreakerState = (typeof breakerStates)[number]

/** `dropped`: too many waited. `failed`: the collector did not take them. */
export const spanResults = ['exported', 'failed', 'dropped'] as const

export type SpanResult = (typeof spanResults)[number]

export const cooldownReasons = ['limited', 'keyRefused'] as const

export type CooldownReason = (typeof cooldownReasons)[number]

/** `caller`: what this caller asks keeps failing, and what others ask does not. */
export const localRejectionCauses = ['budget', 'breaker', 'caller', 'bulkhead', 'cooldown'] as const

export type LocalRejectionCause = (typeof localRejectionCauses)[number]

/** `missing`: the candidate does not offer the pair. `skipped`: its budget was used up. */
export const shadowResults = ['compared', 'missing', 'failed', 'skipped'] as const

export type ShadowResult = (typeof shadowResults)[number]

export const storeStates = ['shared', 'local', 'recovering'] as const

/** `recovering`: the store answers again, but other replicas may not have written there yet what they decided alone. */
export type StoreState = (typeof storeStates)[number]

export const reloadResults = ['applied', 'refused'] as const

export type ReloadResult = (typeof reloadResults)[number]

export const createOutcomes = [
  'unknown',
  'contradicted',
  'duplicateId', // the provider gave an id that the ledger holds for another create
  'otherAmount',
  'found', // one transaction was found that an unknown create must have made
  'notFound',
  'notCreated', // its time is over, and the provider's whole list has nothing that it may have made
  'ambiguous',
  'lookupFailed', // it was looked for, and the provider did not let us see
  'unrecorded', // the ledger could not take what became of it: that is kept in memory
  'recorded', // the ledger has it now
  'conflicting', // the ledger holds something else about it
  'abandoned', // too many were kept in memory, or the process ended: it is looked for
] as const

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

export const discrepancyActions = ['rejected', 'accepted'] as const

export type DiscrepancyAction = (typeof discrepancyActions)[number]

export type Drift =
  | 'unknownField'
  | 'numberAsText'
  | 'unknownStatus'
  | 'badRow'
  | 'contradictingNetwork'
  | 'ambiguousName'
  | 'unreadable'

export type Observer = (observation: Observation) => void

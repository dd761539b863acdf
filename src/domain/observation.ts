/** What is counted besides the requests themselves. Every member comes from a closed list, so it can be a label. */

export type Observation =
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
  /** Something that the ledger could not do, by the name of its method. */
  | { readonly what: 'ledgerFailure'; readonly action: string }
  /** Where the breaker of a provider stands from now on. */
  | { readonly what: 'breaker'; readonly provider: string; readonly state: BreakerState }
  /** A provider is left alone for a while: it said that it has had enough, or it refuses the gateway's own key. */
  | { readonly what: 'rest'; readonly provider: string; readonly reason: RestReason }
  /** A call that did not go up to the provider. */
  | { readonly what: 'heldBack'; readonly provider: string; readonly by: HeldBackBy }
  /** A read that failed: sent once more, or not, since too many were. */
  | { readonly what: 'retry'; readonly provider: string; readonly isMade: boolean }
  /** Where limits are counted from now on. */
  | { readonly what: 'limitStore'; readonly state: 'shared' | 'local' | 'settling' }
  /** So many requests were let in beyond a limit while replicas counted alone. */
  | { readonly what: 'overAdmission'; readonly count: number }
  /** A request that was let in only because limits do not refuse, by its limit. */
  | { readonly what: 'shadowed'; readonly policy: string }
  /** What became of so many spans of traces that were kept. */
  | { readonly what: 'spans'; readonly result: SpanResult; readonly count: number }

/** `halfOpen`: one call is on its way to find out. */
export const breakerStates = ['closed', 'open', 'halfOpen'] as const

export type BreakerState = (typeof breakerStates)[number]

/** `dropped`: too many waited. `failed`: the collector did not take them. */
export type SpanResult = 'exported' | 'failed' | 'dropped'

export type RestReason = 'limited' | 'keyRefused'

export type HeldBackBy = 'budget' | 'breaker' | 'bulkhead' | 'rest'

export type CreateOutcome =
  | 'unknown'
  | 'contradicted'
  /** The provider gave an id that another client holds. */
  | 'takenId'
  | 'otherAmount'
  /** One transaction was found that an unknown create must have made. */
  | 'found'
  | 'notFound'
  | 'ambiguous'
  /** It was looked for, and the provider did not let us see. */
  | 'notSeen'

export type Drift =
  | 'unknownField'
  | 'numberAsText'
  | 'unknownStatus'
  | 'badRow'
  | 'contradictingNetwork'
  | 'ambiguousName'
  | 'unreadable'

export type Observer = (observation: Observation) => void

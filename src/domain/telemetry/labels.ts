/** Closed lists: the values of metric labels and log fields. */

export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE', '_OTHER'] as const

export type Method = (typeof methods)[number]

/** `unreachable`: no byte was sent. `abandoned`: the client disconnected, or sent too much or too slowly. */
export type AttemptOutcome =
  | 'done'
  | 'refused'
  | 'keyRefused'
  | 'limited'
  | 'failed'
  | 'timedOut'
  | 'unreadable'
  | 'unreachable'
  | 'abandoned'

export const keyRefusals = ['missing', 'unknown', 'providerRefused'] as const

export type KeyRefusal = (typeof keyRefusals)[number]

export const budgetPolicies = ['quotes', 'create', 'read'] as const

export type BudgetPolicy = (typeof budgetPolicies)[number]

export const limitPolicies = [...budgetPolicies, 'unproven', 'pages'] as const

export type LimitPolicy = (typeof limitPolicies)[number]

/** `near`: admitted with at most a tenth of the limit left. `shadowed`: above the limit, but admitted in shadow mode. */
export const limitDecisions = ['admitted', 'near', 'refused', 'shadowed'] as const

export type LimitDecision = (typeof limitDecisions)[number]

export const ports = ['public', 'admin'] as const

export type PortName = (typeof ports)[number]

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

export type CooldownReason = (typeof cooldownReasons)[number]

/** `caller`: the calls of this caller keep failing, and those of others do not. */
export const localRejectionCauses = ['budget', 'breaker', 'caller', 'bulkhead', 'cooldown'] as const

export type LocalRejectionCause = (typeof localRejectionCauses)[number]

/** `missing`: the candidate does not offer the pair. `skipped`: its budget was used up. */
export const shadowResults = ['compared', 'missing', 'failed', 'skipped'] as const

export type ShadowResult = (typeof shadowResults)[number]

export const storeStates = ['shared', 'local', 'recovering'] as const

/** `recovering`: the store responds again, but other replicas may not have added their local charges yet. */
export type StoreState = (typeof storeStates)[number]

export const reloadResults = ['applied', 'refused'] as const

export type ReloadResult = (typeof reloadResults)[number]

export const createOutcomes = [
  'unknown',
  'contradicted',
  'duplicateId', // the provider returned an id that belongs to another create
  'otherAmount',
  'finalAtOnce', // the first response had a final status: it counts as `wait` until a get confirms it
  'belowQuote', // it promises less than the newest quote by more than `routing.maxDeviation`
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

/** What a provider says of its own in the response of a create. */
export type JudgementKind = (typeof judgementKinds)[number]

/** `tolerated`: honest rounding, or an amount that says nothing. `counted`: wrong, and accepted by configuration. */
export const judgementOutcomes = ['passed', 'tolerated', 'counted', 'refused'] as const

export type JudgementOutcome = (typeof judgementOutcomes)[number]

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

export type DiscrepancyAction = (typeof discrepancyActions)[number]

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
export type LedgerWork = (typeof ledgerWorks)[number]

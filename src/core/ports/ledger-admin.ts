/** Port: the operator's access to the ledger (docs/contract.md §10). Times are milliseconds since 1970. */
import type { Amount } from '../../domain/amount.ts'
import type { Attention, Status } from '../../domain/status.ts'
import type { NewTransaction, Pair, SentWords, Transaction } from '../../domain/swap.ts'
import type { FailedReadsEvent, TimelineEvent } from '../../domain/timeline.ts'
import type { Destination } from '../destination.ts'
import type { BindingQuote, DepositClaim, LedgerEntry, TransactionRecord, UnknownReason } from './ledger.ts'

/** Counts of all rows in the ledger. */
export interface LedgerStats {
  readonly entries: readonly StatusCount[]
  /** Creates without a result: `pending` are running, `unknown` ended with an unknown outcome. */
  readonly pending: number
  readonly unknown: number
  /** When the oldest of them was attempted. */
  readonly oldestAttempt?: number | undefined
  readonly mismatches: number
  /** Transactions that need a person. */
  readonly needPerson: number
  readonly idempotencyKeys: number
  readonly accounts: number
  /** Neither revoked nor expired. */
  readonly validKeys: number
}

export interface StatusCount {
  readonly provider: string
  /** Absent if the provider's status is unknown. */
  readonly status?: Status | undefined
  readonly count: number
}

/** Counts of unfinished work. `oldest`: when the oldest one was created or attempted. */
export interface LedgerGauges {
  /** Transactions that have not ended: neither success, refunded nor overdue. */
  readonly unfinished: readonly (StatusCount & { readonly oldest: number })[]
  readonly unresolvedCounts: readonly UnresolvedCount[]
  readonly attentionCounts: readonly AttentionCount[]
  readonly watchedCounts: readonly WatchedCount[]
}

/** Open transactions that a stream or a webhook watches. */
export interface WatchedCount {
  readonly provider: string
  readonly count: number
  /** The time of the last read of the one that was not read for the longest; until its first read, since when it is watched. */
  readonly oldest: number
}

/** Transactions that need a person. */
export interface AttentionCount {
  readonly provider: string
  readonly attention: Attention
  readonly count: number
}

/** Creates without a known or accepted outcome. */
export interface UnresolvedCount {
  readonly provider: string
  readonly state: 'pending' | 'unknown' | 'mismatch'
  readonly count: number
  readonly oldest: number
}

/**
 * Open work (docs/contract-operators.md §12): a create in progress or of unknown outcome, a transaction that needs a person, and one that is
 * neither success nor refunded, nor overdue for 7 days, nor settled by an operator. Overdue counts from the last observed change of status, or from the creation.
 */
export interface OpenCount {
  /** Tag. */
  readonly provider: string
  readonly state: 'pending' | 'unknown' | 'done'
  /** Of a transaction (`done`), if the provider's status is known. */
  readonly status?: Status | undefined
  readonly count: number
}

/** Creates in progress or of unknown outcome, by where they were sent. */
export interface DestinationCount {
  /** Tag. */
  readonly provider: string
  readonly destination: Destination
  readonly count: number
}

/** How many open transactions and creates name these assets. */
export interface AssetCount {
  readonly pair: Pair
  readonly count: number
}

/** A create that the operator may have to resolve. */
export interface UnresolvedCreateReport {
  readonly intent: string
  readonly owner: string
  /** The name of its owner's account; absent where the owner is a key of the provider. */
  readonly account?: string | undefined
  readonly provider: string
  readonly state: 'pending' | 'unknown' | 'mismatch'
  /** Why its outcome is not known; absent where that was not kept. */
  readonly unknownReason?: UnknownReason | undefined
  readonly requested: NewTransaction
  /** The provider's own words for the assets, as they were sent. Absent in rows of older versions, as `deadline` is. */
  readonly sent?: SentWords | undefined
  /** The quote that binds it. */
  readonly quote?: BindingQuote | undefined
  readonly attemptedAt: number
  /** Until when a response may still come. */
  readonly deadline?: number | undefined
  /** Ids of the provider's transactions that may be the create's, by the last check. */
  readonly candidates?: readonly string[] | undefined
  /** Of a mismatch: the reported id, the fields that contradict the request, and all of the response, which no list shows. */
  readonly reported?: { readonly id: string; readonly fields: readonly string[]; readonly transaction: Transaction } | undefined
}

/** Of one page. */
export const maxUnresolved = 1_000

/** The position of a create in the list. */
export type UnresolvedCursor = Pick<UnresolvedCreateReport, 'attemptedAt' | 'intent'>

/** `kept`: finished transactions that were not deleted, by reason. One may have several reasons. */
export interface Pruned {
  readonly pruned: number
  readonly kept: {
    /** Overdue for less than 30 days: a late deposit may revive it. */
    readonly overdue: number
    /** Its Idempotency-Key is still valid. */
    readonly recentKey: number
    /** Reconciliation may still need it for a create of unknown outcome. */
    readonly unresolved: number
    /** It needs a person. */
    readonly attention: number
  }
}

/** With the amounts of its create, each where another one is reported since: they are those of usage while it is under way. */
export interface ExportedEntry extends LedgerEntry {
  readonly agreedAmountIn?: Amount | undefined
  readonly agreedAmountOut?: Amount | undefined
}

export interface TransactionSearch {
  /** Name of an account. */
  readonly account?: string | undefined
  /** Tag. */
  readonly provider?: string | undefined
  readonly status?: Status | undefined
  /** Created then or later. */
  readonly since?: number | undefined
  readonly page: number
  readonly size: number
}

export interface FoundTransaction {
  readonly entry: LedgerEntry
  /** Name of its owner's account; absent where the owner is a key of the provider. */
  readonly account?: string
  /** Its last reads that failed; only of `search` and `findTransaction`. */
  readonly failedReads?: FailedReadsEvent | undefined
}

/** What a text may be of a swap. */
export const swapFields = [
  'intent',
  'id',
  'providerId',
  'requestId',
  'idempotencyKey',
  'withdrawalAddress',
  'refundAddress',
  'depositAddress',
  'account',
] as const

export type SwapField = (typeof swapFields)[number]

/** Without its memo a deposit address that many share finds no more of its swaps. */
export const maxSharedDeposits = 1_000

/** A create, or a transaction that was read for a client. */
export interface FoundSwap {
  /** Absent if it was not created here. */
  readonly intent?: string | undefined
  /** `refused`: by something in front of the provider, whose list is looked at. `ended`: as not created. */
  readonly state: 'pending' | 'unknown' | 'mismatch' | 'done' | 'refused' | 'ended'
  readonly owner: string
  /** Name of its owner's account; absent where the owner is a key of the provider. */
  readonly account?: string | undefined
  readonly provider: string
  /** Absent while it is not known. */
  readonly providerId?: string | undefined
  /** Of the request that made it; absent in rows of older versions. */
  readonly requestId?: string | undefined
  readonly keyId?: string | undefined
  readonly attemptedAt?: number | undefined
  /** Only of `done`. */
  readonly entry?: LedgerEntry | undefined
  /** Of every other state. */
  readonly requested?: NewTransaction | undefined
  /** What the text is of it. */
  readonly matched: readonly SwapField[]
}

/** The place of a swap among those that a text finds. */
export interface FindCursor {
  /** 0: named by the text; 1: a create without an outcome, and 2: a transaction of the account that it names. */
  readonly part: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly key: string
  /** Of part 2. */
  readonly position?: { readonly sort_key: string; readonly provider_id: string; readonly provider: string } | undefined
}

export const settledStatuses = ['success', 'refunded', 'overdue'] as const satisfies readonly Status[]

/** An outcome that an operator found out. */
export interface OperatorResult {
  readonly status: (typeof settledStatuses)[number]
  /** The reason, for the audit log. */
  readonly note: string
  /** Name of the account, for the audit log. */
  readonly account?: string | undefined
  /** Milliseconds since 1970. */
  readonly at: number
}

/** What a person decides about many: `none` and `accept` about creates, a status about transactions that need a person. */
export type SettlementOutcome = 'none' | 'accept' | OperatorResult['status']

/** Of one confirmation. */
export const maxPlannedRows = 10_000

/** What a person was shown, and may confirm. */
export interface SettlementPlan {
  readonly outcome: SettlementOutcome
  /** For the audit log. */
  readonly note: string
  readonly rows: readonly PlannedRow[]
}

export interface PlannedRow {
  /** The intent of a create, or the id of a transaction for clients. */
  readonly id: string
  /** How it was when it was shown. */
  readonly seen: string
}

/** What a person judged by: a create that is a mismatch by now, or is none any more, counts as none. The rest is for the audit log. */
export interface Judgement {
  readonly isMismatch: boolean
  /** Name of the account. */
  readonly account?: string | undefined
  /** Why a person was needed. */
  readonly reason: string
  /** Why the person decided so. */
  readonly note?: string | undefined
  /** The contradictions in spite of which the person decided so. */
  readonly despite?: readonly string[] | undefined
}

/**
 * Every method throws if the store fails, and then has changed nothing. `actor`: the operator, for the audit log
 * (`core/operations/audit.ts`).
 */
export interface LedgerAdmin {
  readonly stats: (now: number) => Promise<LedgerStats>
  /** The cost depends on the unfinished rows only. */
  readonly gauges: () => Promise<LedgerGauges>
  /** The cost depends on the open rows only. */
  readonly openCounts: () => Promise<readonly OpenCount[]>
  /** Without those of older versions, which did not keep it. The cost depends on these creates only. */
  readonly destinationCounts: () => Promise<readonly DestinationCount[]>
  /** Open transactions and creates by the names that the asset table had for them. The cost depends on the open rows only. */
  readonly assetCounts: () => Promise<readonly AssetCount[]>
  /** For support: newest creation first, of all owners; `count` is over all pages. */
  readonly search: (query: TransactionSearch) => Promise<{ readonly found: readonly FoundTransaction[]; readonly count: number }>
  /**
   * The swaps of any owner of which the text is an id, an address in any spelling, or the account, newest first; those of an account come
   * last. Never a part of such a text. The cost does not grow with the ledger. `after`: the `next` of the page before.
   */
  readonly find: (
    text: string,
    size: number,
    after?: FindCursor,
  ) => Promise<{ readonly found: readonly FoundSwap[]; readonly next?: FindCursor | undefined }>
  /**
   * A swap by its intent or by its id for clients, with what happened to it in that order. Undefined if the ledger has none. What happened
   * is empty for one that an older version has made, or that was not created here.
   */
  readonly timeline: (id: string) => Promise<{ readonly swap: FoundSwap; readonly events: readonly TimelineEvent[] } | undefined>
  /** Of any owner. */
  readonly findTransaction: (provider: string, id: string) => Promise<FoundTransaction | undefined>
  /** Creates of unknown outcome and mismatches, oldest first, at most `maxUnresolved`; those after another one, if given. */
  readonly unresolved: (after?: UnresolvedCursor, maxCreates?: number) => Promise<readonly UnresolvedCreateReport[]>
  /** Such creates, counted up to 10,000, and transactions that need a person. */
  readonly unresolvedCount: () => Promise<number>
  readonly findUnresolved: (intent: string) => Promise<UnresolvedCreateReport | undefined>
  /** Transactions that need a person: the provider reported a failure or a hold. Oldest creation first, at most 1,000. */
  readonly needPerson: (maxTransactions?: number) => Promise<readonly FoundTransaction[]>
  /**
   * Records the outcome of a transaction that needs a person. `unneeded`: it needs none (any more). Afterwards only a final status
   * of the provider changes `overdue`, and nothing changes the others.
   */
  readonly settle: (
    provider: string,
    id: string,
    result: OperatorResult,
    actor: string,
  ) => Promise<'settled' | 'unneeded' | 'missing'>
  /**
   * Binds the provider's transaction `id` to this create and its owner. Without `record` the requested fields are stored, and the
   * next get reads the rest from the provider. `taken`: the id belongs to another create, pruned or not. `missing`: there is no such unresolved
   * create. Throws `DepositInUse` as `Ledger.complete`.
   */
  readonly bind: (
    intent: string,
    id: string,
    at: number,
    record: TransactionRecord | undefined,
    actor: string,
    judgement?: Judgement,
    deposit?: DepositClaim,
  ) => Promise<'bound' | 'taken' | 'missing'>
  /**
   * Makes a mismatch done, with the response that contradicted the request: from now on its key returns it. `taken`: the id belongs
   * to another create, pruned or not. `missing`: there is no such mismatch. Throws `DepositInUse` as `Ledger.complete`.
   */
  readonly accept: (
    intent: string,
    at: number,
    actor: string,
    judgement?: Judgement,
    deposit?: DepositClaim,
  ) => Promise<'accepted' | 'taken' | 'missing'>
  /** Deletes the intent and its key, because nothing was created. False if there is no such unresolved create. */
  readonly markNotCreated: (intent: string, actor: string, judgement?: Judgement) => Promise<boolean>
  /** Keeps what a person may confirm for a day. */
  readonly savePlan: (id: string, plan: SettlementPlan) => Promise<void>
  /** `position`: how many of its rows are done. */
  readonly findPlan: (id: string) => Promise<{ readonly plan: SettlementPlan; readonly position: number } | undefined>
  /** Never back. */
  readonly advancePlan: (id: string, position: number) => Promise<void>
  /** All transactions, or those created since then, by owner, newest creation first. */
  readonly export: (since?: number) => AsyncIterable<ExportedEntry>
  /**
   * Deletes finished transactions that were created before this time, with their keys: success, refunded, or overdue for 30 days.
   * The ids of creates stay for 30 days.
   */
  readonly prune: (before: number, actor: string) => Promise<Pruned>
}

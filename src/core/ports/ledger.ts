/**
 * Port: the ledger of creates and transactions with their owners (docs/contract.md §3, §5, §10, docs/contract-operators.md §12). SQLite and PostgreSQL
 * implement it and pass one contract suite. When a method resolves, its change is durable. Times are milliseconds since 1970.
 */
import type { Amount } from '../../domain/amount.ts'
import type { TimeRange } from '../../domain/instant.ts'
import type { SwapsNamed } from '../../domain/native.ts'
import type { ClientRequest, IdempotencyKey } from '../../domain/service.ts'
import type { Attention, Doubt, Status } from '../../domain/status.ts'
import type { NewTransaction, Pair, RateType, RequestedAmount, SentWords, Transaction } from '../../domain/swap.ts'
import type { Destination } from '../destination.ts'
import type { JudgedAsset, MismatchStreak } from '../mismatch-streaks.ts'

/** Creates without an outcome, or with one that contradicted the request, of one owner at one provider. */
export const maxOpenCreates = 1_000

/**
 * The quote that binds a create: its result must not be worse. `own`: of this create alone; `firm`: one that was kept for it; `winner`:
 * the one by which its provider was chosen.
 */
export interface BindingQuote {
  readonly source: 'own' | 'firm' | 'winner'
  readonly amountIn: Amount
  readonly amountOut: Amount
  /** Amount received by amount sent. */
  readonly rate?: Amount | undefined
  /** Until when it held; absent if that is not known. */
  readonly until?: number | undefined
}

/** A create that is about to be sent. */
export interface Intent {
  readonly id: string
  /** The caller's identity. */
  readonly owner: string
  /** Tag of the provider. */
  readonly provider: string
  /** The request, with the table's asset names. */
  readonly requested: NewTransaction
  /** The provider's own words for the assets: what is compared later, since the table's names may change. */
  readonly sent?: SentWords | undefined
  readonly destination?: Destination | undefined
  readonly idempotencyKey?: IdempotencyKey | undefined
  /** The firm quote that it uses. */
  readonly firmQuote?: string | undefined
  /** The one that binds it; absent if there is none, or it is still to come (`markQuoted`). */
  readonly quote?: BindingQuote | undefined
  /** By which a person finds it: the request's `X-Request-Id`, and the public id of the key that it came with. */
  readonly requestId?: string | undefined
  readonly keyId?: string | undefined
  readonly attemptedAt: number
  /** Until when the sender may wait for the response. */
  readonly deadline?: number | undefined
  /** Whether only its key is stored, while it gets a quote of its own: nothing is sent before `markQuoted`. */
  readonly isQuoting?: boolean
  /** From then on no caller waits for the response, and reconciliation checks the outcome. */
  readonly nextCheckAt: number
  /** Links the traces of the checks to the request. */
  readonly traceparent?: string | undefined
}

/** Of one account, that are not over. */
export const maxFirmQuotes = 10_000

/** A quote of one provider that is kept for one create of its owner. */
export interface FirmQuote {
  readonly id: string
  readonly owner: string
  /** Its tag. */
  readonly provider: string
  /** The provider's own id. */
  readonly quoteId: string
  /** What was requested, in the table's names, and what was quoted for it. */
  readonly terms: Pair & RequestedAmount & { readonly rateType: RateType; readonly quotedAmount: Amount }
  /** By the database's clock; absent before it is kept. */
  readonly validUntil?: number | undefined
}

/** The known state of a transaction. Its id is the provider's own; its assets have the table's names. */
export interface TransactionRecord {
  readonly transaction: Transaction
  /** Fields that the gateway derived. */
  readonly derived: readonly string[]
  /** The amount received as quoted by the create. */
  readonly quotedAmountOut?: Amount | undefined
  /** Time of the provider's last report: a create, a get or a list. */
  readonly reportedAt: number
  /** Time of the last get; absent if there was only the create or a list. */
  readonly fetchedAt?: number | undefined
  /** Time of the last observed change of status. */
  readonly changedAt?: number | undefined
  /** When an operator recorded the outcome. */
  readonly settledAt?: number | undefined
  /** Of a failed one only where no person can settle it: else that is its `attention`. */
  readonly doubt?: Doubt | undefined
  /** What its owner sees where no person here is needed; else that is the transaction's `attention`. */
  readonly ownerAttention?: Attention | undefined
  /** Since when it is `success` without the amount sent, or its hash; absent once the provider has both. */
  readonly payoutMissingSince?: number | undefined
  /** Since when the provider does not find it; absent once it does. */
  readonly missingSince?: number | undefined
  /** The last time at which it was not found, once that has lasted an hour. */
  readonly missingAt?: number | undefined
  /** Sequence of the request. The greater of two was sent later. */
  readonly sequence?: number | undefined
}

/** A transaction in the ledger. */
export interface LedgerEntry extends TransactionRecord {
  readonly owner: string
  readonly provider: string
  /** Whether its owner created it through the gateway. Otherwise the provider returned it for the owner's key. */
  readonly isCreated: boolean
  /** Of a create: the provider's own words for its assets, as they were sent. */
  readonly sent?: SentWords | undefined
}

/**
 * The state of a create with an `Idempotency-Key`. `open`: the outcome is not known. `mismatch`: the provider's response
 * contradicted the request, and the client did not get it.
 */
export type IdempotencyKeyState =
  | ({ readonly state: 'mismatch'; readonly provider: string } & StoredRequest)
  /** `nextCheckAt`: when it is looked for next, in milliseconds since 1970; undefined if only a person can find out what became of it. */
  | ({
      readonly state: 'open'
      readonly provider: string
      readonly isRunning: boolean
      /** Whether a process checks it: then `nextCheckAt` is when another one may. */
      readonly isBeingChecked: boolean
      readonly nextCheckAt: number | undefined
      /** A person has taken its swap back. */
      readonly isTakenBack?: boolean
    } & StoredRequest)
  /** `first`: the state in the first response; absent if the operator bound the create. */
  | ({ readonly state: 'done'; readonly entry: LedgerEntry; readonly first: TransactionRecord | undefined } & StoredRequest)

/** `request`: in the client's words; absent in rows of older versions. An empty `fingerprint`: a person has named the key, and nobody knows its request. */
export interface StoredRequest {
  /** Of its create. */
  readonly intent: string
  readonly fingerprint: string
  readonly request?: ClientRequest | undefined
}

/**
 * Why the outcome of a create is not known: no response in time, a connection that broke off, a status that leaves it open, a response that
 * cannot be read, or the end of the process that sent it; or a person has taken its swap back (docs/contract-operators.md §10.6), before or after a
 * response has shown its deposit address.
 */
export type UnknownReason =
  | 'timed_out'
  | 'reset'
  | 'failed'
  | 'unreadable'
  | 'interrupted'
  | 'taken_back'
  | 'taken_back_after_response'

/** A create with an unknown outcome. */
export interface UnresolvedCreate {
  readonly intent: string
  readonly owner: string
  readonly provider: string
  readonly requested: NewTransaction
  /** As in `Intent`; absent in rows of older versions. */
  readonly sent?: SentWords | undefined
  /** The same. */
  readonly destination?: Destination | undefined
  readonly attemptedAt: number
  /** The quote that binds it. */
  readonly quote?: BindingQuote | undefined
  /** As in `Intent`, of a create that was refused. */
  readonly deadline?: number | undefined
  /** Rises with each change of `nextCheckAt`, and is odd while a check is under way. */
  readonly checkCount: number
  /** Absent: there are no further checks. */
  readonly nextCheckAt?: number | undefined
  readonly traceparent?: string
}

export function isBeingChecked(checkCount: number): boolean {
  return checkCount % 2 === 1
}

export interface EntriesElsewhere {
  readonly entries: readonly LedgerEntry[]
  /** Whether two tags have one account at the provider, where an id is one transaction (docs/contract.md §4). */
  readonly isOneAccount: (tag: string, other: string) => boolean
}

/** Of a list of transactions (docs/contract.md §3.4). */
export interface ListFilter {
  /** Undefined: any. An entry whose status is not known has none of them. */
  readonly statuses?: readonly Status[] | undefined
  /** In milliseconds since 1970, inclusive; undefined: at any time. */
  readonly changedSince?: number | undefined
}

export interface LedgerListQuery {
  readonly page: number
  readonly size: number
  /** Creation times, both ends inclusive, in nanoseconds as in `domain/instant.ts`. */
  readonly created: TimeRange
  /** Undefined: every entry. One counts by when its change was seen; until one was, by its attempt or its creation, whichever is later. */
  readonly filter?: ListFilter | undefined
}

/** A swap of any owner. */
export interface SwapId {
  /** Tag. */
  readonly provider: string
  readonly id: string
}

/** How a result takes its deposit address with its memo, which one swap has at a time. */
export interface DepositClaim {
  /** The swap that has it by now, and may not get a deposit any more. */
  readonly givenUpBy?: SwapId | undefined
  /** Whether another swap may keep it: the result is stored all the same. */
  readonly isShared?: boolean | undefined
  /** For a result that is stored later: what is judged of its assets if another swap keeps it; absent: that is only counted. */
  readonly judgedIfTaken?: readonly JudgedAsset[] | undefined
}

/** Who has a deposit address. */
export interface DepositHolder {
  readonly entry: LedgerEntry
  /** Both by the database's clock: that of a machine may be set. */
  readonly takenAt: number
  readonly now: number
}

/** What becomes of a create or a swap. The `Journal` of a gateway stores it, and tells who listens. */
export type LedgerChanges = Pick<Ledger, 'begin' | 'drop' | 'markUnknown' | 'complete' | 'bindFound' | 'markMismatch' | 'upsert'>

/** The ledger of a gateway, whose changes go through its `Journal`. */
export type JournaledLedger = Omit<Ledger, keyof LedgerChanges>

/**
 * Every method throws if the store fails, and then has changed nothing; after an `UncertainChange` the change may have been made.
 * A `LedgerConflict` is thrown if an existing row contradicts the change.
 */
export interface Ledger {
  /**
   * Stores the intent and its `Idempotency-Key`. False, without a change, if the owner has used the key before, unless that create was still
   * getting its quote at its deadline. Idempotent. Throws `TooManyOpenCreates` beyond `maxOpenCreates`, `QuoteNotHeld` if its firm quote is
   * over or another create has it, and `LedgerBusy`, without a change, once nobody waits for it any more.
   */
  readonly begin: (intent: Intent, isAwaited?: () => boolean) => Promise<boolean>
  /** The create has its own quote and is sent now. False, without a change, if it is gone: its deadline was over. */
  readonly markQuoted: (intent: string, quote?: BindingQuote) => Promise<boolean>
  /**
   * Deletes the intent and its key, because nothing was created. `checkAt`: the refusal may have come from something in front of the
   * provider, so its list is checked from then on (`dueRefusedCreates`).
   */
  readonly drop: (intent: string, checkAt?: number) => Promise<void>
  /** Marks the outcome as unknown. A later result is still accepted. */
  readonly markUnknown: (intent: string, nextCheckAt: number, reason?: UnknownReason) => Promise<void>
  /**
   * Completes the intent. Its key keeps `record` as the first response, for its full lifetime from now on. False if the id belongs
   * to another create (of any owner, pruned or not) or to an older transaction that has progressed: then the intent becomes a mismatch, and the
   * existing row stays. A row that was only observed under the id, for any owner, becomes this create. `judged`: ends the mismatches in
   * a row of these assets, and their suspensions, unless the result is false. Throws `DepositInUse`, without a change, if another swap has
   * its deposit address, and `deposit` does not say that this one may have it.
   */
  readonly complete: (
    intent: string,
    record: TransactionRecord,
    judged?: readonly JudgedAsset[],
    deposit?: DepositClaim,
  ) => Promise<boolean>
  /**
   * Binds a transaction that reconciliation found. False, without a change, if the id belongs to another create, pruned or not. Throws
   * `DepositInUse` as `complete`.
   */
  readonly bindFound: (intent: string, record: TransactionRecord, deposit?: DepositClaim) => Promise<boolean>
  /**
   * Keeps the intent as a mismatch: these fields of the provider's response contradict the request. A row that was only observed under
   * the id of the response, and may be of this create, is replaced. `judged`: counts it for these assets, over all processes,
   * and returns the suspensions that begin with it.
   */
  readonly markMismatch: (
    intent: string,
    reported: Transaction,
    fields: readonly string[],
    judged?: readonly JudgedAsset[],
  ) => Promise<readonly MismatchStreak[]>

  /** Returns until when it is kept, in milliseconds since 1970. `tooMany`: the owner has `maxFirmQuotes`. */
  readonly keepFirmQuote: (quote: FirmQuote, validForMs: number) => Promise<number | 'tooMany'>
  /** Undefined if this owner has no such quote, or it is over, or a create has used it that may have made something. */
  readonly findFirmQuote: (owner: string, id: string) => Promise<FirmQuote | undefined>
  /** Deletes those that are over. */
  readonly expireFirmQuotes: () => Promise<void>

  /** Before a response shows the deposit address of a swap that a person has bound to the create. False: that was taken back meanwhile. */
  readonly noteShown: (intent: string) => Promise<boolean>
  readonly findIdempotencyKey: (owner: string, key: string) => Promise<IdempotencyKeyState | undefined>

  /**
   * Undefined if this owner has no such transaction, even if another owner has. `known`: the last result for the same arguments. It
   * is returned again if nothing was written since and the store can tell that faster than it reads.
   */
  readonly find: (owner: string, provider: string, id: string, known?: LedgerEntry) => Promise<LedgerEntry | undefined>
  readonly findAll: (owner: string, provider: string, ids: readonly string[]) => Promise<readonly LedgerEntry[]>
  /** Newest creation first, ties by id; `total` is over all pages. */
  readonly list: (
    owner: string,
    query: LedgerListQuery,
  ) => Promise<{ readonly entries: readonly LedgerEntry[]; readonly total: number }>
  /** Some of the owner's transactions at these providers (tags) that have neither ended nor become overdue; if there are more, others each time. */
  readonly someOpen: (owner: string, providers: readonly string[], maxEntries: number) => Promise<readonly LedgerEntry[]>
  /** The owner's transactions at all providers but this one (a tag), newest creation first. */
  readonly listElsewhere: (owner: string, provider: string, maxEntries: number) => Promise<EntriesElsewhere>
  /**
   * Stores the state of an owner's transaction. `before`: the entry that `record` was merged into (undefined: none); if the stored
   * entry differs from it, the stored entry stays. A final status stays (docs/contract.md §3.7), and one that an operator recorded
   * changes only to a final one. Returns the stored entry; undefined
   * if the transaction belongs to another owner.
   */
  readonly upsert: (
    owner: string,
    provider: string,
    record: TransactionRecord,
    before?: LedgerEntry,
  ) => Promise<LedgerEntry | undefined>
  /** The create of any owner at any provider that has the deposit address with this key (`paymentAddressKey`). */
  readonly depositHolder: (key: string) => Promise<DepositHolder | undefined>
  /** The create whose result is the provider's transaction with this id. */
  readonly boundCreate: (provider: string, id: string) => Promise<UnresolvedCreate | undefined>
  /** A create that was bound without its deposit address has it from now on. Throws `DepositInUse` if another one has it. */
  readonly takeDeposit: (provider: string, transaction: Transaction, claim: DepositClaim) => Promise<void>
  /** Those of these owners that have a row in the ledger. */
  readonly knownOwners: (owners: readonly string[]) => Promise<ReadonlySet<string>>

  /** Deletes creates whose check is due at `now` and that never got their quote: nothing was sent. */
  readonly dropUnquoted: (now: number) => Promise<void>
  /**
   * Creates that may have been sent and whose check is due at `now`, longest waiting first; only of these owners, if given, and none of
   * the providers that are `busy`.
   */
  readonly dueCreates: (
    now: number,
    maxCreates: number,
    owners: readonly string[] | undefined,
    busy?: readonly string[],
  ) => Promise<readonly UnresolvedCreate[]>
  /** The same of refused creates. */
  readonly dueRefusedCreates: (
    now: number,
    maxCreates: number,
    owners: readonly string[] | undefined,
    busy?: readonly string[],
  ) => Promise<readonly UnresolvedCreate[]>
  /** Takes the current check and schedules the next one; undefined: there is none. False if another process took the check. */
  readonly scheduleNextRefusedCheck: (create: UnresolvedCreate, nextCheckAt: number | undefined) => Promise<boolean>
  /**
   * Keeps what a refused create made all the same, as a mismatch without a key. `contradicted`: for what it may not become payable. False,
   * without a change, if the id is another create's.
   */
  readonly keepRefused: (create: UnresolvedCreate, reported: Transaction, contradicted?: readonly string[]) => Promise<boolean>
  /** The same for transactions of which any may be the create's. `withheld`: those that nobody may pay for until a person has decided. */
  readonly keepCandidates: (create: UnresolvedCreate, candidates: readonly string[], withheld?: readonly string[]) => Promise<void>
  /** Owners of creates that have a scheduled check, refused ones included. */
  readonly ownersOfUnresolved: () => Promise<readonly string[]>
  /** Takes the current check: until then no other process makes it. Undefined if another process took it, else the create as it is from now on. */
  readonly beginCheck: (create: UnresolvedCreate, until: number) => Promise<UnresolvedCreate | undefined>
  /**
   * Ends the check and schedules the next one. False if another process took it. `candidates`: what it found; undefined: as before.
   * `withheld`: which of these nobody may pay for while the create is unresolved.
   */
  readonly scheduleNextCheck: (
    create: UnresolvedCreate,
    nextCheckAt: number | undefined,
    candidates?: readonly string[],
    withheld?: readonly string[],
  ) => Promise<boolean>
  /**
   * Creates at the provider that were attempted between these times and whose transaction is not known: of unknown outcome, or
   * with a response that contradicted the request.
   */
  readonly unresolvedBetween: (provider: string, first: number, last: number) => Promise<readonly UnresolvedCreate[]>
  /** The same at all tags of other accounts, also those that the configuration lacks by now. */
  readonly unresolvedElsewhere: (provider: string, first: number, last: number) => Promise<readonly UnresolvedCreate[]>
  /**
   * Deletes a create and its key, because the provider's complete list has no candidate. A later result is still accepted. False if
   * `windowMs` since its `attemptedAt` has not passed on the ledger's clock, or another process has taken a check since.
   */
  readonly markNotCreated: (create: UnresolvedCreate, windowMs: number) => Promise<boolean>
  /** Which of these ids belong to creates of any owner, pruned or not. Transactions that were only observed are not included. */
  readonly existingIds: (provider: string, ids: readonly string[]) => Promise<ReadonlySet<string>>
  readonly swapsNamed: SwapsNamed
  /**
   * Which of these ids are those of responses that contradicted the request of a create, or of candidates that are withheld, of any owner,
   * at any tag of the account.
   */
  readonly mismatchedIds: (provider: string, ids: readonly string[]) => Promise<ReadonlySet<string>>

  /**
   * Leases open transactions (docs/contract-operators.md §12) of the provider that no process has leased within `pauseMs` on the ledger's
   * clock. Order: never leased first, then the least recently leased; of equals the oldest first.
   */
  readonly leaseOpen: (provider: string, maxEntries: number, pauseMs: number) => Promise<readonly LedgerEntry[]>
  /** The same for transactions that need a person since their provider does not find them, and did not at this time or earlier. */
  readonly leaseLost: (provider: string, maxEntries: number, pauseMs: number, missingAt: number) => Promise<readonly LedgerEntry[]>
  /** Ends the lease of transactions that were not read. */
  readonly releaseOpen: (provider: string, ids: readonly string[]) => Promise<void>

  /** Deletes those with a known outcome that are older than 24 hours on the ledger's clock. Returns their number. */
  readonly expireIdempotencyKeys: () => Promise<number>
  readonly close: () => Promise<void>
}

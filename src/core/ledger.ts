/**
 * Who holds which swap, and what is known of it (docs/contract.md §3, §5, §10, §12). One port; SQLite and PostgreSQL fill
 * it and pass one contract suite. What a method has answered is durable. Times are milliseconds since 1970.
 */
import type { Amount } from '../domain/amount.ts'
import type { TimeRange } from '../domain/instant.ts'
import type { Claim } from '../domain/swap/service.ts'
import type { NewTransaction, Transaction } from '../domain/swap/swap.ts'

/** A create that is about to go up. */
export interface Intent {
  readonly id: string
  /** The identity that it is for. */
  readonly owner: string
  /** Tag of the provider. */
  readonly provider: string
  /** The question in the stable words for its assets. */
  readonly requested: NewTransaction
  readonly claim?: Claim | undefined
  readonly attemptedAt: number
  /** From then on nobody waits for its answer any more, and its outcome is to be looked for. */
  readonly nextCheckAt: number
  /** The request in its trace, for the looks to refer to. */
  readonly traceparent?: string | undefined
}

/** What is known of a transaction that exists. Its id is the provider's own, its assets are in the stable words. */
export interface TransactionRecord {
  readonly transaction: Transaction
  /** Fields of it that the gateway worked out. */
  readonly derived: readonly string[]
  /** What its create promised to pay out. */
  readonly quotedAmountOut?: Amount | undefined
  /** When the provider last told of it, in whatever way. */
  readonly reportedAt: number
  /** When the provider last told all that it knows of it; absent where only its create or a list was seen. */
  readonly fetchedAt?: number | undefined
  /** When a change of its status was last seen. */
  readonly changedAt?: number | undefined
  /** Of the request whose response this is: of two, the greater went up later. */
  readonly sequence?: number | undefined
}

/** A transaction in the ledger. */
export interface LedgerEntry extends TransactionRecord {
  readonly owner: string
  readonly provider: string
  /** Whether its owner created it through the gateway; else it was only seen to be the owner's. */
  readonly isCreated: boolean
}

/**
 * How far a create has come. `open`: nobody knows yet, or nobody will know (`unknown`). `mismatch`: the provider's answer
 * contradicted the question, and nobody was told of it.
 */
export type ClaimState =
  | { readonly state: 'open' | 'mismatch'; readonly fingerprint: string; readonly provider: string }
  /** `first` is what the first answer told; absent where the create was bound by hand. */
  | {
      readonly state: 'done'
      readonly fingerprint: string
      readonly entry: LedgerEntry
      readonly first: TransactionRecord | undefined
    }

/** A create whose outcome is not known. */
export interface UnresolvedCreate {
  readonly intent: string
  readonly owner: string
  readonly provider: string
  readonly requested: NewTransaction
  readonly attemptedAt: number
  /** How often its next look was set, and when that is due; absent: it is not looked for any more. */
  readonly checkCount: number
  readonly nextCheckAt?: number | undefined
  readonly traceparent?: string
}

export interface LedgerListQuery {
  readonly page: number
  readonly size: number
  /** Creation times, both ends inclusive, in nanoseconds as in `domain/instant.ts`. */
  readonly created: TimeRange
}

/**
 * Every method throws where the store cannot do it, and then has done nothing: but for an `UncertainChange`, after which nobody
 * knows. A `LedgerConflict` is thrown where what is held already stands against it.
 */
export interface Ledger {
  /** False where the owner has used the claim's key before: nothing is kept then. To begin what has begun changes nothing. */
  readonly begin: (intent: Intent) => Promise<boolean>
  /** Nothing was created: the intent and its claim are gone. */
  readonly drop: (intent: string) => Promise<void>
  /** Nobody knows whether it was created; a result that comes later is still taken. */
  readonly markUnknown: (intent: string, nextCheckAt: number) => Promise<void>
  /**
   * It was created; its claim keeps these facts as the first answer, for all its time from now on. False where the ledger holds
   * the id for another create, of this owner or another, or for a transaction that was there before and has gone on: then the
   * intent is a mismatch, and what is held stays as it is. What was merely seen under the id, by whichever owner, becomes this
   * create.
   */
  readonly complete: (intent: string, record: TransactionRecord) => Promise<boolean>
  /** It was found at the provider. False where the ledger holds the id for another create: then nothing changes. */
  readonly bindFound: (intent: string, record: TransactionRecord) => Promise<boolean>
  /** The provider's answer contradicted the question, in these fields; the intent is kept as a mismatch. */
  readonly markMismatch: (intent: string, reported: Transaction, fields: readonly string[]) => Promise<void>

  readonly findClaim: (owner: string, key: string) => Promise<ClaimState | undefined>

  /** Undefined, whoever else holds it. */
  readonly find: (owner: string, provider: string, id: string) => Promise<LedgerEntry | undefined>
  readonly findAll: (owner: string, provider: string, ids: readonly string[]) => Promise<readonly LedgerEntry[]>
  /** Newest creation first, ties by id; `total` is over all pages. */
  readonly list: (
    owner: string,
    query: LedgerListQuery,
  ) => Promise<{ readonly entries: readonly LedgerEntry[]; readonly total: number }>
  /**
   * Keeps what was seen of an owner's transaction. `before`: what the facts were worked out from (undefined: nothing); where
   * something else is kept by now, that stays. A status that is final here stays (docs/contract.md §3.7). Answers what is
   * kept now; undefined where it is another owner's.
   */
  readonly upsert: (
    owner: string,
    provider: string,
    record: TransactionRecord,
    before?: LedgerEntry,
  ) => Promise<LedgerEntry | undefined>
  /** Those of these owners who have anything here. */
  readonly knownOwners: (owners: readonly string[]) => Promise<ReadonlySet<string>>

  /** Creates to be looked for at `now`, the longest waiting first; of these owners only, where they are given. */
  readonly dueCreates: (
    now: number,
    maxCreates: number,
    owners: readonly string[] | undefined,
  ) => Promise<readonly UnresolvedCreate[]>
  /** Owners of creates that are to be looked for sooner or later. */
  readonly ownersOfUnresolved: () => Promise<readonly string[]>
  /** Notes that this look is taken, and when the next is due. False where another process took it. */
  readonly scheduleNextCheck: (create: UnresolvedCreate, nextCheckAt: number | undefined) => Promise<boolean>
  /**
   * Creates at the provider that were attempted between these times, and of which nobody knows what they made: of unknown
   * outcome, or with an answer that contradicted the question.
   */
  readonly unresolvedBetween: (provider: string, first: number, last: number) => Promise<readonly UnresolvedCreate[]>
  /**
   * The provider's whole list has nothing that this create may have made: it and its claim are gone, and a result that comes
   * later is still taken. False where it is not so long after its beginning, in milliseconds on the ledger's clock, or
   * another process has taken a look since.
   */
  readonly markNotCreated: (create: UnresolvedCreate, windowMs: number) => Promise<boolean>
  /** Which of these ids are those of creates here, whoever made them; what was merely seen is none of them. */
  readonly existingIds: (provider: string, ids: readonly string[]) => Promise<ReadonlySet<string>>

  /**
   * Claims open transactions (docs/contract.md §12) of the provider that no process has claimed within `pauseMs`, on the ledger's
   * clock: those never claimed first, then the longest ago; of equals the oldest first.
   */
  readonly claimOpen: (provider: string, maxEntries: number, pauseMs: number) => Promise<readonly LedgerEntry[]>
  /** They were not read: as if they had never been claimed. */
  readonly releaseOpen: (provider: string, ids: readonly string[]) => Promise<void>

  /** Forgets claims that are older than 24 hours by the ledger's own clock and whose outcome is known. */
  readonly expireClaims: () => Promise<number>
  readonly close: () => Promise<void>
}

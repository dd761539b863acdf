/**
 * Who holds which swap, and what is known of it (docs/contract.md §3, §5, §10, §12). One port; SQLite and PostgreSQL fill
 * it and pass one contract suite. What a method has answered is durable. Times are milliseconds since 1970.
 */
import type { Amount } from '../domain/amount.ts'
import type { Span } from '../domain/instant.ts'
import type { Claim } from '../domain/operations.ts'
import type { NewTransaction, Transaction } from '../domain/swap.ts'

/** A create that is about to go up. */
export interface Intent {
  readonly id: string
  /** The identity that it is for. */
  readonly owner: string
  /** Tag of the provider. */
  readonly provider: string
  /** The question in the stable words for its assets. */
  readonly asked: NewTransaction
  readonly claim?: Claim | undefined
  readonly attemptedAt: number
  /** From then on nobody waits for its answer any more, and its outcome is to be looked for. */
  readonly lookAt: number
  /** The request in its trace, for the looks to refer to. */
  readonly traceparent?: string | undefined
}

/** What is known of a transaction that exists. Its id is the provider's own, its assets are in the stable words. */
export interface Facts {
  readonly transaction: Transaction
  /** Fields of it that the gateway worked out. */
  readonly derived: readonly string[]
  /** What its create promised to pay out. */
  readonly promised?: Amount | undefined
  /** When the provider last told of it, in whatever way. */
  readonly seenAt: number
  /** When the provider last told all that it knows of it; absent where only its create or a list was seen. */
  readonly readAt?: number | undefined
  /** When a change of its status was last seen. */
  readonly changedAt?: number | undefined
  /** Of the request whose response this is: of two, the greater went up later. */
  readonly sequence?: number | undefined
}

/** A transaction in the ledger. */
export interface Entry extends Facts {
  readonly owner: string
  readonly provider: string
  /** Whether its owner created it through the gateway; else it was only seen to be the owner's. */
  readonly isCreated: boolean
}

/**
 * How far a create has come. `open`: nobody knows yet, or nobody will know (`unknown`). `mismatch`: the provider's answer
 * contradicted the question, and nobody was told of it.
 */
export type Claimed =
  | { readonly state: 'open' | 'mismatch'; readonly fingerprint: string; readonly provider: string }
  /** `first` is what the first answer told; absent where the create was bound by hand. */
  | { readonly state: 'done'; readonly fingerprint: string; readonly entry: Entry; readonly first: Facts | undefined }

/** A create whose outcome is not known. */
export interface Open {
  readonly intent: string
  readonly owner: string
  readonly provider: string
  readonly asked: NewTransaction
  readonly attemptedAt: number
  /** How often its next look was set, and when that is due; absent: it is not looked for any more. */
  readonly looks: number
  readonly lookAt?: number | undefined
  readonly traceparent?: string
}

export interface ListQuery {
  readonly page: number
  readonly size: number
  /** Creation times, both ends inclusive, in nanoseconds as in `domain/instant.ts`. */
  readonly created: Span
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
  readonly doubt: (intent: string, lookAt: number) => Promise<void>
  /**
   * It was created; its claim keeps these facts as the first answer, for all its time from now on. False where the ledger holds
   * the id for another create, of this owner or another, or for a transaction that was there before and has gone on: then the
   * intent is a mismatch, and what is held stays as it is. What was merely seen under the id, by whichever owner, becomes this
   * create.
   */
  readonly settle: (intent: string, facts: Facts) => Promise<boolean>
  /** It was found at the provider. False where the ledger holds the id for another create: then nothing changes. */
  readonly bindFound: (intent: string, facts: Facts) => Promise<boolean>
  /** The provider's answer contradicted the question, in these fields; the intent is kept as a mismatch. */
  readonly contradict: (intent: string, told: Transaction, fields: readonly string[]) => Promise<void>

  readonly claimed: (owner: string, key: string) => Promise<Claimed | undefined>

  /** Undefined, whoever else holds it. */
  readonly find: (owner: string, provider: string, id: string) => Promise<Entry | undefined>
  readonly findAll: (owner: string, provider: string, ids: readonly string[]) => Promise<readonly Entry[]>
  /** Newest creation first, ties by id; `total` is over all pages. */
  readonly list: (owner: string, query: ListQuery) => Promise<{ readonly entries: readonly Entry[]; readonly total: number }>
  /**
   * Keeps what was seen of an owner's transaction. `before`: what the facts were worked out from (undefined: nothing); where
   * something else is kept by now, that stays. A status that is final here stays (docs/contract.md §3.7). Answers what is
   * kept now; undefined where it is another owner's.
   */
  readonly see: (owner: string, provider: string, facts: Facts, before?: Entry) => Promise<Entry | undefined>
  /** Those of these owners who have anything here. */
  readonly knownOwners: (owners: readonly string[]) => Promise<ReadonlySet<string>>

  /** Creates to be looked for at `now`, the longest waiting first; of these owners only, where they are given. */
  readonly due: (now: number, most: number, owners: readonly string[] | undefined) => Promise<readonly Open[]>
  /** Owners of creates that are to be looked for sooner or later. */
  readonly waitingOwners: () => Promise<readonly string[]>
  /** Notes that this look is taken, and when the next is due. False where another process took it. */
  readonly take: (open: Open, next: number | undefined) => Promise<boolean>
  /**
   * Creates at the provider that were attempted between these times, and of which nobody knows what they made: of unknown
   * outcome, or with an answer that contradicted the question.
   */
  readonly openBetween: (provider: string, first: number, last: number) => Promise<readonly Open[]>
  /**
   * The provider's whole list has nothing that this create may have made: it and its claim are gone, and a result that comes
   * later is still taken. False where it is not so long after its beginning, in milliseconds on the ledger's clock, or
   * another process has taken a look since.
   */
  readonly end: (open: Open, span: number) => Promise<boolean>
  /** Which of these ids are those of creates here, whoever made them; what was merely seen is none of them. */
  readonly held: (provider: string, ids: readonly string[]) => Promise<ReadonlySet<string>>

  /** Forgets claims that are older than 24 hours by the ledger's own clock and whose outcome is known. */
  readonly expireClaims: () => Promise<number>
  readonly close: () => Promise<void>
}

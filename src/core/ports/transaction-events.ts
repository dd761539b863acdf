/**
 * Port: the changes of transactions that their owners can see, each a row of the ledger that was written in the same database transaction
 * (docs/contract.md §18.1). Changes of a build without these rows are in the next row; until then a stream shows them without a number.
 */
import type { LedgerEntry } from './ledger.ts'

export interface TransactionEvent {
  /** Of its owner, growing by one, but for a leap at each restore: who has seen it, has seen all below. Undefined as long as it has none: it was committed a moment ago. */
  readonly number: number | undefined
  /** Of the transaction, in the same way, from 1, which is its create. */
  readonly transactionNumber: number
  /** When it changed, in milliseconds since 1970. */
  readonly at: number
  /** As it was then. */
  readonly entry: LedgerEntry
  /** Whether its deposit address may still be shown, by what the ledger has of the transaction now. */
  readonly isPayable: boolean
  /** Nothing is expected after it: `success`, `refunded`, or what an operator settled. */
  readonly isFinal: boolean
}

/** The numbers of the rows that there are: of an owner or of a transaction. */
export interface EventRange {
  /** Undefined: no row is left. */
  readonly oldest: number | undefined
  /** Of the last one that was given; 0: none. */
  readonly last: number
  /** The next one is above it; absent if the ledger was never restored. */
  readonly base?: number
}

/** The newest row of a transaction, and what the ledger has of it if that is something else: a version that writes no rows has changed it, or its rows were removed. */
export interface NewestEvent {
  readonly event: TransactionEvent | undefined
  readonly entry: LedgerEntry | undefined
}

export interface Numbered {
  /** The new numbers. */
  readonly count: number
  /** Whether rows wait: another process is giving numbers, or there are more of them. */
  readonly mayBeMore: boolean
}

export interface WaitingEvents {
  /** Counted up to 10,000. */
  readonly count: number
  /** Of the oldest one, in milliseconds; 0: none waits. */
  readonly ageMs: number
}

/** Every method throws if the store fails. */
export interface EventStore {
  /** Calls this after each write of this process with a new row. */
  readonly onWritten: (listener: () => void) => void
  /** Gives numbers to rows that were committed without one, if no other process does so now. */
  readonly number: () => Promise<Numbered>
  /** The last number of each of these owners that has one. */
  readonly lastNumbers: (owners: readonly string[]) => Promise<ReadonlyMap<string, number>>
  /** In the order of their numbers. */
  readonly ofOwner: (owner: string, after: number, maxEvents: number) => Promise<readonly TransactionEvent[]>
  /** The same of one transaction, in the order of its own numbers, also those without a number of the owner. */
  readonly ofTransaction: (
    owner: string,
    provider: string,
    id: string,
    after: number,
    maxEvents: number,
  ) => Promise<readonly TransactionEvent[]>
  readonly rangeOfOwner: (owner: string) => Promise<EventRange>
  readonly rangeOfTransaction: (owner: string, provider: string, id: string) => Promise<EventRange>
  readonly newest: (owner: string, provider: string, id: string) => Promise<NewestEvent>
  /** Rows that wait for their numbers. */
  readonly waiting: () => Promise<WaitingEvents>
}

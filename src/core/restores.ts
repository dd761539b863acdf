/**
 * Port: what a ledger that was restored from a backup lacks (docs/contract.md §10.6). Orders that were made after the backup exist at the
 * providers only. Times are milliseconds since 1970 on the database's clock.
 */
import type { IdempotencyKey } from '../domain/service.ts'
import type { Transaction } from '../domain/swap.ts'
import type { ReportedTransaction } from './same-swap.ts'

/** How long a restore holds at most. */
export const restoredForMs = 30 * 86_400_000

/** A provider whose swaps since the backup the ledger may lack. */
export interface RestoredProvider {
  /** Tag. */
  readonly provider: string
  /** When a person said that the ledger was restored. */
  readonly restoredAt: number
  /** Orders that were created before are not looked for; absent: all are. */
  readonly since?: number | undefined
  /** When its list had been read whole; absent: it was not yet. */
  readonly readAt?: number | undefined
  /** How many orders of it wait for a person. */
  readonly undecided: number
}

/** An order in a provider's list that the ledger lacks. */
export interface FoundOrder {
  /** Tag. */
  readonly provider: string
  /** The provider's own id. */
  readonly id: string
  /** What the provider says of it: a row of its list, others with the same id, and a get. Assets have the table's names. */
  readonly reports: readonly ReportedTransaction[]
  /** Whether the last report is that of a get. */
  readonly hasDetails: boolean
  /** The account that its reference names. */
  readonly owner?: string | undefined
}

/** One that waits for a person. */
export interface UndecidedOrder extends FoundOrder {
  readonly foundAt: number
  /** Name of the account that its reference names. */
  readonly account?: string | undefined
}

/** One that a person has assigned. */
export interface AssignedOrder extends FoundOrder {
  readonly foundAt: number
  readonly decidedAt: number
  /** Name of the account that has it. */
  readonly account: string
}

/** What becomes the transaction of an account. */
export interface OrderAssignment {
  readonly provider: string
  readonly id: string
  /** Name of the account. */
  readonly account: string
  readonly transaction: Transaction
  /** When it was created, as far as that is known. */
  readonly createdAt: number
  readonly reportedAt: number
  readonly note: string
}

export type Assigned = 'assigned' | 'missing' | 'noAccount' | 'known'

/**
 * `missing`: it is not assigned, or its swap is gone. An order that a client's `Idempotency-Key` returns, that a client or an operator has
 * asked something for, or whose outcome an operator has recorded stays.
 */
export type Unassigned =
  | { readonly outcome: 'unassigned'; readonly account: string }
  | { readonly outcome: 'missing' | 'hasKey' | 'hasAction' | 'isSettled' }

/** Each method throws if the store fails, and then has changed nothing. `actor`: for the audit log. */
export interface RestoreStore {
  /** Those for which a restore holds. */
  readonly read: () => Promise<readonly RestoredProvider[]>
  /** False if the ledger's schema lacks the tables. */
  readonly isPossible: () => Promise<boolean>
  /** All tags that the ledger has transactions of, and these. Their lists count as not read. `since` as in `RestoredProvider`. */
  readonly mark: (tags: readonly string[], since: number | undefined, actor: string) => Promise<readonly string[]>
  /** Ends the restore at these tags, by default at all. Returns the tags at which it held. */
  readonly end: (tags: readonly string[] | undefined, note: string | undefined, actor: string) => Promise<readonly string[]>
  /** Which of these ids the ledger lacks: no account has them, at any tag of the provider's account, and no create had one until it was pruned. */
  readonly missing: (provider: string, ids: readonly string[]) => Promise<readonly string[]>
  /** Ids of all accounts. */
  readonly accountIds: () => Promise<readonly string[]>
  /** Keeps them for a person, unless one has decided. `size`: of each, by `amountSizeOf`. */
  readonly keep: (orders: readonly (FoundOrder & { readonly size: number | undefined })[]) => Promise<void>
  /** The list was read whole. False if the ledger was marked as restored again since `restoredAt`. */
  readonly markRead: (
    restored: Pick<RestoredProvider, 'provider' | 'restoredAt'>,
    counts: { readonly listed: number; readonly missing: number },
    actor: string,
  ) => Promise<boolean>
  /** Oldest first. */
  readonly undecided: (maxOrders?: number) => Promise<readonly UndecidedOrder[]>
  /** The last decision first. */
  readonly assigned: (maxOrders?: number) => Promise<readonly AssignedOrder[]>
  readonly findUndecided: (provider: string, id: string) => Promise<UndecidedOrder | undefined>
  /** Those, of providers where a restore holds, that may be of this size and of this owner. `sizes`: undefined if it is not known. */
  readonly candidates: (owner: string, sizes: readonly number[] | undefined, maxOrders: number) => Promise<readonly FoundOrder[]>
  /** The owner's create with this key may be any of these orders. If it is the only one of the account that an order is assigned to, it gets that. */
  readonly noteKey: (orders: readonly Pick<FoundOrder, 'provider' | 'id'>[], owner: string, key: IdempotencyKey) => Promise<void>
  readonly assign: (assignment: OrderAssignment, actor: string) => Promise<Assigned>
  /** Its swap is gone from the account, and it waits for a person again. */
  readonly unassign: (provider: string, id: string, note: string, actor: string) => Promise<Unassigned>
  /** False if there is none that waits. */
  readonly dismiss: (provider: string, id: string, note: string, actor: string) => Promise<boolean>
}

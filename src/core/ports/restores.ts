/**
 * Port: what a ledger that was restored from a backup lacks (docs/contract-operators.md §10.6). Orders that were made after the backup exist at the
 * providers only. Times are milliseconds since 1970 on the database's clock.
 */
import type { IdempotencyKey } from '../../domain/service.ts'
import type { NewTransaction, Transaction } from '../../domain/swap.ts'
import type { ReportedTransaction } from '../same-swap.ts'
import type { DepositClaim } from './ledger.ts'

/** How long a restore holds at most. */
export const restoredForMs = 30 * 86_400_000

/** Orders that are so much older than the backup are looked for, too: providers' clocks are off, and some write times without a zone. */
export const backupMarginMs = 86_400_000

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
  /** False: it has ended. An order can be decided about all the same. */
  readonly holds: boolean
}

/** What waits since a restore until a person has confirmed it. */
export interface HeldSinceRestore {
  /** How many webhooks get nothing. */
  readonly webhooks: number
  /** Whether nothing is done about swaps that were made before. */
  readonly actions: boolean
}

/** `clockBehind`: the ledger has a row of a later time, so that numbers might come again. Nothing was changed. */
export type Marked = { readonly outcome: 'marked'; readonly tags: readonly string[] } | { readonly outcome: 'clockBehind' }

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

/** A create with an `Idempotency-Key` that got 409, since it may have made an order. */
export interface NotedCreate {
  /** Name of the account. */
  readonly account: string
  readonly key: string
  /** When it first got that. */
  readonly at: number
}

/** One that waits for a person. */
export interface UndecidedOrder extends FoundOrder {
  readonly foundAt: number
  /** Name of the account that its reference names. */
  readonly account?: string | undefined
  /** Oldest first. */
  readonly creates: readonly NotedCreate[]
}

/** One that a person has dismissed. */
export interface DismissedOrder extends FoundOrder {
  readonly foundAt: number
  readonly decidedAt: number
}

/** A key that returned an order until a person took that back: it is neither bound nor free. */
export interface WithheldKey {
  readonly account: string
  readonly key: string
  /** Of the create. */
  readonly intent: string
  /** Tag of the provider that had the order. */
  readonly provider: string
  /** Whether a response to it has shown the deposit address of the order. */
  readonly hasShownAddress: boolean
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
  /** The `Idempotency-Key` of the create that made it; null: a person says that none is known. */
  readonly key: string | null
  readonly transaction: Transaction
  /** When it was created, as far as that is known. */
  readonly createdAt: number
  readonly reportedAt: number
  readonly note: string
  /** As the client names it; absent: nobody has confirmed where the swap pays out. */
  readonly withdrawalAddress?: string | undefined
  /** The contradictions in spite of which a person decides so. */
  readonly despite?: readonly string[] | undefined
}

/** `freed`: creates that got 409 for the order, and are ordinary ones from now on. `keyInUse`: another create of the account has the key. */
export type Assigned =
  | { readonly outcome: 'assigned'; readonly freed: readonly NotedCreate[] }
  | { readonly outcome: 'missing' | 'noAccount' | 'known' | 'keyInUse' }

/**
 * `withheld`: the key that returned the order. `missing`: it is not assigned, or its swap is gone. An order that a client or an operator has
 * asked something for, or whose outcome an operator has recorded stays.
 */
export type Unassigned =
  | { readonly outcome: 'unassigned'; readonly account: string; readonly withheld?: Pick<WithheldKey, 'key' | 'hasShownAddress'> }
  | { readonly outcome: 'missing' | 'hasAction' | 'isSettled' }

/** Each method throws if the store fails, and then has changed nothing. `actor`: for the audit log. */
export interface RestoreStore {
  /** All for which one was ever marked. */
  readonly read: () => Promise<readonly RestoredProvider[]>
  /**
   * All tags that the ledger has transactions of, and these. Their lists count as not read, and what `HeldSinceRestore` has waits. `backupAt`:
   * orders from well before it are not looked for; the newest row of the ledger, if it is older, counts in its place.
   */
  readonly mark: (tags: readonly string[], backupAt: number | undefined, actor: string) => Promise<Marked>
  readonly held: () => Promise<HeldSinceRestore>
  /** A person has looked at these webhooks, by default at all: what waits is sent. Returns their ids. */
  readonly confirmWebhooks: (
    ids: readonly string[] | undefined,
    note: string | undefined,
    actor: string,
  ) => Promise<readonly string[]>
  /** A person knows what was done about swaps after the backup. False if nothing waits for that. */
  readonly confirmActions: (note: string | undefined, actor: string) => Promise<boolean>
  /** Ends the restore at these tags, by default at all. Returns the tags at which it held. */
  readonly end: (tags: readonly string[] | undefined, note: string | undefined, actor: string) => Promise<readonly string[]>
  /** Which of these ids the ledger lacks: no account has them, at any tag of the provider's account, and no create had one until it was pruned. */
  readonly missing: (provider: string, ids: readonly string[]) => Promise<readonly string[]>
  /** Whether one of these ids is that of an order that waits. */
  readonly isWaiting: (provider: string, ids: readonly string[]) => Promise<boolean>
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
  readonly dismissed: (maxOrders?: number) => Promise<readonly DismissedOrder[]>
  readonly withheldKeys: () => Promise<readonly WithheldKey[]>
  /** The last decision first. */
  readonly assigned: (maxOrders?: number) => Promise<readonly AssignedOrder[]>
  readonly findUndecided: (provider: string, id: string) => Promise<UndecidedOrder | undefined>
  /** Those, of providers where a restore holds, that may be of this size and of this owner. `sizes`: undefined if it is not known. */
  readonly candidates: (owner: string, sizes: readonly number[] | undefined, maxOrders: number) => Promise<readonly FoundOrder[]>
  /** The owner's create with this key may have made any of these orders. */
  readonly noteKey: (orders: readonly Pick<FoundOrder, 'provider' | 'id'>[], owner: string, key: IdempotencyKey) => Promise<void>
  /** Whether the owner's create with this key may have made an order that waits. */
  readonly isNoted: (owner: string, key: string) => Promise<boolean>
  /** What the create with this key of the account has requested: one that waits for an order, or had one that was taken back. */
  readonly requestUnder: (account: string, key: string) => Promise<NewTransaction | undefined>
  /** Throws `DepositInUse` as `Ledger.complete`. */
  readonly assign: (assignment: OrderAssignment, actor: string, deposit?: DepositClaim) => Promise<Assigned>
  /** Its swap is gone from the account, it waits for a person again, and so does the key that returned it. */
  readonly unassign: (provider: string, id: string, note: string, actor: string) => Promise<Unassigned>
  /** Undefined if there is none that waits. `freed` as in `Assigned`. */
  readonly dismiss: (
    provider: string,
    id: string,
    note: string,
    actor: string,
  ) => Promise<{ readonly freed: readonly NotedCreate[] } | undefined>
  /** It waits for a person again. False if it is not dismissed. */
  readonly undismiss: (provider: string, id: string, note: string, actor: string) => Promise<boolean>
  /** The withheld key is a new one for its account from now on. Undefined if there is none. */
  readonly freeKey: (account: string, key: string, note: string, actor: string) => Promise<WithheldKey | undefined>
}

/** Port: removes from the ledger what is older than the operator keeps (`ledger.keep`, `ledger.keepAudit`, `events.keep`). */

/** The position of a swap that a step looked at last. */
export interface RetentionCursor {
  /** As text: it exceeds a number's precision. */
  readonly sortKey: string
  readonly id: string
  readonly provider: string
}

/** Each method throws if the store fails, and then has changed nothing. */
export interface Retention {
  /** Whether this process does it now: no process has begun, or gone on, within this time. Never where the ledger's schema lacks the table. */
  readonly takeTurn: (intervalMs: number) => Promise<boolean>
  /** The process goes on, and no other one begins. */
  readonly keepTurn: () => Promise<void>
  /**
   * Since when swaps are kept: so long before now, or before the newest swap if that is older: a clock that is ahead removes nothing. In
   * milliseconds since 1970.
   */
  readonly keptSince: (keepMs: number) => Promise<number>
  /** One short step: removes some of the oldest ended swaps that were created before, and that `prune` would. `next`: undefined after the last one. */
  readonly pruneStep: (
    before: number,
    after?: RetentionCursor,
  ) => Promise<{ readonly pruned: number; readonly next?: RetentionCursor | undefined }>
  /** Notes in the audit log what the steps have removed. */
  readonly noteOfPrune: (before: number, pruned: number) => Promise<void>
  /** One short step: removes some records of the audit log that are as old, but nothing since the oldest thing that needs a person. Returns whether there may be more. */
  readonly auditStep: (keepMs: number) => Promise<boolean>
  /** The same for events of transactions that are as old. The last one of each transaction stays. */
  readonly eventsStep: (keepMs: number) => Promise<boolean>
  /** The same for the ids of pruned creates that nothing needs any more. */
  readonly prunedIdsStep: () => Promise<boolean>
  /** The same for counts of requests (`usage.ts`) that are older than 400 days. */
  readonly requestsStep: () => Promise<boolean>
}

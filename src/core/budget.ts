/** What a provider lets the gateway ask in any 60 seconds, shared by all replicas (`spec/contract.md` §8). */

export interface Reservation {
  readonly isGranted: boolean
  /** How many more may be granted now. */
  readonly remaining: number
  /** Where none is granted: whole seconds, at least 1, until one may be. */
  readonly retryAfter: number
}

/** Sliding windows of 60 seconds. */
export interface Budgets {
  /**
   * Reserves one call of the bucket before it is sent: never more than `limit` in any 60 seconds, over all replicas. While
   * callers are refused, none gets more than its share of the bucket. Never throws.
   */
  readonly reserve: (bucket: string, limit: number, caller: string) => Promise<Reservation>
}

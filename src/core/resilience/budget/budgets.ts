/** What a provider lets the gateway ask in any 60 seconds, shared by all replicas (docs/contract.md §8). */

export interface Reservation {
  readonly isGranted: boolean
  /** How many more may be granted now, to askers who hold less than their share. */
  readonly remaining: number
  /** Where none is granted: whole seconds, at least 1, until the next call is free. */
  readonly retryAfter: number
}

/** Sliding windows of 60 seconds. */
export interface Budgets {
  /**
   * Reserves one call of the bucket before it is sent: never more than `limit` in any 60 seconds, over all replicas. The last fifth
   * is only for askers who hold less than an equal share; a bucket that has no askers is granted to the last call. Never throws.
   */
  readonly reserve: (bucket: string, limit: number, consumer?: string) => Promise<Reservation>
}

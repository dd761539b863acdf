/** Port: a provider's budgets for any 60 seconds, shared by all replicas (docs/contract.md §8). */

/** The result of a reservation. */
export interface Reservation {
  readonly isGranted: boolean
  /** How many more calls may be granted now to consumers that hold less than their share. */
  readonly remaining: number
  /** If not granted: whole seconds, at least 1, until the next call is free. */
  readonly retryAfter: number
}

/** Sliding windows of 60 seconds. */
export interface Budgets {
  /**
   * Reserves one call of the bucket before it is sent: at most `limit` in any 60 seconds, over all replicas. The last fifth is only
   * for consumers that hold less than an equal share; without `consumer` the whole bucket is granted in order. Never throws.
   */
  readonly reserve: (bucket: string, limit: number, consumer?: string) => Promise<Reservation>
}

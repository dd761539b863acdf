/** What each process counts of its providers, for a person to see over all processes (docs/contract.md §12). */
import type { ShadowCounts } from '../routing/shadow-statistics.ts'
import type { BucketCounts } from './histogram.ts'

/** Of one provider in the last minute of one process. Plain JSON. */
export interface ProviderCounts {
  /** The tag. */
  readonly provider: string
  /** Requests of clients that it answered, or should have. */
  readonly requests: number
  /** Calls that went up. */
  readonly calls: number
  /** Calls without an answer, with an unreadable one, a 5xx, or a refused gateway key. */
  readonly failedCalls: number
  /** Of the calls, in buckets of `latencyOf`. */
  readonly latency: BucketCounts
  /** By operation; one that is not here is closed. */
  readonly breaker: Readonly<Record<string, string>>
  /** By policy; one that is not here was not charged in the last minute: all of it is left. */
  readonly budgetLeft: Readonly<Record<string, number>>
  /** Of the currency list; null where none was read. */
  readonly listAgeSeconds: number | null
  /** Assets that it offers by its list. */
  readonly assets: number | null
  readonly drift: number
}

export interface ReplicaCounts {
  readonly providers: readonly ProviderCounts[]
  readonly shadow: ShadowCounts | null
}

export interface ReplicaFigures extends ReplicaCounts {
  readonly replica: string
  /** Since it wrote them. */
  readonly ageMs: number
}

export interface ReplicaFiguresStore {
  /** Replaces what this replica wrote before. */
  readonly write: (replica: string, counts: ReplicaCounts) => Promise<void>
  /** This replica writes no more. */
  readonly remove: (replica: string) => Promise<void>
  /** Of the replicas that wrote within 30 s. */
  readonly read: () => Promise<readonly ReplicaFigures[]>
}

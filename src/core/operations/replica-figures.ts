/** Port: counts of providers per process, for the operator's view over all processes (docs/contract.md §12). */
import type { ShadowCounts } from '../routing/shadow.ts'
import type { BucketCounts } from './histogram.ts'

/** Counts of one provider in one process for the last minute. Plain JSON. */
export interface ProviderCounts {
  /** The tag. */
  readonly provider: string
  /** Client requests that were served by it or failed at it. */
  readonly requests: number
  /** Calls that were sent. */
  readonly calls: number
  /** Calls without a response, with an unreadable one, a 5xx, or a refused gateway key. */
  readonly failedCalls: number
  /** Latency of the calls, in buckets of `latencyOf`. */
  readonly latency: BucketCounts
  /** By operation. A missing one is closed. */
  readonly breaker: Readonly<Record<string, string>>
  /** By policy. A missing one was not charged in the last minute: it is full. */
  readonly budgetLeft: Readonly<Record<string, number>>
  /** Age of the currency list; null if none was read. */
  readonly listAgeSeconds: number | null
  /** Number of assets in its list. */
  readonly assets: number | null
  readonly drift: number
  /** Judgements of creates by outcome, without those that passed; absent in the counts of older processes. */
  readonly judgements?: JudgementCounts
  readonly quoteDeviation?: DeviationSum
}

export interface JudgementCounts {
  readonly refused: number
  readonly counted: number
}

/** Of what creates promise from the provider's newest quotes, as shares of them. */
export interface DeviationSum {
  readonly creates: number
  readonly sum: number
}

export interface ReplicaCounts {
  readonly providers: readonly ProviderCounts[]
  readonly shadow: ShadowCounts | null
}

export interface ReplicaFigures extends ReplicaCounts {
  readonly replica: string
  /** Time since the write. */
  readonly ageMs: number
}

/** Port: counts of all replicas, in the ledger. */
export interface ReplicaFiguresStore {
  /** Replaces the previous counts of this replica. */
  readonly write: (replica: string, counts: ReplicaCounts) => Promise<void>
  /** Deletes the counts of a replica that stops. */
  readonly remove: (replica: string) => Promise<void>
  /** The counts of replicas that wrote within 30 s. */
  readonly read: () => Promise<readonly ReplicaFigures[]>
}

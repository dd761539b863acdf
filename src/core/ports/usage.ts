/** Port: what accounts use (docs/contract.md §5). Hours and other times are milliseconds since 1970. */
import type { RequestName } from '../../domain/question.ts'

/** Below 400, 429, any other 4xx, 5xx. */
export type RequestResult = 'ok' | 'limited' | 'refused' | 'failed'

/** Requests of an account in an hour. */
export interface CountedRequests {
  /** Its id. */
  readonly account: string
  readonly hour: number
  readonly operation: RequestName
  readonly result: RequestResult
  readonly count: number
}

/** What one process counted, to be added once, however often it is written. */
export interface RequestBatch {
  /** The process. */
  readonly writer: string
  /** Greater than that of the batch before. */
  readonly number: number
  readonly counts: readonly CountedRequests[]
}

export interface AccountUsage {
  /** Its name. */
  readonly account: string
  /** Creates that were given to a provider, by what became of each. */
  readonly creates: Readonly<Record<CreateResult, number>>
  /** By status; `unknown` where the provider's is not known. */
  readonly swaps: Readonly<Record<string, number>>
  /** Sums by code: of what was sent and received by swaps of `success`, and of what was agreed for those under way. */
  readonly amounts: AmountSums
  readonly open: AmountSums
  readonly requests: Readonly<Partial<Record<RequestName, Readonly<Record<RequestResult, number>>>>>
}

/** `refused`: nothing was created. `unknown`: also those that are running. */
export type CreateResult = 'done' | 'refused' | 'unknown' | 'mismatch'

export interface AmountSums {
  readonly in: Readonly<Record<string, string>>
  readonly out: Readonly<Record<string, string>>
}

export interface UsageStore {
  readonly recordRequests: (batch: RequestBatch) => Promise<void>
  /** By name; of one account, if it is named. `since`: an hour; absent: all that is known. */
  readonly read: (since?: number, account?: string) => Promise<readonly AccountUsage[]>
}

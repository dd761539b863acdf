/** Streams of changes: what a client's edge writes as they come (docs/contract.md §18.2). */
import type { Context } from './service.ts'
import type { Transaction, TransactionReference } from './swap.ts'

/** Of one transaction, and of all of an account. */
export const streamNames = ['watchTransaction', 'watchTransactions'] as const

export type StreamName = (typeof streamNames)[number]

export type StreamEvent =
  /** Changes that the client has not seen are not kept any more. */
  | { readonly event: 'gap' }
  /** The client has all changes up to this number. */
  | { readonly event: 'position'; readonly id: number }
  /** `id`: undefined for a state that has no number. */
  | { readonly event: 'transaction'; readonly id: number | undefined; readonly body: Transaction }

export interface EventFeed {
  /** Of a stream about one provider: its tag. */
  readonly provider?: string | undefined
  /** Waits for events, and returns some. Undefined: the stream is over. */
  readonly next: () => Promise<readonly StreamEvent[] | undefined>
  /** Nobody reads it any more: a `next` that waits is over. */
  readonly close: () => void
}

/** `lastEventId`: as the client sent it. Each throws a `Fault` where there is no stream. */
export interface EventFeeds {
  /** `seen`: the client has seen the end. */
  readonly watchTransaction: (
    request: TransactionReference,
    context: Context,
    lastEventId: string | undefined,
  ) => Promise<EventFeed | 'seen'>
  /** Absent where the caller's transactions have no common owner here. */
  readonly watchTransactions?: (context: Context, lastEventId: string | undefined) => Promise<EventFeed>
}

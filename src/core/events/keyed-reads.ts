/**
 * Reads of what streams listen to, where clients send the provider's keys: only a process with a stream can read, with the key of one, as long
 * as that is open (docs/contract.md §18.4). When each is due is in the ledger, as it is for all others.
 */
import { forEachConcurrently, singleFlight } from '../../domain/async.ts'
import { Fault, isHeldBack } from '../../domain/fault.ts'
import type { WatchedTransaction, WatchStore } from '../watches.ts'

/** What a stream listens to, as far as it is read. */
export interface WatchingStream {
  /** What the gateway itself is to read meanwhile; undefined: nothing. */
  readonly watched: WatchedTransaction | 'all of its owner' | undefined
  /** Reads that with the key of the stream; undefined: the gateway has a key of its own. */
  readonly readWithKey: (() => Promise<unknown>) | undefined
}

const concurrency = 8
const retryPauseMs = 5_000

type Reads = ReadonlyMap<string, () => Promise<unknown>>

/** Returns a function that reads what is due. */
export function keyedReads(
  watches: Pick<WatchStore, 'takeDue' | 'recordReads' | 'postpone'>,
  streams: () => Iterable<WatchingStream>,
): () => Promise<void> {
  const readAt = async (provider: string, reads: Reads): Promise<void> => {
    const due = await watches.takeDue(provider, reads.size, [...reads.keys()])
    const unread: string[] = []
    await forEachConcurrently(concurrency, due, async ({ entry: { transaction } }) => {
      await reads
        .get(transaction.id)?.()
        .catch((reason: unknown) => isHeldBack(Fault.from(reason)) && unread.push(transaction.id))
    })
    const ids = due.map(({ entry }) => entry.transaction.id)
    await watches.recordReads(
      provider,
      ids.filter((id) => !unread.includes(id)),
    )
    await watches.postpone(provider, unread, retryPauseMs)
  }
  const flight = singleFlight(async () => {
    const byProvider = new Map<string, Map<string, () => Promise<unknown>>>()
    for (const { watched, readWithKey } of streams()) {
      if (readWithKey === undefined || watched === undefined || watched === 'all of its owner') continue
      byProvider.getOrInsertComputed(watched.provider, () => new Map()).set(watched.id, readWithKey)
    }
    await Promise.allSettled([...byProvider].map(([provider, reads]) => readAt(provider, reads)))
  })
  return () => flight.run()
}

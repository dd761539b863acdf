/**
 * Reads of what streams listen to, where clients send the provider's keys: only a process with a stream can read, with the key of one, as long
 * as that is open (docs/contract-operators.md §18.4). When each is due is in the ledger, as it is for all others; but what the ledger has for another
 * key only is due by the time of this process, and what a read finds goes to the streams themselves.
 */
import { forEachConcurrently, singleFlight } from '../../domain/async.ts'
import { Fault, isHeldBack } from '../../domain/fault.ts'
import { millisecondsOf } from '../../domain/instant.ts'
import type { Transaction } from '../../domain/swap.ts'
import { type WatchedTransaction, type WatchStore, watchPauseMs } from '../ports/watches.ts'

/** What a stream listens to, as far as it is read. */
export interface WatchingStream {
  /** What the gateway itself is to read meanwhile; undefined: nothing. */
  readonly watched: WatchedTransaction | 'all of its owner' | undefined
  /** Reads that with the key of the stream; undefined: the gateway has a key of its own. */
  readonly readWithKey: (() => Promise<{ readonly body: Transaction }>) | undefined
  /** Takes what a read has found; undefined: the ledger has rows of it. */
  readonly found: ((transaction: Transaction) => void) | undefined
}

const concurrency = 8
const retryPauseMs = 5_000
const youngPauseMs = watchPauseMs(0, false)

interface KeyedStream {
  /** Of the transaction and who listens to it. */
  readonly key: string
  readonly id: string
  readonly read: NonNullable<WatchingStream['readWithKey']>
  readonly found: WatchingStream['found']
}

/** Returns a function that reads what is due. A provider that hangs holds up its own reads only. */
export function keyedReads(
  watches: Pick<WatchStore, 'takeDue' | 'recordReads' | 'postpone'>,
  streams: () => Iterable<WatchingStream>,
): () => Promise<void> {
  const readKnown = async (provider: string, known: ReadonlyMap<string, KeyedStream>): Promise<void> => {
    const ids = [...new Set(known.values().map(({ id }) => id))]
    const due = await watches.takeDue(provider, ids.length, ids)
    const unread: string[] = []
    await forEachConcurrently(concurrency, due, async ({ entry: { owner, transaction } }) => {
      await known
        .get(keyOf(owner, transaction.id))
        ?.read()
        .catch((reason: unknown) => isHeldBack(Fault.from(reason)) && unread.push(transaction.id))
    })
    const read = due.map(({ entry }) => entry.transaction.id).filter((id) => !unread.includes(id))
    await watches.recordReads(provider, read)
    await watches.postpone(provider, unread, retryPauseMs)
  }
  /** On the clock of `performance.now()`. */
  const dueAt = new Map<string, number>()
  const readUnknown = async (unknown: ReadonlyMap<string, readonly KeyedStream[]>): Promise<void> => {
    await forEachConcurrently(concurrency, [...unknown], async ([key, [first, ...others]]) => {
      const now = performance.now()
      if (!first || now < dueAt.getOrInsert(key, now + youngPauseMs)) return
      const response = await first.read().catch(() => undefined)
      dueAt.set(key, performance.now() + (response ? pauseAfter(response.body) : retryPauseMs))
      if (response) for (const { found } of [first, ...others]) found?.(response.body)
    })
  }
  const flights = new Map<string, { readonly run: () => Promise<void> }>()
  const readAt = async (provider: string): Promise<void> => {
    const listening = keyedStreams(streams()).get(provider) ?? []
    const known = new Map(listening.flatMap((stream) => (stream.found ? [] : [[stream.key, stream] as const])))
    const unknown = Map.groupBy(
      listening.filter(({ found }) => found !== undefined),
      ({ key }) => key,
    )
    await Promise.allSettled([readKnown(provider, known), readUnknown(unknown)])
  }
  return async () => {
    const byProvider = keyedStreams(streams())
    const keys = new Set([...byProvider.values()].flatMap((listening) => listening.map(({ key }) => key)))
    for (const key of dueAt.keys()) if (!keys.has(key)) dueAt.delete(key)
    const runs = [...byProvider.keys()].map((provider) =>
      flights.getOrInsertComputed(provider, () => singleFlight(() => readAt(provider))).run(),
    )
    await Promise.allSettled(runs)
  }
}

function keyedStreams(streams: Iterable<WatchingStream>): ReadonlyMap<string, readonly KeyedStream[]> {
  const byProvider = new Map<string, KeyedStream[]>()
  for (const { watched, readWithKey, found } of streams) {
    if (readWithKey === undefined || watched === undefined || watched === 'all of its owner') continue
    const { owner, provider, id } = watched
    byProvider.getOrInsertComputed(provider, () => []).push({ key: keyOf(owner, id), id, read: readWithKey, found })
  }
  return byProvider
}

function keyOf(owner: string, id: string): string {
  return `${owner} ${id}`
}

function pauseAfter({ createdAt, status }: Transaction): number {
  return watchPauseMs(Date.now() - (millisecondsOf(createdAt) ?? 0), status === 'overdue')
}

/**
 * Gives events their numbers, and tells who listens in this process that there are new ones (docs/contract.md §18). One poll of the
 * ledger serves all listeners, whichever process has written.
 */
import type { Observer } from '../../domain/observation.ts'
import { formatTransactionId } from '../../domain/swap.ts'
import type { EventStore } from '../ports/transaction-events.ts'
import type { WatchedTransaction, WatchStore } from '../ports/watches.ts'
import { keyedReads, type WatchingStream } from './keyed-reads.ts'

export interface Listener extends WatchingStream {
  readonly owner: string
  /** Undefined: any change of its owner. */
  readonly transaction: string | undefined
  /** There may be new events. */
  readonly wake: () => void
  /** The process stops, or its key has ended. */
  readonly end: () => void
  /** Whether its key is still good. */
  readonly isAllowed: () => Promise<boolean>
  /** Its key was good a moment ago. */
  readonly confirm: () => void
}

/** Writes at the same time are numbered together. */
const numberAfterMs = 15
/** Another process is giving numbers. */
const retryAfterMs = 30
const maxAttempts = 10
const pollIntervalMs = 1_000
/** What other processes have numbered is looked for so often while somebody listens, in at most a tenth of the time. */
const lookIntervalMs = 200
const pauseOfLook = 9
/** A look-up of a key is two seconds old at most. */
const keyCheckIntervalMs = 2_000
/** What is listened to is watched for so long, and again before that is over. */
const watchedForMs = 60_000
const watchIntervalMs = 20_000
const readIntervalMs = 1_000
const maxRead = 500
/** For each row that an identity gets, its streams wait so long before they read on: a replay takes the processor from nobody. */
const rowMs = 1

/** Of all processes. */
export interface StreamPlaces {
  /** Takes a place of an identity for one stream. Returns a function that gives it back; undefined: it has none left. */
  readonly take: (identity: string, max: number) => Promise<(() => void) | undefined>
}

/** Where each process counts alone. */
export const unsharedPlaces: StreamPlaces = { take: async () => () => {} }

interface OpenStreams {
  count: number
  /** On the clock of `performance.now()`. */
  nextReadAt: number
}

interface Followed {
  readonly listeners: Set<Listener>
  /** The listeners know of the numbers up to this one; undefined until it is read. */
  last: number | undefined
}

type Watches = Pick<WatchStore, 'watch' | 'watchOwners' | 'takeDue' | 'recordReads' | 'postpone'>

export class EventHub {
  private readonly store: EventStore
  private readonly watches: Watches
  private readonly readWithKeys: () => Promise<void>
  private readonly observe: Observer
  private readonly places: StreamPlaces
  private readonly owners = new Map<string, Followed>()
  private readonly open = new Map<string, OpenStreams>()
  private readonly timers: NodeJS.Timeout[] = []
  private next: NodeJS.Timeout | undefined
  private running: Promise<void> | undefined
  /** On the clock of `performance.now()`. */
  private nextLookAt = 0
  private isStopping = false

  constructor(store: EventStore, watches: Watches, observe: Observer, places = unsharedPlaces) {
    this.store = store
    this.watches = watches
    this.readWithKeys = keyedReads(watches, () => this.listeners())
    this.observe = observe
    this.places = places
  }

  start(): void {
    this.store.onWritten(() => this.runAfter(numberAfterMs))
    this.timers.push(
      setInterval(() => this.run(), pollIntervalMs).unref(),
      setInterval(() => this.look(), lookIntervalMs).unref(),
      setInterval(() => void this.checkKeys(), keyCheckIntervalMs).unref(),
      setInterval(() => this.watch(this.listeners()), watchIntervalMs).unref(),
      setInterval(() => void this.readWithKeys().catch(() => {}), readIntervalMs).unref(),
    )
  }

  /** The open streams of this process. */
  get streams(): number {
    return this.open.values().reduce((sum, { count }) => sum + count, 0)
  }

  get hasEnded(): boolean {
    return this.isStopping
  }

  /** Takes a place of an identity for one stream. Returns a function that gives it back; undefined: it has none left. */
  async take(identity: string, max: number): Promise<(() => void) | undefined> {
    const giveBackOwn = this.takeOwn(identity, max)
    if (!giveBackOwn) return undefined
    const giveBackShared = await this.places.take(identity, max)
    if (!giveBackShared) return void giveBackOwn()
    return () => {
      giveBackOwn()
      giveBackShared()
    }
  }

  /** Of this process. */
  private takeOwn(identity: string, max: number): (() => void) | undefined {
    const streams = this.open.getOrInsertComputed(identity, () => ({ count: 0, nextReadAt: 0 }))
    if (streams.count >= max) return undefined
    streams.count++
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      streams.count--
      if (streams.count === 0 && this.open.get(identity) === streams) this.open.delete(identity)
    }
  }

  /** An identity gets at most 1,000 rows a second in this process, over all its streams. Waits until it may read on. */
  async turnToRead(identity: string): Promise<void> {
    const waitMs = (): number => (this.open.get(identity)?.nextReadAt ?? 0) - performance.now()
    await new Promise((resolve) => setImmediate(resolve))
    for (let ms = waitMs(); ms > 0; ms = waitMs()) await new Promise((resolve) => setTimeout(resolve, ms))
  }

  /** What one of its streams has read. */
  countRead(identity: string, rows: number): void {
    const streams = this.open.get(identity)
    if (streams) streams.nextReadAt = Math.max(streams.nextReadAt, performance.now()) + rows * rowMs
  }

  /** The gateway reads what they listen to, as far as it is open. What fails is tried again at the next interval. */
  watch(listeners: Iterable<Listener>): void {
    const transactions = new Map<string, WatchedTransaction>()
    const owners = new Set<string>()
    for (const { owner, watched } of listeners) {
      if (watched === 'all of its owner') owners.add(owner)
      else if (watched) transactions.set(formatTransactionId(watched.provider, watched.id), watched)
    }
    this.watches.watch([...transactions.values()], watchedForMs).catch(() => {})
    this.watches.watchOwners([...owners], watchedForMs).catch(() => {})
  }

  /** Wakes the listener after each change from now on. Returns a function that ends that. */
  follow(listener: Listener): () => void {
    const { owner } = listener
    const followed = this.owners.getOrInsertComputed(owner, () => ({ listeners: new Set(), last: undefined }))
    followed.listeners.add(listener)
    return () => {
      followed.listeners.delete(listener)
      if (followed.listeners.size === 0 && this.owners.get(owner) === followed) this.owners.delete(owner)
    }
  }

  /** Waits until what was committed before has its numbers, whichever process gives them. */
  async numberNow(): Promise<void> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const { count, mayBeMore } = await this.store.number()
      if (count > 0) this.observe({ what: 'eventsNumbered', count })
      if (!mayBeMore) return
      if (count === 0) await new Promise((resolve) => setTimeout(resolve, retryAfterMs).unref())
    }
  }

  /** Ends every stream, and every one that comes later at once. */
  endStreams(): void {
    this.isStopping = true
    for (const listener of this.listeners()) listener.end()
  }

  async close(): Promise<void> {
    this.endStreams()
    for (const timer of this.timers) clearInterval(timer)
    clearTimeout(this.next)
    await Promise.allSettled([this.running, this.readWithKeys()])
  }

  private runAfter(ms: number): void {
    if (this.isStopping) return
    this.next ??= setTimeout(() => this.run(), ms).unref()
  }

  /** What fails is tried again by the next poll. */
  private run(): void {
    clearTimeout(this.next)
    this.next = undefined
    if (this.running) return void this.runAfter(numberAfterMs)
    this.keep(this.numberAndTell())
  }

  private look(): void {
    if (this.running || this.owners.size === 0 || performance.now() < this.nextLookAt) return
    this.keep(this.tell())
  }

  private keep(running: Promise<void>): void {
    this.running = running
      .catch(() => {})
      .finally(() => {
        this.running = undefined
      })
  }

  private async numberAndTell(): Promise<void> {
    const { count, mayBeMore } = await this.store.number()
    if (count > 0) this.observe({ what: 'eventsNumbered', count })
    await this.tell()
    if (mayBeMore) this.runAfter(retryAfterMs)
  }

  private async tell(): Promise<void> {
    const startedAt = performance.now()
    const last = await this.store.lastNumbers([...this.owners.keys()])
    const endedAt = performance.now()
    this.nextLookAt = endedAt + pauseOfLook * (endedAt - startedAt)
    for (const [owner, followed] of this.owners) {
      const number = last.get(owner) ?? 0
      if (followed.last === number) continue
      const before = followed.last
      // What cannot be read of one owner is no reason not to tell the others.
      const changed = before === undefined ? undefined : await this.changedAfter(owner, before, followed).catch(() => undefined)
      followed.last = number
      for (const listener of followed.listeners)
        if (!changed || listener.transaction === undefined || changed.has(listener.transaction)) listener.wake()
    }
  }

  /** The keys of the transactions that have changed; undefined if nobody listens to a single one, or many have. */
  private async changedAfter(owner: string, last: number, { listeners }: Followed): Promise<ReadonlySet<string> | undefined> {
    if (listeners.values().every(({ transaction }) => transaction === undefined)) return undefined
    const events = await this.store.ofOwner(owner, last, maxRead)
    if (events.length === maxRead) return undefined
    return new Set(events.map(({ entry }) => formatTransactionId(entry.provider, entry.transaction.id)))
  }

  private async checkKeys(): Promise<void> {
    const check = async (listener: Listener): Promise<void> => {
      // A ledger that does not answer says nothing about a key: the stream neither ends nor goes on.
      const isAllowed = await listener.isAllowed().catch(() => undefined)
      if (isAllowed) listener.confirm()
      else if (isAllowed === false) listener.end()
    }
    await Promise.all(this.listeners().map(check))
  }

  private listeners(): readonly Listener[] {
    return [...this.owners.values()].flatMap(({ listeners }) => [...listeners])
  }
}

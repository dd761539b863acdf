import { bytesOf, type Cache, type CacheShare } from './cache-memory.ts'

export interface BoundedMapOptions<Value> {
  /** The bytes that it shares with other caches of its kind. */
  readonly share: CacheShare
  readonly maxEntries: number
  /** Entries that were not read for this time may be dropped. Without it only the bounds drop entries. */
  readonly lifetimeMs?: number
  /** Default: that of plain data. */
  readonly sizeOf?: (value: Value) => number
}

interface Entry<Value> {
  value: Value
  bytes: number
}

/** Of an entry in two tables that may be half empty, and of its object. */
const entryBytes = 120

/**
 * A map with bounds on entries and bytes, and constant cost per call. It has two generations: the older one is dropped as a whole when
 * the younger one has half of either, or is too old. An entry that was read or written within `lifetimeMs` is kept, unless that much came
 * after it. An entry of more than half of the bytes is not kept. One that grows must be set again.
 * `now`: milliseconds on any one monotonic clock; not needed without `lifetimeMs`.
 */
export class BoundedMap<Value> implements Cache {
  private readonly share: CacheShare
  private readonly maxYoung: number
  private readonly lifetimeMs: number
  private readonly sizeOf: (value: Value) => number
  private young = new Map<string, Entry<Value>>()
  private old = new Map<string, Entry<Value>>()
  private youngBytes = 0
  private oldBytes = 0
  private startedAt = Number.NEGATIVE_INFINITY

  constructor({ share, maxEntries, lifetimeMs = Number.POSITIVE_INFINITY, sizeOf = bytesOf }: BoundedMapOptions<Value>) {
    this.share = share
    this.maxYoung = maxEntries / 2
    this.lifetimeMs = lifetimeMs
    this.sizeOf = sizeOf
    share.add(this)
  }

  get bytes(): number {
    return this.youngBytes + this.oldBytes
  }

  get entries(): number {
    return this.young.size + this.old.size
  }

  /** Includes entries that are too old. */
  get all(): readonly (readonly [string, Value])[] {
    return [...this.old, ...this.young].map(([key, { value }]) => [key, value])
  }

  get(key: string, now = 0): Value | undefined {
    const young = this.young.get(key)
    if (young !== undefined && !this.isOver(now)) return young.value
    const entry = young ?? this.old.get(key)
    if (entry === undefined) return undefined
    this.remove(key)
    this.add(key, entry, now)
    return entry.value
  }

  set(key: string, value: Value, now = 0): Value {
    const bytes = entryBytes + bytesOf(key) + this.sizeOf(value)
    const known = this.young.get(key)
    if (known?.bytes === bytes && !this.isOver(now)) known.value = value
    else {
      this.remove(key)
      this.add(key, { value, bytes }, now)
    }
    return value
  }

  delete(key: string): void {
    this.remove(key)
  }

  clear(): void {
    this.dropOld()
    this.turn(this.startedAt)
    this.dropOld()
  }

  dropOldest(): void {
    if (this.old.size > 0) {
      this.dropOld()
      return
    }
    let left = Math.ceil(this.young.size / 2)
    for (const key of this.young.keys()) {
      if (left-- === 0) return
      this.remove(key)
    }
  }

  private add(key: string, entry: Entry<Value>, now: number): void {
    const { share } = this
    const half = share.maxBytes / 2
    if (entry.bytes > half) return
    if (this.isOver(now)) this.turn(now)
    else if (this.young.size >= this.maxYoung || this.youngBytes + entry.bytes > half) {
      share.evictions += this.old.size
      this.turn(now)
    }
    while (!share.makeRoom(entry.bytes, this)) {
      if (this.entries === 0) return
      const before = this.entries
      this.dropOldest()
      share.evictions += before - this.entries
    }
    this.young.set(key, entry)
    this.youngBytes += entry.bytes
    share.count(entry.bytes)
  }

  private remove(key: string): void {
    const young = this.young.get(key)
    const entry = young ?? this.old.get(key)
    if (entry === undefined) return
    if (young) {
      this.young.delete(key)
      this.youngBytes -= entry.bytes
    } else {
      this.old.delete(key)
      this.oldBytes -= entry.bytes
    }
    this.share.count(-entry.bytes)
  }

  /** Begins a new generation. */
  private turn(now: number): void {
    this.dropOld()
    this.old = this.young
    this.oldBytes = this.youngBytes
    this.young = new Map()
    this.youngBytes = 0
    this.startedAt = now
  }

  private dropOld(): void {
    this.share.count(-this.oldBytes)
    this.old = new Map()
    this.oldBytes = 0
  }

  private isOver(now: number): boolean {
    return now - this.startedAt >= this.lifetimeMs
  }
}

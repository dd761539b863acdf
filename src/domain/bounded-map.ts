interface BoundedMapOptions<Value> {
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

// How many bytes the caches of this process may take: a share for each kind of cache (docs/contract-operators.md §13).

/** The shares of all bytes. What is derived from a list is with it. */
const shares = {
  currencyLists: 0.32,
  currencyPages: 0.14,
  quotes: 0.07,
  winners: 0.05,
  transactions: 0.07,
  transactionLists: 0.12,
  listScans: 0.08,
  writes: 0.03,
  keys: 0.04,
  limits: 0.05,
  callers: 0.03,
} as const

type CacheKind = keyof typeof shares

/** Of all caches. */
let totalBytes = Number.POSITIVE_INFINITY

const minSweep = 16

/** One of the caches of a kind, such as that of one provider. */
export interface Cache {
  readonly bytes: number
  readonly entries: number
  /** Drops the older part of its entries, at least one if it has any. */
  readonly dropOldest: () => void
}

/**
 * The bytes that all caches of one kind may take together. Where they are full, the largest one drops entries: what one provider sends
 * does not displace what others have. A cache that nothing uses any more leaves with the garbage.
 */
export class CacheShare {
  /** Entries that were dropped to make room. */
  evictions = 0
  private readonly readMaxBytes: () => number
  private caches: WeakRef<Cache>[] = []
  /** At so many caches those that are garbage are looked for. */
  private nextSweep = minSweep
  /** Includes what caches had that are garbage by now. */
  private taken = 0

  constructor(maxBytes: number | (() => number)) {
    this.readMaxBytes = typeof maxBytes === 'number' ? () => maxBytes : maxBytes
  }

  get maxBytes(): number {
    return this.readMaxBytes()
  }

  get bytes(): number {
    return this.live().reduce((sum, { bytes }) => sum + bytes, 0)
  }

  get entries(): number {
    return this.live().reduce((sum, { entries }) => sum + entries, 0)
  }

  add(cache: Cache): void {
    if (this.caches.length >= this.nextSweep) {
      this.caches = this.caches.filter((known) => known.deref())
      this.nextSweep = Math.max(minSweep, 2 * this.caches.length)
    }
    this.caches.push(new WeakRef(cache))
  }

  /** Counts what a cache keeps, or, if negative, what it has dropped. */
  count(bytes: number): void {
    this.taken += bytes
  }

  /** Makes room for more bytes in `cache`. False if that would be the largest one with them: then it has to drop something itself. */
  makeRoom(bytes: number, cache: Cache): boolean {
    if (this.taken + bytes <= this.maxBytes) return true
    const caches = this.live()
    this.taken = caches.reduce((sum, known) => sum + known.bytes, 0)
    while (this.taken + bytes > this.maxBytes) {
      const largest = caches.reduce((one, other) => (other.bytes > one.bytes ? other : one), cache)
      if (largest.bytes <= cache.bytes + bytes) return false
      this.evictions += largest.entries
      largest.dropOldest()
      this.evictions -= largest.entries
    }
    return true
  }

  private live(): readonly Cache[] {
    return this.caches.flatMap((cache) => cache.deref() ?? [])
  }
}

export const cacheShares = Object.fromEntries(
  Object.entries(shares).map(([kind, share]) => [kind, new CacheShare(() => Math.floor(totalBytes * share))]),
) as Readonly<Record<CacheKind, CacheShare>>

/** Sets the bytes that all caches of this process may take together. Before, there is no bound. */
export function limitCaches(bytes: number): void {
  totalBytes = bytes
}

/** A value that is replaced as a whole, like a list. */
export class CacheSlot<Value> implements Cache {
  bytes = 0
  private kept: Value | undefined
  private readonly share: CacheShare

  constructor(share: CacheShare) {
    this.share = share
    share.add(this)
  }

  get value(): Value | undefined {
    return this.kept
  }

  get entries(): number {
    return this.kept === undefined ? 0 : 1
  }

  /** False if there is no room for the value, unless it takes that of a larger one: then the slot keeps what it has. */
  set(value: Value, bytes: number): boolean {
    const more = bytes - this.bytes
    if (!this.share.makeRoom(more, this)) return false
    this.replace(value, bytes)
    return true
  }

  dropOldest(): void {
    this.replace(undefined, 0)
  }

  private replace(value: Value | undefined, bytes: number): void {
    this.share.count(bytes - this.bytes)
    this.kept = value
    this.bytes = bytes
  }
}

const beyondLatin1 = /[^\u0000-\u00ff]/

/** Bytes of V8's values beside their contents. */
const objectBytes = 40
const fieldBytes = 16
const tableBytes = 320
/** Of a map or a set, of which a table may be half empty. */
const collectionEntryBytes = 48
const numberBytes = 16
const textBytes = 32

/** An estimate from above of what plain data takes in memory. What it has twice counts twice, so it must have no circles. */
export function bytesOf(value: unknown): number {
  if (typeof value === 'string') return bytesOfText(value)
  if (typeof value === 'number' || typeof value === 'bigint') return numberBytes
  if (typeof value !== 'object' || value === null) return 0
  if (value instanceof Map || value instanceof Set) {
    let bytes = tableBytes
    for (const [key, kept] of value.entries())
      bytes += collectionEntryBytes + bytesOf(key) + (value instanceof Map ? bytesOf(kept) : 0)
    return bytes
  }
  let bytes = objectBytes
  // Half the time of a loop over `Object.values`.
  for (const field in value) bytes += fieldBytes + bytesOf((value as Record<string, unknown>)[field])
  return bytes
}

/** V8 has one byte for each character of a text in Latin-1, else two. */
function bytesOfText(text: string): number {
  return textBytes + (beyondLatin1.test(text) ? 2 * text.length : text.length)
}

/** Total length of the row's strings: an estimate of its memory. */
export function textLength(row: object): number {
  let length = 0
  for (const value of Object.values(row)) if (typeof value === 'string') length += value.length
  return length
}

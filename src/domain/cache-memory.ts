/** How many bytes the caches of this process may take: a share for each kind of cache (docs/contract.md §13). */

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

export type CacheKind = keyof typeof shares

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
    for (const [key, kept] of value.entries()) bytes += collectionEntryBytes + bytesOf(key) + (value instanceof Map ? bytesOf(kept) : 0)
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

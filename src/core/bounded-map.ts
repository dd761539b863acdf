export interface BoundedMapOptions {
  readonly maxEntries: number
  /** Entries that were not read for this time may be dropped. Without it only `maxEntries` drops entries. */
  readonly lifetimeMs?: number
}

/**
 * A map with a bound on memory and constant cost per call. It has two generations: the older one is dropped as a whole when the
 * younger one is full or too old. An entry that was read or written within `lifetimeMs` is kept, unless half of `maxEntries` came after it.
 * `now`: milliseconds on any one monotonic clock; not needed without `lifetimeMs`.
 */
export class BoundedMap<Value> {
  private readonly maxYoung: number
  private readonly lifetimeMs: number
  private young = new Map<string, Value>()
  private old = new Map<string, Value>()
  private startedAt = Number.NEGATIVE_INFINITY

  constructor({ maxEntries, lifetimeMs = Number.POSITIVE_INFINITY }: BoundedMapOptions) {
    this.maxYoung = maxEntries / 2
    this.lifetimeMs = lifetimeMs
  }

  get(key: string, now = 0): Value | undefined {
    const young = this.young.get(key)
    if (young !== undefined && !this.isOver(now)) return young
    const value = young ?? this.old.get(key)
    return value === undefined ? undefined : this.set(key, value, now)
  }

  set(key: string, value: Value, now = 0): Value {
    if (this.isOver(now) || (this.young.size >= this.maxYoung && !this.young.has(key))) {
      this.old = this.young
      this.young = new Map()
      this.startedAt = now
    }
    this.young.set(key, value)
    return value
  }

  delete(key: string): void {
    this.young.delete(key)
    this.old.delete(key)
  }

  private isOver(now: number): boolean {
    return now - this.startedAt >= this.lifetimeMs
  }
}

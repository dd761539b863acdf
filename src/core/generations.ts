/**
 * A map that forgets by itself, at the same cost for each call: two generations, of which the older goes as a whole once the younger
 * is full or over. What was used within `lifetime` milliseconds is kept, unless half of `most` entries came after it.
 */
export class Generations<T> {
  private readonly most: number
  private readonly lifetime: number
  private young = new Map<string, T>()
  private old = new Map<string, T>()
  private bornAt = Number.NEGATIVE_INFINITY

  constructor(most: number, lifetime: number) {
    this.most = most / 2
    this.lifetime = lifetime
  }

  /** Times are milliseconds on any one clock that is not set back. */
  get(key: string, now: number): T | undefined {
    const known = this.young.get(key)
    if (known !== undefined && now - this.bornAt < this.lifetime) return known
    const value = known ?? this.old.get(key)
    return value === undefined ? undefined : this.add(key, value, now)
  }

  add(key: string, value: T, now: number): T {
    if (this.young.size >= this.most || now - this.bornAt >= this.lifetime) {
      this.old = this.young
      this.young = new Map()
      this.bornAt = now
    }
    this.young.set(key, value)
    return value
  }
}

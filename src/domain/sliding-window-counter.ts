/** Counts distinct items of the last seconds. Each item counts once, in the second in which it was last added. */
export class SlidingWindowCounter {
  private readonly counts: Uint32Array
  private second = 0
  private sum = 0

  /** Every method has constant cost. */
  constructor(windowSeconds: number) {
    this.counts = new Uint32Array(windowSeconds)
  }

  /** The number of items. `now` in milliseconds. */
  count(now: number): number {
    this.advance(now)
    return this.sum
  }

  /** Counts an item. `countedAt`: the value that this returned for the same item the last time. */
  add(now: number, countedAt?: number): number {
    this.remove(now, countedAt)
    const at = this.second % this.counts.length
    this.counts[at] = (this.counts[at] ?? 0) + 1
    this.sum++
    return this.second
  }

  remove(now: number, countedAt?: number): void {
    this.advance(now)
    if (countedAt === undefined || countedAt <= this.second - this.counts.length) return
    const at = countedAt % this.counts.length
    this.counts[at] = (this.counts[at] ?? 0) - 1
    this.sum--
  }

  /** Empties the seconds that have passed since the last call. */
  private advance(now: number): void {
    const { counts, second } = this
    const current = Math.max(second, Math.floor(now / 1000))
    for (let passed = Math.max(second + 1, current - counts.length + 1); passed <= current; passed++) {
      const at = passed % counts.length
      this.sum -= counts[at] ?? 0
      counts[at] = 0
    }
    this.second = current
  }
}

/** Measures the time during which at least one of several overlapping activities ran. Times in milliseconds. */
export class Stopwatch {
  private running = 0
  private since = 0
  private total = 0

  start(now: number): void {
    if (this.running++ === 0) this.since = now
  }

  stop(now: number): void {
    if (--this.running === 0) this.total += now - this.since
  }

  /** The total, including running activities. */
  read(now: number): number {
    return this.running > 0 ? this.total + now - this.since : this.total
  }
}

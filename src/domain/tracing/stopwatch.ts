/** Measures the time during which at least one of several overlapping activities ran. Times in milliseconds. */
export class Stopwatch {
  private active = 0
  private since = 0
  private total = 0

  start(now: number): void {
    if (this.active++ === 0) this.since = now
  }

  stop(now: number): void {
    if (--this.active === 0) this.total += now - this.since
  }

  /** The total, including activities that still run. */
  read(now: number): number {
    return this.active > 0 ? this.total + now - this.since : this.total
  }
}

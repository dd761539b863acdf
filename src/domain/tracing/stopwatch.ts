/** How long at least one of several things was under way that may overlap. Times in milliseconds. */
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

  /** With what is under way. */
  read(now: number): number {
    return this.running > 0 ? this.total + now - this.since : this.total
  }
}

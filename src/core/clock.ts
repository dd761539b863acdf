/** Milliseconds since 1970. */
export type Clock = () => number
/** Milliseconds on a clock that is never set back; where it starts has no meaning. */
export type SteadyClock = () => number

/** A stored sequence further ahead than this comes from a process with a wrong clock. */
const toleranceUs = 5_000_000

/**
 * Orders upstream requests, so that of two reports of one transaction the later one is kept. A hybrid logical clock:
 * microseconds since 1970, but greater than every sequence that this process has issued or observed.
 */
export class SequenceClock {
  private last = 0
  private readonly clock: Clock

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Returns a sequence greater than all before. */
  next(): number {
    this.last = Math.max(this.last + 1, this.clock() * 1_000)
    return this.last
  }

  /** Makes all later sequences greater than this one, which another process may have issued. */
  observe(sequence: number | undefined): void {
    if (sequence !== undefined && sequence > this.last) this.last = sequence
  }

  /** Makes a response's sequence comparable with the stored one. If the clocks of two processes disagree, the response is the later one. */
  align(sequence: number | undefined, stored: number | undefined): number | undefined {
    const isComparable = stored === undefined || stored <= this.last + toleranceUs || stored <= this.clock() * 1_000 + toleranceUs
    this.observe(stored)
    return sequence === undefined || isComparable ? sequence : this.next()
  }
}

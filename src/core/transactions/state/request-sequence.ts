import type { Clock } from '../../clock.ts'
import { aroundAll, type Layer } from '../../layer.ts'

/** A kept sequence that is further ahead than this comes from a process whose clock is wrong, in microseconds. */
const toleranceUs = 5_000_000

/**
 * Orders the requests that go up, so that of two readings of one transaction the later one is kept. A hybrid logical clock:
 * microseconds since 1970, but never less than any sequence that this process has given or met, whatever the wall clock does.
 */
export class SequenceClock {
  private last = 0
  private readonly clock: Clock

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Greater than all before. */
  next(): number {
    this.last = Math.max(this.last + 1, this.clock() * 1_000)
    return this.last
  }

  /** Whatever is sent from now on comes after this one, which another process may have given. */
  observe(sequence: number | undefined): void {
    if (sequence !== undefined && sequence > this.last) this.last = sequence
  }

  /** The place of a response beside what is kept. Where the clocks of two processes disagree, the response is the later one. */
  align(sequence: number | undefined, stored: number | undefined): number | undefined {
    const isComparable = stored === undefined || stored <= Math.max(this.last, this.clock() * 1_000) + toleranceUs
    this.observe(stored)
    return sequence === undefined || isComparable ? sequence : this.next()
  }
}

/** Notes in each answer when its request went up: stands right before the provider. */
export function numberRequests(sequences: SequenceClock): Layer {
  return aroundAll((op, request, context, next) => {
    const sequence = sequences.next()
    return next.call(op, request, context).then((answer) => ({ ...answer, sequence }))
  })
}

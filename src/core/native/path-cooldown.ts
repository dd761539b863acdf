import type { Fault } from '../../domain/faults/fault.ts'
import type { OpenPath } from '../../domain/native/open-path.ts'

/** However long a provider asks for, it is tried again after so many milliseconds. */
const maxCooldownMs = 3_600_000

/** Leaves an open path alone for as long as a 429 of the provider says there: what it limits is that path. */
export class PathCooldown {
  private readonly clock: () => number
  private readonly onStart: () => void
  private readonly until = new Map<string, number>()

  constructor(clock: () => number, onStart: () => void) {
    this.clock = clock
    this.onStart = onStart
  }

  remainingMs(openPath: OpenPath): number {
    return (this.until.get(keyOf(openPath)) ?? Number.NEGATIVE_INFINITY) - this.clock()
  }

  /** Nothing, where the provider does not say how long. */
  note(openPath: OpenPath, fault: Fault | undefined): void {
    if (fault?.kind !== 'limited' || fault.retryAfter === undefined) return
    this.onStart()
    this.until.set(keyOf(openPath), this.clock() + Math.min(fault.retryAfter * 1000, maxCooldownMs))
  }
}

function keyOf({ method, pattern }: OpenPath): string {
  return `${method} ${pattern}`
}

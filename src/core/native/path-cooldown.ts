import type { Fault } from '../../domain/fault.ts'
import type { OpenPath } from '../../domain/native.ts'

/** The longest cooldown, whatever the provider's `Retry-After`. */
const maxCooldownMs = 3_600_000

/** A cooldown for each open path, after a 429 with `Retry-After`. Other paths are not affected. */
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

  /** Starts the cooldown. Without `Retry-After` there is none. */
  note(openPath: OpenPath, fault: Fault | undefined): void {
    if (fault?.kind !== 'limited' || fault.retryAfter === undefined) return
    this.onStart()
    this.until.set(keyOf(openPath), this.clock() + Math.min(fault.retryAfter * 1000, maxCooldownMs))
  }
}

function keyOf({ method, pattern }: OpenPath): string {
  return `${method} ${pattern}`
}

import { BoundedMap } from './bounded-map.ts'
import { cooldown } from './circuit.ts'

interface Failures {
  inRow: number
  holds: number
  heldUntil: number
}

const failuresInRow = 5
/** A bound on memory, in callers that have failed; and for how many milliseconds each is remembered. */
const mostCallers = 20_000
const memory = 600_000

/** Callers whose calls fail while those of others do not: each is held back alone, as long as a breaker would be open. */
export class CallerFailures {
  private readonly known = new BoundedMap<Failures>({ maxEntries: mostCallers, lifetimeMs: memory })
  private anyHeldUntil = Number.NEGATIVE_INFINITY

  isAnyHeld(now: number): boolean {
    return now < this.anyHeldUntil
  }

  /** Milliseconds for which it is held back. */
  left(caller: string, now: number): number {
    return Math.max(0, (this.known.get(caller, now)?.heldUntil ?? 0) - now)
  }

  /** Whether it has failed five times in a row, at least. */
  add(caller: string, now: number): boolean {
    const fresh = { inRow: 0, holds: 0, heldUntil: Number.NEGATIVE_INFINITY }
    const failures = this.known.get(caller, now) ?? this.known.set(caller, fresh, now)
    return ++failures.inRow >= failuresInRow
  }

  /** Nothing, where it was answered meanwhile. */
  hold(caller: string, now: number, random: () => number): void {
    const failures = this.known.get(caller, now)
    if (!failures || failures.inRow < failuresInRow || failures.heldUntil > now) return
    failures.heldUntil = now + cooldown(++failures.holds, random)
    this.anyHeldUntil = Math.max(this.anyHeldUntil, failures.heldUntil)
  }

  clear(caller: string, now: number): void {
    const failures = this.known.get(caller, now)
    if (failures) Object.assign(failures, { inRow: 0, holds: 0 })
  }
}

import { BoundedMap } from '../../bounded-map.ts'
import { openDurationMs } from './circuit.ts'

interface Failures {
  consecutive: number
  blocks: number
  blockedUntil: number
}

const maxConsecutiveFailures = 5
/** A bound on memory, in callers that have failed; and for how many milliseconds each is remembered. */
const maxCallers = 20_000
const rememberForMs = 600_000

/** Callers whose calls fail while those of others do not: each is held back alone, as long as a breaker would be open. */
export class CallerFailures {
  private readonly callers = new BoundedMap<Failures>({ maxEntries: maxCallers, lifetimeMs: rememberForMs })
  private anyBlockedUntil = Number.NEGATIVE_INFINITY

  isAnyBlocked(now: number): boolean {
    return now < this.anyBlockedUntil
  }

  /** Milliseconds for which it is held back. */
  remainingMs(caller: string, now: number): number {
    return Math.max(0, (this.callers.get(caller, now)?.blockedUntil ?? 0) - now)
  }

  /** Whether it has failed five times in a row, at least. */
  add(caller: string, now: number): boolean {
    const fresh = { consecutive: 0, blocks: 0, blockedUntil: Number.NEGATIVE_INFINITY }
    const failures = this.callers.get(caller, now) ?? this.callers.set(caller, fresh, now)
    return ++failures.consecutive >= maxConsecutiveFailures
  }

  /** Nothing, where it was answered meanwhile. */
  block(caller: string, now: number, random: () => number): void {
    const failures = this.callers.get(caller, now)
    if (!failures || failures.consecutive < maxConsecutiveFailures || failures.blockedUntil > now) return
    failures.blockedUntil = now + openDurationMs(++failures.blocks, random)
    this.anyBlockedUntil = Math.max(this.anyBlockedUntil, failures.blockedUntil)
  }

  clear(caller: string, now: number): void {
    const failures = this.callers.get(caller, now)
    if (failures) Object.assign(failures, { consecutive: 0, blocks: 0 })
  }
}

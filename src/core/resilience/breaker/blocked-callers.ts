import { BoundedMap } from '../../../domain/bounded-map.ts'
import { cacheShares } from '../../../domain/cache-memory.ts'
import { openDurationMs } from './circuit.ts'

interface Failures {
  consecutive: number
  blocks: number
  blockedUntil: number
}

const maxConsecutiveFailures = 5
/** A bound on memory in callers with failures, and how long each is kept. */
const maxCallers = 20_000
const rememberForMs = 600_000

/** Counts the failures of each caller. One whose calls alone fail is blocked alone, as long as a breaker would be open. */
export class BlockedCallers {
  private readonly callers = new BoundedMap<Failures>({
    share: cacheShares.callers,
    maxEntries: maxCallers,
    lifetimeMs: rememberForMs,
  })
  private anyBlockedUntil = Number.NEGATIVE_INFINITY

  /** Reads the clock only if a caller was ever blocked. */
  isAnyBlocked(clock: () => number): boolean {
    return this.anyBlockedUntil !== Number.NEGATIVE_INFINITY && clock() < this.anyBlockedUntil
  }

  /** Milliseconds until the caller is no longer blocked; 0 if it is not. */
  remainingMs(caller: string, now: number): number {
    return Math.max(0, (this.callers.get(caller, now)?.blockedUntil ?? 0) - now)
  }

  /** Counts a failure. Returns whether the caller has at least five consecutive failures. */
  add(caller: string, now: number): boolean {
    const fresh = { consecutive: 0, blocks: 0, blockedUntil: Number.NEGATIVE_INFINITY }
    const failures = this.callers.get(caller, now) ?? this.callers.set(caller, fresh, now)
    return ++failures.consecutive >= maxConsecutiveFailures
  }

  /** Blocks the caller, unless a call of it succeeded meanwhile. */
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

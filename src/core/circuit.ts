/** The three states of a circuit breaker. */
import type { BreakerState } from '../domain/observation.ts'

export interface CircuitOptions {
  /** Milliseconds, on a clock that is never set back. */
  readonly clock: () => number
  /** From 0 to 1. */
  readonly random: () => number
  readonly onState: (state: BreakerState) => void
}

/** Envoy's figures, in milliseconds: the first cooldown, and the longest. */
const firstCooldown = 30_000
const longestCooldown = 300_000
/** So much of a cooldown is left to chance, so that not all replicas come back at once. */
const jitter = 0.1

/** Milliseconds for the n-th time in a row: 30, 60, 90 … 300 s. */
export function cooldown(times: number, random: () => number): number {
  return Math.min(firstCooldown * times, longestCooldown) * (1 - jitter * random())
}

/** The n-th opening lasts n times as long as the first; each first cooldown that it stays closed takes one off. */
export class Circuit {
  private readonly options: CircuitOptions
  private current: BreakerState = 'closed'
  private closedAt: number
  private until = 0
  private openings = 0

  constructor(options: CircuitOptions) {
    this.options = options
    this.closedAt = options.clock()
  }

  get state(): BreakerState {
    return this.current
  }

  /** While it is open: milliseconds until a call may find out; below 0 it may since. */
  get left(): number {
    return this.until - this.options.clock()
  }

  /** Whether the call that begins now is the one that finds out. Not to be called while another one does. */
  begin(): boolean {
    if (this.current === 'closed') return false
    this.turn('halfOpen')
    return true
  }

  /** The one that should find out has found out nothing: the next call may. */
  giveUp(): void {
    this.turn('open')
  }

  open(): void {
    const { clock, random } = this.options
    const healed = this.current === 'closed' ? Math.floor((clock() - this.closedAt) / firstCooldown) : 0
    this.openings = Math.max(0, this.openings - healed) + 1
    this.until = clock() + cooldown(this.openings, random)
    this.turn('open')
  }

  close(): void {
    this.closedAt = this.options.clock()
    this.turn('closed')
  }

  private turn(state: BreakerState): void {
    this.current = state
    this.options.onState(state)
  }
}

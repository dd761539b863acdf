/** The three states of a circuit breaker. */
import type { BreakerState } from '../../../domain/telemetry/observation.ts'

export interface CircuitOptions {
  /** Milliseconds, on a clock that is never set back. */
  readonly clock: () => number
  /** From 0 to 1. */
  readonly random: () => number
  readonly onState: (state: BreakerState) => void
}

/** Envoy's figures, in milliseconds: the first cooldown, and the longest. */
const baseOpenMs = 30_000
const maxOpenMs = 300_000
/** So much of a cooldown is left to chance, so that not all replicas come back at once. */
const jitter = 0.1

/** Milliseconds for the n-th time in a row: 30, 60, 90 … 300 s. */
export function openDurationMs(times: number, random: () => number): number {
  return Math.min(baseOpenMs * times, maxOpenMs) * (1 - jitter * random())
}

/** The n-th opening lasts n times as long as the first; each first cooldown that it stays closed takes one off. */
export class Circuit {
  private readonly options: CircuitOptions
  private current: BreakerState = 'closed'
  private closedAt: number
  private openUntil = 0
  private openings = 0

  constructor(options: CircuitOptions) {
    this.options = options
    this.closedAt = options.clock()
  }

  get state(): BreakerState {
    return this.current
  }

  /** While it is open: milliseconds until a call may find out; below 0 it may since. */
  get remainingMs(): number {
    return this.openUntil - this.options.clock()
  }

  /** Whether the call that begins now is the one that finds out. Not to be called while another one does. */
  tryHalfOpen(): boolean {
    if (this.current === 'closed') return false
    this.setState('halfOpen')
    return true
  }

  /** The one that should find out has found out nothing: the next call may. */
  reopen(): void {
    this.setState('open')
  }

  open(): void {
    const { clock, random } = this.options
    const recovered = this.current === 'closed' ? Math.floor((clock() - this.closedAt) / baseOpenMs) : 0
    this.openings = Math.max(0, this.openings - recovered) + 1
    this.openUntil = clock() + openDurationMs(this.openings, random)
    this.setState('open')
  }

  close(): void {
    this.closedAt = this.options.clock()
    this.setState('closed')
  }

  private setState(state: BreakerState): void {
    this.current = state
    this.options.onState(state)
  }
}

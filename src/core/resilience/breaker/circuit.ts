/** The three states of a circuit breaker. */
import type { BreakerState } from '../../../domain/telemetry/labels.ts'
import type { Timing } from '../../layer-options.ts'

export interface CircuitOptions extends Timing {
  readonly onState: (state: BreakerState) => void
}

/** Envoy's values: the first open time, and the longest. */
const baseOpenMs = 30_000
const maxOpenMs = 300_000
/** Random share of the open time, so that replicas do not all retry at once. */
const jitter = 0.1

/** The n-th open time in a row: 30, 60, 90 … 300 s, in milliseconds. */
export function openDurationMs(times: number, random: () => number): number {
  return Math.min(baseOpenMs * times, maxOpenMs) * (1 - jitter * random())
}

/** A circuit breaker's state. The n-th opening lasts n times as long as the first; each 30 s in the closed state reduce n by one. */
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

  /** In the open state: milliseconds until a trial call is allowed; negative if it is allowed already. */
  get remainingMs(): number {
    return this.openUntil - this.options.clock()
  }

  /** Returns whether the call that begins now is the trial. Must not be called during a trial. */
  tryHalfOpen(): boolean {
    if (this.current === 'closed') return false
    this.setState('halfOpen')
    return true
  }

  /** The trial had no result: the next call may be the trial. */
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

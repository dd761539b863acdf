/** cockatiel: the states of a circuit breaker, with one call at a time in the half-open one. */
import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhenResult } from 'cockatiel'
import type { Breaker, Ending } from '../core/breaker.ts'
import type { BreakerState } from '../domain/observation.ts'

export interface BreakerOptions {
  /** Milliseconds, on a clock that is never set back. */
  readonly clock: () => number
  /** From 0 to 1. */
  readonly random: () => number
  readonly onState: (state: BreakerState) => void
}

/** Envoy's figures: failures in a row, milliseconds of one rest, and the longest. */
const failuresInRow = 5
const oneRest = 30_000
const longestRest = 300_000
/** So much of a rest is left to chance, so that not all replicas come back at once. */
const jitter = 0.1

const stateOf: Readonly<Record<CircuitState, BreakerState>> = {
  [CircuitState.Closed]: 'closed',
  [CircuitState.Open]: 'open',
  [CircuitState.HalfOpen]: 'halfOpen',
  [CircuitState.Isolated]: 'open',
}

interface Ended {
  readonly reason: unknown
  readonly isFailure: boolean
}

/** The n-th opening rests n times as long as the first; each such time that it stays closed takes one off. */
class Openings {
  closedAt: number
  until = 0
  private count = 0
  private readonly options: BreakerOptions

  constructor(options: BreakerOptions) {
    this.options = options
    this.closedAt = options.clock()
  }

  add(wasClosed: boolean): void {
    const { clock, random } = this.options
    const healed = wasClosed ? Math.floor((clock() - this.closedAt) / oneRest) : 0
    this.count = Math.max(0, this.count - healed) + 1
    this.until = clock() + Math.min(oneRest * this.count, longestRest) * (1 - jitter * random())
  }
}

export function circuit(options: BreakerOptions): Breaker {
  const { clock, onState } = options
  const openings = new Openings(options)
  const whenOpened = {
    // The library's own clock is the day's, which may be set back: so it lets everybody in, and `rest` does not.
    duration: Number.NEGATIVE_INFINITY,
    next() {
      openings.add(policy.state === CircuitState.Closed)
      return whenOpened
    },
  }
  const policy = circuitBreaker(
    handleWhenResult((result) => (result as Partial<Ended> | undefined)?.isFailure === true),
    {
      breaker: new ConsecutiveBreaker(failuresInRow),
      halfOpenAfter: whenOpened,
    },
  )
  policy.onStateChange((state) => {
    if (state === CircuitState.Closed) openings.closedAt = clock()
    onState(stateOf[state])
  })
  return {
    state: () => stateOf[policy.state],
    rest: () => Math.max(0, openings.until - clock()),
    async run<T>(call: () => Promise<T>, endingOf: (reason: unknown, isProbe: boolean) => Ending): Promise<T> {
      const ended = (reason: unknown): Ended => {
        const ending = endingOf(reason, policy.state === CircuitState.HalfOpen)
        if (ending === 'unsaid') throw reason
        return { reason, isFailure: ending === 'failed' }
      }
      const result = await policy.execute(() => call().then((value) => ({ value }), ended))
      if ('reason' in result) throw result.reason
      return result.value
    },
  }
}

/** The circuit breaker of one operation at one provider (docs/contract.md §8). */

import { BlockedCallers } from './blocked-callers.ts'
import type { BreakerCaller } from './breaker-callers.ts'
import type { CallResult } from './call-result.ts'
import { Circuit, type CircuitOptions } from './circuit.ts'
import { FailingCallers } from './failing-callers.ts'

export interface BreakerRejection {
  /** Milliseconds. */
  readonly waitMs: number
  readonly by: 'breaker' | 'caller'
}

interface FailedTrial {
  /** Undefined: any caller that is not verified. */
  readonly caller: string | undefined
  /** Until then other callers go first. */
  readonly yieldsUntil: number
}

const maxConsecutiveFailures = 5
/** Retry time during a trial call. */
const halfOpenRetryMs = 1_000
/** After the open time, other callers go first for this time if the last trial call failed. */
const yieldMs = 2_000

/**
 * Opens when at least two verified callers and a majority of them have only failures, or after five calls in a row without a connection,
 * or five failures in a row of the gateway's own calls. After five in a row of any callers a health check decides. Blocks a single caller
 * with five in a row if the provider is healthy.
 */
export class OperationBreaker {
  readonly circuit: Circuit
  private readonly options: CircuitOptions
  private readonly blockedCallers = new BlockedCallers()
  private failingCallers = new FailingCallers()
  /** Failures in a row, of all callers. */
  private failures = 0
  /** Failures in a row of the gateway's own calls. */
  private ownFailures = 0
  /** Failed connections in a row, of all callers and of the gateway. */
  private unconnected = 0
  private failedTrial: FailedTrial | undefined

  constructor(options: CircuitOptions) {
    this.options = options
    this.circuit = new Circuit(options)
  }

  /** Whether no call can be rejected now: a fast path. */
  get admitsAll(): boolean {
    return this.circuit.state === 'closed' && !this.blockedCallers.isAnyBlocked(this.options.clock)
  }

  /** Undefined if the call is admitted. `caller` is undefined for the gateway itself. */
  rejectionOf(caller: BreakerCaller | undefined): BreakerRejection | undefined {
    const { state, remainingMs } = this.circuit
    if (state === 'halfOpen') return { waitMs: halfOpenRetryMs, by: 'breaker' }
    if (state === 'open' && remainingMs > 0) return { waitMs: remainingMs, by: 'breaker' }
    const blockedMs = caller ? this.blockedCallers.remainingMs(caller.blockedAs, this.options.clock()) : 0
    if (blockedMs > 0) return { waitMs: blockedMs, by: 'caller' }
    return state === 'open' && caller && this.yields(caller) ? { waitMs: halfOpenRetryMs, by: 'breaker' } : undefined
  }

  /** Counts the result of the trial call. Returns whether a health check must decide, because the failed call was of an unverified caller. */
  endTrial(caller: BreakerCaller | undefined, result: CallResult): boolean {
    if (result === 'responded') this.close()
    else if (result === 'ignored') this.circuit.reopen()
    else if (result === 'unconnected' || !caller || caller.verifiedAs !== undefined) {
      this.open()
      this.noteFailedTrial(caller)
    } else {
      this.circuit.reopen()
      this.noteFailedTrial(caller)
      return true
    }
    return false
  }

  /** Counts the result of any other call. Returns whether a health check must now decide if the provider is at fault. */
  end(caller: BreakerCaller | undefined, result: CallResult, isResend: boolean): boolean {
    if (result === 'ignored' || this.circuit.state !== 'closed') return false
    if (result === 'responded') {
      this.countResponse(caller)
      return false
    }
    this.unconnected = result === 'unconnected' ? this.unconnected + 1 : 0
    if (this.unconnected >= maxConsecutiveFailures || (result === 'failed' && this.isMajority(caller))) {
      this.open()
      return false
    }
    if (isResend) return false
    if (caller) return this.countFailure(caller, result)
    if (++this.ownFailures >= maxConsecutiveFailures) this.open()
    return false
  }

  /** Blocks the caller: the health check succeeded, so the failures are its own. */
  block({ blockedAs }: BreakerCaller): void {
    this.blockedCallers.block(blockedAs, this.options.clock(), this.options.random)
  }

  open(): void {
    this.failedTrial = undefined
    this.reset()
    this.circuit.open()
  }

  close(): void {
    this.failedTrial = undefined
    this.reset()
    this.circuit.close()
  }

  private countResponse(caller: BreakerCaller | undefined): void {
    this.failures = 0
    this.ownFailures = 0
    this.unconnected = 0
    if (!caller) return
    const now = this.options.clock()
    this.failingCallers.recordResponse(caller.verifiedAs, now)
    this.blockedCallers.clear(caller.blockedAs, now)
  }

  private isMajority(caller: BreakerCaller | undefined): boolean {
    if (caller?.verifiedAs === undefined) return false
    const now = this.options.clock()
    this.failingCallers.recordFailure(caller.verifiedAs, now)
    return this.failingCallers.isMajority(now)
  }

  /** Returns whether there were five in a row, of all callers or of this one. */
  private countFailure({ blockedAs }: BreakerCaller, result: CallResult): boolean {
    const isFifthOfAll = ++this.failures >= maxConsecutiveFailures
    if (isFifthOfAll) this.failures = 0
    const isFifthOfCaller = result === 'failed' && this.blockedCallers.add(blockedAs, this.options.clock())
    return isFifthOfAll || isFifthOfCaller
  }

  private noteFailedTrial(caller: BreakerCaller | undefined): void {
    const yieldsFrom = this.options.clock() + Math.max(0, this.circuit.remainingMs)
    this.failedTrial = caller && { caller: caller.verifiedAs, yieldsUntil: yieldsFrom + yieldMs }
  }

  private yields({ verifiedAs }: BreakerCaller): boolean {
    return (
      this.failedTrial !== undefined &&
      this.failedTrial.caller === verifiedAs &&
      this.options.clock() < this.failedTrial.yieldsUntil
    )
  }

  /** Forgets the failures that led to this state. */
  private reset(): void {
    this.failingCallers = new FailingCallers()
    this.failures = 0
    this.ownFailures = 0
    this.unconnected = 0
  }
}

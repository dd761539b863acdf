/** The circuit breaker of one operation at one provider (docs/contract.md §8). */

import type { CallerNames } from '../budget/caller-names.ts'
import { BlockedCallers } from './blocked-callers.ts'
import type { CallResult } from './call-result.ts'
import { Circuit, type CircuitOptions } from './circuit.ts'
import { FailingCallers } from './failing-callers.ts'

export interface BreakerRejection {
  /** Milliseconds. */
  readonly waitMs: number
  readonly by: 'breaker' | 'caller'
}

const maxConsecutiveFailures = 5
/** Retry time during a trial call. */
const halfOpenRetryMs = 1_000
/** After the open time, other callers go first for this time if the last trial call failed. */
const yieldMs = 2_000

/**
 * Opens when at least two callers and a majority of them have only failures, or after five failed connections or own calls in
 * a row. Blocks a single caller with five failures in a row if the provider is healthy.
 */
export class OperationBreaker {
  readonly circuit: Circuit
  private readonly options: CircuitOptions
  private readonly blockedCallers = new BlockedCallers()
  private failingCallers = new FailingCallers()
  /** Failed connections in a row, of all callers. */
  private unconnected = 0
  /** Failures in a row of the gateway's own calls. */
  private ownFailures = 0
  private failedTrial: string | undefined

  constructor(options: CircuitOptions) {
    this.options = options
    this.circuit = new Circuit(options)
  }

  /** Whether no call can be rejected now: a fast path. */
  get admitsAll(): boolean {
    return this.circuit.state === 'closed' && !this.blockedCallers.isAnyBlocked(this.options.clock)
  }

  /** Undefined if the call is admitted. `caller` is undefined for the gateway itself. */
  rejectionOf(caller: CallerNames | undefined): BreakerRejection | undefined {
    const { state, remainingMs } = this.circuit
    if (state === 'halfOpen') return { waitMs: halfOpenRetryMs, by: 'breaker' }
    if (state === 'open' && remainingMs > 0) return { waitMs: remainingMs, by: 'breaker' }
    const blockedMs = caller ? this.blockedCallers.remainingMs(caller.blockedAs, this.options.clock()) : 0
    if (blockedMs > 0) return { waitMs: blockedMs, by: 'caller' }
    const yields = state === 'open' && caller?.blockedAs === this.failedTrial && remainingMs > -yieldMs
    return yields ? { waitMs: halfOpenRetryMs, by: 'breaker' } : undefined
  }

  /** Counts the result of the trial call. */
  endTrial(caller: CallerNames | undefined, result: CallResult): void {
    if (result === 'ignored') this.circuit.reopen()
    else if (result === 'responded') this.close()
    else this.open(caller?.blockedAs)
  }

  /** Counts the result of any other call. Returns whether a health check must now decide if the provider or the caller is at fault. */
  end(caller: CallerNames | undefined, result: CallResult, isResend: boolean): boolean {
    if (result === 'ignored' || this.circuit.state !== 'closed') return false
    this.unconnected = result === 'unconnected' ? this.unconnected + 1 : 0
    if (this.unconnected >= maxConsecutiveFailures) this.open()
    else if (caller) return this.count(caller, result, isResend)
    else this.countOwn(result, isResend)
    return false
  }

  /** Blocks the caller: the health check succeeded, so the failures are its own. */
  block(caller: string): void {
    this.blockedCallers.block(caller, this.options.clock(), this.options.random)
  }

  open(failedTrial?: string): void {
    this.failedTrial = failedTrial
    this.reset()
    this.circuit.open()
  }

  private close(): void {
    this.failedTrial = undefined
    this.reset()
    this.circuit.close()
  }

  private count({ countedAs, blockedAs }: CallerNames, result: CallResult, isResend: boolean): boolean {
    const now = this.options.clock()
    if (result === 'responded') {
      this.failingCallers.recordResponse(countedAs, now)
      this.blockedCallers.clear(blockedAs, now)
      return false
    }
    if (result === 'unconnected') return false
    this.failingCallers.recordFailure(countedAs, now)
    if (this.failingCallers.isMajority(now)) this.open()
    else if (!isResend) return this.blockedCallers.add(blockedAs, now)
    return false
  }

  private countOwn(result: CallResult, isResend: boolean): void {
    if (result === 'responded') this.ownFailures = 0
    else if (!isResend && ++this.ownFailures >= maxConsecutiveFailures) this.open()
  }

  /** Forgets the failures that led to this state. */
  private reset(): void {
    this.failingCallers = new FailingCallers()
    this.unconnected = 0
    this.ownFailures = 0
  }
}

/** The circuit breaker of one operation at one provider (docs/contract.md §8). */

import type { CallResult } from './call-result.ts'
import { CallerFailures } from './caller-failures.ts'
import { Circuit, type CircuitOptions } from './circuit.ts'
import { FailingConsumers } from './failing-consumers.ts'

/** The caller of an operation; undefined for the gateway itself. */
export interface Consumer {
  /** Identifies the consumer. Failures of one consumer count once. */
  readonly name: string
  /** Identifies the caller that is blocked for its own failures. */
  readonly caller: string
}

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
 * Opens when at least two consumers and a majority of them have only failures, or after five failed connections or own calls in
 * a row. Blocks a single caller with five failures in a row if the provider is healthy.
 */
export class OperationBreaker {
  readonly circuit: Circuit
  private readonly options: CircuitOptions
  private readonly callers = new CallerFailures()
  private failingConsumers = new FailingConsumers()
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
    return this.circuit.state === 'closed' && !this.callers.isAnyBlocked(this.options.clock)
  }

  /** Undefined if the call is admitted. */
  rejectionOf(consumer: Consumer | undefined): BreakerRejection | undefined {
    const { state, remainingMs } = this.circuit
    if (state === 'halfOpen') return { waitMs: halfOpenRetryMs, by: 'breaker' }
    if (state === 'open' && remainingMs > 0) return { waitMs: remainingMs, by: 'breaker' }
    const blockedMs = consumer ? this.callers.remainingMs(consumer.caller, this.options.clock()) : 0
    if (blockedMs > 0) return { waitMs: blockedMs, by: 'caller' }
    const yields = state === 'open' && consumer?.caller === this.failedTrial && remainingMs > -yieldMs
    return yields ? { waitMs: halfOpenRetryMs, by: 'breaker' } : undefined
  }

  /** Counts the result of the trial call. */
  endTrial(consumer: Consumer | undefined, result: CallResult): void {
    if (result === 'ignored') this.circuit.reopen()
    else if (result === 'responded') this.close()
    else this.open(consumer?.caller)
  }

  /** Counts the result of any other call. Returns whether a health check must now decide if the provider or the caller is at fault. */
  end(consumer: Consumer | undefined, result: CallResult, isResend: boolean): boolean {
    if (result === 'ignored' || this.circuit.state !== 'closed') return false
    this.unconnected = result === 'unconnected' ? this.unconnected + 1 : 0
    if (this.unconnected >= maxConsecutiveFailures) this.open()
    else if (consumer) return this.count(consumer, result, isResend)
    else this.countOwn(result, isResend)
    return false
  }

  /** Blocks the caller: the health check succeeded, so the failures are its own. */
  blockCaller(caller: string): void {
    this.callers.block(caller, this.options.clock(), this.options.random)
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

  private count({ name, caller }: Consumer, result: CallResult, isResend: boolean): boolean {
    const now = this.options.clock()
    if (result === 'responded') {
      this.failingConsumers.recordResponse(name, now)
      this.callers.clear(caller, now)
      return false
    }
    if (result === 'unconnected') return false
    this.failingConsumers.recordFailure(name, now)
    if (this.failingConsumers.isMajority(now)) this.open()
    else if (!isResend) return this.callers.add(caller, now)
    return false
  }

  private countOwn(result: CallResult, isResend: boolean): void {
    if (result === 'responded') this.ownFailures = 0
    else if (!isResend && ++this.ownFailures >= maxConsecutiveFailures) this.open()
  }

  /** Forgets the failures that led to this state. */
  private reset(): void {
    this.failingConsumers = new FailingConsumers()
    this.unconnected = 0
    this.ownFailures = 0
  }
}

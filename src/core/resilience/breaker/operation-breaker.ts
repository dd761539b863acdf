/** The breaker of one operation at one provider: what opens it, and whom it holds back (docs/contract.md §8). */

import type { CallResult } from './call-result.ts'
import { CallerFailures } from './caller-failures.ts'
import { Circuit, type CircuitOptions } from './circuit.ts'
import { FailingConsumers } from './failing-consumers.ts'

/** Who calls; undefined: the gateway itself. */
export interface Consumer {
  /** Whose failures count as one where askers are counted. */
  readonly name: string
  /** Whose calls are held back because of his own failures. */
  readonly caller: string
}

export interface BreakerRejection {
  /** Milliseconds. */
  readonly waitMs: number
  readonly by: 'breaker' | 'caller'
}

const maxConsecutiveFailures = 5
/** How soon to come back while somebody finds out, in milliseconds. */
const halfOpenRetryMs = 1_000
/** For so long after a cooldown others go first, where one has found out and failed. */
const yieldMs = 2_000

export class OperationBreaker {
  readonly circuit: Circuit
  private readonly options: CircuitOptions
  private readonly callers = new CallerFailures()
  private failingConsumers = new FailingConsumers()
  /** In a row, whoever called. */
  private unconnected = 0
  /** In a row, of the gateway's own calls. */
  private ownFailures = 0
  private failedTrial: string | undefined

  constructor(options: CircuitOptions) {
    this.options = options
    this.circuit = new Circuit(options)
  }

  /** Whether nobody is to wait. */
  get admitsAll(): boolean {
    return this.circuit.state === 'closed' && !this.callers.isAnyBlocked(this.options.clock())
  }

  /** Why a call is not to be made now. */
  rejectionOf(consumer: Consumer | undefined): BreakerRejection | undefined {
    const { state, remainingMs } = this.circuit
    if (state === 'halfOpen') return { waitMs: halfOpenRetryMs, by: 'breaker' }
    if (state === 'open' && remainingMs > 0) return { waitMs: remainingMs, by: 'breaker' }
    const blockedMs = consumer ? this.callers.remainingMs(consumer.caller, this.options.clock()) : 0
    if (blockedMs > 0) return { waitMs: blockedMs, by: 'caller' }
    const yields = state === 'open' && consumer?.caller === this.failedTrial && remainingMs > -yieldMs
    return yields ? { waitMs: halfOpenRetryMs, by: 'breaker' } : undefined
  }

  /** Counts how a call ended that found out. */
  endTrial(consumer: Consumer | undefined, result: CallResult): void {
    if (result === 'ignored') this.circuit.reopen()
    else if (result === 'responded') this.close()
    else this.open(consumer?.caller)
  }

  /** Counts how another call ended. Whether a read of the gateway's own has to tell now whose fault it is. */
  end(consumer: Consumer | undefined, result: CallResult, isResend: boolean): boolean {
    if (result === 'ignored' || this.circuit.state !== 'closed') return false
    this.unconnected = result === 'unconnected' ? this.unconnected + 1 : 0
    if (this.unconnected >= maxConsecutiveFailures) this.open()
    else if (consumer) return this.count(consumer, result, isResend)
    else this.countOwn(result, isResend)
    return false
  }

  /** The gateway's own read was answered: the failures are this caller's. */
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

  /** What led to this counts no more. */
  private reset(): void {
    this.failingConsumers = new FailingConsumers()
    this.unconnected = 0
    this.ownFailures = 0
  }
}

/** Leaves a provider alone that fails for everybody, and holds back one whose calls alone fail (docs/contract.md §8). */
import { Fault } from '../../../domain/faults/fault.ts'
import { forEachOp, keyed, type Op, ops } from '../../../domain/swap/operations.ts'
import type { Context, SwapService } from '../../../domain/swap/service.ts'
import type { Observer } from '../../../domain/telemetry/observation.ts'
import { aroundAll, type Layer } from '../../layer.ts'
import { rejectLocally } from '../../local-rejection.ts'
import { callerOf, consumerOf } from '../budget/consumer.ts'
import { type CallResult, callResultOf } from './call-result.ts'
import { type HealthCheckOp, HealthChecks, healthCheck } from './health-check.ts'
import { type Consumer, OperationBreaker } from './operation-breaker.ts'

export interface BreakerOptions {
  /** Tag of the provider. */
  readonly provider: string
  /** The provider's, in milliseconds. */
  readonly timeoutMs: number
  /** Whether what needs a key goes up with the gateway's own. */
  readonly usesGatewayKey: boolean
  /** Milliseconds, on a clock that is never set back. */
  readonly clock: () => number
  /** From 0 to 1. */
  readonly random: () => number
  readonly observe: Observer
}

export interface Breaker {
  /** Refuses with `unavailable`, for certain. Stands before everything that costs. */
  readonly admission: Layer
  /** Counts. Stands before the provider alone: what is held back on the way tells nothing of it. */
  readonly recorder: Layer
}

export type MakeBreaker = (options: BreakerOptions) => Breaker

/** Silence counts where a call had so much of the time-out: a quote that waits for a list and may go elsewhere has a quarter. */
const minTimeoutShare = 0.2

/** Each operation has a breaker of its own. Once it has rested, one call of a client finds out; a create only by a create. */
export function createBreaker(options: BreakerOptions): Breaker {
  const breakers = new ProviderBreakers(options)
  return {
    admission: (next) => {
      breakers.service = next
      return aroundAll((op, request, context) => {
        const refusal = breakers.refusalOf(op, context)
        return refusal ? Promise.reject(refusal) : next.call(op, request, context)
      })(next)
    },
    recorder: aroundAll((op, request, context, next) => {
      const refusal = breakers.refusalOf(op, context)
      if (refusal) return Promise.reject(refusal)
      const end = breakers.begin(op, context)
      return next.call(op, request, context).then(
        (response) => {
          end()
          return response
        },
        (reason) => {
          end(Fault.from(reason))
          throw reason
        },
      )
    }),
  }
}

class ProviderBreakers {
  /** By which the gateway reads itself, paid for like any call. */
  service: SwapService | undefined
  private readonly options: BreakerOptions
  private readonly byOp: Readonly<Record<Op, OperationBreaker>>
  private readonly refuse: Readonly<Record<'breaker' | 'caller', (wait: number) => Fault>>
  private readonly healthChecks: HealthChecks

  constructor(options: BreakerOptions) {
    const { provider, clock, random, observe } = options
    const breakerOf = (operation: Op): OperationBreaker =>
      new OperationBreaker({ clock, random, onState: (state) => observe({ what: 'breaker', provider, operation, state }) })
    this.options = options
    this.byOp = forEachOp(breakerOf)
    this.refuse = { breaker: rejectLocally(provider, 'breaker', observe), caller: rejectLocally(provider, 'caller', observe) }
    this.healthChecks = new HealthChecks(clock)
    for (const operation of ops) observe({ what: 'breaker', provider, operation, state: 'closed' })
  }

  refusalOf(op: Op, context: Context): Fault | undefined {
    const breaker = this.byOp[op]
    if (breaker.admitsAll) return undefined
    const rejection = breaker.rejectionOf(this.consumer(op, context))
    return rejection && this.refuse[rejection.by](rejection.waitMs)
  }

  /** Counts a call that is not refused; to be called once more when it has ended. */
  begin(op: Op, context: Context): (fault?: Fault) => void {
    const breaker = this.byOp[op]
    const isTrial = breaker.circuit.tryHalfOpen()
    const hadTime = isTrial || context.deadline - performance.now() >= this.options.timeoutMs * minTimeoutShare
    return (fault) => {
      const consumer = this.consumer(op, context)
      const result: CallResult = fault ? callResultOf(fault, hadTime) : 'responded'
      if (isTrial) breaker.endTrial(consumer, result)
      else if (breaker.end(consumer, result, context.resends !== undefined) && consumer) void this.diagnose(op, consumer, context)
    }
  }

  /** Whether the provider fails, or only what this one asks. */
  private async diagnose(op: Op, { caller }: Consumer, { clientCapabilities: client }: Context): Promise<void> {
    const { service, byOp, options } = this
    if (!service) return
    const checkOp: HealthCheckOp = options.usesGatewayKey && keyed.has(op) ? 'listTransactions' : 'listCurrencies'
    const isOpen = byOp[checkOp].circuit.state !== 'closed'
    const isProviderFailing =
      isOpen || (await this.healthChecks.fails(checkOp, (read) => healthCheck(read, service, client, options.timeoutMs)))
    if (!isProviderFailing) byOp[op].blockCaller(caller)
    else if (byOp[op].circuit.state === 'closed') byOp[op].open()
  }

  private consumer(op: Op, { caller, isGatewayCall: isOwn }: Context): Consumer | undefined {
    if (isOwn) return undefined
    const { usesGatewayKey } = this.options
    return { name: consumerOf(op, caller, usesGatewayKey), caller: callerOf(op, caller, usesGatewayKey) }
  }
}

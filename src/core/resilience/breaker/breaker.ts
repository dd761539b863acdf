/**
 * The circuit breaker of a provider (docs/contract.md §8). Each operation has its own, with three states (`circuit.ts`): closed, open
 * (calls are rejected) and half open (one call, the trial, is under way, and others are rejected).
 *
 * - It opens (`operation-breaker.ts`) if at least two callers, and more than half of all, had only failures (`failing-callers.ts`);
 *   after five calls in a row without a connection; or after five failures in a row of the gateway's own calls.
 * - After five failures in a row of one caller the gateway reads from the provider itself (`health-check.ts`). If its read fails
 *   too, the breaker opens; otherwise only this caller is blocked (`blocked-callers.ts`), for as long as a breaker would be open.
 * - After the open time the next call is the trial. Its result closes the breaker, or opens it again for longer. No other operation
 *   does: only a create closes the breaker of creates.
 * - `call-result.ts` defines what is a failure, `../budget/caller-names.ts` which caller is counted and blocked.
 */
import { Fault } from '../../../domain/faults/fault.ts'
import { forEachOp, keyed, type OperationName, operationNames } from '../../../domain/swap/operations.ts'
import type { Context, SwapService } from '../../../domain/swap/service.ts'
import { aroundAll, type Layer } from '../../layer.ts'
import type { ProviderLayerOptions, Timing } from '../../layer-options.ts'
import { rejectLocally } from '../../local-rejection.ts'
import { type CallerNames, callerNames } from '../budget/caller-names.ts'
import { type CallResult, callResultOf } from './call-result.ts'
import { type HealthCheckOp, type HealthCheckOptions, HealthChecks, healthCheck } from './health-check.ts'
import { OperationBreaker } from './operation-breaker.ts'

export type BreakerOptions = ProviderLayerOptions & HealthCheckOptions & Timing

/** The two layers of a circuit breaker. */
export interface Breaker {
  /** Throws `unavailable` with `noEffect` while open. Runs before everything that costs. */
  readonly admission: Layer
  /** Counts results. Runs next to the provider, because a call that the gateway rejects is no sign of the provider's health. */
  readonly recorder: Layer
  /** For native calls. */
  readonly native: CallBreaker
}

/** The same as functions, for calls that do not pass the layers. */
export interface CallBreaker {
  /** Why a call is rejected now; undefined if it is admitted. */
  readonly rejectionOf: (context: Context) => Fault | undefined
  /** Counts an admitted call. */
  readonly begin: (context: Context) => CountedCall
}

export interface CountedCall {
  /** Whether it is the trial call of a half-open breaker, so that other calls are rejected until it ends. */
  readonly isTrial: boolean
  /** Must be called once, when the call ends. */
  readonly end: (fault?: Fault) => void
}

export type MakeBreaker = (options: BreakerOptions) => Breaker

/** A timeout counts as a failure only if the call had this share of the provider's timeout: with failover a quote may have a quarter. */
const minTimeoutShare = 0.2

/** The breakers of one provider's operations, all closed. */
export function createBreaker(options: BreakerOptions): Breaker {
  const breakers = new ProviderBreakers(options)
  return {
    admission: (next) => {
      breakers.service = next
      return aroundAll(function breakerAdmission(op, request, context) {
        const rejection = breakers.rejectionOf(op, context)
        return rejection ? Promise.reject(rejection) : next.call(op, request, context)
      })(next)
    },
    recorder: aroundAll(function breakerRecorder(op, request, context, next) {
      const rejection = breakers.rejectionOf(op, context)
      if (rejection) return Promise.reject(rejection)
      const { end } = breakers.begin(op, context)
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
    native: {
      rejectionOf: (context) => breakers.rejectionOf('native', context),
      begin: (context) => breakers.begin('native', context),
    },
  }
}

class ProviderBreakers {
  /** For the gateway's own health checks, which use the budget like any call. */
  service: SwapService | undefined
  private readonly options: BreakerOptions
  private readonly byOp: Readonly<Record<OperationName, OperationBreaker>>
  private readonly reject: Readonly<Record<'breaker' | 'caller', (wait: number) => Fault>>
  private readonly healthChecks: HealthChecks

  constructor(options: BreakerOptions) {
    const { provider, clock, random, observe } = options
    const breakerOf = (operation: OperationName): OperationBreaker =>
      new OperationBreaker({ clock, random, onState: (state) => observe({ what: 'breaker', provider, operation, state }) })
    this.options = options
    this.byOp = { ...forEachOp(breakerOf), native: breakerOf('native') }
    this.reject = { breaker: rejectLocally(provider, 'breaker', observe), caller: rejectLocally(provider, 'caller', observe) }
    this.healthChecks = new HealthChecks(clock)
    for (const operation of operationNames) observe({ what: 'breaker', provider, operation, state: 'closed' })
  }

  rejectionOf(op: OperationName, context: Context): Fault | undefined {
    const breaker = this.byOp[op]
    if (breaker.admitsAll) return undefined
    const rejection = breaker.rejectionOf(this.namesOf(op, context))
    return rejection && this.reject[rejection.by](rejection.waitMs)
  }

  /** Counts an admitted call. `end` must be called when it ends. */
  begin(op: OperationName, context: Context): CountedCall {
    const breaker = this.byOp[op]
    const isTrial = breaker.circuit.tryHalfOpen()
    const hadTime = isTrial || context.deadline - performance.now() >= this.options.timeoutMs * minTimeoutShare
    const end = (fault?: Fault): void => {
      const caller = this.namesOf(op, context)
      const result: CallResult = fault ? callResultOf(fault, hadTime) : 'responded'
      if (isTrial) breaker.endTrial(caller, result)
      else if (breaker.end(caller, result, context.resends !== undefined) && caller) void this.diagnose(op, caller, context)
    }
    return { isTrial, end }
  }

  /** Finds out by a health check whether the provider fails or only this caller's calls do. */
  private async diagnose(op: OperationName, { blockedAs }: CallerNames, { clientCapabilities: client }: Context): Promise<void> {
    const { service, byOp, options } = this
    if (!service) return
    const checkOp: HealthCheckOp =
      options.usesGatewayKey && needsKey(op) ? (options.keyedRead ?? 'listTransactions') : 'listCurrencies'
    const isOpen = byOp[checkOp].circuit.state !== 'closed'
    const isProviderFailing =
      isOpen || (await this.healthChecks.fails(checkOp, (read) => healthCheck(read, service, client, options.timeoutMs)))
    if (!isProviderFailing) byOp[op].block(blockedAs)
    else if (byOp[op].circuit.state === 'closed') byOp[op].open()
  }

  /** Undefined for the gateway's own calls. */
  private namesOf(op: OperationName, { caller, isGatewayCall }: Context): CallerNames | undefined {
    return isGatewayCall ? undefined : callerNames(needsKey(op), caller, this.options.usesGatewayKey)
  }
}

function needsKey(op: OperationName): boolean {
  return op === 'native' || keyed.has(op)
}

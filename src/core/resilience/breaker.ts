/**
 * The circuit breaker of a provider (docs/contract.md §8; `operation-breaker.ts` has its parts). Each operation has its own, with three states (`Circuit`): closed, open
 * (calls are rejected) and half open (one call, the trial, is under way, and others are rejected).
 *
 * - It opens if at least two verified callers, and more than half of all, had only failures
 *   (`FailingCallers`); or after five calls in a row without a connection.
 * - After five failures in a row, of any callers, the gateway reads from the provider itself (`HealthChecks`). Only if its read fails
 *   too, the breaker opens. Otherwise a caller with five of its own in a row is blocked alone (`BlockedCallers`), for as long as a
 *   breaker would be open.
 * - After the open time the next call is the trial. Its result closes the breaker, or opens it again for longer; a failed one of an
 *   unverified caller only lets the gateway read again. Only a create closes the breaker of creates.
 * - `callResultOf` says what is a failure, `BreakerCallers` who is counted and blocked.
 */
import { isExtreme } from '../../domain/amount.ts'
import { Fault } from '../../domain/fault.ts'
import {
  type Context,
  forEachOp,
  keyed,
  type Op,
  type OperationName,
  operationNames,
  type Request,
  type SwapService,
} from '../../domain/service.ts'
import { aroundAll, type Layer, rejectLocally } from '../layer.ts'
import type { UpstreamScope } from '../provider-scope.ts'
import { type HealthCheckOp, HealthChecks, healthCheck } from './health-check.ts'
import { type BreakerCaller, BreakerCallers, type CallResult, callResultOf, OperationBreaker } from './operation-breaker.ts'

/** The two layers of a circuit breaker. */
export interface Breaker {
  /** Throws `unavailable` while open. Runs before everything that costs. */
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
  /** Must be called once, when the call ends. `isRequestExtreme`: what fails may be the request's own. */
  readonly end: (fault?: Fault, isRequestExtreme?: boolean) => void
}

export type MakeBreaker = (upstream: UpstreamScope) => Breaker

/** A timeout counts as a failure only if the call had this share of the provider's timeout: with failover a quote may have a quarter. */
const minTimeoutShare = 0.2

/** The breakers of one provider's operations, all closed. */
export function createBreaker(upstream: UpstreamScope): Breaker {
  const breakers = new ProviderBreakers(upstream)
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
          end(Fault.from(reason), isExtremeRequest(request))
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
  private readonly upstream: UpstreamScope
  private readonly byOp: Readonly<Record<OperationName, OperationBreaker>>
  private readonly reject: Readonly<Record<'breaker' | 'caller', (wait: number) => Fault>>
  private readonly healthChecks: HealthChecks
  private readonly callers: BreakerCallers

  constructor(upstream: UpstreamScope) {
    const { tag: provider, steadyClock: clock, random, observe } = upstream
    const breakerOf = (operation: OperationName): OperationBreaker =>
      new OperationBreaker({ clock, random, onState: (state) => observe({ what: 'breaker', provider, operation, state }) })
    this.upstream = upstream
    this.byOp = { ...forEachOp(breakerOf), native: breakerOf('native') }
    this.reject = { breaker: rejectLocally(provider, 'breaker', observe), caller: rejectLocally(provider, 'caller', observe) }
    this.healthChecks = new HealthChecks(clock)
    this.callers = new BreakerCallers(upstream.usesGatewayKey, clock)
    for (const operation of operationNames) observe({ what: 'breaker', provider, operation, state: 'closed' })
  }

  rejectionOf(op: OperationName, context: Context): Fault | undefined {
    const breaker = this.byOp[op]
    if (breaker.admitsAll) return undefined
    const rejection = breaker.rejectionOf(this.callerOf(op, context))
    return rejection && this.reject[rejection.by](rejection.waitMs)
  }

  /** Counts an admitted call. `end` must be called when it ends. */
  begin(op: OperationName, context: Context): CountedCall {
    const breaker = this.byOp[op]
    const isTrial = breaker.circuit.tryHalfOpen()
    const hadTime = isTrial || context.deadline - performance.now() >= this.upstream.timeoutMs * minTimeoutShare
    const end = (fault?: Fault, isRequestExtreme = false): void => {
      if (!fault && needsKey(op) && !context.isGatewayCall) this.callers.verify(context.caller)
      const caller = this.callerOf(op, context)
      const isOfRequest = isRequestExtreme || (!caller && op === 'getTransaction' && fault?.kind === 'unreadable') // this one swap is odd
      const result: CallResult = fault ? callResultOf(fault, hadTime, isOfRequest) : 'responded'
      if (isTrial) {
        if (breaker.endTrial(caller, result)) void this.judgeTrial(op, context)
      } else if (breaker.end(caller, result, context.resends !== undefined) && caller) void this.diagnose(op, caller, context)
    }
    return { isTrial, end }
  }

  /** Finds out by a health check whether the provider fails or only this caller's calls do. */
  private async diagnose(op: OperationName, caller: BreakerCaller, context: Context): Promise<void> {
    const isFailing = await this.isProviderFailing(op, context)
    const breaker = this.byOp[op]
    if (isFailing === false) breaker.block(caller)
    else if (isFailing && breaker.circuit.state === 'closed') breaker.open()
  }

  /** The failed trial of an unverified caller: the gateway's own read decides in its place, but never about creates that succeed. */
  private async judgeTrial(op: OperationName, context: Context): Promise<void> {
    const isFailing = await this.isProviderFailing(op, context)
    const breaker = this.byOp[op]
    if (breaker.circuit.state !== 'open') return
    if (isFailing) breaker.open()
    else if (isFailing === false && op !== 'createTransaction') breaker.close()
  }

  /** By one read of the gateway's own. Undefined: it cannot make one. */
  private async isProviderFailing(op: OperationName, { clientCapabilities }: Context): Promise<boolean | undefined> {
    const { service, byOp, upstream } = this
    if (!service) return undefined
    const checkOp = this.checkOpFor(op)
    if (checkOp !== op && byOp[checkOp].circuit.state !== 'closed') return true
    return this.healthChecks.fails(checkOp, (read) => healthCheck(read, service, clientCapabilities, upstream.timeoutMs))
  }

  private checkOpFor(op: OperationName): HealthCheckOp {
    const { usesGatewayKey, keyedRead } = this.upstream
    return usesGatewayKey && needsKey(op) ? keyedRead : 'listCurrencies'
  }

  /** Undefined for the gateway's own calls. */
  private callerOf(op: OperationName, { caller, isGatewayCall }: Context): BreakerCaller | undefined {
    return isGatewayCall ? undefined : this.callers.of(caller, needsKey(op))
  }
}

function needsKey(op: OperationName): boolean {
  return op === 'native' || keyed.has(op)
}

/** What is asked of the provider is so large, so small or so precise that its failure may be no fault of the provider's. */
function isExtremeRequest(request: Request<Op>): boolean {
  return 'amountIn' in request && isExtreme(request.amountIn)
}

/**
 * The circuit breaker of a provider (docs/contract-operators.md §8; `operation-breaker.ts` has its parts). Each operation has its own, with three states (`Circuit`): closed, open
 * (calls are rejected) and half open (one call, the trial, is under way, and others are rejected).
 *
 * - It opens if at least two verified callers, and more than half of all, had only failures
 *   (`FailingCallers`); or after five calls in a row without a connection.
 * - After five failures in a row, of any callers, the gateway reads from the provider itself (`HealthChecks`). Only if its read fails
 *   too, the breaker opens. Otherwise a caller with five of its own in a row is blocked alone (`BlockedCallers`), for as long as a
 *   breaker would be open.
 * - After the open time the next call is the trial. Its result closes the breaker, or opens it again for longer; a failed one of an
 *   unverified caller only lets the gateway read again.
 * - Quotes and reads are probed before that too: a second after the last probe the next call is one, with at most a second.
 * - Only a create closes the breaker of creates, and it is tried only when a quote and a read that began after the opening have
 *   passed. Where no client makes them, the gateway does.
 * - `callResultOf` says what is a failure, `BreakerCallers` who is counted and blocked.
 */
import { isExtreme } from '../../domain/amount.ts'
import { singleFlight, withDefault } from '../../domain/async.ts'
import { acceptsUnreadableRows, needsAmountRangeOnly, resends } from '../../domain/call-options.ts'
import { valueIn, withValue } from '../../domain/context-values.ts'
import { Fault } from '../../domain/fault.ts'
import {
  type Context,
  forEachOp,
  gatewayContext,
  keyed,
  type Op,
  type OperationName,
  operationNames,
  type Request,
  type SwapService,
} from '../../domain/service.ts'
import { requestedAmountOf } from '../../domain/swap.ts'
import { aroundAll, type Layer, limitDeadline, rejectLocally } from '../layer.ts'
import type { UpstreamScope } from '../provider-scope.ts'
import { queryOf } from './amount-range.ts'
import { type HealthCheckOp, HealthChecks, healthCheck, unknownId } from './health-check.ts'
import { type BreakerCaller, BreakerCallers, type CallResult, callResultOf, OperationBreaker } from './operation-breaker.ts'

/** The two layers of a circuit breaker. */
export interface Breaker {
  /** Throws `unavailable` while open. Runs before everything that costs. */
  readonly admission: Layer
  /** Counts results. Runs next to the provider, because a call that the gateway rejects is no sign of the provider's health. */
  readonly recorder: Layer
  /** For native calls. */
  readonly native: CallBreaker
  /** Whether the provider is known not to answer this operation: its breaker is not closed, the last call timed out, or it hangs. */
  readonly isFailing: (op: Op) => boolean
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
  /** Whether it is a probe before the end of the open time: it has at most `probeTimeoutMs`. */
  readonly isProbe: boolean
  /** Must be called once, when the call ends. `isRequestExtreme`: what fails may be the request's own. */
  readonly end: (fault?: Fault, isRequestExtreme?: boolean) => void
}

export type MakeBreaker = (upstream: UpstreamScope) => Breaker

/** A timeout counts as a failure only if the call had this share of the provider's timeout: with failover a quote may have a quarter. */
const minTimeoutShare = 0.2

/** A provider hangs if calls are under way and none was answered for this share of its timeout. */
const hangingShare = 0.5

/** A probe that hangs must not hold up the next, nor its client. A provider that needs longer is tried after the open time. */
const probeTimeoutMs = 1_000
/** The longest wait of a create for the reads that must pass first, and the pause between two tries of them. */
const maxProofMs = 2_000
const proofRetryMs = 1_000

/** The breakers of one provider's operations, all closed. */
export function createBreaker(upstream: UpstreamScope): Breaker {
  const breakers = new ProviderBreakers(upstream)
  return {
    admission: (next) => {
      breakers.service = next
      return aroundAll(function breakerAdmission(op, request, context) {
        const rejection = breakers.rejectionOf(op, context)
        if (rejection) return Promise.reject(rejection)
        const proof = breakers.missingProof(op, request, context)
        return proof ? proof.then(() => next.call(op, request, context)) : next.call(op, request, context)
      })(next)
    },
    recorder: aroundAll(function breakerRecorder(op, request, context, next) {
      const rejection = breakers.rejectionOf(op, context)
      if (rejection) return Promise.reject(rejection)
      const { isProbe, end } = breakers.begin(op, context)
      return next.call(op, request, isProbe ? limitDeadline(context, probeTimeoutMs) : context).then(
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
    isFailing: (op) => breakers.isFailing(op),
  }
}

/** What the next call may probe: reads, which have no effect. */
const probed: ReadonlySet<OperationName> = new Set(['listCurrencies', 'getRate', 'getTransaction', 'listTransactions'])
const quoteOps = ['getRate'] as const
const readOps = ['getTransaction', 'listTransactions'] as const

class ProviderBreakers {
  /** For the gateway's own health checks, which use the budget like any call. */
  service: SwapService | undefined
  private readonly upstream: UpstreamScope
  private readonly byOp: Readonly<Record<OperationName, OperationBreaker>>
  private readonly reject: Readonly<Record<'breaker' | 'caller', (wait: number) => Fault>>
  private readonly healthChecks: HealthChecks
  private readonly callers: BreakerCallers
  /** When the last call that the provider answered had begun, by operation. */
  private readonly respondedAt: Partial<Record<OperationName, number>> = {}
  /** Calls under way, and since when none of the operation has got an answer. */
  private readonly waiting: Partial<Record<OperationName, { count: number; since: number }>> = {}
  /** Operations whose last call timed out. */
  private readonly timedOut = new Set<OperationName>()
  private provenAt = Number.NEGATIVE_INFINITY
  private readonly proving = singleFlight((request: Request<'createTransaction'>, context: Context) => this.prove(request, context))

  constructor(upstream: UpstreamScope) {
    const { tag: provider, steadyClock: clock, random, observe } = upstream
    const breakerOf = (operation: OperationName): OperationBreaker =>
      new OperationBreaker({
        clock,
        random,
        settings: upstream.configured.breaker,
        onState: (state) => observe({ what: 'breaker', provider, operation, state }),
        isProbed: probed.has(operation),
      })
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
    const beganAt = this.upstream.steadyClock()
    const isProbe = breaker.circuit.state === 'open' && breaker.circuit.isProbing
    const isTrial = breaker.circuit.tryHalfOpen()
    const hadTime = isTrial || context.deadline - performance.now() >= this.upstream.timeoutMs * minTimeoutShare
    const waiting = this.wait(op, beganAt)
    const end = (fault?: Fault, isRequestExtreme = false): void => {
      waiting.count--
      if (fault?.kind !== 'timedOut') waiting.since = this.upstream.steadyClock()
      if (!fault && needsKey(op) && !context.isGatewayCall) this.callers.verify(context.caller)
      if (fault?.kind !== 'timedOut') this.timedOut.delete(op)
      else if (hadTime) this.timedOut.add(op)
      const caller = this.callerOf(op, context)
      const isOfRequest = isRequestExtreme || (!caller && op === 'getTransaction' && fault?.kind === 'unreadable') // this one swap is odd
      const result: CallResult = fault ? callResultOf(fault, hadTime, isOfRequest) : 'responded'
      if (result === 'responded') this.respondedAt[op] = beganAt
      if (isTrial) {
        if (breaker.endTrial(caller, result)) void this.judgeTrial(op, context)
      } else if (breaker.end(caller, result, valueIn(context, resends) > 0) && caller) void this.diagnose(op, caller, context)
    }
    return { isTrial, isProbe, end }
  }

  isFailing(op: Op): boolean {
    if (this.byOp[op].circuit.state !== 'closed' || this.timedOut.has(op)) return true
    const { count = 0, since = 0 } = this.waiting[op] ?? {}
    return count > 0 && this.upstream.steadyClock() - since >= this.upstream.timeoutMs * hangingShare
  }

  private wait(op: OperationName, now: number): { count: number; since: number } {
    const waiting = this.waiting[op] ?? { count: 0, since: now }
    this.waiting[op] = waiting
    if (waiting.count++ === 0) waiting.since = now
    return waiting
  }

  /** A create is tried only when a quote and a read have passed since the breaker opened: a provider may answer quotes and hang on all else. */
  missingProof(op: Op, request: Request<Op>, context: Context): Promise<void> | undefined {
    if (op !== 'createTransaction' || this.byOp[op].circuit.state !== 'open' || this.isProven()) return undefined
    const proving = this.proving.run(request as Request<'createTransaction'>, context)
    return withDefault(proving, maxProofMs, undefined).then(() => {
      if (!this.isProven()) throw this.reject.breaker(proofRetryMs)
    })
  }

  private isProven(): boolean {
    const { openedAt } = this.byOp.createTransaction.circuit
    const hasPassed = (op: Op): boolean => (this.respondedAt[op] ?? Number.NEGATIVE_INFINITY) >= openedAt
    return quoteOps.some(hasPassed) && readOps.some(hasPassed)
  }

  /** Makes what no client has: a quote of the create's own pair, and a read. With the client's key where it sends the provider's. */
  private async prove(request: Request<'createTransaction'>, context: Context): Promise<void> {
    const { service, upstream } = this
    const { usesGatewayKey, steadyClock, timeoutMs, keyedRead } = upstream
    if (!service || steadyClock() - this.provenAt < proofRetryMs) return
    this.provenAt = steadyClock()
    const own = usesGatewayKey ? gatewayContext(context.clientCapabilities) : context
    const within = withValue({ ...own, deadline: performance.now() + timeoutMs }, needsAmountRangeOnly, true)
    await Promise.allSettled([
      service.call('getRate', queryOf(request), within),
      keyedRead === 'listTransactions'
        ? service.call('listTransactions', { page: 1, size: 1 }, withValue(within, acceptsUnreadableRows, true))
        : service.call('getTransaction', { id: unknownId() }, within),
    ])
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

/**
 * What is asked of the provider is so large (over 1e15), so small or so precise (over 18 decimals) that its failure may be no fault of the
 * provider's (`test/forms/extreme-amounts.test.ts`).
 */
function isExtremeRequest(request: Request<Op>): boolean {
  return ('amountIn' in request || 'amountOut' in request) && isExtreme(requestedAmountOf(request))
}

/** The circuit breaker of one operation at one provider (docs/contract-operators.md §8). */

import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import { LookupTimeout } from '../../domain/failure-cause.ts'
import { type Fault, faultTable, rootCauseOf } from '../../domain/fault.ts'
import type { BreakerState } from '../../domain/observation.ts'
import type { Caller } from '../../domain/service.ts'
import { SlidingWindowCounter } from '../../domain/sliding-window-counter.ts'
import { clientNetworkOf } from '../access/client-address.ts'
import type { SteadyClock } from '../clock.ts'
import type { ConfiguredProvider } from '../provider-scope.ts'

interface BreakerRejection {
  /** Milliseconds. */
  readonly waitMs: number
  readonly by: 'breaker' | 'caller'
}

interface FailedTrial {
  /** Undefined: any caller that is not verified. */
  readonly caller: string | undefined
  /** Until then other callers go first. */
  readonly yieldsUntil: number
  /** Of a probe: only if there are others. */
  readonly isProbe: boolean
}

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
  private readonly blockedCallers: BlockedCallers
  private failingCallers = new FailingCallers()
  /** Failures in a row, of all callers. */
  private failures = 0
  /** Failures in a row of the gateway's own calls. */
  private ownFailures = 0
  /** Failed connections in a row, of all callers and of the gateway. */
  private unconnected = 0
  private failedTrial: FailedTrial | undefined
  /** When another caller than that of the failed trial was last rejected. */
  private otherSeenAt = Number.NEGATIVE_INFINITY

  constructor(options: CircuitOptions) {
    this.options = options
    this.circuit = new Circuit(options)
    this.blockedCallers = new BlockedCallers(options.settings)
  }

  /** Whether no call can be rejected now: a fast path. */
  get admitsAll(): boolean {
    return this.circuit.state === 'closed' && !this.blockedCallers.isAnyBlocked(this.options.clock)
  }

  /** Undefined if the call is admitted. `caller` is undefined for the gateway itself. */
  rejectionOf(caller: BreakerCaller | undefined): BreakerRejection | undefined {
    const { state, remainingMs } = this.circuit
    if (caller && caller.verifiedAs !== this.failedTrial?.caller) this.otherSeenAt = this.options.clock()
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
    else {
      const { isProbing } = this.circuit
      const isJudged = result !== 'unconnected' && caller !== undefined && caller.verifiedAs === undefined
      if (isProbing) this.circuit.pauseProbes()
      else if (isJudged) this.circuit.reopen()
      else this.open()
      this.noteFailedTrial(caller, isProbing)
      return isJudged
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
    if (this.unconnected >= this.options.settings.consecutiveFailures || (result === 'failed' && this.isMajority(caller))) {
      this.open()
      return false
    }
    if (isResend) return false
    if (caller) return this.countFailure(caller, result)
    if (++this.ownFailures >= this.options.settings.consecutiveFailures) this.open()
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
    const isFifthOfAll = ++this.failures >= this.options.settings.consecutiveFailures
    if (isFifthOfAll) this.failures = 0
    const isFifthOfCaller = result === 'failed' && this.blockedCallers.add(blockedAs, this.options.clock())
    return isFifthOfAll || isFifthOfCaller
  }

  private noteFailedTrial(caller: BreakerCaller | undefined, isProbe: boolean): void {
    const yieldsFrom = this.options.clock() + Math.max(0, this.circuit.remainingMs)
    this.failedTrial = caller && { caller: caller.verifiedAs, yieldsUntil: yieldsFrom + yieldMs, isProbe }
  }

  private yields({ verifiedAs }: BreakerCaller): boolean {
    if (!this.failedTrial || this.failedTrial.caller !== verifiedAs) return false
    const now = this.options.clock()
    const { yieldsUntil, isProbe } = this.failedTrial
    return now < yieldsUntil && (!isProbe || now - this.otherSeenAt < yieldMs)
  }

  /** Forgets the failures that led to this state. */
  private reset(): void {
    this.failingCallers = new FailingCallers()
    this.failures = 0
    this.ownFailures = 0
    this.unconnected = 0
  }
}

// The three states of a circuit breaker.

/** `providers.<name>.breaker`. */
type BreakerSettings = ConfiguredProvider['breaker']

/** Time and chance; a test has its own. */
interface CircuitOptions {
  readonly settings: BreakerSettings
  readonly clock: SteadyClock
  readonly random: () => number
  readonly onState: (state: BreakerState) => void
  /** Whether the provider is probed each second with the next call, and not only after the open time. */
  readonly isProbed?: boolean
}

/** Between the end of a probe and the next. */
const probeIntervalMs = 1_000
/** Random share of the open time, so that replicas do not all retry at once. */
const jitter = 0.1

/** The n-th open time in a row: by default 30, 60, 90 … 300 s, in milliseconds. */
function openDurationMs({ baseEjectionTime, maxEjectionTime }: BreakerSettings, times: number, random: () => number): number {
  return Math.min(baseEjectionTime * times, maxEjectionTime) * 1000 * (1 - jitter * random())
}

/**
 * A circuit breaker's state. The n-th opening lasts n times as long as the first; each first open time in the closed state reduces n by one. Where
 * it is probed, the trials before its end are probes, a second apart.
 */
export class Circuit {
  private readonly options: CircuitOptions
  private current: BreakerState = 'closed'
  private closedAt: number
  private openUntil = 0
  private probeAt = Number.POSITIVE_INFINITY
  private openings = 0
  private lastOpenedAt = Number.NEGATIVE_INFINITY

  constructor(options: CircuitOptions) {
    this.options = options
    this.closedAt = options.clock()
  }

  get state(): BreakerState {
    return this.current
  }

  /** In the open state: milliseconds until a trial call is allowed; negative if it is allowed already. */
  get remainingMs(): number {
    return Math.min(this.openUntil, this.probeAt) - this.options.clock()
  }

  /** Whether a trial that begins or ends now is a probe. */
  get isProbing(): boolean {
    return this.options.clock() < this.openUntil
  }

  /** When it opened last: on the clock. */
  get openedAt(): number {
    return this.lastOpenedAt
  }

  /** A probe has failed: the next in a second. */
  pauseProbes(): void {
    this.probeAt = this.options.clock() + probeIntervalMs
    this.setState('open')
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
    const { clock, random, settings } = this.options
    const recovered = this.current === 'closed' ? Math.floor((clock() - this.closedAt) / (settings.baseEjectionTime * 1000)) : 0
    this.openings = Math.max(0, this.openings - recovered) + 1
    this.lastOpenedAt = clock()
    this.openUntil = this.lastOpenedAt + openDurationMs(settings, this.openings, random)
    if (this.options.isProbed) this.probeAt = this.lastOpenedAt + probeIntervalMs
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

const windowMs = 30_000
/** A bound on memory. */
const maxCallers = 20_000

interface CallerState {
  respondedAt: number
  /** Returned by `SlidingWindowCounter.add`. */
  activeSecond?: number | undefined
  failedSecond?: number | undefined
}

/** All callers that are not verified. */
const unverified = ''

/**
 * Counts the callers of the last 30 seconds and those with failures only. Constant cost per call. All unverified callers (`undefined`)
 * are one, and only their responses count: their failures may be those of a verified one without its key.
 */
export class FailingCallers {
  private readonly callers = new BoundedMap<CallerState>({
    share: cacheShares.callers,
    maxEntries: maxCallers,
    lifetimeMs: windowMs,
  })
  private readonly active = new SlidingWindowCounter(windowMs / 1000)
  private readonly failing = new SlidingWindowCounter(windowMs / 1000)

  recordResponse(caller: string | undefined, now: number): void {
    const state = this.stateOf(caller ?? unverified, now)
    state.respondedAt = now
    if (state.failedSecond === undefined) return
    this.failing.remove(now, state.failedSecond)
    state.failedSecond = undefined
  }

  recordFailure(caller: string | undefined, now: number): void {
    if (caller === undefined) return
    const state = this.stateOf(caller, now)
    if (now - state.respondedAt >= windowMs) state.failedSecond = this.failing.add(now, state.failedSecond)
  }

  /** Whether at least two verified callers, and more than half of all, had only failures. */
  isMajority(now: number): boolean {
    const failing = this.failing.count(now)
    return failing >= 2 && failing * 2 > this.active.count(now)
  }

  private stateOf(caller: string, now: number): CallerState {
    const state = this.callers.get(caller, now) ?? this.callers.set(caller, { respondedAt: Number.NEGATIVE_INFINITY }, now)
    state.activeSecond = this.active.add(now, state.activeSecond)
    return state
  }
}

interface Failures {
  consecutive: number
  blocks: number
  blockedUntil: number
}

/** A bound on memory in callers with failures, and how long each is kept. */
const rememberForMs = 600_000

/** Counts the failures of each caller. One whose calls alone fail is blocked alone, as long as a breaker would be open. */
export class BlockedCallers {
  private readonly callers = new BoundedMap<Failures>({
    share: cacheShares.callers,
    maxEntries: maxCallers,
    lifetimeMs: rememberForMs,
  })
  private anyBlockedUntil = Number.NEGATIVE_INFINITY
  private readonly settings: BreakerSettings

  constructor(settings: BreakerSettings) {
    this.settings = settings
  }

  /** Reads the clock only if a caller was ever blocked. */
  isAnyBlocked(clock: () => number): boolean {
    return this.anyBlockedUntil !== Number.NEGATIVE_INFINITY && clock() < this.anyBlockedUntil
  }

  /** Milliseconds until the caller is no longer blocked; 0 if it is not. */
  remainingMs(caller: string, now: number): number {
    return Math.max(0, (this.callers.get(caller, now)?.blockedUntil ?? 0) - now)
  }

  /** Counts a failure. Returns whether the caller has at least five consecutive failures. */
  add(caller: string, now: number): boolean {
    const fresh = { consecutive: 0, blocks: 0, blockedUntil: Number.NEGATIVE_INFINITY }
    const failures = this.callers.get(caller, now) ?? this.callers.set(caller, fresh, now)
    return ++failures.consecutive >= this.settings.consecutiveFailures
  }

  /** Blocks the caller, unless a call of it succeeded meanwhile. */
  block(caller: string, now: number, random: () => number): void {
    const failures = this.callers.get(caller, now)
    if (!failures || failures.consecutive < this.settings.consecutiveFailures || failures.blockedUntil > now) return
    failures.blockedUntil = now + openDurationMs(this.settings, ++failures.blocks, random)
    this.anyBlockedUntil = Math.max(this.anyBlockedUntil, failures.blockedUntil)
  }

  clear(caller: string, now: number): void {
    const failures = this.callers.get(caller, now)
    if (failures) Object.assign(failures, { consecutive: 0, blocks: 0 })
  }
}

// Who a caller is to the breakers of a provider (docs/contract-operators.md §8).

export interface BreakerCaller {
  /** Undefined for a caller whose key nobody has verified: addresses and made-up keys cost nothing, so their failures open no breaker. */
  readonly verifiedAs: string | undefined
  /** Who is blocked if its calls alone fail. */
  readonly blockedAs: string
}

/** A key stays verified for this time after the provider answered a call with it. */
const verifiedForMs = 3_600_000
/** A bound on memory. */
const maxKeys = 20_000

/** Accounts are verified where the gateway issues the keys. A key of the provider is verified by the provider's answer to a call that needs it. */
export class BreakerCallers {
  private readonly usesGatewayKey: boolean
  private readonly clock: () => number
  private readonly answeredAt = new BoundedMap<number>({
    share: cacheShares.callers,
    maxEntries: maxKeys,
    lifetimeMs: verifiedForMs,
  })

  constructor(usesGatewayKey: boolean, clock: () => number) {
    this.usesGatewayKey = usesGatewayKey
    this.clock = clock
  }

  of({ identity, address }: Caller, isKeyed: boolean): BreakerCaller {
    const verifiedAs = identity !== undefined && this.isVerified(identity) ? identity : undefined
    const ownName = isKeyed ? identity : verifiedAs
    return { verifiedAs, blockedAs: ownName ?? clientNetworkOf(address) }
  }

  /** The provider answered a call that needs the key. */
  verify({ identity }: Caller): void {
    const now = this.clock()
    if (!this.usesGatewayKey && identity !== undefined) this.answeredAt.set(identity, now, now)
  }

  private isVerified(identity: string): boolean {
    if (this.usesGatewayKey) return true
    const now = this.clock()
    return now - (this.answeredAt.get(identity, now) ?? Number.NEGATIVE_INFINITY) < verifiedForMs
  }
}

/** How a call ended. `unconnected`: no connection, so the request is not the cause. `ignored`: no sign of the provider's health. */
export type CallResult = 'responded' | 'failed' | 'unconnected' | 'ignored'

/**
 * Classifies a fault. A 4xx of the provider counts as `responded`. `hadTime`: whether the provider had enough time to respond.
 * `isOfRequest`: a failure after the connection may be
 * the request's own, and says nothing about the provider.
 */
export function callResultOf(fault: Fault, hadTime: boolean, isOfRequest = false): CallResult {
  const result = resultOf(fault, hadTime)
  return result === 'failed' && isOfRequest ? 'ignored' : result
}

function resultOf(fault: Fault, hadTime: boolean): CallResult {
  const { kind, effect, provider } = fault
  switch (faultTable[kind].health) {
    case 'unconnected':
      return wasLookedUp(fault) ? 'unconnected' : 'ignored'
    case 'failed':
      return 'failed'
    case 'failedUnlessRefused':
      return effect === 'maybe' ? 'failed' : 'responded'
    case 'failedIfInTime':
      return hadTime ? 'failed' : 'ignored'
    case 'responded':
      return provider === undefined ? 'ignored' : 'responded'
  }
}

/** Not where the names of other hosts took all threads. */
function wasLookedUp(fault: Fault): boolean {
  const cause = rootCauseOf(fault)
  return !(cause instanceof LookupTimeout && !cause.hasBegun)
}

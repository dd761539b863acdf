/**
 * Protects a provider, and other clients, from native calls (docs/contract.md §11). Only the budget is shared with the operations:
 * native calls that fail or last long do not affect swaps.
 */

import type { SteadyClock } from '../core/clock.ts'
import { type RejectLocally, rejectLocally } from '../core/layer.ts'
import type { UpstreamScope } from '../core/provider-scope.ts'
import type { CallBreaker } from '../core/resilience/breaker.ts'
import type { SpendBudget } from '../core/resilience/budget-limit.ts'
import { boundedCalls } from '../core/resilience/bulkhead.ts'
import { Fault } from '../domain/fault.ts'
import { countedAs, type MakeNativeCall, type NativeGuard, type OpenPath, type ReportHead } from '../domain/native.ts'
import type { Observer } from '../domain/observation.ts'
import { policyOf } from '../domain/policy.ts'
import type { Context } from '../domain/service.ts'

/**
 * Concurrent calls to one provider, and those of one account: a slow client can keep a call open for long. If all slots are taken, an
 * account with fewer than another gets the slot of the other's oldest call.
 */
const maxConcurrent = 128
const maxConcurrentPerAccount = 64
const maxQueued = 512
const queueTimeoutMs = 1_000

export function nativeGuard(upstream: UpstreamScope, breaker: CallBreaker, spendBudget: SpendBudget): NativeGuard {
  const { tag: provider, steadyClock: clock, observe } = upstream
  const reject = rejections(provider, observe)
  const cooldown = new PathCooldown(clock, () => observe({ what: 'cooldown', provider, reason: 'limited' }))
  const slots = new Slots(clock)
  const run = boundedCalls(provider, { maxConcurrent, maxQueued, queueTimeoutMs }, observe)
  const send = async (openPath: OpenPath, context: Context, call: MakeNativeCall, signal: AbortSignal): Promise<void> => {
    await spendBudget(policyOf[countedAs(openPath.method)], true, context)
    const refusal = breaker.rejectionOf(context)
    if (refusal) throw refusal
    await counted(breaker, context, (reportHead) =>
      call((fault) => {
        cooldown.note(openPath, fault)
        reportHead(fault)
      }, signal),
    )
  }
  const inPlace: NativeGuard['awaitBody'] = async (account, work) => {
    if (!slots.ask(account)) throw reject.bulkhead(queueTimeoutMs)
    try {
      return await work()
    } finally {
      slots.leave(account)
    }
  }
  return {
    awaitBody: inPlace,
    async call(openPath, context, call) {
      const remainingMs = cooldown.remainingMs(openPath)
      if (remainingMs > 0) throw reject.cooldown(remainingMs)
      const refusal = breaker.rejectionOf(context)
      if (refusal) throw refusal
      const account = context.caller.identity ?? ''
      await inPlace(account, () => {
        slots.makeRoom(account)
        return run(context.deadline, () => slots.hold(account, (signal) => send(openPath, context, call, signal)))
      })
    },
  }
}

interface Held {
  readonly since: number
  readonly end: AbortController
}

/** A call that has its slot for less than this time is not ended for another account. */
const minHeldMs = 1_000

/** The slots of the accounts, so that no two of them keep out a third. */
class Slots {
  private readonly clock: SteadyClock
  /** Calls of each account, those that wait for a slot or for their body included. */
  private readonly asked = new Map<string, number>()
  /** Calls of each account that have a slot, oldest first. */
  private readonly held = new Map<string, Set<Held>>()
  private count = 0

  constructor(clock: SteadyClock) {
    this.clock = clock
  }

  /** False if the account has its maximum of calls. */
  ask(account: string): boolean {
    const count = this.asked.get(account) ?? 0
    if (count >= maxConcurrentPerAccount) return false
    this.asked.set(account, count + 1)
    return true
  }

  leave(account: string): void {
    const left = (this.asked.get(account) ?? 1) - 1
    if (left > 0) this.asked.set(account, left)
    else this.asked.delete(account)
  }

  async hold(account: string, call: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const slot = { since: this.clock(), end: new AbortController() }
    const own = this.held.getOrInsertComputed(account, () => new Set())
    own.add(slot)
    this.count++
    try {
      await call(slot.end.signal)
    } finally {
      this.count--
      own.delete(slot)
      if (own.size === 0) this.held.delete(account)
    }
  }

  /** If all slots are taken: ends the oldest call of the account that has the most, if that has more than this one will have. */
  makeRoom(account: string): void {
    if (this.count < maxConcurrent) return
    const own = this.held.get(account)?.size ?? 0
    const [most] = [...this.held.values()].toSorted((a, b) => b.size - a.size)
    const [oldest] = most ?? []
    if (!most || !oldest || most.size <= own + 1 || this.clock() - oldest.since < minHeldMs) return
    most.delete(oldest)
    oldest.end.abort(new Fault('tooSlow', 'It took too long while other accounts waited.'))
  }
}

/** Reports the result to the breaker: of the trial call of a half-open breaker at the head of the response, else at the end. */
async function counted(breaker: CallBreaker, context: Context, call: (reportHead: ReportHead) => Promise<void>): Promise<void> {
  const { isTrial, end } = breaker.begin(context)
  let isEnded = false
  let statusFault: Fault | undefined
  const endOnce = (fault?: Fault): void => {
    if (!isEnded) end(fault)
    isEnded = true
  }
  await call((fault) => {
    statusFault = fault
    if (isTrial) endOnce(fault)
  }).then(
    () => endOnce(statusFault),
    (reason) => {
      endOnce(Fault.from(reason))
      throw reason
    },
  )
}

function rejections(provider: string, observe: Observer): Readonly<Record<'cooldown' | 'bulkhead', RejectLocally>> {
  return { cooldown: rejectLocally(provider, 'cooldown', observe), bulkhead: rejectLocally(provider, 'bulkhead', observe) }
}

/** The longest cooldown, whatever the provider's `Retry-After`. */
const maxCooldownMs = 3_600_000

/** A cooldown for each open path, after a 429 with `Retry-After`. Other paths are not affected. */
class PathCooldown {
  private readonly clock: () => number
  private readonly onStart: () => void
  private readonly until = new Map<string, number>()

  constructor(clock: () => number, onStart: () => void) {
    this.clock = clock
    this.onStart = onStart
  }

  remainingMs(openPath: OpenPath): number {
    return (this.until.get(keyOf(openPath)) ?? Number.NEGATIVE_INFINITY) - this.clock()
  }

  /** Starts the cooldown. Without `Retry-After` there is none. */
  note(openPath: OpenPath, fault: Fault | undefined): void {
    if (fault?.kind !== 'limited' || fault.retryAfter === undefined) return
    this.onStart()
    this.until.set(keyOf(openPath), this.clock() + Math.min(fault.retryAfter * 1000, maxCooldownMs))
  }
}

function keyOf({ method, pattern }: OpenPath): string {
  return `${method} ${pattern}`
}

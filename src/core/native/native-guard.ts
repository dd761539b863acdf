/**
 * Protects a provider, and other clients, from native calls (docs/contract.md §11). Only the budget is shared with the operations:
 * native calls that fail or last long do not affect swaps.
 */
import { Fault } from '../../domain/faults/fault.ts'
import { countedAs, type MakeNativeCall, type NativeGuard } from '../../domain/native/native-call.ts'
import type { OpenPath } from '../../domain/native/open-path.ts'
import { policyOf } from '../../domain/swap/policy.ts'
import type { Context } from '../../domain/swap/service.ts'
import type { Observer } from '../../domain/telemetry/observation.ts'
import type { SteadyClock } from '../clock.ts'
import type { ProviderLayerOptions } from '../layer-options.ts'
import { type RejectLocally, rejectLocally } from '../local-rejection.ts'
import type { CallBreaker } from '../resilience/breaker/breaker.ts'
import type { SpendBudget } from '../resilience/budget/budget-limit.ts'
import { boundedCalls } from '../resilience/bulkhead.ts'
import { AccountSlots } from './account-slots.ts'
import { PathCooldown } from './path-cooldown.ts'

export interface NativeGuardOptions extends ProviderLayerOptions {
  readonly breaker: CallBreaker
  readonly spendBudget: SpendBudget
  readonly clock: SteadyClock
}

/** Concurrent calls to one provider, and those of one account: a slow client can keep a call open for long. */
const maxConcurrent = 128
const maxConcurrentPerAccount = 64
const maxQueued = 512
const queueTimeoutMs = 1_000

export function nativeGuard({ provider, breaker, spendBudget, clock, observe }: NativeGuardOptions): NativeGuard {
  const reject = rejections(provider, observe)
  const cooldown = new PathCooldown(clock, () => observe({ what: 'cooldown', provider, reason: 'limited' }))
  const slots = new AccountSlots(maxConcurrentPerAccount)
  const run = boundedCalls({ provider, maxConcurrent, maxQueued, queueTimeoutMs, observe })
  const send = async (openPath: OpenPath, context: Context, call: MakeNativeCall): Promise<void> => {
    await spendBudget(policyOf[countedAs(openPath.method)], true, context)
    const refusal = breaker.rejectionOf(context)
    if (refusal) throw refusal
    await counted(breaker, context, (reportHead) =>
      call((fault) => {
        cooldown.note(openPath, fault)
        reportHead(fault)
      }),
    )
  }
  return async (openPath, context, call) => {
    const remainingMs = cooldown.remainingMs(openPath)
    if (remainingMs > 0) throw reject.cooldown(remainingMs)
    const refusal = breaker.rejectionOf(context)
    if (refusal) throw refusal
    const account = context.caller.identity ?? ''
    if (!slots.take(account)) throw reject.bulkhead(queueTimeoutMs)
    await run(context.deadline, () => send(openPath, context, call)).finally(() => slots.release(account))
  }
}

/** Reports the result to the breaker: of the trial call of a half-open breaker at the head of the response, else at the end. */
async function counted(breaker: CallBreaker, context: Context, call: MakeNativeCall): Promise<void> {
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

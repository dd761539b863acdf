/** Bounds the concurrent calls to one provider, so that a provider that hangs does not exhaust the gateway. */
import type { Fault } from '../../domain/faults/fault.ts'
import { aroundAll, type Layer } from '../layer.ts'
import type { ProviderLayerOptions } from '../layer-options.ts'
import { rejectLocally } from '../local-rejection.ts'
import { LinkedQueue } from './linked-queue.ts'

/** The values are constants of `resilience.ts` and `native-guard.ts`, not configuration. */
export interface BulkheadOptions extends ProviderLayerOptions {
  /** Concurrent calls. */
  readonly maxConcurrent: number
  /** Calls that wait for a free slot. */
  readonly maxQueued: number
  /** The longest wait for a slot. */
  readonly queueTimeoutMs: number
}

interface QueuedCall {
  readonly enter: () => void
  readonly timer: NodeJS.Timeout
}

/**
 * Throws `unavailable` with `noEffect` if the queue is full or the wait exceeds `queueTimeoutMs` or the deadline.
 *
 * @example
 *     const layer = bulkhead({ provider: 'alpha', maxConcurrent: 128, maxQueued: 4_096, queueTimeoutMs: 1_000, observe })
 *     const service = compose([layer], provider)
 */
export function bulkhead(options: BulkheadOptions): Layer {
  const run = boundedCalls(options)
  return aroundAll(function bulkhead(op, request, context, next) {
    return run(context.deadline, () => next.call(op, request, context))
  })
}

/** Runs a call as soon as a slot is free. `deadline`: on the clock of `performance.now()`. */
export type RunBounded = <T>(deadline: number, call: () => Promise<T>) => Promise<T>

export function boundedCalls({ provider, maxConcurrent, maxQueued, queueTimeoutMs, observe }: BulkheadOptions): RunBounded {
  const refuse = rejectLocally(provider, 'bulkhead', observe)
  const queue = new LinkedQueue<QueuedCall>()
  let inFlight = 0
  const release = (): void => {
    const first = queue.shift()
    if (!first) {
      inFlight--
      return
    }
    clearTimeout(first.timer)
    first.enter()
  }
  /** The call that ends passes its slot on, so `inFlight` stays the same. */
  const waitForSlot = (waitMs: number): Promise<void> =>
    new Promise((enter, reject: (fault: Fault) => void) => {
      const expire = (): void => {
        queue.remove(entry)
        reject(refuse(queueTimeoutMs))
      }
      const entry = queue.push({ enter, timer: setTimeout(expire, waitMs) })
    })
  return (deadline, call) => {
    const run = (): ReturnType<typeof call> => {
      const response = call()
      response.then(release, release)
      return response
    }
    if (inFlight < maxConcurrent) {
      inFlight++
      return run()
    }
    if (queue.size >= maxQueued) return Promise.reject(refuse(queueTimeoutMs))
    return waitForSlot(Math.max(1, Math.min(queueTimeoutMs, deadline - performance.now()))).then(run)
  }
}

/** Bounds how many calls one provider has at a time, so that one that hangs does not fill the gateway. */
import type { Fault } from '../../domain/faults/fault.ts'
import type { Observer } from '../../domain/telemetry/observation.ts'
import { aroundAll, type Layer } from '../layer.ts'
import { rejectLocally } from '../local-rejection.ts'
import { LinkedQueue } from './linked-queue.ts'

export interface BulkheadOptions {
  /** Tag of the provider. */
  readonly provider: string
  /** Calls at a time. */
  readonly maxConcurrent: number
  /** Calls that wait for one of these to end. */
  readonly maxQueued: number
  /** The longest wait, in milliseconds. */
  readonly queueTimeoutMs: number
  readonly observe: Observer
}

interface QueuedCall {
  readonly enter: () => void
  readonly timer: NodeJS.Timeout
}

/** Throws `unavailable`, for certain, where the queue is full or the wait is over. */
export function bulkhead({ provider, maxConcurrent, maxQueued, queueTimeoutMs, observe }: BulkheadOptions): Layer {
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
  /** The place is handed over by the one who leaves. */
  const waitForSlot = (waitMs: number): Promise<void> =>
    new Promise((enter, reject: (fault: Fault) => void) => {
      const expire = (): void => {
        queue.remove(entry)
        reject(refuse(queueTimeoutMs))
      }
      const entry = queue.push({ enter, timer: setTimeout(expire, waitMs) })
    })
  return aroundAll((op, request, context, next) => {
    const run = (): ReturnType<typeof next.call<typeof op>> => {
      const response = next.call(op, request, context)
      response.then(release, release)
      return response
    }
    if (inFlight < maxConcurrent) {
      inFlight++
      return run()
    }
    if (queue.size >= maxQueued) return Promise.reject(refuse(queueTimeoutMs))
    return waitForSlot(Math.max(1, Math.min(queueTimeoutMs, context.deadline - performance.now()))).then(run)
  })
}

/** Bounds how many calls one provider has at a time, so that one that hangs does not fill the gateway. */
import type { Fault } from '../domain/fault.ts'
import type { Observer } from '../domain/observation.ts'
import { holdBack } from './busy.ts'
import { type Layer, layer } from './layer.ts'
import { Line } from './line.ts'

export interface BulkheadOptions {
  /** Tag of the provider. */
  readonly provider: string
  /** Calls at a time. */
  readonly most: number
  /** Calls that wait for one of these to end. */
  readonly mostWaiting: number
  /** The longest wait, in milliseconds. */
  readonly patience: number
  readonly observe: Observer
}

interface Waiting {
  readonly enter: () => void
  readonly timer: NodeJS.Timeout
}

/** Throws `unavailable`, for certain, where the queue is full or the wait is over. */
export function bulkhead({ provider, most, mostWaiting, patience, observe }: BulkheadOptions): Layer {
  const refuse = holdBack(provider, 'bulkhead', observe)
  const queue = new Line<Waiting>()
  let active = 0
  const leave = (): void => {
    const first = queue.shift()
    if (!first) {
      active--
      return
    }
    clearTimeout(first.timer)
    first.enter()
  }
  /** The place is handed over by the one who leaves. */
  const queued = (wait: number): Promise<void> =>
    new Promise((enter, reject: (fault: Fault) => void) => {
      const expire = (): void => {
        queue.leave(place)
        reject(refuse(patience))
      }
      const place = queue.push({ enter, timer: setTimeout(expire, wait) })
    })
  return layer((op, request, context, next) => {
    const admitted = (): ReturnType<typeof next.call<typeof op>> => {
      const answer = next.call(op, request, context)
      answer.then(leave, leave)
      return answer
    }
    if (active < most) {
      active++
      return admitted()
    }
    if (queue.size >= mostWaiting) return Promise.reject(refuse(patience))
    return queued(Math.max(1, Math.min(patience, context.deadline - performance.now()))).then(admitted)
  })
}

/** Bounds the concurrent calls to one provider, so that a provider that hangs does not exhaust the gateway. */
import type { Fault } from '../../domain/fault.ts'
import type { Observer } from '../../domain/observation.ts'
import { aroundAll, type Layer, rejectLocally } from '../layer.ts'
import type { UpstreamScope } from '../provider-scope.ts'

interface Bounds {
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
 * Throws `unavailable` if the queue is full or the wait exceeds `queueTimeoutMs` or the deadline.
 *
 * @example
 *     const layer = bulkhead(upstream, { maxConcurrent: 128, maxQueued: 4_096, queueTimeoutMs: 1_000 })
 *     const service = compose([layer], provider)
 */
export function bulkhead(upstream: UpstreamScope, bounds: Bounds): Layer {
  const run = boundedCalls(upstream.tag, bounds, upstream.observe)
  return aroundAll(function bulkhead(op, request, context, next) {
    return run(context.deadline, () => next.call(op, request, context))
  })
}

/** Runs a call as soon as a slot is free. `deadline`: on the clock of `performance.now()`. */
type RunBounded = <T>(deadline: number, call: () => Promise<T>) => Promise<T>

export function boundedCalls(provider: string, bounds: Bounds, observe: Observer): RunBounded {
  const { maxConcurrent, maxQueued, queueTimeoutMs } = bounds
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

/** An entry of a queue, for `remove`. */
interface QueueEntry<T> {
  readonly value: T
}

interface Link<T> extends QueueEntry<T> {
  previous: Link<T> | undefined
  next: Link<T> | undefined
}

/**
 * A FIFO queue with removal from any place. A `Set` is not used: one that grows and shrinks leaves dead tables behind, each of
 * which points to the next and keeps its old contents alive until a full garbage collection.
 */
export class LinkedQueue<T> {
  private head: Link<T> | undefined
  private tail: Link<T> | undefined
  private count = 0

  get size(): number {
    return this.count
  }

  get first(): T | undefined {
    return this.head?.value
  }

  push(value: T): QueueEntry<T> {
    const link: Link<T> = { value, previous: this.tail, next: undefined }
    if (this.tail) this.tail.next = link
    else this.head = link
    this.tail = link
    this.count++
    return link
  }

  shift(): T | undefined {
    const { head } = this
    if (!head) return undefined
    this.remove(head)
    return head.value
  }

  /** Removes an entry. It must be in this queue, and may be removed only once. */
  remove(entry: QueueEntry<T>): void {
    const link = entry as Link<T>
    const { previous, next } = link
    if (previous) previous.next = next
    else this.head = next
    if (next) next.previous = previous
    else this.tail = previous
    link.previous = undefined
    link.next = undefined
    this.count--
  }
}

/** A queue in which each caller has one turn in a round. What one caller waits for is first in, first out. */
export class RoundRobinQueue<T> {
  /** Of callers that wait, in the order of their next turns. */
  private readonly queues = new Map<string, LinkedQueue<T>>()
  private count = 0

  get size(): number {
    return this.count
  }

  /** The first of each caller. */
  get firsts(): readonly T[] {
    return [...this.queues.values()].flatMap(({ first }) => (first === undefined ? [] : [first]))
  }

  push(caller: string, value: T): void {
    this.queues.getOrInsertComputed(caller, () => new LinkedQueue()).push(value)
    this.count++
  }

  shift(): T | undefined {
    const [next] = this.queues
    if (!next) return undefined
    const [caller, queue] = next
    this.count--
    this.queues.delete(caller)
    const value = queue.shift()
    if (queue.size > 0) this.queues.set(caller, queue)
    return value
  }
}

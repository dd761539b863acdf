import { LinkedQueue } from './linked-queue.ts'

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

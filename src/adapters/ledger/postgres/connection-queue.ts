/** The queue for connections. Results of creates have priority, and some connections are reserved for them. */
import type { Priority } from '../database.ts'

export interface ConnectionQueue {
  /** Resolves when a slot is free; the returned function releases it. Rejects after the queue timeout. */
  readonly acquire: (priority: Priority) => Promise<() => void>
  /** How long the first waiter without priority has waited. */
  readonly waitMs: () => number
}

export interface ConnectionQueueOptions {
  readonly connections: number
  /** The number of slots that only results may use. */
  readonly reservedConnections: number
  /** Maximum wait by priority. */
  readonly queueTimeoutMs: Readonly<Record<Priority, number>>
}

interface Waiting {
  readonly since: number
  readonly admit: () => void
}

export function connectionQueue({ connections, reservedConnections, queueTimeoutMs }: ConnectionQueueOptions): ConnectionQueue {
  const queues: Readonly<Record<Priority, Set<Waiting>>> = { result: new Set(), usual: new Set() }
  let taken = 0
  const hasFreeConnection = (priority: Priority): boolean =>
    taken < (priority === 'result' ? connections : connections - reservedConnections)
  const admitNext = (): void => {
    for (const priority of ['result', 'usual'] as const) {
      const [first] = queues[priority]
      if (!first || !hasFreeConnection(priority)) continue
      first.admit()
      return
    }
  }
  const occupy = (): (() => void) => {
    taken++
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      taken--
      admitNext()
    }
  }
  const wait = (priority: Priority): Promise<() => void> => {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>()
    const queue = queues[priority]
    const leaveQueue = (): void => {
      clearTimeout(timer)
      queue.delete(waiting)
    }
    const waiting: Waiting = {
      since: performance.now(),
      admit() {
        leaveQueue()
        resolve(occupy())
      },
    }
    const timer = setTimeout(() => {
      leaveQueue()
      reject(new Error('timeout: no connection to the ledger was free'))
    }, queueTimeoutMs[priority])
    queue.add(waiting)
    return promise
  }
  return {
    acquire: async (priority) => (queues[priority].size === 0 && hasFreeConnection(priority) ? occupy() : wait(priority)),
    waitMs() {
      const [first] = queues.usual
      return first ? performance.now() - first.since : 0
    },
  }
}

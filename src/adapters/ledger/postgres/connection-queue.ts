/** Who gets a connection next: results of creates before all else, and some connections are for results alone. */
import type { Priority } from '../database.ts'

export interface ConnectionQueue {
  /** Resolves when there is a place; the returned function leaves it. Rejects after too long a wait. */
  readonly acquire: (priority: Priority) => Promise<() => void>
  /** How long the first without priority has waited, in milliseconds. */
  readonly waitMs: () => number
}

export interface ConnectionQueueOptions {
  readonly connections: number
  /** Of these places, those that only results take. */
  readonly reservedConnections: number
  /** How long one waits at most, in milliseconds. */
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

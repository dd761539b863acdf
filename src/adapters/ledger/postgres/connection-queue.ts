/** The queue for connections. Results of creates have priority, then reads; each kind of work has some connections of its own. */
import type { LedgerWaits } from '../../../core/access/admission.ts'
import type { Lane } from '../database.ts'

export interface ConnectionQueue {
  /** Resolves when a slot is free; the returned function releases it. Rejects after the queue timeout. */
  readonly acquire: (lane: Lane) => Promise<() => void>
  /** How long the first read and the first write without priority have waited. */
  readonly waits: () => LedgerWaits
}

export interface ConnectionQueueOptions {
  readonly connections: number
  /** The number of slots that only results may use. */
  readonly resultConnections: number
  /** The number of slots that only reads may use. */
  readonly readConnections: number
  /** Maximum wait. */
  readonly queueTimeoutMs: Readonly<Record<Lane, number>>
}

interface Waiting {
  readonly since: number
  readonly admit: () => void
}

const lanes = ['result', 'read', 'usual'] as const

export function connectionQueue(options: ConnectionQueueOptions): ConnectionQueue {
  const { connections, resultConnections, readConnections, queueTimeoutMs } = options
  const queues: Readonly<Record<Lane, Set<Waiting>>> = { result: new Set(), read: new Set(), usual: new Set() }
  const taken: Record<Lane, number> = { result: 0, read: 0, usual: 0 }
  const hasFreeConnection = (lane: Lane): boolean => {
    const { result, read, usual } = taken
    const keptForResults = lane === 'result' ? 0 : Math.max(0, resultConnections - result)
    const keptForReads = lane === 'read' ? 0 : Math.max(0, readConnections - read)
    return result + read + usual + keptForResults + keptForReads < connections
  }
  const admitNext = (): void => {
    for (const lane of lanes) {
      const [first] = queues[lane]
      if (!first || !hasFreeConnection(lane)) continue
      first.admit()
      return
    }
  }
  const occupy = (lane: Lane): (() => void) => {
    taken[lane]++
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      taken[lane]--
      admitNext()
    }
  }
  const wait = (lane: Lane): Promise<() => void> => {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>()
    const queue = queues[lane]
    const leaveQueue = (): void => {
      clearTimeout(timer)
      queue.delete(waiting)
    }
    const waiting: Waiting = {
      since: performance.now(),
      admit() {
        leaveQueue()
        resolve(occupy(lane))
      },
    }
    const timer = setTimeout(() => {
      leaveQueue()
      reject(new Error('timeout: no connection to the ledger was free'))
    }, queueTimeoutMs[lane])
    queue.add(waiting)
    return promise
  }
  const waitMs = (lane: Lane): number => {
    const [first] = queues[lane]
    return first ? performance.now() - first.since : 0
  }
  return {
    acquire: async (lane) => (queues[lane].size === 0 && hasFreeConnection(lane) ? occupy(lane) : wait(lane)),
    waits: () => ({ readMs: waitMs('read'), writeMs: waitMs('usual') }),
  }
}

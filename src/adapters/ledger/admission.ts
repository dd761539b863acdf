/** Who gets a connection next: results of creates before all else, and some connections are for results alone. */
import type { Priority } from './store.ts'

export interface Admission {
  /** Resolves when there is a place; the returned function leaves it. Rejects after too long a wait. */
  readonly enter: (priority: Priority) => Promise<() => void>
  /** How long the first without priority has waited, in milliseconds. */
  readonly waitMs: () => number
}

export interface AdmissionOptions {
  readonly places: number
  /** Of these places, those that only results take. */
  readonly reserved: number
  /** How long one waits at most, in milliseconds. */
  readonly patienceMs: Readonly<Record<Priority, number>>
}

interface Waiting {
  readonly since: number
  readonly admit: () => void
}

export function admission({ places, reserved, patienceMs }: AdmissionOptions): Admission {
  const lines: Readonly<Record<Priority, Set<Waiting>>> = { result: new Set(), usual: new Set() }
  let taken = 0
  const hasPlace = (priority: Priority): boolean => taken < (priority === 'result' ? places : places - reserved)
  const admitNext = (): void => {
    for (const priority of ['result', 'usual'] as const) {
      const [first] = lines[priority]
      if (!first || !hasPlace(priority)) continue
      first.admit()
      return
    }
  }
  const place = (): (() => void) => {
    taken++
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      taken--
      admitNext()
    }
  }
  const wait = (priority: Priority): Promise<() => void> => {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>()
    const line = lines[priority]
    const leave = (): void => {
      clearTimeout(timer)
      line.delete(waiting)
    }
    const waiting: Waiting = {
      since: performance.now(),
      admit() {
        leave()
        resolve(place())
      },
    }
    const timer = setTimeout(() => {
      leave()
      reject(new Error('timeout: no connection to the ledger was free'))
    }, patienceMs[priority])
    line.add(waiting)
    return promise
  }
  return {
    enter: async (priority) => (lines[priority].size === 0 && hasPlace(priority) ? place() : wait(priority)),
    waitMs() {
      const [first] = lines.usual
      return first ? performance.now() - first.since : 0
    },
  }
}

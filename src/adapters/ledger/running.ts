/** What is being done, so that a store closes when it is done. */
import { setImmediate as pause } from 'node:timers/promises'

export interface Running {
  readonly track: <T>(work: Promise<T>) => Promise<T>
  /** When all that was begun has ended, and what followed from it. */
  readonly ended: () => Promise<void>
}

export function running(): Running {
  const works = new Set<Promise<unknown>>()
  return {
    track(work) {
      works.add(work)
      const forget = () => void works.delete(work)
      work.then(forget, forget)
      return work
    },
    async ended() {
      while (works.size > 0) {
        await Promise.allSettled(works)
        await pause()
      }
    },
  }
}

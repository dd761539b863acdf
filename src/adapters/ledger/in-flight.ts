/** What is being done, so that a store closes when it is done. */
import { setImmediate as pause } from 'node:timers/promises'

export interface InFlight {
  readonly track: <T>(work: Promise<T>) => Promise<T>
  /** When all that was begun has ended, and what followed from it. */
  readonly idle: () => Promise<void>
}

export function trackInFlight(): InFlight {
  const pending = new Set<Promise<unknown>>()
  return {
    track(work) {
      pending.add(work)
      const forget = () => void pending.delete(work)
      work.then(forget, forget)
      return work
    },
    async idle() {
      while (pending.size > 0) {
        await Promise.allSettled(pending)
        await pause()
      }
    },
  }
}

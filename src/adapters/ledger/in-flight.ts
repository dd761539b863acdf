/** Tracks running operations, so that a store closes after the last one. */
import { setImmediate as pause } from 'node:timers/promises'

export interface InFlight {
  readonly track: <T>(work: Promise<T>) => Promise<T>
  /** Resolves when all operations have ended, also those that they started. */
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

/** Work that comes round again and again in the background. */
import { singleFlight } from '../domain/single-flight.ts'

export interface IntervalJob {
  /** Starts none any more, and waits for the one that runs. */
  readonly stop: () => Promise<void>
}

/** Does `work` every so many milliseconds, never twice at a time. What it throws is counted where it failed: the next one comes. */
export function startIntervalJob(work: () => Promise<unknown>, intervalMs: number): IntervalJob {
  let current: Promise<unknown> | undefined
  const flight = singleFlight(work)
  const timer = setInterval(() => {
    current = flight.run().catch(() => {})
  }, intervalMs)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await current
    },
  }
}

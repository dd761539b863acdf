/** Background work at an interval. */
import { singleFlight } from '../domain/async.ts'

export interface IntervalJob {
  /** Starts no further run and waits for the current one. */
  readonly stop: () => Promise<void>
}

/** Runs `work` at this interval, never twice at a time. Errors are ignored here: they are counted where they occur. */
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

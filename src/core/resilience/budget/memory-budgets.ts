import type { Budgets } from './budgets.ts'
import { FairSlidingWindow } from './fair-sliding-window.ts'

/** Past so many buckets idle ones are thrown away. One that is in use never is: its window has to stay exact. */
const maxBuckets = 10_000
/** How many are looked at for each new one. */
const idleChecks = 4

/** Budgets of this process alone. `clock` in milliseconds; it must not be set back. */
export function memoryBudgets(clock: () => number): Budgets {
  const windows = new Map<string, FairSlidingWindow>()
  const windowOf = (bucket: string, now: number): FairSlidingWindow => {
    const known = windows.get(bucket)
    if (known) return known
    if (windows.size >= maxBuckets) dropIdle(windows, now)
    const window = new FairSlidingWindow()
    windows.set(bucket, window)
    return window
  }
  return {
    async reserve(bucket, limit, consumer) {
      const now = clock()
      return windowOf(bucket, now).reserve(limit, consumer, now)
    },
  }
}

/** Of the oldest few; those in use go to the end of the line. */
function dropIdle(windows: Map<string, FairSlidingWindow>, now: number): void {
  for (const [bucket, window] of windows.entries().take(idleChecks)) {
    windows.delete(bucket)
    if (!window.isIdle(now)) windows.set(bucket, window)
  }
}

import { Allotment } from './allotment.ts'
import type { Budgets } from './budget.ts'

/** Past so many buckets idle ones are thrown away. One that is in use never is: its window has to stay exact. */
const mostBuckets = 10_000
/** How many are looked at for each new one. */
const looks = 4

/** Budgets of this process alone. `clock` in milliseconds; it must not be set back. */
export function memoryBudgets(clock: () => number): Budgets {
  const allotments = new Map<string, Allotment>()
  const allotmentOf = (bucket: string, now: number): Allotment => {
    const known = allotments.get(bucket)
    if (known) return known
    if (allotments.size >= mostBuckets) dropIdle(allotments, now)
    const allotment = new Allotment()
    allotments.set(bucket, allotment)
    return allotment
  }
  return {
    async reserve(bucket, limit, asker) {
      const now = clock()
      return allotmentOf(bucket, now).reserve(limit, asker, now)
    },
  }
}

/** Of the oldest few; those in use go to the end of the line. */
function dropIdle(allotments: Map<string, Allotment>, now: number): void {
  for (const [bucket, allotment] of allotments.entries().take(looks)) {
    allotments.delete(bucket)
    if (!allotment.isIdle(now)) allotments.set(bucket, allotment)
  }
}

/** Metrics of caches. */
import { Counter } from './counter.ts'
import type { Exposition } from './exposition.ts'
import type { Handlers } from './handler.ts'
import { Histogram } from './histogram.ts'

const ageBounds = [1, 2, 5, 10, 30, 60, 300, 600, 3_600, 86_400]

export function cacheMetrics(exposition: Exposition): Handlers<'cache'> {
  const lookups = new Counter({
    name: 'swapgate_cache_lookups_total',
    help: 'Cache lookups, by result.',
    labels: ['cache', 'outcome'],
  })
  const ages = new Histogram({
    name: 'swapgate_cache_age_seconds',
    help: 'Age of responses from a cache.',
    labels: ['cache'],
    bounds: ageBounds,
  })
  for (const family of [lookups, ages]) exposition.add(family)
  return {
    cache({ cache, outcome, ageSeconds }) {
      lookups.add([cache, outcome])
      if (ageSeconds !== undefined) ages.observe([cache], ageSeconds)
    },
  }
}

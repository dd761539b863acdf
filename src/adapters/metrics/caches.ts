/** Metrics of caches. */
import { type CacheShare, cacheShares } from '../../domain/bounded-map.ts'
import { snakeCase } from '../../domain/observation.ts'
import { Counter } from './counter.ts'
import type { Exposition, Family, Sample } from './exposition.ts'
import { gauge } from './gauge.ts'
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
  for (const family of [lookups, ages, ...memory()]) exposition.add(family)
  return {
    cache({ cache, outcome, ageSeconds }) {
      lookups.add([cache, outcome])
      if (ageSeconds !== undefined) ages.observe([cache], ageSeconds)
    },
  }
}

/** Each kind has its share of the memory of all caches. */
function memory(): readonly Family[] {
  const read = (value: (share: CacheShare) => number) => (): readonly Sample[] =>
    Object.entries(cacheShares)
      .map(([kind, share]) => ({ labels: { cache: snakeCase(kind) }, value: value(share) }))
      .filter((sample) => Number.isFinite(sample.value))
  return [
    gauge(
      'swapgate_cache_bytes',
      'Memory of caches, estimated, by what they keep.',
      read(({ bytes }) => bytes),
    ),
    gauge(
      'swapgate_cache_max_bytes',
      'The most that they may take: a quarter of the memory of the process together.',
      read(({ maxBytes }) => maxBytes),
    ),
    gauge(
      'swapgate_cache_entries',
      'Entries of caches.',
      read(({ entries }) => entries),
    ),
    {
      name: 'swapgate_cache_evictions_total',
      help: 'Entries that were dropped to make room for others.',
      type: 'counter',
      samples: read(({ evictions }) => evictions),
    },
  ]
}

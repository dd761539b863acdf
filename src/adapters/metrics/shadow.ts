/** Metrics of the shadow: a candidate's quotes compared with the quotes that clients get. */
import { shadowResults } from '../../domain/observation.ts'
import { Counter } from './counter.ts'
import type { Exposition } from './exposition.ts'
import { gauge } from './gauge.ts'
import type { Handlers } from './handler.ts'
import { Histogram } from './histogram.ts'

/** Relative deviation of the amount received: −0.01 is one percent less than the client got. */
const shadowDeviationBounds = [-0.1, -0.05, -0.02, -0.01, -0.005, -0.002, -0.001, 0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1]

export function shadowMetrics(exposition: Exposition): Handlers<'shadow' | 'shadowAssets'> {
  const comparisons = new Counter({
    name: 'swapgate_shadow_comparisons_total',
    help: `Quotes repeated at the shadow's candidate: ${shadowResults.join(', ')}.`,
    labels: ['provider', 'result'],
  })
  const deviations = new Histogram({
    name: 'swapgate_shadow_deviation_ratio',
    help: 'Amount received by the candidate, relative to what the client got: -0.01 is one percent less.',
    labels: ['provider'],
    bounds: shadowDeviationBounds,
  })
  const missingAssets = new Map<string, number>()
  const missing = gauge(
    'swapgate_shadow_missing_assets',
    "Assets of the table that a routed provider offers and the shadow's candidate does not.",
    () => [...missingAssets].map(([provider, value]) => ({ labels: { provider }, value })),
  )
  for (const family of [comparisons, deviations, missing]) exposition.add(family)
  return {
    shadowAssets({ provider, missing: count }) {
      missingAssets.set(provider, count)
    },
    shadow({ provider, result, deviation }) {
      comparisons.add([provider, result])
      if (deviation !== undefined) deviations.observe([provider], deviation)
    },
  }
}

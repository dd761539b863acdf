/** Metrics of what providers say of their own in the responses to creates. */
import { judgementKinds, judgementOutcomes, snakeCase } from '../../domain/observation.ts'
import { Counter } from './counter.ts'
import type { Exposition } from './exposition.ts'
import type { Handlers, Providers } from './handler.ts'
import { Histogram } from './histogram.ts'
import { combinations } from './series-map.ts'

/** Relative deviation of the amount received: -0.01 is one percent less than the quote. */
const promiseDeviationBounds = [-0.5, -0.2, -0.1, -0.05, -0.02, -0.01, -0.001, 0, 0.001, 0.01, 0.05]

export function judgementMetrics(
  exposition: Exposition,
  providers: Providers,
): Handlers<'judgement' | 'quoteDeviation' | 'suspended'> {
  const judgements = new Counter({
    name: 'swapgate_create_judgements_total',
    help: 'What the provider says of its own in the responses to creates, by kind and what followed.',
    labels: ['provider', 'kind', 'outcome'],
    initialValues: () => {
      const tags = providers().map(({ tag }) => tag)
      return combinations(tags, judgementKinds.map(snakeCase), judgementOutcomes)
    },
  })
  const deviations = new Histogram({
    name: 'swapgate_create_quote_deviation_ratio',
    help: 'Amount received that a create promises, relative to the newest quote of its provider: -0.01 is one percent less.',
    labels: ['provider'],
    bounds: promiseDeviationBounds,
  })
  const suspended = new Counter({
    name: 'swapgate_provider_assets_suspended_total',
    help: 'Assets of a provider that were taken out of new swaps for ten minutes, by the kind of mismatch and the network of the deposit.',
    labels: ['provider', 'kind', 'network'],
  })
  for (const family of [judgements, deviations, suspended]) exposition.add(family)
  return {
    judgement: ({ provider, kind, outcome }) => judgements.add([provider, snakeCase(kind), outcome]),
    suspended: ({ provider, kind, network = '' }) => suspended.add([provider, snakeCase(kind), network]),
    quoteDeviation: ({ provider, deviation }) => deviations.observe([provider], deviation),
  }
}

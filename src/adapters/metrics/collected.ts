/** prom-client: the metrics of several processes as those of one. */
import { AggregatorRegistry, type MetricObject, Registry, type RegistryContentType } from 'prom-client'

/** The metrics of one process, as a registry has them. */
export type CollectedMetrics = readonly (MetricObject & { readonly aggregator?: string })[]

/** Gauges of what each process has for itself; of all others the largest value counts. */
const summed: ReadonlySet<string> = new Set([
  'swapgate_cache_bytes',
  'swapgate_cache_max_bytes',
  'swapgate_cache_entries',
  'swapgate_ledger_results_held',
])
/** Gauges of what is left. */
const least: ReadonlySet<string> = new Set(['swapgate_upstream_quota_remaining', 'swapgate_budget_remaining'])

export async function collect(registry: Pick<Registry, 'getMetricsAsJSON'>): Promise<CollectedMetrics> {
  const metrics: CollectedMetrics = await registry.getMetricsAsJSON()
  return metrics.map((metric) => ({ ...metric, aggregator: metric.aggregator ?? aggregatorOf(metric) }))
}

function aggregatorOf({ name, type }: MetricObject): string {
  if (String(type) !== 'gauge' || summed.has(name)) return 'sum'
  return least.has(name) ? 'min' : 'max'
}

/** Without exemplars: prom-client leaves them out. */
export function together<T extends RegistryContentType>(all: readonly CollectedMetrics[], contentType: T): Registry<T> {
  const registry = AggregatorRegistry.aggregate<T>([...all])
  registry.setContentType(contentType)
  return registry
}

/** What processes that have ended leave behind: their counts, without gauges. */
export async function countsOf(all: readonly CollectedMetrics[]): Promise<CollectedMetrics> {
  const counts = all.map((metrics) => metrics.filter(({ type }) => ['counter', 'histogram'].includes(String(type))))
  return await collect(together(counts, Registry.PROMETHEUS_CONTENT_TYPE))
}

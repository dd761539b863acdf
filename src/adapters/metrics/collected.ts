/** prom-client: the metrics of several processes as those of one. */
import { AggregatorRegistry, type MetricObject, Registry, type RegistryContentType } from 'prom-client'

/** The metrics of one process, as a registry has them. */
export type CollectedMetrics = readonly (MetricObject & { readonly aggregator?: string })[]

/** Without exemplars: prom-client leaves them out. */
export function together<T extends RegistryContentType>(all: readonly CollectedMetrics[], contentType: T): Registry<T> {
  const registry = AggregatorRegistry.aggregate<T>([...all])
  registry.setContentType(contentType)
  return registry
}

/** What processes that have ended leave behind: their counts, without gauges. */
export async function countsOf(all: readonly CollectedMetrics[]): Promise<CollectedMetrics> {
  const counts = all.map((metrics) => metrics.filter(({ type }) => ['counter', 'histogram'].includes(String(type))))
  return await together(counts, Registry.PROMETHEUS_CONTENT_TYPE).getMetricsAsJSON()
}

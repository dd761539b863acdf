/** prom-client: prints Prometheus' exposition formats, and provides the metrics of the process. */
import { collectDefaultMetrics, Gauge, type Metric, type OpenMetricsContentType, Registry } from 'prom-client'

/** One line of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  /** Set if it differs from the metric's name: the parts of a histogram. */
  readonly metricName?: string
  readonly exemplar?: Exemplar | undefined
}

/** An example request behind a value; its timestamp is in seconds since 1970. */
export interface Exemplar {
  readonly labelSet: Readonly<Record<string, string>>
  readonly value: number
  readonly timestamp: number
}

/** A metric that stores its own values and returns them as samples when metrics are printed. */
export interface Family {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly samples: () => readonly Sample[] | Promise<readonly Sample[]>
}

export interface Printed {
  readonly contentType: string
  readonly text: string
}

/** prom-client's gauges with names of counters; they repeat the sums of other gauges. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

export class Exposition {
  private readonly classic = new Registry()
  private readonly open = new Registry<OpenMetricsContentType>()

  constructor() {
    this.open.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
    collectDefaultMetrics({ register: this.classic })
    for (const name of misnamed) this.classic.removeSingleMetric(name)
    for (const { name, type } of this.classic.getMetricsAsArray()) {
      const metric = this.classic.getSingleMetric(name)
      if (metric) this.open.registerMetric(asMetric(name, () => metric.get(), type))
    }
  }

  add(family: Family): void {
    const { name, help, type } = family
    const get = async (): Promise<object> => ({ name, help, type, values: await family.samples() })
    for (const registry of [this.classic, this.open]) registry.registerMetric(asMetric(name, get, type))
  }

  /** Prints OpenMetrics, the only format with exemplars, if `accept` has it and does not prefer the classic text format. */
  async print(accept: string): Promise<Printed> {
    const open = qualityOf('application/openmetrics-text', accept)
    const registry = open > 0 && open >= qualityOf('text/plain', accept) ? this.open : this.classic
    return { contentType: registry.contentType, text: await registry.metrics() }
  }
}

/** The weight of a media type that `Accept` names (RFC 9110 §12.4.2); 0 if it does not. */
function qualityOf(type: string, accept: string): number {
  const ranges = accept.split(',').map((range) => range.split(';').map((part) => part.trim().toLowerCase()))
  const named = ranges.find(([name]) => name === type)
  if (!named) return 0
  const weight = named.find((part) => part.startsWith('q='))
  return weight === undefined ? 1 : Number(weight.slice(2)) || 0
}

/** A metric of any type that prints what `get` returns. In OpenMetrics prom-client removes `_total` from a counter's name, so each format has its own. */
function asMetric(name: string, get: () => Promise<object>, type: unknown): Metric {
  const metric = Object.assign(new Gauge({ name, help: name, registers: [] }), {
    name,
    type: String(type),
    get: async (): Promise<object> => ({ ...(await get()), name: metric.name }),
  })
  return metric
}

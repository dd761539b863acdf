/** prom-client: prints Prometheus' exposition formats, and has the process's own figures. */
import { collectDefaultMetrics, type Metric, type OpenMetricsContentType, Registry } from 'prom-client'

/** One line of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  /** Where it is not the metric's: the parts of a histogram. */
  readonly metricName?: string
  readonly exemplar?: Exemplar | undefined
}

/** A request of which the figure tells; its moment in seconds since 1970. */
export interface Exemplar {
  readonly labelSet: Readonly<Record<string, string>>
  readonly value: number
  readonly timestamp: number
}

/** A metric that keeps its figures itself, in whatever way is cheap, and tells them when they are read. */
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

/** What prom-client asks of a metric; in OpenMetrics it takes `_total` off the name of a counter, and so each format has its own. */
interface Printable {
  name: string
  readonly type: string
  readonly get: () => Promise<object>
}

/** Gauges that are called counters, and sums of gauges that are there besides. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

export class Exposition {
  private readonly classic = new Registry()
  private readonly open = new Registry<OpenMetricsContentType>()

  constructor() {
    this.open.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
    collectDefaultMetrics({ register: this.classic })
    for (const name of misnamed) this.classic.removeSingleMetric(name)
    for (const metric of this.classic.getMetricsAsArray()) {
      const { name, get } = metric as unknown as Printable
      this.open.registerMetric(asMetric(name, get.bind(metric), metric.type))
    }
  }

  add(family: Family): void {
    const { name, help, type } = family
    const get = async (): Promise<object> => ({ name, help, type, values: await family.samples() })
    for (const registry of [this.classic, this.open]) registry.registerMetric(asMetric(name, get, type))
  }

  /** In OpenMetrics, which alone has exemplars, where `accept` asks for it. */
  async print(accept: string): Promise<Printed> {
    const registry = accept.includes('application/openmetrics-text') ? this.open : this.classic
    return { contentType: registry.contentType, text: await registry.metrics() }
  }
}

function asMetric(name: string, get: () => Promise<object>, type: unknown): Metric {
  const printable: Printable = {
    name,
    type: String(type),
    get: async () => ({ ...(await get()), name: printable.name }),
  }
  return printable as unknown as Metric
}

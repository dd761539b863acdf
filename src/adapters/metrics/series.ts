/** prom-client: keeps the metrics, and prints them in Prometheus' formats. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, type OpenMetricsContentType, Registry } from 'prom-client'
import type { Observation } from '../../domain/observation.ts'
import { type CollectedMetrics, together } from './collected.ts'

/** Values of labels, in their order. They come from closed lists, so that the number of series is bounded. */
type LabelValues = readonly string[]

/** Every combination of one value from each list. */
export function combinations(...lists: readonly LabelValues[]): readonly LabelValues[] {
  const [first, ...others] = lists
  if (!first) return [[]]
  const combinationsOfOthers = combinations(...others)
  return first.flatMap((value) => combinationsOfOthers.map((tail) => [value, ...tail]))
}

/** One value of a metric that is computed when metrics are printed. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** One sample without labels; none if the value is undefined. */
export function single(value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [{ labels: {}, value }]
}

interface MetricOptions<L extends string> {
  readonly name: string
  readonly help: string
  readonly labels: readonly L[]
  /** Under which the same metric is printed too, until the next version. */
  readonly earlierName?: string
}

interface CounterOptions<L extends string> extends MetricOptions<L> {
  /** Label values that exist with 0 from the start, so that `increase` includes the first count. */
  readonly initialValues?: () => readonly LabelValues[]
}

interface HistogramOptions<L extends string> extends MetricOptions<L> {
  /** Upper bounds of the buckets, ascending. */
  readonly buckets: readonly number[]
  /** Whether a bucket names the trace of its last request. */
  readonly enableExemplars?: boolean
}

interface ComputedOptions extends MetricOptions<string> {
  readonly samples: () => readonly Sample[] | Promise<readonly Sample[]>
}

interface GaugeOptions extends ComputedOptions {
  /** Of several processes: the sum of what each has for itself, the least of what is left; by default the largest value. */
  readonly aggregator?: 'sum' | 'min'
}

export interface Printed {
  readonly contentType: string
  readonly text: string
}

/** prom-client's gauges with names of counters; they repeat the sums of other gauges. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/** A registry for the metrics of a gateway alone. */
export function newRegistry(): Registry {
  return new Registry()
}

/** The metrics of the gateway, and of its process if that is its own. */
export class Exposition {
  private readonly registry: Registry
  private readonly names: string[] = []

  /** `shared`: that of the program around, which has the metrics of the process. */
  constructor(shared?: Registry) {
    this.registry = shared ?? newRegistry()
    if (shared) return
    collectDefaultMetrics({ register: this.registry })
    for (const name of misnamed) this.registry.removeSingleMetric(name)
  }

  /** Takes the metrics of the gateway out of the registry. */
  close(): void {
    for (const name of this.names.splice(0)) this.registry.removeSingleMetric(name)
  }

  counter<L extends string>(options: CounterOptions<L>): Counter<L> {
    const { name, help, labels, initialValues } = options
    const counter = new Counter<L>({
      name,
      help,
      labelNames: labels,
      registers: [],
      collect() {
        for (const values of initialValues?.() ?? []) this.labels(...values).inc(0)
      },
    })
    this.add(counter, options)
    return counter
  }

  histogram<L extends string>(options: HistogramOptions<L>): Histogram<L> {
    const { name, help, labels, buckets, enableExemplars = false } = options
    const histogram = new Histogram<L>({ name, help, labelNames: labels, buckets: [...buckets], enableExemplars, registers: [] })
    this.add(histogram, options)
    return histogram
  }

  /** A gauge whose samples are computed when metrics are printed. */
  gauge(options: GaugeOptions): void {
    const { name, help, labels: labelNames, samples, aggregator = 'max' } = options
    const gauge = new Gauge({
      name,
      help,
      labelNames,
      aggregator,
      registers: [],
      async collect() {
        const current = await samples()
        this.reset()
        if (labelNames.length === 0) this.remove() // the 0 of a gauge that was not set
        for (const { labels, value } of current) this.set(labels, value)
      },
    })
    this.add(gauge, options)
  }

  /** A counter whose samples are computed when metrics are printed. */
  computedCounter(options: ComputedOptions): void {
    const { name, help, labels: labelNames, samples } = options
    const counter = new Counter({
      name,
      help,
      labelNames,
      registers: [],
      async collect() {
        const current = await samples()
        this.reset()
        for (const { labels, value } of current) this.inc(labels, value)
      },
    })
    this.add(counter, options)
  }

  /** Registered here, since a constructor refuses exemplars in a registry of the classic format. That leaves them out. */
  private add(metric: object, { name, earlierName }: MetricOptions<string>): void {
    this.register(metric as Metric, name)
    if (earlierName === undefined) return
    const help = `Deprecated: is now called ${name}.`
    this.register(Object.assign(Object.create(metric), { name: earlierName, help }), earlierName)
  }

  /** Throws if the registry has another metric of this name; then it has none of these. */
  private register(metric: Metric, name: string): void {
    try {
      this.registry.registerMetric(metric)
      this.names.push(name)
    } catch (reason) {
      this.close()
      throw reason
    }
  }

  collect(): Promise<CollectedMetrics> {
    return this.registry.getMetricsAsJSON()
  }

  /** In the format that `accept` selects. `others`: the metrics of other processes that are to be counted as this one. */
  async print(accept: string, others: readonly CollectedMetrics[] = []): Promise<Printed> {
    const isOpen = prefersOpenMetrics(accept)
    const registry = others.length > 0 ? await this.withOthers(others, isOpen) : isOpen ? this.openRegistry() : this.registry
    return { contentType: registry.contentType, text: await registry.metrics() }
  }

  private async withOthers(others: readonly CollectedMetrics[], isOpen: boolean) {
    const type = isOpen ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE
    return together([await this.collect(), ...others], type)
  }

  /** For one print: it removes `_total` from the names of its counters, so they are not the metrics themselves. */
  private openRegistry(): Registry<OpenMetricsContentType> {
    const open = new Registry<OpenMetricsContentType>()
    open.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
    for (const { name } of this.registry.getMetricsAsArray()) {
      const metric = this.registry.getSingleMetric(name)
      if (metric) open.registerMetric(Object.create(metric))
    }
    return open
  }
}

/** Whether `accept` has OpenMetrics, the only format with exemplars, and does not prefer the classic text format. */
export function prefersOpenMetrics(accept: string): boolean {
  const open = qualityOf('application/openmetrics-text', accept)
  return open > 0 && open >= qualityOf('text/plain', accept)
}

/** The weight of a media type that `Accept` names (RFC 9110 §12.4.2); 0 if it does not. */
function qualityOf(type: string, accept: string): number {
  const ranges = accept.split(',').map((range) => range.split(';').map((part) => part.trim().toLowerCase()))
  const named = ranges.find(([name]) => name === type)
  if (!named) return 0
  const weight = named.find((part) => part.startsWith('q='))
  return weight === undefined ? 1 : Number(weight.slice(2)) || 0
}

type What = Observation['what']

/** A handler for each named kind of observation. */
export type Handlers<W extends What> = {
  readonly [K in W]: (observation: Extract<Observation, { readonly what: K }>) => void
}

/** A provider of the configuration. */
interface ConfiguredProvider {
  readonly tag: string
  readonly form: string
  readonly state: string
  readonly rateLimit: Readonly<Record<string, number>>
}

/** The currently configured providers. */
export type Providers = () => readonly ConfiguredProvider[]

/** The form of a provider, by tag; `none` if no provider was called. */
export type FormOf = (tag: string | undefined) => string

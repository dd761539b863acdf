import { collectDefaultMetrics, Gauge, type Metric, type OpenMetricsContentType, Registry } from 'prom-client'
import type { Observation } from '../../domain/observation.ts'
import { type CollectedMetrics, collect, together } from './collected.ts'

/** Values of labels. They come from closed lists, so that the number of series is bounded. */
type LabelValues = readonly string[]

interface Branch<T> {
  /** The last value of this branch. */
  readonly value: string | undefined
  /** All values up to this branch. */
  readonly values: LabelValues
  readonly branches: Map<string, Branch<T>>
  /** The branch of the last lookup. */
  latest: Branch<T> | undefined
  series: T | undefined
}

/**
 * A map with one series for each combination of values. Does not join the values: a new string must be hashed. Most lookups
 * repeat the previous one, and a comparison is cheaper than a hash table.
 */
export class SeriesMap<T> {
  private readonly make: () => T
  private readonly root: Branch<T> = branchOf([])

  constructor(make: () => T) {
    this.make = make
  }

  of(values: LabelValues): T {
    let branch = this.root
    for (const value of values) branch = branch.latest?.value === value ? branch.latest : next(branch, value)
    branch.series ??= this.make()
    return branch.series
  }

  /** All series, ordered by the first use of each value. */
  all(): readonly (readonly [LabelValues, T])[] {
    return [...leaves(this.root)]
  }
}

function branchOf<T>(values: LabelValues): Branch<T> {
  return { value: values.at(-1), values, branches: new Map(), latest: undefined, series: undefined }
}

function next<T>(from: Branch<T>, value: string): Branch<T> {
  const branch = from.branches.get(value) ?? grow(from, value)
  from.latest = branch
  return branch
}

function grow<T>(from: Branch<T>, value: string): Branch<T> {
  const branch = branchOf<T>([...from.values, value])
  from.branches.set(value, branch)
  return branch
}

function* leaves<T>({ values, series, branches }: Branch<T>): Generator<readonly [LabelValues, T]> {
  if (series !== undefined) yield [values, series]
  for (const branch of branches.values()) yield* leaves(branch)
}

export function labelsOf(names: readonly string[], values: LabelValues): Record<string, string> {
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']))
}

/** Every combination of one value from each list. */
export function combinations(...lists: readonly LabelValues[]): readonly LabelValues[] {
  const [first, ...others] = lists
  if (!first) return [[]]
  const combinationsOfOthers = combinations(...others)
  return first.flatMap((value) => combinationsOfOthers.map((tail) => [value, ...tail]))
}

interface CounterOptions {
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
  /** Label values that exist with 0 from the start, so that `increase` includes the first count. */
  readonly initialValues?: () => readonly LabelValues[]
}

/** A counter in which a count is one lookup; label objects are made when metrics are printed. */
export class Counter implements Family {
  readonly type = 'counter'
  readonly name: string
  readonly help: string
  private readonly options: CounterOptions
  private readonly counts = new SeriesMap(() => ({ count: 0 }))

  constructor(options: CounterOptions) {
    this.name = options.name
    this.help = options.help
    this.options = options
  }

  add(values: LabelValues, by = 1): void {
    this.counts.of(values).count += by
  }

  samples(): readonly Sample[] {
    const { labels, initialValues } = this.options
    for (const values of initialValues?.() ?? []) this.counts.of(values)
    return this.counts.all().map(([values, { count }]) => ({ labels: labelsOf(labels, values), value: count }))
  }
}

/** A metric whose value is computed when metrics are printed. */
export function gauge(name: string, help: string, samples: Family['samples']): Family {
  return { name, help, type: 'gauge', samples }
}

/** The same under an earlier name, which the next version does not have. */
export function earlierName(name: string, family: Family): Family {
  const help = `Deprecated: is now called ${family.name}.`
  const named = (sample: Sample): Sample =>
    sample.metricName === undefined ? sample : { ...sample, metricName: sample.metricName.replace(family.name, name) }
  return { name, help, type: family.type, samples: async () => (await family.samples()).map(named) }
}

/** One sample without labels; none if the value is undefined. */
export function single(value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [{ labels: {}, value }]
}

interface HistogramOptions {
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
  /** Upper bounds of the buckets, ascending. */
  readonly bounds: readonly number[]
}

/** The counts of one combination of labels; the last bucket has no bound. */
interface Series {
  readonly counts: Float64Array
  sum: number
  /** The last exemplar of each bucket. */
  readonly exemplars: (Exemplar | undefined)[]
}

/** A histogram in which an observation is one lookup by labels and a short scan of the bounds. */
export class Histogram implements Family {
  readonly type = 'histogram'
  readonly name: string
  readonly help: string
  private readonly options: HistogramOptions
  private readonly series: SeriesMap<Series>

  constructor(options: HistogramOptions) {
    this.name = options.name
    this.help = options.help
    this.options = options
    const buckets = options.bounds.length + 1
    this.series = new SeriesMap(() => ({ counts: new Float64Array(buckets), sum: 0, exemplars: [] }))
  }

  /** `traceId`: the trace of the observed request. */
  observe(values: LabelValues, value: number, traceId?: string): void {
    const { bounds } = this.options
    const series = this.series.of(values)
    let at = 0
    while (at < bounds.length && value > (bounds[at] ?? Number.POSITIVE_INFINITY)) at++
    series.counts[at] = (series.counts[at] ?? 0) + 1
    series.sum += value
    if (traceId !== undefined) series.exemplars[at] = exemplarOf(traceId, value)
  }

  samples(): readonly Sample[] {
    return this.series.all().flatMap(([values, series]) => this.samplesOf(labelsOf(this.options.labels, values), series))
  }

  private samplesOf(labels: Record<string, string>, { counts, sum, exemplars }: Series): readonly Sample[] {
    const bounds = [...this.options.bounds, '+Inf']
    let total = 0
    const buckets = bounds.map((le, at) => {
      total += counts[at] ?? 0
      return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: total, exemplar: exemplars[at] }
    })
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: total },
    ]
  }
}

function exemplarOf(traceId: string, value: number): Exemplar {
  return { labelSet: { trace_id: traceId }, value, timestamp: Date.now() / 1000 }
}

// prom-client: prints Prometheus' exposition formats, and provides the metrics of the process.

/** One line of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  /** Set if it differs from the metric's name: the parts of a histogram. */
  readonly metricName?: string
  readonly exemplar?: Exemplar | undefined
}

/** An example request behind a value; its timestamp is in seconds since 1970. */
interface Exemplar {
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

  collect(): Promise<CollectedMetrics> {
    return collect(this.classic)
  }

  /**
   * Prints OpenMetrics, the only format with exemplars, if `accept` has it and does not prefer the classic text format. `others`: the
   * metrics of other processes that are to be counted as this one.
   */
  async print(accept: string, others: readonly CollectedMetrics[] = []): Promise<Printed> {
    const open = qualityOf('application/openmetrics-text', accept)
    const own = open > 0 && open >= qualityOf('text/plain', accept) ? this.open : this.classic
    const registry = others.length === 0 ? own : together([await this.collect(), ...others], own.contentType)
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

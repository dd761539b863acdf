import type { Exemplar, Family, Sample } from './exposition.ts'
import { type LabelValues, labelsOf, SeriesMap } from './series-map.ts'

export interface HistogramOptions {
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

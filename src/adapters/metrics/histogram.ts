import type { Exemplar, Family, Sample } from './exposition.ts'
import { labelsOf } from './label.ts'

export interface HistogramOptions {
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
  /** Upper bounds, rising. */
  readonly bounds: readonly number[]
}

/** The figures of one combination of labels; the last bucket has no bound. */
interface Series {
  readonly counts: Float64Array
  sum: number
  /** The last one of each bucket. */
  readonly exemplars: (Exemplar | undefined)[]
}

/** To observe is one look-up and a step or two over the bounds. */
export class Histogram implements Family {
  readonly type = 'histogram'
  readonly name: string
  readonly help: string
  private readonly options: HistogramOptions
  private readonly series = new Map<string, Series>()

  constructor(options: HistogramOptions) {
    this.name = options.name
    this.help = options.help
    this.options = options
  }

  /** `key`: the values of the labels, each on a line. `traceId`: the trace of what was observed. */
  observe(key: string, value: number, traceId?: string): void {
    const { bounds } = this.options
    let series = this.series.get(key)
    if (!series) {
      series = { counts: new Float64Array(bounds.length + 1), sum: 0, exemplars: [] }
      this.series.set(key, series)
    }
    let at = 0
    while (at < bounds.length && value > (bounds[at] as number)) at++
    series.counts[at] = (series.counts[at] as number) + 1
    series.sum += value
    if (traceId !== undefined) {
      series.exemplars[at] = { labelSet: { trace_id: traceId }, value, timestamp: Date.now() / 1000 }
    }
  }

  samples(): readonly Sample[] {
    return [...this.series].flatMap(([key, series]) => this.samplesOf(labelsOf(this.options.labels, key), series))
  }

  private samplesOf(labels: Record<string, string>, { counts, sum, exemplars }: Series): readonly Sample[] {
    const bounds = [...this.options.bounds, '+Inf']
    let total = 0
    const buckets = bounds.map((le, at) => {
      total += counts[at] as number
      return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: total, exemplar: exemplars[at] }
    })
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: total },
    ]
  }
}

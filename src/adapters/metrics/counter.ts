import type { Family, Sample } from './exposition.ts'
import { type LabelValues, labelsOf, SeriesMap } from './series-map.ts'

export interface CounterOptions {
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
  /** What is told from the start, so that its first count is seen as one. */
  readonly initialValues?: () => readonly LabelValues[]
}

/** To count is to find the figure by its labels, which are made when they are read. */
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

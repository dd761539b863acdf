import type { Family, Sample } from './exposition.ts'
import { type LabelValues, labelsOf, SeriesMap } from './series-map.ts'

export interface CounterOptions {
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

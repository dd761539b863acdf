import type { Family, Sample } from './exposition.ts'
import { labelsOf } from './label.ts'

export interface CounterOptions {
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
  /** Keys that are told from the start, so that their first count is seen as one. */
  readonly known?: () => readonly string[]
}

/** To count is one look-up; labels are made when they are read. */
export class Counter implements Family {
  readonly type = 'counter'
  readonly name: string
  readonly help: string
  private readonly options: CounterOptions
  private readonly counts = new Map<string, number>()

  constructor(options: CounterOptions) {
    this.name = options.name
    this.help = options.help
    this.options = options
  }

  /** `key`: the values of the labels, each on a line; empty where there are no labels. */
  add(key: string, by = 1): void {
    this.counts.set(key, (this.counts.get(key) ?? 0) + by)
  }

  samples(): readonly Sample[] {
    const { labels, known } = this.options
    for (const key of known?.() ?? []) if (!this.counts.has(key)) this.counts.set(key, 0)
    return [...this.counts].map(([key, value]) => ({ labels: labelsOf(labels, key), value }))
  }
}

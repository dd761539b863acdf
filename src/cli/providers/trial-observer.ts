import type { Deviation, Drift, Observation } from '../../domain/observation.ts'

/** What was observed during one check. */
export interface Observed {
  /** Of the last response; absent if there was none. */
  readonly status?: number
  /** In the order of their first appearance. */
  readonly deviations: readonly DeviationCount[]
}

export interface DeviationCount {
  /** A field of the form, or `_other`. */
  readonly field: string
  /** The provider's own name of a field that the form does not have. */
  readonly name?: string
  readonly drift: Drift
  readonly count: number
}

/** Another name could write anything to the terminal. */
const plainName = /^[\w$.-]{1,64}$/
const maxNames = 50

/** Counts how a provider's responses deviate from its form, from one `take` to the next. */
export class TrialObserver {
  private readonly counts = new Map<string, DeviationCount>()
  private status: number | undefined

  readonly observe = (observation: Observation): void => {
    if (observation.what === 'attempt') this.status = observation.status
    else if (observation.what === 'drift') this.add(observation)
  }

  take(): Observed {
    const { status } = this
    const deviations = [...this.counts.values()]
    this.counts.clear()
    this.status = undefined
    return { ...(status !== undefined && { status }), deviations }
  }

  private add({ field, name, drift }: Deviation): void {
    const plain = name !== undefined && plainName.test(name) && this.counts.size < maxNames ? name : undefined
    const key = `${drift} ${field} ${plain ?? ''}`
    const count = (this.counts.get(key)?.count ?? 0) + 1
    this.counts.set(key, { field, ...(plain !== undefined && { name: plain }), drift, count })
  }
}

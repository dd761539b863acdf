import type { Family, Sample } from './exposition.ts'

/** A metric whose value is computed when metrics are printed. */
export function gauge(name: string, help: string, samples: Family['samples']): Family {
  return { name, help, type: 'gauge', samples }
}

/** One sample without labels; none if the value is undefined. */
export function single(value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [{ labels: {}, value }]
}

import type { Family, Sample } from './exposition.ts'

/** What is found out when it is read. */
export function gauge(name: string, help: string, samples: Family['samples']): Family {
  return { name, help, type: 'gauge', samples }
}

/** One figure without labels. */
export function single(value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [{ labels: {}, value }]
}

/** PromQL that panels share. Selectors are `label="value"` pairs with commas between; the job is added. */

/** A series of the selected job. */
export function series(metric: string, selector = ''): string {
  return `${metric}{job="$job"${selector === '' ? '' : `, ${selector}`}}`
}

/** How often a second, for each value of the labels. */
export function rate(metric: string, by: string, selector = ''): string {
  return `sum by (${by}) (rate(${series(metric, selector)}[$__rate_interval]))`
}

/** How often in the selected time. */
export function count(metric: string, by: string, selector = ''): string {
  return `sum by (${by}) (increase(${series(metric, selector)}[$__range]))`
}

/** `histogram` without `_bucket`; `by` with a comma in front, or nothing. */
export function quantile(share: number, histogram: string, by: string, selector = ''): string {
  return `histogram_quantile(${share}, ${rate(`${histogram}_bucket`, by === '' ? 'le' : `le, ${by}`, selector)})`
}

/** Of what every replica reports of the shared ledger: the highest. */
export function shared(metric: string, by: string, selector = ''): string {
  return `max by (${by}) (${series(metric, selector)})`
}

/** Requests that count for the promise of availability, and those of them that broke it. */
export const counted = 'error_type!~"caller_.*|limit_client|limit_unverified"'
export const broken = 'error_type=~"provider_.*|gateway_.*|limit_overload|limit_budget"'

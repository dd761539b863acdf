/** Counts of values in buckets that grow by a fixed factor. Can be summed over processes. Plain JSON: bucket to count. */
export type BucketCounts = Readonly<Record<string, number>>

/** The percentile (`share` from 0 to 1) over all counts, by the values of their buckets; null without counts. */
export function percentile(counts: readonly BucketCounts[], share: number, valueIn: (bucket: number) => number): number | null {
  const sums = addCounts(counts)
  const total = [...sums.values()].reduce((sum, count) => sum + count, 0)
  let left = Math.ceil(total * share)
  for (const [bucket, count] of [...sums].sort(([one], [other]) => valueIn(one) - valueIn(other))) {
    left -= count
    if (left <= 0) return valueIn(bucket)
  }
  return null
}

export function totalOf(counts: readonly BucketCounts[]): number {
  return [...addCounts(counts).values()].reduce((sum, count) => sum + count, 0)
}

function addCounts(counts: readonly BucketCounts[]): ReadonlyMap<number, number> {
  const sums = new Map<number, number>()
  for (const one of counts) {
    for (const [bucket, count] of Object.entries(one)) sums.set(Number(bucket), (sums.get(Number(bucket)) ?? 0) + count)
  }
  return sums
}

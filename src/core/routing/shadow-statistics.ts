/** Statistics of a shadow provider: deviations by pair, as counts that can be summed over replicas (docs/contract.md §12). */

/** Counts of deviations by bucket. Can be summed over replicas. Plain JSON. */
export interface ShadowCounts {
  readonly provider: string
  readonly errors: number
  readonly missingAssets: readonly string[]
  readonly pairs: readonly PairCounts[]
}

interface PairCounts {
  readonly from: string
  readonly to: string
  readonly missing: number
  /** Number of deviations by bucket. */
  readonly deviations: Readonly<Record<string, number>>
}

interface MutablePair {
  readonly from: string
  readonly to: string
  missing: number
  readonly deviations: Map<number, number>
}

/** Buckets grow by 5 %, starting at one millionth. A smaller deviation counts as none. */
const smallest = 1e-6
const growth = Math.log(1.05)
/** A bound on memory and on what a replica writes to the ledger. */
const maxPairs = 200
/** Over all pairs. Further deviations are counted in the nearest bucket of their pair. */
const maxBuckets = 5_000

/** The statistics of this process. */
export class ShadowStatistics {
  private provider = ''
  private errors = 0
  private missingAssets: readonly string[] = []
  private pairs = new Map<string, MutablePair>()
  private buckets = 0

  /** Resets the statistics if the provider is another one. */
  begin(provider: string): void {
    if (provider === this.provider) return
    this.provider = provider
    this.errors = 0
    this.missingAssets = []
    this.pairs = new Map()
    this.buckets = 0
  }

  addDeviation(from: string, to: string, deviation: number): void {
    const pair = this.pairOf(from, to)
    if (!pair) return
    const exact = bucketOf(deviation)
    const isNew = !pair.deviations.has(exact)
    const bucket = isNew && this.buckets >= maxBuckets ? nearest(exact, pair.deviations) : exact
    if (isNew && bucket === exact) this.buckets++
    pair.deviations.set(bucket, (pair.deviations.get(bucket) ?? 0) + 1)
  }

  addMissing(from: string, to: string): void {
    const pair = this.pairOf(from, to)
    if (pair) pair.missing++
  }

  addError(): void {
    this.errors++
  }

  setMissingAssets(codes: readonly string[]): void {
    this.missingAssets = codes
  }

  /** Undefined without a shadow. */
  counts(): ShadowCounts | undefined {
    if (this.provider === '') return undefined
    const pairs = [...this.pairs.values()].map(({ from, to, missing, deviations }) => ({
      from,
      to,
      missing,
      deviations: Object.fromEntries(deviations),
    }))
    return { provider: this.provider, errors: this.errors, missingAssets: this.missingAssets, pairs }
  }

  private pairOf(from: string, to: string): MutablePair | undefined {
    const key = `${from} ${to}`
    const known = this.pairs.get(key)
    if (known || this.pairs.size >= maxPairs) return known
    const pair = { from, to, missing: 0, deviations: new Map() }
    this.pairs.set(key, pair)
    return pair
  }
}

/** The exact bucket, if there is none yet. */
function nearest(exact: number, deviations: ReadonlyMap<number, number>): number {
  const distance = (bucket: number): number => Math.abs(bucket - exact)
  return [...deviations.keys()].reduce(
    (best, bucket) => (distance(bucket) < distance(best) ? bucket : best),
    [...deviations.keys()][0] ?? exact,
  )
}

/** Signed: 0 is no deviation, ±1 the smallest. */
function bucketOf(deviation: number): number {
  const size = Math.abs(deviation)
  return size < smallest ? 0 : Math.sign(deviation) * (1 + Math.round(Math.log(size / smallest) / growth))
}

/** The value of a bucket, to three digits. */
export function bucketDeviation(bucket: number): number {
  if (bucket === 0) return 0
  const size = smallest * Math.exp((Math.abs(bucket) - 1) * growth)
  return Math.sign(bucket) * Number(size.toPrecision(3))
}

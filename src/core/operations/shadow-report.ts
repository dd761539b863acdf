/** The shadow's results over all replicas (docs/contract.md §12). */
import { bucketDeviation, type ShadowCounts } from '../routing/shadow.ts'
import { type BucketCounts, percentile, totalOf } from './histogram.ts'

/** A deviation is (candidate − served) ÷ served of the amount received: −0.01 is one percent less. */
interface DeviationFigures {
  readonly samples: number
  /** Null without samples. */
  readonly medianDeviation: number | null
  /** The 95th percentile of the absolute deviations. */
  readonly p95Deviation: number | null
}

export interface PairFigures extends DeviationFigures {
  readonly from: string
  readonly to: string
}

export interface ShadowFigures extends DeviationFigures {
  /** The tag of the candidate. */
  readonly provider: string
  /** Failed quotes of the candidate. */
  readonly errors: number
  /** Quoted pairs that the candidate does not offer. */
  readonly missingPairs: readonly { readonly from: string; readonly to: string }[]
  /** Codes of the table's assets that a routed provider lists and the candidate does not. */
  readonly missingAssets: readonly string[]
  readonly pairs: readonly PairFigures[]
}

/** Results of the replicas that shadow this candidate; null if none does. */
export function shadowFigures(provider: string, counts: readonly ShadowCounts[]): ShadowFigures | null {
  const own = counts.filter((one) => one.provider === provider)
  if (own.length === 0) return null
  const pairs = Map.groupBy(
    own.flatMap((one) => one.pairs),
    ({ from, to }) => JSON.stringify([from, to]),
  )
  const figures = [...pairs.values()].flatMap((same) => {
    const [first] = same
    const deviations = same.map((pair) => pair.deviations)
    return first && totalOf(deviations) > 0 ? [{ from: first.from, to: first.to, ...summary(deviations) }] : []
  })
  const missing = [...pairs.values()].filter((same) => same.some((pair) => pair.missing > 0))
  return {
    provider,
    ...summary(own.flatMap((one) => one.pairs.map(({ deviations }) => deviations))),
    errors: own.reduce((sum, { errors }) => sum + errors, 0),
    missingPairs: missing.flatMap(([pair]) => (pair ? [{ from: pair.from, to: pair.to }] : [])),
    missingAssets: [...new Set(own.flatMap(({ missingAssets }) => missingAssets))].sort(),
    pairs: figures.toSorted((one, other) => other.samples - one.samples),
  }
}

function summary(deviations: readonly BucketCounts[]): DeviationFigures {
  return {
    samples: totalOf(deviations),
    medianDeviation: percentile(deviations, 0.5, bucketDeviation),
    p95Deviation: percentile(deviations, 0.95, (bucket) => Math.abs(bucketDeviation(bucket))),
  }
}

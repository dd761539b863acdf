/** Repeats a share of the served quotes at a candidate and compares both (docs/contract-operators.md §12). It never creates anything. */
import { Fault } from '../../domain/fault.ts'
import type { MirrorResult } from '../../domain/observation.ts'
import type { Caller, Context, SwapService } from '../../domain/service.ts'
import type { Rate, RateQuery } from '../../domain/swap.ts'
import { assetKeyOf, from, to } from '../assets/asset-naming.ts'
import type { CachedCurrencyList, CurrencyList } from '../assets/currency-list.ts'
import { isOutsideTable } from '../assets/outside-table.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { deviationFrom, quotedAmountOf } from '../quotes/offers.ts'

interface MirrorOptions {
  /** The share of the quotes that are repeated, from 0 to 1. */
  readonly sample: number
  readonly statistics: MirrorStatistics
  /** Lists of the routed providers. */
  readonly routed: readonly Pick<CachedCurrencyList, 'last'>[]
}

/** Bound for a slow candidate: further quotes are not repeated. */
const maxConcurrent = 32

/** Repeats quotes at the candidate's `service` in the background, after the client's response. Never delays or fails a request. */
export function mirror(candidate: ProviderScope, service: SwapService, { sample, statistics, routed }: MirrorOptions): Layer {
  const { random, table } = candidate
  statistics.begin(candidate.tag)
  const compareLists = listComparison(candidate, routed, statistics)
  const comparison = new Comparison(candidate, service, statistics)
  let inFlight = 0
  return onOperations({
    async getRate(query, context, next) {
      const response = await next.call('getRate', query, context)
      const isRepeated = random() < sample && inFlight < maxConcurrent && response.provider !== candidate.tag && !query.isFirm
      // By a word that the table lacks the candidate may mean another coin.
      if (isRepeated && !isOutsideTable(query, table)) {
        inFlight++
        // The client gets its response first.
        setImmediate(async () => {
          try {
            await comparison.run(query, context, response.body)
            compareLists()
          } finally {
            inFlight--
          }
        })
      }
      return response
    },
  })
}

/** Returns a function that compares the lists if one of them has changed. */
function listComparison(
  { tag, currencyList, observe }: ProviderScope,
  routed: MirrorOptions['routed'],
  statistics: MirrorStatistics,
): () => void {
  let compared: readonly (CurrencyList | undefined)[] = []
  return () => {
    const own = currencyList.last()
    const others = routed.flatMap((other) => other.last() ?? [])
    const current = [own, ...others]
    if (!own || (current.length === compared.length && current.every((list, at) => list === compared[at]))) return
    compared = current
    const missing = missingAssets(others, own)
    statistics.setMissingAssets(missing)
    observe({ what: 'mirrorAssets', provider: tag, missing: missing.length })
  }
}

/** The codes of the table's assets that one of these lists has and the candidate's has not, sorted. */
function missingAssets(routed: readonly CurrencyList[], candidate: CurrencyList): readonly string[] {
  const offered = new Set(routed.flatMap(({ byAsset }) => [...byAsset.keys()]))
  return [...offered]
    .filter((asset) => !candidate.byAsset.has(asset))
    .map(({ code }) => code)
    .sort()
}

class Comparison {
  private readonly candidate: ProviderScope
  private readonly service: SwapService
  private readonly statistics: MirrorStatistics

  constructor(candidate: ProviderScope, service: SwapService, statistics: MirrorStatistics) {
    this.candidate = candidate
    this.service = service
    this.statistics = statistics
  }

  /** Quotes at the candidate what was served. */
  async run(query: RateQuery, context: Context, served: Rate): Promise<void> {
    const { isPersonal, timeoutMs, table } = this.candidate
    const [source, target] = [assetKeyOf(served, from, table), assetKeyOf(served, to, table)]
    // A repeated quote has no client.
    if (isPersonal(query)) return this.count('skipped')
    try {
      const { body } = await this.service.call('getRate', query, mirrorContext(context, timeoutMs))
      const [offered, reference] = [quotedAmountOf(body, query), quotedAmountOf(served, query)]
      const deviation = offered === undefined || reference === undefined ? undefined : deviationFrom(reference, offered, query)
      if (deviation === undefined) throw new Fault('unreadable', 'The quote has no amount.')
      this.statistics.addDeviation(source, target, deviation)
      this.count('compared', deviation)
    } catch (reason) {
      const result = resultOf(Fault.from(reason))
      if (result === 'missing') this.statistics.addMissing(source, target)
      if (result === 'failed') this.statistics.addError()
      this.count(result)
    }
  }

  private count(result: MirrorResult, deviation?: number): void {
    const { tag, observe } = this.candidate
    observe({ what: 'mirror', provider: tag, result, ...(deviation !== undefined && { deviation }) })
  }
}

/** All mirror quotes are those of one consumer at the candidate: they use none of its reserve, and their failures block only themselves. */
const mirrorCaller: Caller = { address: 'mirror', identity: 'mirror' }

/** Without the client's deadline, identity and key. */
function mirrorContext({ clientCapabilities }: Context, timeoutMs: number): Context {
  const deadline = performance.now() + timeoutMs
  return { requestId: crypto.randomUUID(), caller: mirrorCaller, clientCapabilities, deadline }
}

/** `missing`: the candidate does not offer the pair. `skipped`: its budget is used up. */
function resultOf({ kind, provider, reason, unavailableCause }: Fault): MirrorResult {
  if (unavailableCause === 'budget') return 'skipped'
  const isNotOffered = kind === 'invalid' && provider === undefined
  return isNotOffered && (reason === 'not_offered' || reason === 'unknown_asset' || reason.startsWith('network_'))
    ? 'missing'
    : 'failed'
}

// Statistics of a mirror provider: deviations by pair, as counts that can be summed over replicas (docs/contract-operators.md §12).

/** Counts of deviations by bucket. Can be summed over replicas. Plain JSON. */
export interface MirrorCounts {
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
export class MirrorStatistics {
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

  /** Undefined without a mirror. */
  counts(): MirrorCounts | undefined {
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

/** Repeats a share of the served quotes at a candidate and compares both (docs/contract.md §12). It never creates anything. */
import { deviationOf } from '../../domain/amount.ts'
import type { AssetTable } from '../../domain/asset.ts'
import { Fault } from '../../domain/fault.ts'
import type { Observer, ShadowResult } from '../../domain/observation.ts'
import type { Caller, Context } from '../../domain/service.ts'
import type { Rate, RateQuery } from '../../domain/swap.ts'
import { assetKeyOf, from, to } from '../assets/asset-naming.ts'
import type { Listing } from '../assets/listing.ts'
import { isOutsideTable } from '../assets/outside-table.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { Candidate } from './failover.ts'
import type { ShadowStatistics } from './shadow-statistics.ts'

export interface ShadowOptions {
  readonly candidate: Candidate
  /** Whether the candidate quotes this only for a client whose address it gets. A repeated quote has no client. */
  readonly needsClient: (query: RateQuery) => boolean
  /** From 0 to 1. */
  readonly sample: number
  /** Milliseconds for the candidate's quote. */
  readonly timeoutMs: number
  readonly table: AssetTable
  readonly statistics: ShadowStatistics
  /** The last complete lists of the routed providers and of the candidate. */
  readonly listings: () => { readonly routed: readonly Listing[]; readonly candidate: Listing | undefined }
  /** From 0 to 1. */
  readonly random: () => number
  readonly observe: Observer
}

/** Bound for a slow candidate: further quotes are not repeated. */
const maxConcurrent = 32

/** Repeats quotes in the background, after the client's response. Never delays or fails a request. */
export function shadow(options: ShadowOptions): Layer {
  const { candidate, sample, random, statistics, table } = options
  statistics.begin(candidate.tag)
  const compareListings = listingComparison(options)
  let inFlight = 0
  return onOperations({
    async getRate(query, context, next) {
      const response = await next.call('getRate', query, context)
      const isRepeated = random() < sample && inFlight < maxConcurrent && response.provider !== candidate.tag
      // By a word that the table lacks the candidate may mean another coin.
      if (isRepeated && !isOutsideTable(query, table)) {
        inFlight++
        // The client gets its response first.
        setImmediate(async () => {
          try {
            await compare(options, query, context, response.body)
            compareListings()
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
function listingComparison({ candidate: { tag }, statistics, listings, observe }: ShadowOptions): () => void {
  let compared: readonly (Listing | undefined)[] = []
  return () => {
    const { routed, candidate } = listings()
    const current = [candidate, ...routed]
    if (!candidate || (current.length === compared.length && current.every((listing, at) => listing === compared[at]))) return
    compared = current
    const missing = missingAssets(routed, candidate)
    statistics.setMissingAssets(missing)
    observe({ what: 'shadowAssets', provider: tag, missing: missing.length })
  }
}

/** The codes of the table's assets that one of these lists has and the candidate's has not, sorted. */
function missingAssets(routed: readonly Listing[], candidate: Listing): readonly string[] {
  const offered = new Set(routed.flatMap(({ byAsset }) => [...byAsset.keys()]))
  return [...offered]
    .filter((asset) => !candidate.byAsset.has(asset))
    .map(({ code }) => code)
    .sort()
}

async function compare(options: ShadowOptions, query: RateQuery, context: Context, served: Rate): Promise<void> {
  const { candidate, needsClient, timeoutMs, table, statistics, observe } = options
  const [source, target] = [assetKeyOf(served, from, table), assetKeyOf(served, to, table)]
  const count = (result: ShadowResult, deviation?: number): void =>
    observe({ what: 'shadow', provider: candidate.tag, result, ...(deviation !== undefined && { deviation }) })
  if (needsClient(query)) return count('skipped')
  try {
    const { body } = await candidate.service.call('getRate', query, shadowContext(context, timeoutMs))
    const [offered, reference] = [body.amountOut, served.amountOut]
    const deviation = offered === undefined || reference === undefined ? undefined : deviationOf(offered, reference)
    if (deviation === undefined) throw new Fault('unreadable', 'The quote has no amount.')
    statistics.addDeviation(source, target, deviation)
    count('compared', deviation)
  } catch (reason) {
    const result = resultOf(Fault.from(reason))
    if (result === 'missing') statistics.addMissing(source, target)
    if (result === 'failed') statistics.addError()
    count(result)
  }
}

/** All shadow quotes are those of one consumer at the candidate: they use none of its reserve, and their failures block only themselves. */
const shadowCaller: Caller = { address: 'shadow', identity: 'shadow' }

/** Without the client's deadline, identity and key. */
function shadowContext({ clientCapabilities }: Context, timeoutMs: number): Context {
  const deadline = performance.now() + timeoutMs
  return { requestId: crypto.randomUUID(), caller: shadowCaller, clientCapabilities, deadline }
}

/** `missing`: the candidate does not offer the pair. `skipped`: its budget is used up. */
function resultOf({ kind, provider, reason, unavailableCause }: Fault): ShadowResult {
  if (unavailableCause === 'budget') return 'skipped'
  const isNotOffered = kind === 'invalid' && provider === undefined
  return isNotOffered && (reason === 'not_offered' || reason === 'unknown_asset' || reason.startsWith('network_'))
    ? 'missing'
    : 'failed'
}

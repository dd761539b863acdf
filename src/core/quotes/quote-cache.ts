/**
 * A cache of quotes, shared by all clients (docs/contract-operators.md §8). Each caller gets the digits of its own request back. Equal are
 * assets, amount (by value) and rate type.
 */
import { type Amount, compareAmounts, isPositive, isSameButForRounding, isZero, zero } from '../../domain/amount.ts'
import { withDefault, withTimeout } from '../../domain/async.ts'
import { BoundedMap, cacheShares, textLength } from '../../domain/bounded-map.ts'
import { Fault } from '../../domain/fault.ts'
import type { CacheOutcome } from '../../domain/observation.ts'
import { type Context, type ServiceResponse, timedUpstream } from '../../domain/service.ts'
import { type Pair, type Rate, type RateQuery, type RequestedAmount, requestedAmountOf } from '../../domain/swap.ts'
import { from, type Side, to } from '../assets/asset-naming.ts'
import { type Layer, mapResponses, onOperations } from '../layer.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { amountKeyOf, quotedAmountOf } from './offers.ts'

type RateResponse = ServiceResponse<'getRate'>

/** The state of one distinct request. */
interface CacheEntry {
  pending: Promise<RateResponse> | undefined
  response: RateResponse | undefined
  fetchedAt: number
}

/** A bound on memory. */
const maxEntries = 10_000
const minLifetimeMs = 60_000
/** A response with more characters than this is not cached. */
const maxTextLength = 4_096

/**
 * Runs where requests and responses use the provider's names, so that clients of all forms share a response. With a lifetime
 * (`cache.rate`) of 0 only concurrent requests share one; a firm or a personal quote is neither shared nor cached.
 */
export function quoteCache({ cache, isPersonal, quoteTermsOf, steadyClock: clock, observe }: ProviderScope): Layer {
  const lifetimeMs = cache.rate * 1000
  const entries = new BoundedMap<CacheEntry>({
    share: cacheShares.quotes,
    maxEntries,
    lifetimeMs: Math.max(minLifetimeMs, lifetimeMs),
  })
  const entryFor = (key: string): CacheEntry => {
    const now = clock()
    const none = { pending: undefined, response: undefined, fetchedAt: Number.NEGATIVE_INFINITY }
    return entries.get(key, now) ?? entries.set(key, none, now)
  }
  const count = (outcome: CacheOutcome): void => observe({ what: 'cache', cache: 'rate', outcome })
  return onOperations({
    getRate(request, context, next) {
      const call = async () => withReceivedDigits(request, await next.call('getRate', request, context))
      if (request.isFirm || isPersonal(request)) return call()
      const key = keyOf(request, context.pair) + quoteTermsOf(context.caller)
      const cached = entryFor(key)
      const age = clock() - cached.fetchedAt
      if (cached.response && age < lifetimeMs) {
        context.span?.setAttributes({ 'swapgate.quote': 'cached' })
        observe({ what: 'cache', cache: 'rate', outcome: 'hit', ageSeconds: age / 1000 })
        return Promise.resolve(responseFor(request, cached.response, age))
      }
      count(cached.pending ? 'shared' : 'miss')
      context.span?.setAttributes({ 'swapgate.quote': cached.pending ? 'shared' : 'requested' })
      if (cached.pending)
        return timedUpstream(context, withinDeadline(cached.pending, context)).then((response) => responseFor(request, response, 0))
      const pending = read(cached, call, clock).finally(() => entries.set(key, cached, clock()))
      cached.pending = pending
      return pending
    },
  })
}

/** A failure goes to all callers that wait for it, and is not cached. */
async function read(cached: CacheEntry, call: () => Promise<RateResponse>, clock: () => number): Promise<RateResponse> {
  try {
    const response = await call()
    cached.response = isCacheable(response) && textLength(response.body) <= maxTextLength ? response : undefined
    cached.fetchedAt = clock()
    return response
  } finally {
    cached.pending = undefined
  }
}

/** A response with a message instead of an amount is valid only now. */
function isCacheable({ body }: RateResponse): boolean {
  const { amountOut } = body
  return amountOut !== undefined && !isZero(amountOut)
}

function responseFor(request: RateQuery, response: RateResponse, age: number): RateResponse {
  const { amountIn } = request
  const { body, caching } = response
  const isSameValue = amountIn !== undefined && body.amountIn !== amountIn && compareAmounts(body.amountIn, amountIn) === 0
  return {
    ...withReceivedDigits(request, response),
    ...(isSameValue && { body: { ...body, amountIn } }),
    caching: { ...caching, ageSeconds: age / 1000 },
  }
}

/** With the digits of the request for an amount to be received that is equal by value (docs/contract.md §3.10). */
function withReceivedDigits({ amountOut }: RateQuery, response: RateResponse): RateResponse {
  const { body } = response
  const isSameValue = amountOut !== undefined && body.amountOut !== undefined && compareAmounts(body.amountOut, amountOut) === 0
  return isSameValue ? { ...response, body: { ...body, amountOut } } : response
}

/** A caller that shares a pending request waits only until its own deadline. Throws `timedOut`. */
function withinDeadline(pending: Promise<RateResponse>, { deadline }: Context): Promise<RateResponse> {
  return withTimeout(pending, Math.max(1, deadline - performance.now()), () => {
    throw new Fault('timedOut', 'The provider did not answer in time; please try again later.')
  })
}

/** Equal for equal requests: the provider's names, the resolved assets, and the amount by value. */
function keyOf(query: RateQuery, pair: Pair = {}): string {
  const { codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo, rateType } = query
  const requested = [codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo]
  const resolved = [pair.codeFrom, pair.coinFrom, pair.networkFrom, pair.codeTo, pair.coinTo, pair.networkTo]
  return JSON.stringify([rateType, amountKeyOf(query), ...requested, ...resolved])
}

/** Whether the quote is one for this amount and rate type: a provider may raise the amount to its minimum, or lie. An amount of 0 says nothing. */
export function isQuoteFor(
  { amountIn, amountOut = zero, rateType }: Rate,
  asked: RequestedAmount & Pick<RateQuery, 'rateType'>,
): boolean {
  const amount = asked.amountOut === undefined ? amountIn : amountOut
  const isSameAmount = isZero(amount) || isSameButForRounding(amount, requestedAmountOf(asked))
  return isSameAmount && (rateType === undefined || rateType === asked.rateType)
}

// The newest quote of one provider for a request, of all processes: a create that follows is compared with it (docs/contract-operators.md §10.3).

/** The create has been sent: a store that does not answer must not hold up its result. */
const maxWaitMs = 250

/** `pair`: the table's names. */
type QuoteContext = Pick<Context, 'pair' | 'caller'>

/** What all processes keep for a minute: the store of winners (`routing/winners.ts`). */
interface QuoteStore {
  readonly save: (key: string, quote: { readonly tag: string; readonly quotedAmount: Amount }) => Promise<void>
  readonly find: (key: string) => Promise<{ readonly quotedAmount?: Amount | undefined } | undefined>
}

export class RecentQuotes {
  private readonly provider: string
  private readonly store: QuoteStore
  private readonly quoteTermsOf: ProviderScope['quoteTermsOf']

  constructor({ tag, quoteTermsOf }: Pick<ProviderScope, 'tag' | 'quoteTermsOf'>, store: QuoteStore) {
    this.provider = tag
    this.store = store
    this.quoteTermsOf = quoteTermsOf
  }

  /** Keeps each quote for a minute. Runs where asset names are the provider's. */
  get layer(): Layer {
    return mapResponses({
      getRate: (response, request, context) => {
        const quotedAmount = quotedAmountOf(response.body, request)
        if (quotedAmount !== undefined && isPositive(quotedAmount) && isQuoteFor(response.body, request))
          void this.store.save(this.keyOf(request, context), { tag: this.provider, quotedAmount }).catch(() => {}) // the response does not wait for it
        return response
      },
    })
  }

  /** What the newest quote of the last minute gives for the same assets, amount and rate type, by the same settings. */
  async newest(terms: RateQuery, context: QuoteContext): Promise<Amount | undefined> {
    return (await withDefault(this.store.find(this.keyOf(terms, context)), maxWaitMs, undefined))?.quotedAmount
  }

  private keyOf(terms: RateQuery, { pair, caller }: QuoteContext): string {
    return `quote ${this.provider} ${termsKeyOf(terms, pair)}${this.quoteTermsOf(caller)}`
  }
}

function termsKeyOf(terms: RateQuery, pair: Pair = {}): string {
  const nameOf = (side: Side) => pair[side.code] ?? terms[side.code] ?? [terms[side.coin], terms[side.network]]
  return JSON.stringify([nameOf(from), nameOf(to), amountKeyOf(terms), terms.rateType])
}

/** Quotes that were asked for just now are answered again, whoever asks (docs/contract.md §8). */
import { compareAmounts, isZero, plainAmount } from '../../domain/amount.ts'
import { Fault } from '../../domain/faults/fault.ts'
import { type Context, type ServiceResponse, type SwapService, timedUpstream } from '../../domain/swap/service.ts'
import type { Pair, RateQuery } from '../../domain/swap/swap.ts'
import type { CacheOutcome, Observer } from '../../domain/telemetry/observation.ts'
import { textLength } from '../../domain/text-length.ts'
import { withTimeout } from '../../domain/with-timeout.ts'
import { BoundedMap } from '../bounded-map.ts'
import { type Layer, onOperations } from '../layer.ts'

export interface QuoteCacheOptions {
  /** How long an answer is shared, in milliseconds; 0: only by those who ask while it is on its way. */
  readonly lifetimeMs: number
  /** Milliseconds, on a clock that is never set back. */
  readonly clock: () => number
  readonly observe: Observer
}

type RateResponse = ServiceResponse<'getRate'>

/** One question, and what is known of it. */
interface CacheEntry {
  pending: Promise<RateResponse> | undefined
  response: RateResponse | undefined
  fetchedAt: number
}

/** A bound on memory. */
const maxEntries = 10_000
const minLifetimeMs = 60_000
/** An answer with more text than this is not kept. */
const maxTextLength = 4_096

/** Stands where questions and answers are in the provider's words, so that clients of all forms share an answer. */
export function quoteCache({ lifetimeMs, clock, observe }: QuoteCacheOptions): Layer {
  const entries = new BoundedMap<CacheEntry>({ maxEntries, lifetimeMs: Math.max(minLifetimeMs, lifetimeMs) })
  const entryFor = (key: string): CacheEntry => {
    const now = clock()
    const none = { pending: undefined, response: undefined, fetchedAt: Number.NEGATIVE_INFINITY }
    return entries.get(key, now) ?? entries.set(key, none, now)
  }
  const count = (outcome: CacheOutcome): void => observe({ what: 'cache', cache: 'rate', outcome })
  return onOperations({
    getRate(request, context, next) {
      const cached = entryFor(keyOf(request, context.pair))
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
      const pending = read(cached, request, context, next, clock)
      cached.pending = pending
      return pending
    },
  })
}

/** A failure is everybody's who waits for it, and is not kept. */
async function read(
  cached: CacheEntry,
  request: RateQuery,
  context: Context,
  next: SwapService,
  clock: () => number,
): Promise<RateResponse> {
  try {
    const response = await next.call('getRate', request, context)
    cached.response = isCacheable(response) && textLength(response.body) <= maxTextLength ? response : undefined
    cached.fetchedAt = clock()
    return response
  } finally {
    cached.pending = undefined
  }
}

/** A message in place of an amount is about this moment alone. */
function isCacheable({ body: { amountOut } }: RateResponse): boolean {
  return amountOut !== undefined && !isZero(amountOut)
}

/** The same value is told in the digits in which it was asked for. */
function responseFor({ amountIn }: RateQuery, response: RateResponse, age: number): RateResponse {
  const { body } = response
  const isAsked = body.amountIn !== amountIn && compareAmounts(body.amountIn, amountIn) === 0
  return { ...response, ...(isAsked && { body: { ...body, amountIn } }), ageSeconds: age / 1000 }
}

/** Whoever has less time than the one who asked first waits no longer than he has. */
function withinDeadline(pending: Promise<RateResponse>, { deadline }: Context): Promise<RateResponse> {
  return withTimeout(pending, Math.max(1, deadline - performance.now()), () => {
    throw new Fault('timedOut', 'The provider did not answer in time; please try again later.')
  })
}

/** The same for the same question: the words that go up, what they mean, the amount by value. */
function keyOf(
  { codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo, amountIn, rateType }: RateQuery,
  pair: Pair = {},
): string {
  const requested = [codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo]
  const resolved = [pair.codeFrom, pair.coinFrom, pair.networkFrom, pair.codeTo, pair.coinTo, pair.networkTo]
  return JSON.stringify([rateType, plainAmount(amountIn), ...requested, ...resolved])
}

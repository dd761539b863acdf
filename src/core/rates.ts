/** Quotes that were asked for just now are answered again, whoever asks (docs/contract.md §8). */
import { compareAmounts, isZero, plainAmount } from '../domain/amount.ts'
import { Fault } from '../domain/fault.ts'
import type { CacheOutcome, Observer } from '../domain/observation.ts'
import { type Answer, type Context, type SwapService, waitingWith } from '../domain/operations.ts'
import type { Pair, RateQuery } from '../domain/swap.ts'
import { textLength } from '../domain/text-length.ts'
import { withTimeout } from '../domain/with-timeout.ts'
import { BoundedMap } from './bounded-map.ts'
import { type Layer, on } from './layer.ts'

export interface RatesOptions {
  /** How long an answer is shared, in milliseconds; 0: only by those who ask while it is on its way. */
  readonly lifetime: number
  /** Milliseconds, on a clock that is never set back. */
  readonly clock: () => number
  readonly observe: Observer
}

type Told = Answer<'getRate'>

/** One question, and what is known of it. */
interface Kept {
  pending: Promise<Told> | undefined
  answer: Told | undefined
  readAt: number
}

/** A bound on memory. */
const maxEntries = 10_000
const minLifetimeMs = 60_000
/** An answer with more text than this is not kept. */
const maxTextLength = 4_096

/** Stands where questions and answers are in the provider's words, so that clients of all forms share an answer. */
export function rates({ lifetime, clock, observe }: RatesOptions): Layer {
  const entries = new BoundedMap<Kept>({ maxEntries, lifetimeMs: Math.max(minLifetimeMs, lifetime) })
  const keptFor = (key: string): Kept => {
    const now = clock()
    const none = { pending: undefined, answer: undefined, readAt: Number.NEGATIVE_INFINITY }
    return entries.get(key, now) ?? entries.set(key, none, now)
  }
  const count = (outcome: CacheOutcome): void => observe({ what: 'cache', cache: 'rate', outcome })
  return on({
    getRate(request, context, next) {
      const kept = keptFor(keyOf(request, context.pair))
      const age = clock() - kept.readAt
      if (kept.answer && age < lifetime) {
        context.span?.tell({ 'swapgate.quote': 'kept' })
        observe({ what: 'cache', cache: 'rate', outcome: 'hit', age: age / 1000 })
        return Promise.resolve(sharedWith(request, kept.answer, age))
      }
      count(kept.pending ? 'shared' : 'miss')
      context.span?.tell({ 'swapgate.quote': kept.pending ? 'shared' : 'asked' })
      if (kept.pending) return waitingWith(context, inTime(kept.pending, context)).then((answer) => sharedWith(request, answer, 0))
      const pending = read(kept, request, context, next, clock)
      kept.pending = pending
      return pending
    },
  })
}

/** A failure is everybody's who waits for it, and is not kept. */
async function read(kept: Kept, request: RateQuery, context: Context, next: SwapService, clock: () => number): Promise<Told> {
  try {
    const answer = await next.call('getRate', request, context)
    kept.answer = isOffer(answer) && textLength(answer.body) <= maxTextLength ? answer : undefined
    kept.readAt = clock()
    return answer
  } finally {
    kept.pending = undefined
  }
}

/** A message in place of an amount is about this moment alone. */
function isOffer({ body: { amountOut } }: Told): boolean {
  return amountOut !== undefined && !isZero(amountOut)
}

/** The same value is told in the digits in which it was asked for. */
function sharedWith({ amountIn }: RateQuery, answer: Told, age: number): Told {
  const { body } = answer
  const isAsked = body.amountIn !== amountIn && compareAmounts(body.amountIn, amountIn) === 0
  return { ...answer, ...(isAsked && { body: { ...body, amountIn } }), age: age / 1000 }
}

/** Whoever has less time than the one who asked first waits no longer than he has. */
function inTime(pending: Promise<Told>, { deadline }: Context): Promise<Told> {
  return withTimeout(pending, Math.max(1, deadline - performance.now()), () => {
    throw new Fault('timedOut', 'The provider did not answer in time; please try again later.')
  })
}

/** The same for the same question: the words that go up, what they mean, the amount by value. */
function keyOf(
  { codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo, amountIn, rateType }: RateQuery,
  pair: Pair = {},
): string {
  const asked = [codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo]
  const meant = [pair.codeFrom, pair.coinFrom, pair.networkFrom, pair.codeTo, pair.coinTo, pair.networkTo]
  return JSON.stringify([rateType, plainAmount(amountIn), ...asked, ...meant])
}

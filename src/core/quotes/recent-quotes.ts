/** The newest quote of one provider for a request: a create that follows is compared with it (docs/contract.md §10.3). */
import { type Amount, isPositive, plainAmount } from '../../domain/amount.ts'
import { BoundedMap } from '../../domain/bounded-map.ts'
import { cacheShares } from '../../domain/cache-memory.ts'
import type { Pair, RateQuery } from '../../domain/swap/swap.ts'
import { from, type Side, to } from '../assets/pair.ts'
import type { SteadyClock } from '../clock.ts'
import { type Layer, mapResponses } from '../layer.ts'

/** How long a quote is compared with a create. */
const lifetimeMs = 60_000
/** A bound on memory. */
const maxQuotes = 10_000

type Terms = Pair & Pick<RateQuery, 'amountIn' | 'rateType'>

interface Quoted {
  readonly amountOut: Amount
  readonly at: number
}

export class RecentQuotes {
  private readonly clock: SteadyClock
  private readonly quotes = new BoundedMap<Quoted>({ share: cacheShares.quotes, maxEntries: maxQuotes, lifetimeMs })

  constructor(clock: SteadyClock) {
    this.clock = clock
  }

  /** Keeps each quote. Runs where asset names are the provider's. */
  get layer(): Layer {
    return mapResponses({
      getRate: (response, request, { pair }) => {
        const { amountOut } = response.body
        const now = this.clock()
        if (amountOut !== undefined && isPositive(amountOut)) this.quotes.set(keyOf(request, pair), { amountOut, at: now }, now)
        return response
      },
    })
  }

  /** The amount received in the newest quote of the last minute for the same assets, amount and rate type. `pair`: the table's names. */
  newest(terms: Terms, pair: Pair | undefined): Amount | undefined {
    const now = this.clock()
    const quoted = this.quotes.get(keyOf(terms, pair), now)
    return quoted && now - quoted.at < lifetimeMs ? quoted.amountOut : undefined
  }
}

function keyOf(terms: Terms, pair: Pair = {}): string {
  const nameOf = (side: Side) => pair[side.code] ?? terms[side.code] ?? [terms[side.coin], terms[side.network]]
  return JSON.stringify([nameOf(from), nameOf(to), plainAmount(terms.amountIn), terms.rateType])
}

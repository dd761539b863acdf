/** Refuses amounts that are far above everything a provider takes, before anything is sent (docs/contract.md §8). */
import { type Amount, compareAmounts, isPositive, largestOrdinary, multiplySubtract, thousand, zero } from '../../domain/amount.ts'
import { fold } from '../../domain/asset.ts'
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import type { AmountLimits } from '../../domain/fault.ts'
import { Fault } from '../../domain/fault.ts'
import type { Pair, RateQuery } from '../../domain/swap.ts'
import type { SteadyClock } from '../clock.ts'
import { type Layer, onOperations } from '../layer.ts'
import { assetNameOf, from } from './pair.ts'

interface SeenMaximum {
  readonly amount: Amount
  readonly seenAt: number
}

/** A bound on memory, in coins. */
const maxCoins = 5_000
const maxNameLength = 256
/** A maximum that no quote has confirmed for this time says nothing: it may have been an error of the provider's. */
const lifetimeMs = 3_600_000

/** The largest maximum of each coin that one provider's quotes and refusals had in the last hour. */
export class KnownMaximums {
  private readonly clock: SteadyClock
  private readonly byCoin = new BoundedMap<SeenMaximum>({ share: cacheShares.quotes, maxEntries: maxCoins, lifetimeMs })

  constructor(clock: SteadyClock) {
    this.clock = clock
  }

  /** Notes the maximum of a response to this request, if it has one. */
  note(request: Pair, { maxAmount }: AmountLimits): void {
    const coin = coinOf(request)
    if (maxAmount === undefined || !isPositive(maxAmount) || coin.length > maxNameLength) return
    const known = this.of(request)
    if (known && compareAmounts(maxAmount, known) < 0) return
    const now = this.clock()
    this.byCoin.set(coin, { amount: maxAmount, seenAt: now }, now)
  }

  /** The largest amount that may go up. */
  ceilingOf(request: Pair): Amount {
    const known = this.of(request)
    return known ? multiplySubtract(known, thousand, zero) : largestOrdinary
  }

  private of(request: Pair): Amount | undefined {
    const now = this.clock()
    const seen = this.byCoin.get(coinOf(request), now)
    return seen && now - seen.seenAt < lifetimeMs ? seen.amount : undefined
  }
}

/** Throws `invalid` for an amount above the ceiling. Runs where asset names are the provider's. */
export function refuseExtremeAmounts(maximums: KnownMaximums): Layer {
  const refuse = (request: RateQuery): void => {
    const ceiling = maximums.ceilingOf(request)
    if (compareAmounts(request.amountIn, ceiling) > 0)
      throw new Fault('invalid', `it must be at most ${ceiling}`, {
        reason: 'parameter_invalid',
        field: 'amountIn',
        noEffect: true,
      })
  }
  const noteLimits = (request: RateQuery, reason: unknown): never => {
    maximums.note(request, Fault.from(reason).limits ?? {})
    throw reason
  }
  return onOperations({
    async getRate(request, context, next) {
      refuse(request)
      const response = await next.call('getRate', request, context).catch((reason) => noteLimits(request, reason))
      maximums.note(request, response.body)
      return response
    },
    async createTransaction(request, context, next) {
      refuse(request)
      return next.call('createTransaction', request, context).catch((reason) => noteLimits(request, reason))
    },
  })
}

/** The coin that is paid, by the provider's names. */
function coinOf(request: Pair): string {
  const { code, coin, network } = assetNameOf(request, from)
  return JSON.stringify([code ?? coin, network].map((word) => word && fold(word)))
}

/** Refuses amounts that are far above everything a provider takes, before anything is sent (docs/contract-operators.md §8). */
import { type Amount, compareAmounts, isPositive, largestOrdinary, multiplySubtract, thousand, zero } from '../../domain/amount.ts'
import { type AssetTable, fold } from '../../domain/asset.ts'
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import { type AmountRange, Fault, implausibleBound } from '../../domain/fault.ts'
import type { Observer } from '../../domain/observation.ts'
import { type Currency, type Pair, type RateQuery, requestedAmountOf, type Transaction } from '../../domain/swap.ts'
import type { SteadyClock } from '../clock.ts'
import { type Layer, mapResponses, onOperations } from '../layer.ts'
import { assetIn, assetNameOf, from, type Side, to } from './asset-naming.ts'
import { lastPlaceBelow } from './network-rules.ts'

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
  note(request: Pair, { maxAmount }: AmountRange): void {
    const coin = coinOf(request, from)
    if (maxAmount === undefined || !isPositive(maxAmount) || coin.length > maxNameLength) return
    const known = this.of(coin)
    if (known && compareAmounts(maxAmount, known) < 0) return
    const now = this.clock()
    this.byCoin.set(coin, { amount: maxAmount, seenAt: now }, now)
  }

  /** The largest amount of the coin that may go up. */
  ceilingOf(request: Pair, side: Side): Amount {
    const known = this.of(coinOf(request, side))
    return known ? multiplySubtract(known, thousand, zero) : largestOrdinary
  }

  private of(coin: string): Amount | undefined {
    const now = this.clock()
    const seen = this.byCoin.get(coin, now)
    return seen && now - seen.seenAt < lifetimeMs ? seen.amount : undefined
  }
}

/** Throws `invalid` for an amount above the ceiling. Runs where asset names are the provider's. */
export function refuseExtremeAmounts(maximums: KnownMaximums): Layer {
  const refuse = (request: RateQuery): void => {
    const isReceived = request.amountOut !== undefined
    const ceiling = maximums.ceilingOf(request, isReceived ? to : from)
    if (compareAmounts(requestedAmountOf(request), ceiling) > 0)
      throw new Fault('invalid', `it must be at most ${ceiling}`, {
        reason: 'parameter_invalid',
        field: isReceived ? 'amountOut' : 'amountIn',
        effect: 'nothingSent',
      })
  }
  const noteLimits = (request: RateQuery, reason: unknown): never => {
    maximums.note(request, Fault.from(reason).amountRange ?? {})
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

/** The coin of one side, by the provider's names. */
function coinOf(request: Pair, side: Side): string {
  const { code, coin, network } = assetNameOf(request, side)
  return JSON.stringify([code ?? coin, network].map((word) => word && fold(word)))
}

// Amounts of a report with more decimals than their network has: they are shown as they are, and counted (docs/contract.md §3).

const amounts = [
  { field: 'amountIn', side: from },
  { field: 'amountOut', side: to },
] as const

/** Runs where asset names are the table's. An amount that the gateway derived is not the provider's. */
export function countExcessDecimals(provider: string, table: AssetTable, observe: Observer): Layer {
  const count = (row: Transaction, derived: readonly string[] = [], pair: Pair = row): void => {
    for (const { field, side } of amounts) {
      const amount = derived.includes(field) ? undefined : row[field]
      const asset = amount && assetIn(pair, side, table)
      if (amount && asset && lastPlaceBelow(amount, asset) !== undefined)
        observe({ what: 'drift', provider, field, drift: 'excessDecimals' })
    }
  }
  return mapResponses({
    createTransaction: (response, _, { pair }) => {
      count(response.body, response.derived, pair)
      return response
    },
    getTransaction: (response) => {
      count(response.body, response.derived)
      return response
    },
    listTransactions: (response) => {
      for (const row of response.body.items) count(row, response.derived)
      return response
    },
  })
}

// Limits that cannot be right are unknown: negative ones, and a minimum above the maximum (docs/contract.md §3.2).

/** Leaves them out of quotes and of the list of currencies, and counts them. */
export function plausibleLimits(provider: string, observe: Observer): Layer {
  const count = (field: string): void => observe({ what: 'drift', provider, field, drift: 'implausible' })
  const plausible = (row: Currency): Currency => {
    const field = implausibleBound({ minAmount: row.depositMin, maxAmount: row.depositMax })
    if (field === undefined) return row
    count(field === 'minAmount' ? 'depositMin' : 'depositMax')
    return { ...row, depositMin: undefined, depositMax: undefined }
  }
  return mapResponses({
    getRate: (response) => {
      const field = implausibleBound(response.body)
      if (field === undefined) return response
      count(field)
      return { ...response, body: { ...response.body, minAmount: undefined, maxAmount: undefined } }
    },
    listCurrencies: (response) => ({ ...response, body: { ...response.body, items: response.body.items.map(plausible) } }),
  })
}

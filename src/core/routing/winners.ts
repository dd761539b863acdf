/** The provider that quoted a request (`weighted`), or won its quote (`best`): a create within a minute goes to the same one (docs/contract-operators.md §12). */
import { type Amount, compareAmounts, isPositive } from '../../domain/amount.ts'
import { type AssetTable, defaultAsset } from '../../domain/asset.ts'
import type { Observer } from '../../domain/observation.ts'
import type { Caller } from '../../domain/service.ts'
import type { NewTransaction, Rate, RateQuery, RequestedAmount } from '../../domain/swap.ts'
import { clientNetworkOf } from '../access/client-address.ts'
import type { StoreOutage } from '../access/store-outage.ts'
import { assetKeyOf, from, pairOf, type Side, to } from '../assets/asset-naming.ts'
import type { SteadyClock } from '../clock.ts'
import { amountKeyOf, quotedAmountOf, worsened } from '../quotes/offers.ts'
import { isQuoteFor } from '../quotes/quote-cache.ts'

/** A provider that won a quote. */
export interface Winner {
  readonly tag: string
  /** What its quote gives for the requested amount. */
  readonly quotedAmount?: Amount | undefined
  /** What tells the settings that the providers were asked with from others. Without a space. */
  readonly settings?: string | undefined
}

/** The winner of a quote, by the key of caller and quote. Kept in the store of the limits. */
export interface WinnerStore {
  readonly save: (key: string, winner: Winner) => Promise<void>
  /** Undefined if none was saved within `winnerLifetimeMs`. */
  readonly find: (key: string) => Promise<Winner | undefined>
}

export const winnerLifetimeMs = 60_000

interface SharedWinnersOptions {
  /** Both methods throw if the store does not respond. */
  readonly shared: WinnerStore
  readonly local: WinnerStore
  readonly outage: StoreOutage
}

/** Winners of all replicas; while the store is lost, only those of this one. */
export function sharedWinners({ shared, local, outage }: SharedWinnersOptions): WinnerStore {
  const lose = (): undefined => {
    outage.begin()
    return undefined
  }
  return {
    async save(key, winner) {
      await local.save(key, winner)
      if (outage.state !== 'local') await shared.save(key, winner).catch(lose)
    },
    async find(key) {
      const winner = outage.state === 'local' ? undefined : await shared.find(key).catch(lose)
      return winner ?? local.find(key)
    },
  }
}

/** The terms that a quote and its create share: both assets, the requested amount by value, the rate type. */
export type QuoteTerms = RateQuery

/** The key of a quote: by account if the caller has an identity, otherwise by client network. */
export function quoteKeyOf({ identity, address }: Caller, terms: QuoteTerms, table: AssetTable): string {
  return identity === undefined ? addressQuoteKeyOf(address, terms, table) : `account ${identity} ${termsOf(terms, table)}`
}

/** The keys under which the quote of a create may have been saved, in order of preference. */
export function quoteKeysOf(caller: Caller, terms: QuoteTerms, table: AssetTable): readonly string[] {
  return [quoteKeyOf(caller, terms, table), addressQuoteKeyOf(caller.address, terms, table)]
}

/** The winner under the first of these keys that has one. */
export async function firstWinner(winners: WinnerStore, keys: readonly string[]): Promise<Winner | undefined> {
  for (const key of keys) {
    const winner = await winners.find(key)
    if (winner !== undefined) return winner
  }
  return undefined
}

/** The request of a quote for this create. */
export function quoteQueryOf(request: NewTransaction): RateQuery {
  const { amountIn, amountOut, rateType } = request
  const requested = amountOut === undefined ? { amountIn } : { amountOut }
  return { ...pairOf(request), ...requested, rateType }
}

/** The key of a quote without an account. */
export function addressQuoteKeyOf(address: string, terms: QuoteTerms, table: AssetTable): string {
  return `address ${clientNetworkOf(address)} ${termsOf(terms, table)}`
}

function termsOf(terms: QuoteTerms, table: AssetTable): string {
  const assets = [from, to].map((side) => assetKeyOf(withDefaultNetwork(terms, side, table), side, table))
  return JSON.stringify([...assets, amountKeyOf(terms), terms.rateType])
}

/** A quote without a network is a quote for the coin's default network; a create names its network. */
function withDefaultNetwork(terms: QuoteTerms, side: Side, table: AssetTable): QuoteTerms {
  if (terms[side.code] !== undefined || terms[side.network] !== undefined) return terms
  const coin = table.coin(terms[side.coin] ?? '')
  return { ...terms, [side.network]: coin && defaultAsset(coin)?.network }
}

/** Whether the quote may win: it is for this request, has both amounts, and its own limits allow the amount sent. */
export function competes(quote: Rate, asked: RateQuery): boolean {
  const { amountOut, minAmount, maxAmount } = quote
  const amountIn = asked.amountIn ?? quote.amountIn
  return (
    amountOut !== undefined &&
    quotedAmountOf(quote, asked) !== undefined &&
    isQuoteFor(quote, asked) &&
    isAtLeast(amountIn, minAmount) &&
    isAtMost(amountIn, maxAmount)
  )
}

function isAtLeast(amount: Amount, min: Amount | undefined): boolean {
  return min === undefined || compareAmounts(amount, min) >= 0
}

/** A maximum of 0 means no maximum. */
function isAtMost(amount: Amount, max: Amount | undefined): boolean {
  return max === undefined || !isPositive(max) || compareAmounts(amount, max) <= 0
}

// Providers whose creates promise less than their quotes do not win by quotes (docs/contract-operators.md §12).

/** How long one create counts. */
const lifetimeMs = 600_000

export class QuoteDeviations {
  private readonly maxDeviation: number
  private readonly clock: SteadyClock
  /** By tag: the deviation of the last create that promised too little. */
  private readonly last = new Map<string, { readonly deviation: number; readonly until: number }>()

  /** `maxDeviation`: `routing.maxDeviation`; 0: nothing counts. */
  constructor(maxDeviation: number, clock: SteadyClock) {
    this.maxDeviation = maxDeviation
    this.clock = clock
  }

  readonly observe: Observer = (observation) => {
    if (observation.what !== 'quoteDeviation' || this.maxDeviation === 0) return
    const { provider, deviation } = observation
    if (deviation >= -this.maxDeviation) this.last.delete(provider)
    else this.last.set(provider, { deviation, until: this.clock() + lifetimeMs })
  }

  /** The quoted amount, worse by the share by which the last create there was worse than its quote. */
  discounted(tag: string, quotedAmount: Amount, asked: RequestedAmount): Amount {
    const { deviation, until } = this.last.get(tag) ?? { deviation: 0, until: 0 }
    return this.clock() < until ? worsened(quotedAmount, -deviation, asked) : quotedAmount
  }
}

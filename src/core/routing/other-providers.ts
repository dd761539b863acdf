/** Whether a create that its provider does not take goes to another one (docs/contract.md §12). */
import { deviationOf } from '../../domain/amount.ts'
import type { AssetTable } from '../../domain/asset.ts'
import type { Context } from '../../domain/service.ts'
import type { NewTransaction, RateQuery } from '../../domain/swap.ts'
import { limitDeadline } from '../deadline.ts'
import type { Candidate, NextOffer } from './failover.ts'
import { firstWinner, quoteKeyOf, quoteKeysOf, quoteQueryOf, type Winner, type WinnerStore } from './winners.ts'

export interface OtherProvidersOptions {
  readonly winners: WinnerStore
  readonly table: AssetTable
  /** `routing.maxDeviation` (default: 0.1); 0: any quote will do. */
  readonly maxDeviation: number
}

/** Largest share of the remaining time that is spent on the quote of the next provider. */
const quoteShare = 0.5

export class OtherProviders {
  private readonly options: OtherProvidersOptions

  constructor(options: OtherProvidersOptions) {
    this.options = options
  }

  /** Keeps the caller's last quote. */
  noteQuote(query: RateQuery, { caller }: Context, quote: Winner): Promise<void> {
    return this.options.winners.save(quoteKeyOf(caller, query, this.options.table), quote)
  }

  /**
   * Undefined if the candidate's own quote of the request is much less than the last one of the caller, or there is none. Without a
   * last one it is not asked.
   */
  async offerOf({ service }: Candidate, request: NewTransaction, context: Context): Promise<NextOffer | undefined> {
    const { winners, table, maxDeviation } = this.options
    const last = maxDeviation === 0 ? undefined : await firstWinner(winners, quoteKeysOf(context.caller, request, table))
    if (last?.amountOut === undefined) return {}
    const limited = limitDeadline(context, quoteShare * (context.deadline - performance.now()))
    const own = await service.call('getRate', quoteQueryOf(request), limited).catch(() => undefined)
    const quotedAmountOut = own?.body.amountOut
    const deviation = quotedAmountOut && deviationOf(quotedAmountOut, last.amountOut)
    return deviation !== undefined && deviation >= -maxDeviation ? { quotedAmountOut } : undefined
  }
}

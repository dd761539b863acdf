/** Whether a create that its provider does not take goes to another one (docs/contract.md §12). */
import { deviationOf } from '../../domain/amount.ts'
import type { AssetTable } from '../../domain/swap/asset.ts'
import type { Context } from '../../domain/swap/service.ts'
import type { NewTransaction, RateQuery } from '../../domain/swap/swap.ts'
import { limitDeadline } from '../deadline.ts'
import type { Candidate } from './failover.ts'
import { quoteKeyOf, quoteKeysOf, type Winner, type WinnerStore } from './winners.ts'

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

  /** Whether the candidate's own quote of the request is not much less than the last one of the caller, if there is one. */
  async mayTake({ service }: Candidate, request: NewTransaction, context: Context): Promise<boolean> {
    const { maxDeviation } = this.options
    const last = maxDeviation === 0 ? undefined : await this.lastQuote(request, context)
    if (last?.amountOut === undefined) return true
    const { codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo, amountIn, rateType } = request
    const query = { codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo, amountIn, rateType }
    const limited = limitDeadline(context, quoteShare * (context.deadline - performance.now()))
    const own = await service.call('getRate', query, limited).catch(() => undefined)
    const deviation = own?.body.amountOut && deviationOf(own.body.amountOut, last.amountOut)
    return deviation !== undefined && deviation >= -maxDeviation
  }

  private async lastQuote(request: NewTransaction, { caller }: Context): Promise<Winner | undefined> {
    for (const key of quoteKeysOf(caller, request, this.options.table)) {
      const quote = await this.options.winners.find(key)
      if (quote !== undefined) return quote
    }
    return undefined
  }
}

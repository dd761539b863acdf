/** Under `weighted`, the provider that quoted a request gets its create, too (docs/contract.md §12). */
import type { AssetTable } from '../../domain/asset.ts'
import type { Context } from '../../domain/service.ts'
import type { Candidate } from './failover.ts'
import { addressQuoteKeyOf, type QuoteTerms, quoteKeyOf, quoteKeysOf, type Winner, type WinnerStore } from './winners.ts'

type WithCaller = Pick<Context, 'caller'>

export class QuotedProviders {
  private readonly winners: WinnerStore
  private readonly table: AssetTable

  constructor(winners: WinnerStore, table: AssetTable) {
    this.winners = winners
    this.table = table
  }

  save(terms: QuoteTerms, { caller }: WithCaller, winner: Winner): Promise<void> {
    return this.winners.save(quoteKeyOf(caller, terms, this.table), winner)
  }

  /** The candidates for a create: first the one that quoted this request to the account, else to its address. */
  forCreate(candidates: readonly Candidate[], terms: QuoteTerms, { caller }: WithCaller): Promise<readonly Candidate[]> {
    return this.firstQuoted(candidates, quoteKeysOf(caller, terms, this.table))
  }

  /**
   * The candidates for a quote. An account's quotes follow those without a key from its address, but not its own: it would never move
   * to another provider while it goes on asking.
   */
  forQuote(candidates: readonly Candidate[], terms: QuoteTerms, { caller }: WithCaller): Promise<readonly Candidate[]> {
    const isOfAddress = caller.identity === undefined
    return this.firstQuoted(candidates, isOfAddress ? [] : [addressQuoteKeyOf(caller.address, terms, this.table)])
  }

  /** A provider that is no candidate any more is passed over. */
  private async firstQuoted(candidates: readonly Candidate[], keys: readonly string[]): Promise<readonly Candidate[]> {
    if (candidates.length < 2) return candidates
    for (const key of keys) {
      const winner = await this.winners.find(key)
      const quoted = winner && candidates.find(({ tag }) => tag === winner.tag)
      if (quoted) return [quoted, ...candidates.filter((candidate) => candidate !== quoted)]
    }
    return candidates
  }
}

/**
 * Providers' whole currency lists, kept for other processes and for the next start (docs/contract.md §3.3). One port; the
 * stores of the ledger fill it.
 */
import type { Currency } from '../../domain/swap/swap.ts'

/** Whose list it is: another URL or another form is another list. */
export interface ListSource {
  /** The provider's tag. */
  readonly provider: string
  readonly url: string
  readonly form: string
}

export interface StoredList {
  readonly rows: readonly Currency[]
  /** How long ago it was read, by a clock that no process sets; infinite where that is not known. */
  readonly ageMs: number
}

/** Both methods throw where the store cannot do it. */
export interface CurrencyListStore {
  /** The last list that was saved of this source. */
  readonly loadCurrencies: (source: ListSource) => Promise<StoredList | undefined>
  /** Replaces the provider's list; of a very long one nothing is kept. */
  readonly saveCurrencies: (source: ListSource, list: StoredList) => Promise<void>
}

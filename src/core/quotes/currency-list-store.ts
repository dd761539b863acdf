/**
 * Port: complete currency lists of providers, kept for other processes and for the next start (docs/contract.md §3.3).
 * Implemented by the ledger stores.
 */
import type { Currency } from '../../domain/swap/swap.ts'

/** Identifies a list. Another URL or form is another list. */
export interface ListSource {
  /** The provider's tag. */
  readonly provider: string
  readonly url: string
  readonly form: string
}

export interface StoredList {
  readonly rows: readonly Currency[]
  /** Age by a clock that no process sets; infinite if unknown. */
  readonly ageMs: number
}

/** Both methods throw if the store fails. */
export interface CurrencyListStore {
  /** The last saved list of this source. */
  readonly loadCurrencies: (source: ListSource) => Promise<StoredList | undefined>
  /** Replaces the provider's list. A list that is too long is not stored. */
  readonly saveCurrencies: (source: ListSource, list: StoredList) => Promise<void>
}

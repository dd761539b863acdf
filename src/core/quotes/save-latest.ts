import type { Currency } from '../../domain/swap/swap.ts'
import type { CurrencyListStore, ListSource } from './currency-list-store.ts'

export interface FetchedList {
  readonly rows: readonly Currency[]
  /** On the clock of `performance.now()`. */
  readonly fetchedAt: number
}

/** Saves lists in the background, one at a time. Of lists that arrive meanwhile only the last is saved. A failure is not retried. */
export function saveLatest(lists: CurrencyListStore, source: ListSource): (list: FetchedList) => void {
  let pending: FetchedList | undefined
  let isSaving = false
  const saveAll = async (): Promise<void> => {
    isSaving = true
    while (pending) {
      const { rows, fetchedAt } = pending
      pending = undefined
      await lists.saveCurrencies(source, { rows, ageMs: performance.now() - fetchedAt }).catch(() => {})
    }
    isSaving = false
  }
  return (list) => {
    pending = list
    if (!isSaving) void saveAll()
  }
}

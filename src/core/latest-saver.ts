import type { Currency } from '../domain/swap.ts'
import type { CurrencyLists, ListSource } from './currency-lists.ts'

export interface ReadList {
  readonly rows: readonly Currency[]
  /** On the clock of `performance.now()`. */
  readonly readAt: number
}

/** Saves lists in the background, one at a time: of those that come meanwhile, the last. What fails is tried with the next list. */
export function latestSaver(lists: CurrencyLists, source: ListSource): (list: ReadList) => void {
  let waiting: ReadList | undefined
  let isSaving = false
  const saveAll = async (): Promise<void> => {
    isSaving = true
    while (waiting) {
      const { rows, readAt } = waiting
      waiting = undefined
      await lists.saveCurrencies(source, { rows, ageMs: performance.now() - readAt }).catch(() => {})
    }
    isSaving = false
  }
  return (list) => {
    waiting = list
    if (!isSaving) void saveAll()
  }
}

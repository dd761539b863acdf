import type { CurrencyListStore } from '../../src/core/quotes/currency-list-store.ts'

/** Stores no list. */
export const noCurrencyLists: CurrencyListStore = { loadCurrencies: async () => undefined, saveCurrencies: async () => {} }

import type { CurrencyListStore } from '../../src/core/quotes/read-currency-list.ts'

/** Stores no list. */
export const noCurrencyLists: CurrencyListStore = { loadCurrencies: async () => undefined, saveCurrencies: async () => {} }

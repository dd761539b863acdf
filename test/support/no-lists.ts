import type { CurrencyListStore } from '../../src/core/quotes/currency-list-store.ts'

/** Keeps no list. */
export const noLists: CurrencyListStore = { loadCurrencies: async () => undefined, saveCurrencies: async () => {} }

import type { CurrencyLists } from '../../src/core/currency-lists.ts'

/** Keeps no list. */
export const noLists: CurrencyLists = { loadCurrencies: async () => undefined, saveCurrencies: async () => {} }

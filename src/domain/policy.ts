import type { KeyScope } from './key-access.ts'
import type { BudgetPolicy } from './observation.ts'
import type { Op } from './service.ts'

/** The limit of each operation (docs/service.md §8). */
export const policyOf: Readonly<Record<Op, BudgetPolicy>> = {
  listCurrencies: 'quotes',
  getRate: 'quotes',
  createTransaction: 'create',
  listTransactions: 'read',
  getTransaction: 'read',
}

/** The scope that a key needs for an operation. */
export const scopeOf: Readonly<Record<Op, KeyScope>> = {
  listCurrencies: 'quote',
  getRate: 'quote',
  createTransaction: 'create',
  listTransactions: 'read',
  getTransaction: 'read',
}

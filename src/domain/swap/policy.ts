import type { BudgetPolicy } from '../telemetry/labels.ts'
import type { Op } from './operations.ts'

/** The limit of each operation (docs/service.md §8). */
export const policyOf: Readonly<Record<Op, BudgetPolicy>> = {
  listCurrencies: 'quotes',
  getRate: 'quotes',
  createTransaction: 'create',
  listTransactions: 'read',
  getTransaction: 'read',
}

import type { BudgetPolicy } from '../telemetry/observation.ts'
import type { Op } from './operations.ts'

/** A row of the service's table of limits (docs/service.md §8). */
export const policyOf: Readonly<Record<Op, BudgetPolicy>> = {
  listCurrencies: 'quotes',
  getRate: 'quotes',
  createTransaction: 'create',
  listTransactions: 'read',
  getTransaction: 'read',
}

import { decimal } from '../decimal.ts'
import type { Evidence } from '../evidence.ts'
import { reportsById } from '../reported.ts'
import type { ResponseTransaction } from '../response-transaction.ts'

/** I5: a client receives of a transaction what the provider has or had, amounts equal as decimals. */
export function asReported(evidence: Evidence): readonly string[] {
  const reports = reportsById(evidence)
  return evidence.operations.flatMap(({ client, transactions }) =>
    transactions.flatMap((transaction) => {
      const truths = reports.get(transaction.id)
      const wrong = truths ? fields.filter((field) => isWrong(transaction, truths, field)) : []
      return wrong.map((field) => `${client} received another ${field} of ${transaction.id}: ${JSON.stringify(transaction)}`)
    }),
  )
}

const fields = ['amount', 'amountTo', 'coinFrom', 'coinTo', 'withdrawalAddress', 'rateType'] as const

/** An absent field is not wrong. */
function isWrong(reported: ResponseTransaction, truths: readonly ResponseTransaction[], field: (typeof fields)[number]): boolean {
  const reportedValue = reported[field]
  if (reportedValue === undefined) return false
  const value = field === 'amount' || field === 'amountTo' ? decimal : (word: string) => word
  return !truths.some((truth) => truth[field] !== undefined && value(truth[field]) === value(reportedValue))
}

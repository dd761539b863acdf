import { decimal } from '../decimal.ts'
import type { Evidence } from '../evidence.ts'
import type { Seen } from '../seen.ts'
import { tellingsOf } from '../telling.ts'

/** I5: what a client is told of a transaction is what the provider holds or held, amounts equal as decimals. */
export function told(evidence: Evidence): readonly string[] {
  const tellings = tellingsOf(evidence)
  return evidence.operations.flatMap(({ client, seen }) =>
    seen.flatMap((transaction) => {
      const truths = tellings.get(transaction.id)
      const wrong = truths ? fields.filter((field) => isWrong(transaction, truths, field)) : []
      return wrong.map((field) => `${client} was told another ${field} of ${transaction.id}: ${JSON.stringify(transaction)}`)
    }),
  )
}

const fields = ['amount', 'amountTo', 'coinFrom', 'coinTo', 'withdrawalAddress', 'rateType'] as const

/** What is not told is not wrong. */
function isWrong(seen: Seen, truths: readonly Seen[], field: (typeof fields)[number]): boolean {
  const said = seen[field]
  if (said === undefined) return false
  const value = field === 'amount' || field === 'amountTo' ? decimal : (word: string) => word
  return !truths.some((truth) => truth[field] !== undefined && value(truth[field]) === value(said))
}

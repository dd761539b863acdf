import { decimal } from '../decimal.ts'
import { type Evidence, effectsOf } from '../evidence.ts'
import type { Swap } from '../order.ts'
import type { Seen } from '../seen.ts'

/** I5: what a client is told of a transaction is what the provider holds, amounts equal as decimals. */
export function told(evidence: Evidence): readonly string[] {
  const given = Map.groupBy(effectsOf(evidence), ({ id }) => id)
  return evidence.operations.flatMap(({ client, seen }) =>
    seen.flatMap((transaction) => {
      const swap = given.get(transaction.id)?.[0]?.swap
      const wrong = swap ? differences(transaction, swap) : []
      return wrong.map((field) => `${client} was told another ${field} of ${transaction.id}: ${JSON.stringify(transaction)}`)
    }),
  )
}

/** Fields that tell something else; what is not told is not wrong. */
function differences(seen: Seen, { from, to, amount, amountTo, withdrawalAddress, rateType }: Swap): readonly string[] {
  const isTrue = {
    amount: decimal(seen.amount ?? amount) === decimal(amount),
    amountTo: decimal(seen.amountTo ?? amountTo) === decimal(amountTo),
    coinFrom: [from.code, from.coin, undefined].includes(seen.coinFrom),
    coinTo: [to.code, to.coin, undefined].includes(seen.coinTo),
    withdrawalAddress: [withdrawalAddress, undefined].includes(seen.withdrawalAddress),
    rateType: [rateType, undefined].includes(seen.rateType),
  }
  return Object.entries(isTrue).flatMap(([field, isSame]) => (isSame ? [] : [field]))
}

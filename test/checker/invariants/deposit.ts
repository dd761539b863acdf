import type { Evidence } from '../evidence.ts'
import { reportsById } from '../reported.ts'
import type { ResponseTransaction } from '../response-transaction.ts'

/** I11: a client gets the deposit address and memo that the provider gave; an id that no provider gave reaches no client. */
export function deposit(evidence: Evidence): readonly string[] {
  const reports = reportsById(evidence)
  const assignedByHand = new Set(evidence.assignedByHand?.map(({ id }) => id))
  return evidence.operations.flatMap(({ client, transactions }) =>
    transactions.flatMap((reported) => {
      const truths = reports.get(reported.id) ?? []
      if (truths.length === 0 && !assignedByHand.has(reported.id))
        return [`${client} received ${reported.id}, which no provider gave`]
      if (reported.depositAddress === undefined || truths.some((truth) => place(truth) === place(reported))) return []
      const places = new Set(truths.filter(({ depositAddress }) => depositAddress !== undefined).map(place))
      return [`${client} received for ${reported.id} the address ${place(reported)}; true is ${[...places].join(' or ')}`]
    }),
  )
}

function place({ depositAddress, depositExtraId }: ResponseTransaction): string {
  return `${depositAddress}, memo ${depositExtraId}`
}

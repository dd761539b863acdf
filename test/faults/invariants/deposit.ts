import type { Evidence } from '../evidence.ts'
import type { Seen } from '../seen.ts'
import { tellingsOf } from '../telling.ts'

/** I11: deposit address and memo that a client is told are those that the provider gave; an id that none gave is told nobody. */
export function deposit(evidence: Evidence): readonly string[] {
  const tellings = tellingsOf(evidence)
  const handed = new Set(evidence.handed?.map(({ id }) => id))
  return evidence.operations.flatMap(({ client, seen }) =>
    seen.flatMap((told) => {
      const truths = tellings.get(told.id) ?? []
      if (truths.length === 0 && !handed.has(told.id)) return [`${client} was told of ${told.id}, which no provider gave`]
      if (told.depositAddress === undefined || truths.some((truth) => place(truth) === place(told))) return []
      const places = new Set(truths.filter(({ depositAddress }) => depositAddress !== undefined).map(place))
      return [`${client} was told to pay ${told.id} to ${place(told)}; true is ${[...places].join(' or ')}`]
    }),
  )
}

function place({ depositAddress, depositExtraId }: Seen): string {
  return `${depositAddress}, memo ${depositExtraId}`
}

import { type Evidence, effectsOf } from '../evidence.ts'

/** I11: deposit address and memo that a client is told are those that the provider gave; an id that none gave is told nobody. */
export function deposit(evidence: Evidence): readonly string[] {
  const given = Map.groupBy(effectsOf(evidence), ({ id }) => id)
  return evidence.operations.flatMap(({ client, seen }) =>
    seen.flatMap(({ id, depositAddress, depositExtraId }) => {
      const truth = given.get(id)?.[0]?.swap
      if (!truth) return [`${client} was told of ${id}, which no provider gave`]
      if (depositAddress === undefined) return []
      const isTrue = depositAddress === truth.depositAddress && depositExtraId === truth.depositExtraId
      return isTrue
        ? []
        : [
            `${client} was told to pay ${id} to ${depositAddress}, memo ${depositExtraId}; true are ${truth.depositAddress}, ${truth.depositExtraId}`,
          ]
    }),
  )
}

import { createsByAddress, type Evidence, effectsOf } from '../evidence.ts'

/** I2: every id that a client was ever given is found by it at the end; and nothing that was created is forgotten. */
export function kept(evidence: Evidence): readonly string[] {
  return [...evidence.operations.flatMap((operation) => lost(operation, evidence)), ...forgotten(evidence)]
}

function lost({ client, seen }: Evidence['operations'][number], { holdings }: Evidence): readonly string[] {
  const holding = holdings?.find((other) => other.client === client)
  if (!holding) return []
  return seen.flatMap(({ id }) => [
    ...(holding.listed.has(id) ? [] : [`${id} was given to ${client} and is not in its list`]),
    ...(holding.got.has(id) ? [] : [`${id} was given to ${client}, which cannot get it`]),
  ])
}

/** Effects that neither a client who asked for them has, nor the gateway counts among the unsettled. */
function forgotten(evidence: Evidence): readonly string[] {
  const { holdings, unsettled } = evidence
  if (!holdings || !unsettled) return []
  const creates = createsByAddress(evidence)
  return effectsOf(evidence).flatMap(({ id, swap: { withdrawalAddress } }) => {
    const askers = (creates.get(withdrawalAddress) ?? []).map(({ client }) => client)
    const isHeld = holdings.some(({ client, listed }) => askers.includes(client) && listed.has(id))
    return isHeld || unsettled.includes(withdrawalAddress) ? [] : [`${id} was created, and nobody knows of it`]
  })
}

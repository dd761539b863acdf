import { createsByAddress, type Evidence, effectsOf } from '../evidence.ts'

/** I2: every id that a client was ever given is found by it at the end; and nothing that was created is forgotten. */
export function kept(evidence: Evidence): readonly string[] {
  const notHeld = evidence.operations.flatMap((operation) => lost(operation, evidence))
  return [...notHeld, ...forgotten(evidence), ...misplaced(evidence)]
}

/** Ids that the ledger does not hold once, for the owner that the client's other ids have. */
function misplaced({ operations, exported }: Evidence): readonly string[] {
  if (!exported) return []
  const rows = Map.groupBy(exported, ({ id }) => id)
  const owners = new Map<string, string>()
  return operations.flatMap(({ client, seen }) =>
    seen.flatMap(({ id }) => {
      const [row, ...others] = rows.get(id) ?? []
      if (!row || others.length > 0)
        return [`${id} was given to ${client}, and the ledger has it ${rows.get(id)?.length ?? 0} times`]
      const owner = owners.getOrInsert(client, row.owner)
      return row.owner === owner ? [] : [`${id} was given to ${client}, and the ledger has it for another`]
    }),
  )
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

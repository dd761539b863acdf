import { createsByMark, type Evidence, effectsOf } from '../evidence.ts'
import type { Operation } from '../history.ts'
import { shownIn } from '../reported.ts'

/** I2: at the end a client finds every id that it ever got, and no created swap is lost. */
export function kept(evidence: Evidence): readonly string[] {
  if (evidence.unreadable !== undefined) return [`the ledger cannot be read: ${evidence.unreadable}`]
  const given = givenIn(evidence)
  return [...given.flatMap((one) => lost(one, evidence)), ...forgotten(evidence), ...misplaced(given, evidence)]
}

interface Given {
  readonly client: string
  readonly id: string
}

/** What a provider shows to a client's own key is found there, and needs no ledger, unless the client created it here. */
function givenIn(evidence: Evidence): readonly Given[] {
  const shown = shownIn(evidence)
  const needsLedger = ({ client, kind }: Operation, id: string) => kind === 'create' || shown.get(client)?.has(id) !== true
  return evidence.operations.flatMap((operation) =>
    operation.transactions.filter(({ id }) => needsLedger(operation, id)).map(({ id }) => ({ client: operation.client, id })),
  )
}

/** Ids that the ledger does not hold once, for the owner that the client's other ids have. */
function misplaced(given: readonly Given[], { exported }: Evidence): readonly string[] {
  if (!exported) return []
  const rows = Map.groupBy(exported, ({ id }) => id)
  const owners = new Map<string, string>()
  return given.flatMap(({ client, id }) => {
    const [row, ...others] = rows.get(id) ?? []
    if (!row || others.length > 0) return [`${id} was given to ${client}, and the ledger has it ${rows.get(id)?.length ?? 0} times`]
    const owner = owners.getOrInsert(client, row.owner)
    return row.owner === owner ? [] : [`${id} was given to ${client}, and the ledger has it for another`]
  })
}

function lost({ client, id }: Given, { holdings }: Evidence): readonly string[] {
  const holding = holdings?.find((other) => other.client === client)
  if (!holding) return []
  return [
    ...(holding.listed.has(id) ? [] : [`${id} was given to ${client} and is not in its list`]),
    ...(holding.got.has(id) ? [] : [`${id} was given to ${client}, which cannot get it`]),
  ]
}

/** Effects that neither the requesting client has, nor the gateway counts as unresolved, one for each. */
function forgotten(evidence: Evidence): readonly string[] {
  const { holdings, unresolvedAddresses: unresolved } = evidence
  if (!holdings || !unresolved) return []
  const creates = createsByMark(evidence)
  const left = [...unresolved]
  return effectsOf(evidence).flatMap(({ id, mark, swap: { withdrawalAddress } }) => {
    const callers = (creates.get(mark) ?? []).map(({ client }) => client)
    if (holdings.some(({ client, listed }) => callers.includes(client) && listed.has(id))) return []
    const at = left.indexOf(withdrawalAddress)
    if (at < 0) return [`${id} was created, and no client or row has it`]
    left.splice(at, 1)
    return []
  })
}

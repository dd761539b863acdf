import { createsByMark, type Evidence, effectsOf, heldIn } from '../evidence.ts'
import { shownIn, words } from '../reported.ts'

/** I3: no response to a client has an id, an address, a memo or an amount that belongs only to another client. */
export function apart(evidence: Evidence): readonly string[] {
  const owners = ownersOf(evidence)
  const shown = shownIn(evidence)
  return evidence.operations.flatMap(({ client, kind, text = '' }) => {
    const isForeign = (word: string) => owners.get(word)?.has(client) === false && shown.get(client)?.has(word) !== true
    const foreign = [...words(text)].filter(isForeign)
    return foreign.map((word) => `a ${kind} returned to ${client} ${word}, which is ${ownerIn(owners, word)}`)
  })
}

function ownerIn(owners: ReadonlyMap<string, ReadonlySet<string>>, word: string): string {
  const names = [...(owners.get(word) ?? [])]
  return names.length > 0 ? `${names.join()}'s` : "no client's"
}

/**
 * Which client may read what. An id that a provider gave twice stays with the first; what was there before belongs to no
 * client.
 */
function ownersOf(evidence: Evidence): ReadonlyMap<string, ReadonlySet<string>> {
  const owners = new Map<string, Set<string>>()
  const own = (word: string | undefined, clients: readonly string[]): void => {
    if (word !== undefined) owners.set(word, new Set([...(owners.get(word) ?? []), ...clients]))
  }
  const creates = createsByMark(evidence)
  for (const { client, order } of [...creates.values()].flat()) {
    for (const word of [order.withdrawalAddress, order.refundAddress, order.withdrawalExtraId, order.refundExtraId])
      own(word, [client])
  }
  for (const { id, swap, mark } of effectsOf(evidence)) {
    const clients = (creates.get(mark) ?? []).map(({ client }) => client)
    if (!owners.has(id)) own(id, clients)
    for (const word of [swap.depositAddress, swap.depositExtraId, swap.amountTo]) own(word, clients)
  }
  for (const { id } of heldIn(evidence)) own(id, [])
  for (const { id, client } of evidence.assignedByHand ?? []) own(id, [client])
  return owners
}

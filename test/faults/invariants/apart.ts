import { createsByAddress, type Evidence, effectsOf } from '../evidence.ts'

/** I3: no answer to a client has an id, an address, a memo or an amount that is another's alone. */
export function apart(evidence: Evidence): readonly string[] {
  const owners = ownersOf(evidence)
  return evidence.operations.flatMap(({ client, kind, text = '' }) => {
    const words = new Set(text.match(/[^\s"'`,;{}[\]()]+/g))
    const foreign = [...words].filter((word) => owners.get(bare(word))?.has(client) === false)
    return foreign.map(
      (word) => `a ${kind} told ${client} of ${bare(word)}, which is ${[...(owners.get(bare(word)) ?? [])].join()}'s`,
    )
  })
}

/** As it stands at the end of a sentence, or before a value. */
function bare(word: string): string {
  return word.replace(/^:|[.:]$/g, '')
}

/** Who may be told of what. An id that a provider gave twice stays with the first. */
function ownersOf(evidence: Evidence): ReadonlyMap<string, ReadonlySet<string>> {
  const owners = new Map<string, Set<string>>()
  const own = (word: string | undefined, clients: readonly string[]): void => {
    if (word !== undefined) owners.set(word, new Set([...(owners.get(word) ?? []), ...clients]))
  }
  const creates = createsByAddress(evidence)
  for (const { client, order } of [...creates.values()].flat()) {
    for (const word of [order.withdrawalAddress, order.refundAddress, order.withdrawalExtraId, order.refundExtraId])
      own(word, [client])
  }
  for (const { id, swap } of effectsOf(evidence)) {
    const clients = (creates.get(swap.withdrawalAddress) ?? []).map(({ client }) => client)
    if (!owners.has(id)) own(id, clients)
    for (const word of [swap.depositAddress, swap.depositExtraId, swap.amountTo]) own(word, clients)
  }
  return owners
}

import { type Evidence, effectsOf, receivedBy } from '../evidence.ts'

/** I8: no key reaches another party, and no log has a key or an address. */
export function secret(evidence: Evidence): readonly string[] {
  const { journals, operations, secrets } = evidence
  if (!secrets) return []
  const { clientKeys, providerKeys, logs } = secrets
  const keys = [...clientKeys, ...Object.values(providerKeys)]
  const foundKeys = finder(keys)
  const addresses = effectsOf(evidence).flatMap(({ swap }) => [swap.depositAddress, swap.withdrawalAddress])
  const sent = Object.entries(journals).flatMap(([provider, journal]) => {
    const foundForbidden = finder(keys.filter((key) => key !== providerKeys[provider]))
    return receivedBy(journal).flatMap((request) => foundForbidden(JSON.stringify(request), `a request to ${provider}`))
  })
  const inResponses = operations.flatMap(({ kind, client, text = '' }) => foundKeys(text, `what a ${kind} returned to ${client}`))
  const foundEither = finder([...keys, ...addresses])
  return [...sent, ...inResponses, ...logs.flatMap((log) => foundEither(log, 'a log'))]
}

type Find = (text: string, where: string) => readonly string[]

/** In one pass over the text: a soak has a hundred thousand addresses, and a log of a hundred megabytes. */
function finder(words: readonly string[]): Find {
  const length = Math.min(...words.map((word) => word.length))
  const byStart = Map.groupBy(words, (word) => word.slice(0, length))
  const firsts = new Set(words.map((word) => word.charCodeAt(0)))
  return (text, where) => {
    const hits = new Set<string>()
    for (let at = 0; at + length <= text.length; at++) {
      if (!firsts.has(text.charCodeAt(at))) continue
      for (const word of byStart.get(text.slice(at, at + length)) ?? []) if (text.startsWith(word, at)) hits.add(word)
    }
    return [...hits].map((word) => `${where} has ${word}`)
  }
}

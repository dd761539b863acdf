import { type Evidence, effectsOf, receivedBy } from '../evidence.ts'

/** I8: no key reaches whom it is not for, and no log has a key or an address. */
export function secret(evidence: Evidence): readonly string[] {
  const { journals, operations, secrets } = evidence
  if (!secrets) return []
  const { clientKeys, providerKeys, logs } = secrets
  const keys = [...clientKeys, ...Object.values(providerKeys)]
  const addresses = effectsOf(evidence).flatMap(({ swap }) => [swap.depositAddress, swap.withdrawalAddress])
  const sent = Object.entries(journals).flatMap(([provider, journal]) => {
    const forbidden = keys.filter((key) => key !== providerKeys[provider])
    return receivedBy(journal).flatMap((request) => found(forbidden, JSON.stringify(request), `a request to ${provider}`))
  })
  const told = operations.flatMap(({ kind, client, text = '' }) => found(keys, text, `what a ${kind} told ${client}`))
  return [...sent, ...told, ...logs.flatMap((log) => found([...keys, ...addresses], log, 'a log'))]
}

function found(words: readonly string[], text: string, where: string): readonly string[] {
  return words.filter((word) => text.includes(word)).map((word) => `${where} has ${word}`)
}

import { createsByMark, type Evidence, effectsOf, intentsOf } from '../evidence.ts'

/** I1: at most one effect for each client and idempotency key, over all providers; and none of what certainly failed. */
export function once(evidence: Evidence): readonly string[] {
  const creates = createsByMark(evidence)
  const effects = Map.groupBy(effectsOf(evidence), ({ mark }) => mark)
  const doubled = [...effects].flatMap(([mark, made]) => {
    const intents = intentsOf(creates.get(mark) ?? [])
    const possible = intents.filter((intent) => intent.some(({ outcome }) => outcome !== 'fail'))
    if (made.length <= possible.length) return []
    return [`${made.map(({ id }) => id).join(', ')} for ${mark}, where ${possible.length} could be`]
  })
  return [...doubled, ...[...creates.values()].flatMap(intentsOf).flatMap(respondedTwice)]
}

/** All responses to one intent are the same. */
function respondedTwice(intent: ReturnType<typeof intentsOf>[number]): readonly string[] {
  const ids = new Set(intent.flatMap(({ transactions }) => transactions.map(({ id }) => id)))
  return ids.size > 1 ? [`${intent[0]?.client} received ${[...ids].join(' and ')} for one idempotency key`] : []
}

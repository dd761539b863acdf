import { createsByMark, type Evidence, intentsOf, receivedBy } from '../evidence.ts'
import type { Journal, Received, Responded } from '../provider/journal.ts'

interface Attempt {
  readonly provider: string
  readonly at: number
  /** The provider reported that it did nothing. */
  readonly isRefused: boolean
  /** It reported that it has had enough: another provider may get the create. */
  readonly isTurnedAway: boolean
}

/** I6: a create that may have taken effect is sent to no other provider; and none is sent more often than it was requested, 429s aside. */
export function alone(evidence: Evidence): readonly string[] {
  const creates = createsByMark(evidence)
  return [...attemptsByMark(evidence)].flatMap(([mark, attempts]) => {
    const createsOfMark = creates.get(mark) ?? []
    const taken = attempts.filter(({ isTurnedAway }) => !isTurnedAway).length
    const perProvider = [...Map.groupBy(attempts, ({ provider }) => provider).values()].map(({ length }) => length)
    const count = Math.max(taken, ...perProvider)
    const sent =
      count > createsOfMark.length ? [`${count} creates for ${mark} were sent, and ${createsOfMark.length} requested`] : []
    if (intentsOf(createsOfMark).length > 1) return sent
    const open = attempts.find(({ isRefused }) => !isRefused)
    const second = attempts.find(({ provider, at }) => open && provider !== open.provider && at >= open.at)
    return second ? [...sent, `${mark} went to ${second.provider} after its outcome at ${open?.provider} was open`] : sent
  })
}

/** The earliest first. */
function attemptsByMark({ journals }: Evidence): ReadonlyMap<string, readonly Attempt[]> {
  const attempts = Object.entries(journals).flatMap(([provider, journal]) => {
    const refused = refusedIn(journal)
    const turnedAway = new Set(
      journal.flatMap((entry) => (entry.what === 'responded' && entry.ending === 429 ? [entry.request] : [])),
    )
    return receivedBy(journal)
      .filter(({ operation }) => operation === 'create')
      .map(({ at, request, body, mark = addressIn(body) }) => ({
        provider,
        at,
        isRefused: refused.has(request),
        isTurnedAway: turnedAway.has(request),
        mark,
      }))
  })
  return Map.groupBy(
    attempts.toSorted((a, b) => a.at - b.at),
    ({ mark }) => mark,
  )
}

function refusedIn(journal: Journal): ReadonlySet<number> {
  return new Set(journal.flatMap((entry) => (entry.what === 'responded' && isRefusal(entry) ? [entry.request] : [])))
}

/** With a message, if messages are known: a proxy in front of a provider refuses without one. */
function isRefusal({ ending, text }: Responded): boolean {
  if (typeof ending !== 'number' || ending < 400 || ending >= 500 || ending === 408) return false
  return ending === 429 || text === undefined || /^\{.*"message":"/s.test(text)
}

function addressIn(body: Received['body']): string {
  return (JSON.parse(body) as { withdrawalAddress: string }).withdrawalAddress
}

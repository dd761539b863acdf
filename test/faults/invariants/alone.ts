import { createsByAddress, type Evidence, intentsOf, receivedBy } from '../evidence.ts'
import type { Journal, Received } from '../provider/journal.ts'

interface Attempt {
  readonly provider: string
  readonly at: number
  /** The provider said that it did nothing. */
  readonly isRefused: boolean
}

/** I6: a create that may have taken effect is sent to no other provider; and none is sent more often than it was asked for. */
export function alone(evidence: Evidence): readonly string[] {
  const creates = createsByAddress(evidence)
  return [...attemptsByAddress(evidence)].flatMap(([address, attempts]) => {
    const asked = creates.get(address) ?? []
    const sent =
      attempts.length > asked.length ? [`${attempts.length} creates for ${address} were sent, and ${asked.length} asked for`] : []
    if (intentsOf(asked).length > 1) return sent
    const open = attempts.find(({ isRefused }) => !isRefused)
    const second = attempts.find(({ provider, at }) => open && provider !== open.provider && at >= open.at)
    return second ? [...sent, `${address} went to ${second.provider} after its outcome at ${open?.provider} was open`] : sent
  })
}

/** The earliest first. */
function attemptsByAddress({ journals }: Evidence): ReadonlyMap<string, readonly Attempt[]> {
  const attempts = Object.entries(journals).flatMap(([provider, journal]) => {
    const refused = refusedIn(journal)
    return receivedBy(journal)
      .filter(({ operation }) => operation === 'create')
      .map(({ at, request, body }) => ({ provider, at, isRefused: refused.has(request), address: addressIn(body) }))
  })
  return Map.groupBy(
    attempts.toSorted((a, b) => a.at - b.at),
    ({ address }) => address,
  )
}

function refusedIn(journal: Journal): ReadonlySet<number> {
  const isRefusal = (ending: unknown): boolean => typeof ending === 'number' && ending >= 400 && ending < 500 && ending !== 408
  return new Set(journal.flatMap((entry) => (entry.what === 'answered' && isRefusal(entry.ending) ? [entry.request] : [])))
}

function addressIn(body: Received['body']): string {
  return (JSON.parse(body) as { withdrawalAddress: string }).withdrawalAddress
}

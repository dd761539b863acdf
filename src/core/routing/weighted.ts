import { rendezvousScore } from '../../domain/rendezvous-hash.ts'
import type { Caller } from '../../domain/service.ts'
import { clientNetworkOf } from '../access/client-address.ts'
import type { Candidate } from './failover.ts'
import type { RoutingStrategy } from './strategy.ts'

/**
 * Orders providers by a rendezvous hash of the caller: a client stays with its provider while the weights are unchanged, and fails
 * over to the next one of its own order. A provider with weight 0, or without a weight, is omitted. `weights`: by tag.
 */
export function weighted(weights: ReadonlyMap<string, number>): RoutingStrategy {
  return {
    order(candidates, { caller }) {
      const subject = subjectOf(caller)
      return candidates
        .flatMap((candidate) => {
          const weight = weights.get(candidate.tag) ?? 0
          return weight > 0 ? [{ candidate, score: rendezvousScore(subject, candidate.tag, weight) }] : []
        })
        .toSorted((one, other) => other.score - one.score)
        .map(({ candidate }): Candidate => candidate)
    },
  }
}

/** The identity; without one the client network. */
function subjectOf({ identity, address }: Caller): string {
  return identity === undefined ? `address:${clientNetworkOf(address)}` : `identity:${identity}`
}

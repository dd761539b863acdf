import { rendezvousScore } from '../../domain/rendezvous-hash.ts'
import type { Caller } from '../../domain/swap/service.ts'
import { clientNetworkOf } from '../access/client-network.ts'
import type { Candidate } from './failover.ts'
import type { RoutingStrategy } from './strategy.ts'

/**
 * By rendezvous hash of the caller: a client stays with a provider while the weights stand, and where that one cannot take it
 * the next of its own order does. A provider with weight 0, or without one, takes nothing. `weights`: by tag.
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

/** The account or the key; without one the address, as limits see it. */
function subjectOf({ identity, address }: Caller): string {
  return identity === undefined ? `address:${clientNetworkOf(address)}` : `identity:${identity}`
}

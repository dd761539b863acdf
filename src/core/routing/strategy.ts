import type { Context } from '../../domain/swap/service.ts'
import type { Candidate } from './failover.ts'

/** Orders the providers that may take a quote or a create; one that it leaves out takes nothing (docs/contract.md §12). */
export interface RoutingStrategy {
  readonly order: (candidates: readonly Candidate[], context: Context) => readonly Candidate[]
}

/** As they are listed. */
export const priority: RoutingStrategy = { order: (candidates) => candidates }

import type { Context } from '../../domain/service.ts'
import type { Candidate } from './failover.ts'

/** Orders the providers for a quote or a create. An omitted provider gets nothing (docs/contract.md §12). */
export interface RoutingStrategy {
  readonly order: (candidates: readonly Candidate[], context: Context) => readonly Candidate[]
}

/** The configured order. */
export const priority: RoutingStrategy = { order: (candidates) => candidates }

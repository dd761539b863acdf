/** The routing in force, and the routing of the configuration file (docs/contract.md §12, §15). */
import type { ProviderState } from '../../domain/service.ts'
import type { StatusReport } from './provider-status.ts'
import type { RoutingSettings, Shadow } from './settings.ts'

interface Routing {
  readonly strategy: string
  readonly providers: readonly string[]
  readonly weights: Readonly<Record<string, number>> | null
  readonly shadow: Shadow | null
  /** By the provider's name. */
  readonly states: Readonly<Record<string, ProviderState>>
}

export interface RoutingReport {
  readonly inForce: Routing
  readonly file: Routing
  readonly overrides: StatusReport['overrides']
}

/** `status`: of what is in force. */
export function routingReport(
  { weights, shadow, providers, overrides }: StatusReport,
  { routing, ...file }: RoutingSettings,
): RoutingReport {
  const settings = { strategy: routing.strategy, providers: routing.providers }
  return {
    inForce: { ...settings, weights, shadow, states: statesOf(providers) },
    file: { ...settings, weights: routing.weights ?? null, shadow: routing.shadow ?? null, states: statesOf(file.providers) },
    overrides,
  }
}

function statesOf(providers: RoutingSettings['providers']): Routing['states'] {
  return Object.fromEntries(providers.map(({ name, state }) => [name, state]))
}

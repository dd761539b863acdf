/** The routing settings in effect, beside those of the configuration file (docs/contract.md §12, §15). */
import type { ProviderState } from '../../domain/swap/provider-state.ts'
import type { RoutingSettings, Shadow } from './settings.ts'

interface Routing {
  /** By the provider's name. */
  readonly states: Readonly<Record<string, ProviderState>>
  readonly weights: Readonly<Record<string, number>> | null
  readonly shadow: Shadow | null
}

export interface RoutingReport extends Routing {
  readonly strategy: string
  readonly providers: readonly string[]
  readonly file: Routing
}

/** `settings`: the settings in effect. */
export function routingReport(settings: RoutingSettings, file: RoutingSettings): RoutingReport {
  const { strategy, providers } = settings.routing
  return { strategy, providers, ...routingOf(settings), file: routingOf(file) }
}

function routingOf({ providers, routing }: RoutingSettings): Routing {
  const states = Object.fromEntries(providers.map(({ name, state }) => [name, state]))
  return { states, weights: routing.weights ?? null, shadow: routing.shadow ?? null }
}

/** How providers stand: configured, by their breakers, and in their budgets. */

import { type OperationName, operationNames } from '../../domain/swap/operations.ts'
import { reservedForGatewayReads } from '../../domain/telemetry/gateway-reads.ts'
import { type BreakerState, type BudgetPolicy, breakerStates, budgetPolicies } from '../../domain/telemetry/observation.ts'
import { snakeCase } from '../../domain/telemetry/snake-case.ts'
import type { Exposition, Sample } from './exposition.ts'
import { gauge } from './gauge.ts'
import type { Handlers, Providers } from './handler.ts'

const states = ['active', 'draining', 'off']
/** A budget is whole again so many milliseconds after the last call that was paid out of it. */
const budgetWindowMs = 60_000

interface RemainingBudget {
  readonly remaining: number
  readonly at: number
}

export function providerMetrics(exposition: Exposition, providers: Providers): Handlers<'breaker' | 'budget'> {
  const breakers = new Map<string, BreakerState>()
  const breakerOf = (tag: string, op: OperationName): readonly Sample[] => {
    const state = breakers.get(`${tag} ${op}`) ?? 'closed'
    return oneOf('state', breakerStates, state, { provider: tag, operation: snakeCase(op) })
  }
  const remainingBudgets = new Map<string, RemainingBudget>()
  const breakerSamples = (): readonly Sample[] =>
    providers().flatMap(({ tag }) => operationNames.flatMap((op) => breakerOf(tag, op)))
  const stateSamples = (): readonly Sample[] =>
    providers().flatMap(({ tag, state }) => oneOf('state', states, state, { provider: tag }))
  const remaining = ({ labels, value }: Sample): readonly Sample[] => {
    const last = remainingBudgets.get(`${labels.provider}\n${labels.policy}`)
    if (!last) return []
    return [{ labels, value: performance.now() - last.at < budgetWindowMs ? Math.min(last.remaining, value) : value }]
  }
  for (const [name, help, samples] of [
    ['swapgate_breaker_state', 'Where the breaker of an operation at a provider stands: 1 for its state.', breakerSamples],
    ['swapgate_provider_state', 'The configured state of a provider: 1 for its state.', stateSamples],
    [
      'swapgate_budget_size',
      'Calls for clients that a provider lets us make in any 60 seconds: what is configured, without what is kept for our own reads.',
      () => sizes(providers),
    ],
    [
      'swapgate_budget_remaining',
      'Calls for clients that are left of the budget at a provider, as this process last saw it.',
      () => sizes(providers).flatMap(remaining),
    ],
  ] as const) {
    exposition.add(gauge(name, help, samples))
  }
  return {
    breaker: ({ provider, operation, state }) => void breakers.set(`${provider} ${operation}`, state),
    budget: ({ provider, policy, remaining }) =>
      void remainingBudgets.set(`${provider}\n${policy}`, { remaining, at: performance.now() }),
  }
}

/** 1 for the word that holds, 0 for the others. */
function oneOf(label: string, list: readonly string[], current: string, labels: Sample['labels']): readonly Sample[] {
  return list.map((word) => ({ labels: { ...labels, [label]: snakeCase(word) }, value: word === current ? 1 : 0 }))
}

/** 0 is no bound, and has no size. */
function sizes(providers: Providers): readonly Sample[] {
  return providers().flatMap(({ tag, budget }) =>
    budgetPolicies
      .filter((policy) => (budget[policy] ?? 0) > 0)
      .map((policy) => ({ labels: { provider: tag, policy }, value: clientsShare(policy, budget[policy] ?? 0) })),
  )
}

function clientsShare(policy: BudgetPolicy, budget: number): number {
  return budget - reservedForGatewayReads(policy, budget)
}

/** Metrics of providers: configured state, breakers and budgets. */

import {
  type BreakerState,
  type BudgetPolicy,
  breakerStates,
  budgetPolicies,
  reservedForGatewayReads,
  snakeCase,
} from '../../domain/observation.ts'
import { type OperationName, operationNames } from '../../domain/service.ts'
import type { Exposition, Sample } from './exposition.ts'
import { gauge } from './gauge.ts'
import type { Handlers, Providers } from './handler.ts'

const states = ['active', 'draining', 'off']
/** A budget is full again this long after the last call. */
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
    ['swapgate_breaker_state', 'State of the breaker of an operation at a provider: 1 for the current state.', breakerSamples],
    ['swapgate_provider_state', 'State of a provider: 1 for the current state.', stateSamples],
    [
      'swapgate_budget_size',
      "The configured budget of calls in any 60 seconds, without the share reserved for the gateway's own reads.",
      () => sizes(providers),
    ],
    [
      'swapgate_budget_remaining',
      'The remaining budget of calls for clients at a provider, as this process last read it.',
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

/** One sample for each value of the list: 1 for the current value, 0 for the others. */
function oneOf(label: string, list: readonly string[], current: string, labels: Sample['labels']): readonly Sample[] {
  return list.map((word) => ({ labels: { ...labels, [label]: snakeCase(word) }, value: word === current ? 1 : 0 }))
}

/** The sizes of the budgets. A budget of 0 is unlimited and has no sample. */
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

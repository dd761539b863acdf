import { board } from './board.ts'
import { count, rate, series } from './expression.ts'
import { bars, figure, graph, timeline } from './panel.ts'

const chosen = 'provider=~"$provider"'
const decisions = 'swapgate_limit_decisions_total'

const clients = [
  graph({
    title: 'Decisions',
    description:
      'Requests that met a limit. near: let in with at most a tenth left. shadowed: would have been refused, but `limits.shadow` is on.',
    unit: 'reqps',
    span: 6,
    queries: { '{{policy}} {{decision}}': rate(decisions, 'policy, decision') },
    isStacked: true,
  }),
  graph({
    title: 'Share that was refused',
    description:
      'A client that is refused often polls too fast: tell it to heed RateLimit and Retry-After. Many of unproven: somebody guesses keys.',
    unit: 'percentunit',
    span: 6,
    queries: {
      '{{policy}}': `(${rate(decisions, 'policy', 'decision="refused"')} or 0 * ${rate(decisions, 'policy')}) / ${rate(decisions, 'policy')}`,
    },
    max: 1,
    thresholds: [[0.05, 'orange']],
  }),
  graph({
    title: 'Refused, by whose limit',
    description:
      'limit_client: 429 of one client. limit_unverified: 429 of unknown keys. limit_overload: 503, the process has too much to do. limit_budget: 503, our budget at the provider is used up.',
    runbooks: ['SwapgateBudgetUsedUp', 'SwapgateAvailabilityBurnFast'],
    unit: 'reqps',
    span: 6,
    queries: { '{{error_type}}': rate('swapgate_requests_total', 'error_type', 'error_type=~"limit_.*"') },
  }),
  graph({
    title: 'Keys that were refused',
    description:
      'Requests answered 401. A step up after a rotation: a client still uses its old key. provider_refused: the provider did not accept the client key.',
    unit: 'reqps',
    span: 6,
    queries: { '{{reason}}': rate('swapgate_key_refusals_total', 'reason') },
  }),
]

const store = [
  timeline({
    title: 'Where limits are counted',
    description: 'Shared: in Redis. Alone: Redis is lost, and each process counts for itself, with its part of the limits.',
    runbooks: ['SwapgateLimitsLocal'],
    unit: 'short',
    queries: { '{{instance}}': series('swapgate_limits_local') },
    states: { shared: 'green', alone: 'orange' },
  }),
  figure({
    title: 'Times that it changed',
    description: 'How often the place changed in the time that is shown. Often: the network to Redis is bad.',
    runbooks: ['SwapgateLimitsLocal'],
    unit: 'short',
    queries: { 'to {{state}}': count('swapgate_limit_store_changes_total', 'state') },
    thresholds: [[5, 'orange']],
    span: 8,
  }),
  figure({
    title: 'Let in beyond a limit',
    description:
      'Requests beyond a limit that were let in while processes counted alone. At most once the limit for each loss; more means that `limits.replicas` is lower than the number of processes.',
    runbooks: ['SwapgateLimitsLocal'],
    unit: 'short',
    queries: { requests: count('swapgate_limits_over_admitted_total', '') },
    thresholds: [[1, 'orange']],
    span: 8,
  }),
]

const budgets = [
  bars({
    title: 'Budget left',
    description:
      'Calls that the budget at a provider still allows, as last seen by the replica that saw least. Near 0: raise it with the provider, or lower the limits of clients.',
    runbooks: ['SwapgateBudgetUsedUp'],
    unit: 'short',
    span: 6,
    queries: { '{{provider}} {{policy}}': `min by (provider, policy) (${series('swapgate_budget_remaining', chosen)})` },
    thresholds: [[10, 'green']],
    below: 'red',
  }),
  graph({
    title: 'Share of the budget in use',
    description:
      'At 100 % calls are held back: reads answer what the ledger knows, quotes and creates go to the next provider or are 503.',
    runbooks: ['SwapgateBudgetUsedUp'],
    unit: 'percentunit',
    span: 6,
    queries: {
      '{{provider}} {{policy}}': `1 - min by (provider, policy) (${series('swapgate_budget_remaining', chosen)}) / max by (provider, policy) (${series('swapgate_budget_size', chosen)})`,
    },
    max: 1,
    thresholds: [
      [0.8, 'orange'],
      [1, 'red'],
    ],
  }),
  graph({
    title: 'Held back by the budget',
    description: 'Calls that did not go up since the budget was used up.',
    runbooks: ['SwapgateBudgetUsedUp'],
    unit: 'reqps',
    span: 6,
    queries: { '{{provider}}': rate('swapgate_provider_local_rejections_total', 'provider', `by="budget", ${chosen}`) },
  }),
  graph({
    title: 'Limited by the provider',
    description:
      'Its 429 came all the same: its limit is lower than `providers.<name>.budget`, or somebody else uses the same key.',
    runbooks: ['SwapgateBudgetUsedUp'],
    unit: 'reqps',
    span: 6,
    queries: { '{{provider}}': rate('swapgate_attempts_total', 'provider', `outcome="limited", ${chosen}`) },
  }),
]

export const limits = board({
  name: 'limits',
  title: 'Limits and budgets',
  description: 'What clients may ask of the gateway, and what the gateway may ask of providers.',
  chooses: ['provider'],
  rows: { 'Limits on clients': clients, 'The shared store': store, 'Budgets at providers': budgets },
})

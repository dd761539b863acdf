import { board } from './board.ts'
import { count, rate, series } from './expression.ts'
import { bars, figure, graph, timeline } from './panel.ts'

const chosen = 'provider=~"$provider"'
const decisions = 'swapgate_limit_decisions_total'

const clients = [
  graph({
    title: 'Decisions',
    description:
      'Requests that a limit counts. near: admitted, with at most a tenth of the limit left. dry_run: admitted only because `limits.dryRun` is on.',
    unit: 'reqps',
    span: 6,
    queries: { '{{policy}} {{decision}}': rate(decisions, 'policy, decision') },
    isStacked: true,
  }),
  graph({
    title: 'Share of refused requests',
    description:
      'A client that is refused often polls too fast: it must follow RateLimit and Retry-After. Many of unverified: keys are being guessed.',
    unit: 'percentunit',
    span: 6,
    queries: {
      '{{policy}}': `(${rate(decisions, 'policy', 'decision="refused"')} or 0 * ${rate(decisions, 'policy')}) / ${rate(decisions, 'policy')}`,
    },
    max: 1,
    thresholds: [[0.05, 'orange']],
  }),
  graph({
    title: 'Refused requests by limit',
    description:
      'limit_client: 429 of one client. limit_unverified: 429 of unknown keys. limit_overload: 503, the process has too much to do. limit_budget: 503, our budget at the provider is used up.',
    runbooks: ['SwapgateUpstreamQuotaUsedUp', 'SwapgateAvailabilityBurnFast'],
    unit: 'reqps',
    span: 6,
    queries: { '{{error_type}}': rate('swapgate_requests_total', 'error_type', 'error_type=~"limit_.*"') },
  }),
  graph({
    title: 'Refused keys',
    description:
      'Requests with a 401. A step up after a rotation: a client still uses its old key. provider_refused: the provider did not accept the client’s key.',
    unit: 'reqps',
    span: 6,
    queries: { '{{reason}}': rate('swapgate_key_refusals_total', 'reason') },
  }),
  figure({
    title: 'Wrong tokens of operators',
    description: 'Requests at the admin port with a token that is none. Many: somebody guesses.',
    runbooks: ['SwapgateOperatorTokensRefused'],
    unit: 'short',
    queries: { refused: count('swapgate_operator_tokens_refused_total', '') },
    thresholds: [[20, 'red']],
    span: 6,
  }),
]

const store = [
  timeline({
    title: 'Where limits are counted',
    description: 'Shared: in Redis. Alone: Redis is unavailable, and each process counts by itself, with its share of the limits.',
    runbooks: ['SwapgateLimitsLocal'],
    unit: 'short',
    queries: { '{{instance}}': series('swapgate_limits_local') },
    states: { shared: 'green', alone: 'orange' },
  }),
  figure({
    title: 'Changes between shared and alone',
    description: 'In the selected time. Many: the network to Redis is unreliable.',
    runbooks: ['SwapgateLimitsLocal'],
    unit: 'short',
    queries: { 'to {{state}}': count('swapgate_limit_store_changes_total', 'state') },
    thresholds: [[5, 'orange']],
    span: 8,
  }),
  figure({
    title: 'Admitted above a limit',
    description:
      'Requests above a limit that were admitted while processes counted alone. At most one limit for each loss of Redis; more: `replicas` is lower than the number of processes.',
    runbooks: ['SwapgateLimitsLocal'],
    unit: 'short',
    queries: { requests: count('swapgate_limits_over_admitted_total', '') },
    thresholds: [[1, 'orange']],
    span: 8,
  }),
  graph({
    title: 'Refused for the share of a process alone',
    description:
      'While Redis is lost a process counts only up to its share. limit: requests of clients. rate_limit: calls to providers. Nothing of this is a used-up quota.',
    runbooks: ['SwapgateRedisLost'],
    unit: 'reqps',
    span: 12,
    queries: { '{{of}}': rate('swapgate_limit_share_refusals_total', 'of') },
    thresholds: [[0.001, 'red']],
  }),
  graph({
    title: 'Troubles of Redis',
    description:
      'What Redis, or the way to it, refuses, by cause: credentials, a certificate (tls_…), read_only (a replica), full (its memory), refused (nothing listens). The line store_trouble in the log says what to set.',
    runbooks: ['SwapgateRedisLost', 'SwapgateLimitsLocal'],
    unit: 'ops',
    span: 12,
    queries: { '{{instance}} {{cause}}': rate('swapgate_store_troubles_total', 'instance, cause', 'store="redis"') },
    thresholds: [[0.001, 'red']],
  }),
]

const budgets = [
  bars({
    title: 'Budget left',
    description:
      'Calls that the budget at a provider still allows; the lowest value of all replicas. Near 0: agree on a higher budget with the provider, or lower the limits of clients.',
    runbooks: ['SwapgateUpstreamQuotaUsedUp'],
    unit: 'short',
    span: 6,
    queries: { '{{provider}} {{policy}}': `min by (provider, policy) (${series('swapgate_upstream_quota_remaining', chosen)})` },
    thresholds: [[10, 'green']],
    below: 'red',
  }),
  graph({
    title: 'Share of the budget in use',
    description:
      'At 100 % calls are rejected before they are sent: reads get the state in the ledger, quotes and creates go to the next provider or get 503.',
    runbooks: ['SwapgateUpstreamQuotaUsedUp'],
    unit: 'percentunit',
    span: 6,
    queries: {
      '{{provider}} {{policy}}': `1 - min by (provider, policy) (${series('swapgate_upstream_quota_remaining', chosen)}) / max by (provider, policy) (${series('swapgate_upstream_quota_limit', chosen)})`,
    },
    max: 1,
    thresholds: [
      [0.8, 'orange'],
      [1, 'red'],
    ],
  }),
  graph({
    title: 'Rejected by the budget',
    description: 'Calls that were not sent because the budget is used up.',
    runbooks: ['SwapgateUpstreamQuotaUsedUp'],
    unit: 'reqps',
    span: 6,
    queries: { '{{provider}}': rate('swapgate_provider_local_rejections_total', 'provider', `by="budget", ${chosen}`) },
  }),
  graph({
    title: 'Limited by the provider',
    description:
      'Responses with 429 despite the budget: the provider’s limit is lower than `providers.<name>.rateLimit`, or something else uses the same key.',
    runbooks: ['SwapgateUpstreamQuotaUsedUp'],
    unit: 'reqps',
    span: 6,
    queries: { '{{provider}}': rate('swapgate_provider_calls_total', 'provider', `outcome="limited", ${chosen}`) },
  }),
]

export const limits = board({
  name: 'limits',
  title: 'Limits and budgets',
  description: 'How many requests clients may send to the gateway, and how many calls the gateway may send to providers.',
  chooses: ['provider'],
  rows: { 'Limits on clients': clients, 'The shared store': store, 'Budgets at providers': budgets },
})

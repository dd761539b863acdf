import { board } from './board.ts'
import { calls } from './calls.ts'
import { quantile, rate, series } from './expression.ts'
import { graph, timeline } from './panel.ts'

const chosen = 'provider=~"$provider"'

/** 0, 1 or 2, by the state that comes second and third. */
function stateOf(metric: string, labels: string, second: string, third: string): string {
  const is = (state: string): string => `max by (${labels}) (${series(metric, `state="${state}", ${chosen}`)})`
  return `${is(second)} + 2 * ${is(third)}`
}

const health = [
  timeline({
    title: 'Breaker',
    description:
      'By operation. Closed: calls go up. Open: they failed for everybody and are held back. Half open: one call finds out. In the worst of the replicas.',
    runbooks: ['SwapgateBreakerOpen'],
    unit: 'short',
    queries: {
      '{{provider}} {{operation}}': `clamp_max(${stateOf('swapgate_breaker_state', 'provider, operation', 'half_open', 'open')}, 2)`,
    },
    states: { closed: 'green', 'half open': 'orange', open: 'red' },
  }),
  timeline({
    title: 'Configured state',
    description: 'What `providers.<name>.state` says. Draining: no quotes, no creates. Off: never called.',
    unit: 'short',
    queries: { '{{provider}}': `clamp_max(${stateOf('swapgate_provider_state', 'provider', 'draining', 'off')}, 2)` },
    states: { active: 'green', draining: 'orange', off: 'gray' },
  }),
  graph({
    title: 'Share of calls that failed',
    description:
      'Of the calls that went up: no answer, an answer that cannot be read, a 5xx, or our key refused. Ask the provider, or take it out of `routing.providers`.',
    runbooks: ['SwapgateBreakerOpen', 'SwapgateAvailabilityBurnFast'],
    unit: 'percentunit',
    queries: {
      '{{provider}}': `(${rate('swapgate_attempts_total', 'provider', `outcome!~"done|refused|limited|abandoned", ${chosen}`)} or 0 * ${rate('swapgate_attempts_total', 'provider', chosen)}) / ${rate('swapgate_attempts_total', 'provider', chosen)}`,
    },
    max: 1,
    thresholds: [
      [0.01, 'orange'],
      [0.1, 'red'],
    ],
  }),
]

const resilience = [
  graph({
    title: 'Held back',
    description:
      'Calls that did not go up: budget used up, breaker open, a caller whose calls alone fail, too many at once (bulkhead), or a rest that the provider asked for.',
    runbooks: ['SwapgateBudgetUsedUp', 'SwapgateBreakerOpen'],
    unit: 'reqps',
    queries: { '{{provider}} {{by}}': rate('swapgate_provider_local_rejections_total', 'provider, by', chosen) },
  }),
  graph({
    title: 'Second tries',
    description:
      'Reads that failed and were sent once more (true), or were not since too many had been (false). Many false: the provider is failing, and retries would make it worse.',
    unit: 'reqps',
    queries: { '{{provider}} made {{made}}': rate('swapgate_provider_retries_total', 'provider, made', chosen) },
  }),
  graph({
    title: 'Rests',
    description: 'Times that a provider was left alone: limited after its 429, key_refused after it refused our key twice.',
    runbooks: ['SwapgateProviderKeyRefused'],
    unit: 'reqps',
    queries: { '{{provider}} {{reason}}': rate('swapgate_provider_cooldowns_total', 'provider, reason', chosen) },
  }),
]

const answers = [
  graph({
    title: 'Drift from the contract',
    description:
      'Oddities in answers. unknown_field and number_as_text do no harm. unknown_status: explain the word in `providers.<name>.statuses`. unreadable: clients get 502.',
    runbooks: ['SwapgateContractDrift'],
    unit: 'reqps',
    queries: { '{{provider}} {{drift}} {{field}}': rate('swapgate_contract_drift_total', 'provider, drift, field', chosen) },
  }),
  graph({
    title: 'Caches',
    description:
      'Look-ups by outcome. Stale: an old list of currencies serves while no provider can be read. Mostly miss for rates: clients ask for many different amounts.',
    unit: 'reqps',
    queries: { '{{cache}} {{outcome}}': rate('swapgate_cache_lookups_total', 'cache, outcome') },
    isStacked: true,
  }),
  graph({
    title: 'Age of what caches answered, p95',
    description: 'Currencies over 600 s: the list could not be read again. Look at the calls for list_currencies.',
    unit: 's',
    queries: { '{{cache}}': quantile(0.95, 'swapgate_cache_age_seconds', 'cache') },
  }),
]

const candidate = [
  graph({
    title: 'Shadow: deviation of the quotes',
    description:
      'Amount received at the candidate of `routing.shadow`, relative to what clients got: half of the quotes are below p50, one in twenty below p5 and above p95. Below 0: clients would receive less.',
    runbooks: ['SwapgateShadowDeviation'],
    unit: 'percentunit',
    queries: {
      '{{provider}} p5': quantile(0.05, 'swapgate_shadow_deviation_ratio', 'provider', chosen),
      '{{provider}} p50': quantile(0.5, 'swapgate_shadow_deviation_ratio', 'provider', chosen),
      '{{provider}} p95': quantile(0.95, 'swapgate_shadow_deviation_ratio', 'provider', chosen),
    },
  }),
  graph({
    title: 'Shadow: comparisons',
    description:
      'Quotes that were repeated. Missing: the candidate does not offer the pair. Failed: it gave no quote. Skipped: its budget was used up, or `sample` is too high for it.',
    unit: 'reqps',
    queries: { '{{provider}} {{result}}': rate('swapgate_shadow_comparisons_total', 'provider, result', chosen) },
  }),
  graph({
    title: 'Shadow: missing assets',
    description:
      'Assets of the table that a routed provider offers and the candidate does not. `swapgate providers diff` names them. After a switch they are 400.',
    unit: 'short',
    queries: { '{{provider}}': `max by (provider) (${series('swapgate_shadow_missing_assets', chosen)})` },
  }),
]

export const providers = board({
  name: 'providers',
  title: 'Providers',
  description: 'How the providers behind the gateway do, and what the gateway does about it.',
  chooses: ['provider'],
  rows: { Health: health, Calls: calls, Protection: resilience, Answers: answers, Candidate: candidate },
})

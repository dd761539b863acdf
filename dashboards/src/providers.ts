import { board } from './board.ts'
import { calls } from './calls.ts'
import { count, quantile, rate, series } from './expression.ts'
import { figure, graph, timeline } from './panel.ts'

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
      'By operation, the worst of all replicas. Closed: calls are sent. Open: calls of all callers failed, and calls are rejected. Half open: one call is a probe.',
    runbooks: ['SwapgateBreakerOpen'],
    unit: 'short',
    queries: {
      '{{provider}} {{operation}}': `clamp_max(${stateOf('swapgate_breaker_state', 'provider, operation', 'half_open', 'open')}, 2)`,
    },
    states: { closed: 'green', 'half open': 'orange', open: 'red' },
  }),
  timeline({
    title: 'Configured state',
    description: 'The value of `providers.<name>.state`. Draining: no quotes, no creates. Off: never called.',
    unit: 'short',
    queries: { '{{provider}}': `clamp_max(${stateOf('swapgate_provider_state', 'provider', 'draining', 'off')}, 2)` },
    states: { active: 'green', draining: 'orange', off: 'gray' },
  }),
  graph({
    title: 'Share of failed calls',
    description:
      'Of the calls that were sent: no response, an unreadable response, a 5xx, or our key refused. Ask the provider, or remove it from `routing.providers`.',
    runbooks: ['SwapgateBreakerOpen', 'SwapgateAvailabilityBurnFast'],
    unit: 'percentunit',
    queries: {
      '{{provider}}': `(${rate('swapgate_provider_calls_total', 'provider', `outcome!~"done|refused|limited|abandoned", ${chosen}`)} or 0 * ${rate('swapgate_provider_calls_total', 'provider', chosen)}) / ${rate('swapgate_provider_calls_total', 'provider', chosen)}`,
    },
    max: 1,
    thresholds: [
      [0.01, 'orange'],
      [0.1, 'red'],
    ],
  }),
  graph({
    title: 'Failed calls by cause',
    description:
      'Why there was no connection (refused, dns_…, timed_out, tls_…, proxy_…), or a response could not be used (not_json, cut_off, …). docs/observability.md says what to do about each.',
    runbooks: ['SwapgateBreakerOpen'],
    unit: 'reqps',
    queries: {
      '{{provider}} {{cause}}': `sum by (provider, cause) (rate({__name__=~"swapgate_provider_unreachable_total|swapgate_provider_unreadable_total", job="$job", ${chosen}}[$__rate_interval]))`,
    },
  }),
  graph({
    title: 'Days until the certificate ends',
    description: 'By the newest connection of any replica. Empty without TLS. The provider must renew it.',
    runbooks: ['SwapgateCertificateExpires'],
    unit: 'd',
    queries: {
      '{{provider}}': `(max by (provider) (${series('swapgate_certificate_not_after_timestamp_seconds', chosen)}) - time()) / 86400`,
    },
  }),
  graph({
    title: 'Connections',
    description: 'To the provider, of all replicas: active ones, idle ones, and the most that there may be. More calls wait.',
    runbooks: ['SwapgateSaturated'],
    unit: 'short',
    queries: {
      '{{provider}} {{http_connection_state}}': `sum by (provider, http_connection_state) (${series('http_client_open_connections', chosen)})`,
      '{{provider}} most': `sum by (provider) (${series('swapgate_provider_connections_max', chosen)})`,
    },
  }),
]

const resilience = [
  graph({
    title: 'Locally rejected calls',
    description:
      'Calls that were not sent: budget used up, breaker open, a caller whose calls alone fail, too many at once (bulkhead), or a cooldown that the provider requested.',
    runbooks: ['SwapgateUpstreamQuotaUsedUp', 'SwapgateBreakerOpen'],
    unit: 'reqps',
    queries: { '{{provider}} {{by}}': rate('swapgate_provider_local_rejections_total', 'provider, by', chosen) },
  }),
  graph({
    title: 'Retries',
    description:
      'Failed reads that were retried, and those that were not, since too many are (suppressed). Many suppressed: the provider is failing, and more retries would make it worse.',
    unit: 'reqps',
    queries: {
      '{{provider}} retried': rate('swapgate_provider_retries_total', 'provider', `made!="false", ${chosen}`),
      '{{provider}} suppressed': rate('swapgate_provider_retries_suppressed_total', 'provider', chosen),
    },
  }),
  graph({
    title: 'Cooldowns',
    description:
      'Started cooldowns, in which the provider is not called. limited: after its 429. key_refused: after it refused our key for a create or a get, and for a list.',
    runbooks: ['SwapgateProviderKeyRefused', 'SwapgateProviderOperationRefused'],
    unit: 'reqps',
    queries: { '{{provider}} {{reason}}': rate('swapgate_provider_cooldowns_total', 'provider, reason', chosen) },
  }),
  figure({
    title: 'Operations refused to our key',
    description: 'In the selected time: the provider accepts the key for others, and not for these.',
    runbooks: ['SwapgateProviderOperationRefused'],
    unit: 'short',
    span: 24,
    queries: { '{{provider}} {{operation}}': count('swapgate_provider_operations_refused_total', 'provider, operation', chosen) },
    thresholds: [[1, 'orange']],
  }),
]

const responses = [
  graph({
    title: 'Drift from the contract',
    description:
      'Responses that depart from the provider’s form. unknown_field and number_as_text do no harm. unknown_status: map the word in `providers.<name>.statuses`. unreadable: clients get 502.',
    runbooks: ['SwapgateContractDrift'],
    unit: 'reqps',
    queries: { '{{provider}} {{drift}} {{field}}': rate('swapgate_contract_drift_total', 'provider, drift, field', chosen) },
  }),
  timeline({
    title: 'Currency list',
    description: 'Whether the last read came to its end, in the worst of all replicas. The last whole list is used meanwhile.',
    runbooks: ['SwapgateCurrencyListNotWhole'],
    unit: 'short',
    queries: { '{{provider}}': `min by (provider) (${series('swapgate_currency_list_whole', chosen)})` },
    states: { 'not whole': 'red', whole: 'green' },
  }),
  graph({
    title: 'Caches',
    description:
      'Lookups by outcome. stale: an old list of currencies is served while no provider can be read. Mostly miss for rates: clients quote many different amounts.',
    unit: 'reqps',
    queries: { '{{cache}} {{outcome}}': rate('swapgate_cache_lookups_total', 'cache, outcome') },
    isStacked: true,
  }),
  graph({
    title: 'Age of cached responses, p95',
    description: 'Currencies above 600 s: the list could not be refreshed. Look at the calls for list_currencies.',
    unit: 's',
    queries: { '{{cache}}': quantile(0.95, 'swapgate_cache_age_seconds', 'cache') },
  }),
  graph({
    title: 'Memory of the caches',
    description: 'Share of what each may take, in the fullest replica. At 100 % old entries make room for new ones.',
    unit: 'percentunit',
    max: 1,
    queries: {
      '{{cache}}': `max by (cache) (${series('swapgate_cache_bytes')} / ${series('swapgate_cache_max_bytes')})`,
    },
  }),
  graph({
    title: 'Entries of the caches',
    description: 'Of all replicas, and how many were dropped each second to make room.',
    unit: 'short',
    queries: {
      '{{cache}}': `sum by (cache) (${series('swapgate_cache_entries')})`,
      '{{cache}} dropped': rate('swapgate_cache_evictions_total', 'cache'),
    },
  }),
]

const candidate = [
  graph({
    title: 'Mirror: deviation of the quotes',
    description:
      'Amount received at the candidate of `routing.mirror`, relative to the quotes of clients: half of the quotes are below p50, one in twenty below p5, and one in twenty above p95. Below 0: clients would receive less.',
    runbooks: ['SwapgateMirrorDeviation'],
    unit: 'percentunit',
    queries: {
      '{{provider}} p5': quantile(0.05, 'swapgate_mirror_deviation_ratio', 'provider', chosen),
      '{{provider}} p50': quantile(0.5, 'swapgate_mirror_deviation_ratio', 'provider', chosen),
      '{{provider}} p95': quantile(0.95, 'swapgate_mirror_deviation_ratio', 'provider', chosen),
    },
  }),
  graph({
    title: 'Mirror: comparisons',
    description:
      'Repeated quotes. missing: the candidate does not offer the pair. failed: it returned no quote. skipped: its budget was used up, or `sample` is too high for it.',
    unit: 'reqps',
    queries: { '{{provider}} {{result}}': rate('swapgate_mirror_comparisons_total', 'provider, result', chosen) },
  }),
  graph({
    title: 'Mirror: missing assets',
    description:
      'Assets of the table that a routed provider offers and the candidate does not. `swapgate providers diff` lists them. After a switch they get 400.',
    unit: 'short',
    queries: { '{{provider}}': `max by (provider) (${series('swapgate_mirror_missing_assets', chosen)})` },
  }),
]

export const providers = board({
  name: 'providers',
  title: 'Providers',
  description: 'The health of the providers, and how the gateway reacts to it.',
  chooses: ['provider'],
  rows: { Health: health, Calls: calls, Resilience: resilience, Responses: responses, Candidate: candidate },
})

/** The calls that went up to providers. */
import { quantile, rate } from './expression.ts'
import { graph } from './panel.ts'

const chosen = 'provider=~"$provider"'

export const calls = [
  graph({
    title: 'Calls by outcome',
    description:
      'Each call that was sent to the provider. refused: it rejected the request of a client. limited: its 429. failed: a 5xx. unreadable: see Drift.',
    runbooks: ['SwapgateProviderKeyRefused', 'SwapgateContractDrift'],
    unit: 'reqps',
    queries: { '{{provider}} {{outcome}}': rate('swapgate_provider_calls_total', 'provider, outcome', chosen) },
    isStacked: true,
  }),
  graph({
    title: 'Calls by operation',
    description:
      'Calls that were sent. Far more get_transaction than clients send: clients list often, and each row is read again.',
    unit: 'reqps',
    queries: { '{{provider}} {{operation}}': rate('swapgate_provider_calls_total', 'provider, operation', chosen) },
    isStacked: true,
  }),
  graph({
    title: 'Calls and requests',
    description:
      'Calls that were sent, and the requests of clients that this provider served. Fewer calls than requests: caches and the ledger serve the rest.',
    unit: 'reqps',
    queries: {
      '{{provider}} calls': rate('swapgate_provider_calls_total', 'provider', chosen),
      '{{provider}} requests': rate('swapgate_requests_total', 'provider', `provider!="none", ${chosen}`),
    },
  }),
  graph({
    title: 'Latency of the provider',
    description:
      'Time of one attempt, p50 and p99. Near `providers.<name>.timeout`: clients get 504. Ask the provider; a shorter time-out only fails sooner.',
    runbooks: ['SwapgateTotalLatencyBurn'],
    unit: 's',
    queries: Object.fromEntries(
      [0.5, 0.99].map((share) => [
        `{{provider}} p${share * 100}`,
        quantile(share, 'http_client_request_duration_seconds', 'provider', chosen),
      ]),
    ),
    thresholds: [[2.5, 'orange']],
  }),
  graph({
    title: 'Responses of the provider by status',
    description:
      'HTTP status of its responses; empty if there was none. 401 and 403 for our own key: the key is refused. 429: its limit is lower than our budget.',
    runbooks: ['SwapgateProviderKeyRefused', 'SwapgateUpstreamQuotaUsedUp'],
    unit: 'reqps',
    queries: {
      '{{provider}} {{http_response_status_code}}': rate(
        'http_client_request_duration_seconds_count',
        'provider, http_response_status_code',
        chosen,
      ),
    },
    isStacked: true,
  }),
  graph({
    title: 'Errors by kind',
    description:
      'Requests of clients that failed at the provider. provider_unreachable: network or name. provider_timed_out: slow. provider_unreadable: see Drift. provider_unknown_outcome: a create of unknown outcome.',
    runbooks: ['SwapgateAvailabilityBurnFast', 'SwapgateCreatesUnknown'],
    unit: 'reqps',
    queries: {
      '{{provider}} {{error_type}}': rate(
        'swapgate_requests_total',
        'provider, error_type',
        `error_type=~"provider_.*", ${chosen}`,
      ),
    },
  }),
]

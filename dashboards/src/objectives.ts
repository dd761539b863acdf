/** Whether the promises are kept, and how fast their error budgets are used up. */
import { broken, counted, quantile, rate, series, shared } from './expression.ts'
import { figure, graph } from './panel.ts'

export const availability = ['SwapgateAvailabilityBurnFast', 'SwapgateAvailabilityBurnSlow']
export const addedLatency = ['SwapgateAddedLatencyBurnFast', 'SwapgateAddedLatencyBurnSlow']
const windows = ['5m', '30m', '1h', '6h', '3d']

/** How fast the error budget of 30 days is used up: 1 is just in time. */
function burn(sli: string, budget: number): Record<string, string> {
  return Object.fromEntries(windows.map((window) => [`over ${window}`, `${series(`job:${sli}:ratio_rate${window}`)} / ${budget}`]))
}

function unavailable(range: string): string {
  const bad = `(sum(increase(${series('swapgate_requests_total', broken)}[${range}])) or vector(0))`
  return `${bad} / sum(increase(${series('swapgate_requests_total', counted)}[${range}]))`
}

export const objectives = [
  figure({
    title: 'Availability',
    description:
      'Share of requests that neither the gateway nor a provider failed, in the selected time. Errors of callers and requests above a client’s limit do not count. The objective is 99.9 % in 30 days. Below it, look at "Outcomes by cause".',
    runbooks: availability,
    unit: 'percentunit',
    decimals: 3,
    queries: { availability: `1 - ${unavailable('$__range')}` },
    thresholds: [
      [0.999, 'orange'],
      [0.9995, 'green'],
    ],
    below: 'red',
  }),
  figure({
    title: 'Error budget left, 30 days',
    description:
      'What is left of the 0.1 % of requests that may fail in 30 days. Below 0 the objective is missed: postpone risky changes.',
    runbooks: availability,
    unit: 'percentunit',
    decimals: 1,
    queries: { left: `1 - (${unavailable('30d')}) / 0.001` },
    thresholds: [
      [0, 'orange'],
      [0.25, 'green'],
    ],
    below: 'red',
  }),
  figure({
    title: 'Requests per second',
    description: 'All requests of clients. A sudden 0: clients do not reach the gateway. Look at the load balancer in front of it.',
    runbooks: ['SwapgateDown'],
    unit: 'reqps',
    decimals: 1,
    queries: { requests: rate('swapgate_requests_total', '') },
  }),
  figure({
    title: 'Added by the gateway, p99',
    description: 'Time of a request without the time that it waits for a provider. The objective is 25 ms for 99 % of requests.',
    runbooks: addedLatency,
    unit: 's',
    queries: { p99: quantile(0.99, 'swapgate_added_seconds', '') },
    thresholds: [
      [0.01, 'orange'],
      [0.025, 'red'],
    ],
  }),
  figure({
    title: 'Unresolved creates',
    description: 'Creates of unknown outcome, and creates whose response contradicts the request. Above 0 for long: resolve them.',
    runbooks: ['SwapgateCreatesUnknown', 'SwapgateCreateMismatch'],
    unit: 'short',
    queries: { creates: `sum(${shared('swapgate_creates_unresolved', 'provider, state', 'state!="pending"')})` },
    thresholds: [[1, 'red']],
  }),
  figure({
    title: 'Reachable replicas',
    description: 'Processes that Prometheus reaches. Fewer than you run: look at the missing one.',
    runbooks: ['SwapgateReplicaDown', 'SwapgateDown'],
    unit: 'short',
    queries: { replicas: `sum(${series('up')})` },
    thresholds: [[1, 'green']],
    below: 'red',
  }),
  graph({
    title: 'Burn rate: availability',
    description:
      'How many times faster than allowed the error budget is used. It pages at 14.4 (over 1 h and 5 min) and at 6 (over 6 h and 30 min), and opens a ticket at 3 and at 1 over days.',
    runbooks: availability,
    unit: 'short',
    queries: burn('swapgate_unavailable', 0.001),
    thresholds: [
      [1, 'orange'],
      [14.4, 'red'],
    ],
  }),
  graph({
    title: 'Burn rate: latency added by the gateway',
    description: 'The same for the 1 % of requests to which the gateway may add more than 25 ms.',
    runbooks: addedLatency,
    unit: 'short',
    queries: burn('swapgate_added_slow', 0.01),
    thresholds: [
      [1, 'orange'],
      [14.4, 'red'],
    ],
  }),
  graph({
    title: 'Firing alerts',
    description: 'Each firing alert of swapgate. Its runbook has the same name.',
    unit: 'short',
    queries: {
      '{{alertname}} ({{severity}})': `count by (alertname, severity) (ALERTS{alertname=~"Swapgate.*", alertstate="firing", alertname!="SwapgateDeadMansSwitch"})`,
    },
  }),
]

import { board } from './board.ts'
import { count, quantile, rate, series } from './expression.ts'
import { addedLatency, objectives } from './objectives.ts'
import { figure, graph } from './panel.ts'
import { traffic } from './traffic.ts'

const operation = 'operation=~"$operation"'

const latency = [
  graph({
    title: 'Whole answer',
    description:
      'From the whole head of a request to its answer, the provider included. Slow here and fast in "Added by the gateway": the provider is slow.',
    runbooks: ['SwapgateTotalLatencyBurn'],
    unit: 's',
    queries: Object.fromEntries(
      [0.5, 0.95, 0.99].map((share) => [`p${share * 100}`, quantile(share, 'http_server_request_duration_seconds', '')]),
    ),
    thresholds: [[2.5, 'red']],
  }),
  graph({
    title: 'Whole answer by path, p99',
    description: 'The slowest path tells which operation suffers.',
    runbooks: ['SwapgateTotalLatencyBurn'],
    unit: 's',
    queries: {
      '{{http_request_method}} {{http_route}}': quantile(
        0.99,
        'http_server_request_duration_seconds',
        'http_request_method, http_route',
        'http_route!=""',
      ),
    },
    thresholds: [[2.5, 'red']],
  }),
  graph({
    title: 'Added by the gateway, p99',
    description:
      'By operation. Creates and reads wait for the ledger, everything that is limited for Redis: slow creates alone mean a slow ledger.',
    runbooks: [...addedLatency, 'SwapgateLedgerSlow'],
    unit: 's',
    queries: { '{{operation}}': quantile(0.99, 'swapgate_added_seconds', 'operation', operation) },
    thresholds: [[0.025, 'red']],
  }),
]

const processes = [
  graph({
    title: 'Lag of the event loop, p99',
    description: 'How late the process gets to its work. Over 0.2 s it begins to refuse quotes: add replicas.',
    runbooks: addedLatency,
    unit: 's',
    queries: { '{{instance}}': series('nodejs_eventloop_lag_p99_seconds') },
    thresholds: [[0.2, 'red']],
  }),
  graph({
    title: 'Processor',
    description: 'Seconds of processor a second. A process uses little more than one core: near 1, add replicas.',
    unit: 'percentunit',
    queries: { '{{instance}}': rate('process_cpu_seconds_total', 'instance') },
    thresholds: [[0.9, 'orange']],
  }),
  graph({
    title: 'Memory',
    description:
      'Resident memory. It may grow for some minutes after the start; where it grows for hours, keep a heap snapshot and restart.',
    unit: 'bytes',
    queries: { '{{instance}}': series('process_resident_memory_bytes') },
  }),
  figure({
    title: 'Versions',
    description: 'How many processes run which version. Two versions are right only during a rollout.',
    unit: 'short',
    queries: { '{{version}} on Node {{node}}': `count by (version, node) (${series('swapgate_build_info')})` },
    span: 8,
  }),
  figure({
    title: 'Configurations refused',
    description:
      'Changes of the configuration that were not taken, since they had faults. The old one is in force: run `swapgate check`.',
    runbooks: ['SwapgateConfigurationRefused'],
    unit: 'short',
    queries: { refused: `${count('swapgate_configuration_reloads_total', '', 'result="refused"')} or vector(0)` },
    thresholds: [[1, 'red']],
    span: 8,
  }),
  figure({
    title: 'Log lines lost',
    description:
      'Lines that the sink of the log did not take. Not 0: whatever reads the log is too slow, and what it shows has holes.',
    unit: 'short',
    queries: { lost: count('swapgate_log_lines_dropped_total', '') },
    thresholds: [[1, 'orange']],
    span: 8,
  }),
]

export const overview = board({
  name: 'overview',
  title: 'Overview',
  description: 'Whether clients are served as promised, and whose fault it is where they are not.',
  chooses: ['operation'],
  rows: { Objectives: objectives, Traffic: traffic, Latency: latency, Processes: processes },
})

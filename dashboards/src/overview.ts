import { board } from './board.ts'
import { count, quantile, rate, series } from './expression.ts'
import { addedLatency, objectives } from './objectives.ts'
import { figure, graph } from './panel.ts'
import { traffic } from './traffic.ts'

const operation = 'operation=~"$operation"'

const latency = [
  graph({
    title: 'Total latency',
    description:
      'From the head of a request to its response, the provider included. High here and low in "Added by the gateway": the provider is slow.',
    runbooks: ['SwapgateTotalLatencyBurn'],
    unit: 's',
    queries: Object.fromEntries(
      [0.5, 0.95, 0.99].map((share) => [`p${share * 100}`, quantile(share, 'http_server_request_duration_seconds', '')]),
    ),
    thresholds: [[2.5, 'red']],
  }),
  graph({
    title: 'Total latency by path, p99',
    description: 'The slowest path shows which operation is affected.',
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
      'By operation. Creates and reads wait for the ledger, and all limited requests for Redis. Only creates are slow: the ledger is slow.',
    runbooks: [...addedLatency, 'SwapgateLedgerSlow'],
    unit: 's',
    queries: { '{{operation}}': quantile(0.99, 'swapgate_added_seconds', 'operation', operation) },
    thresholds: [[0.025, 'red']],
  }),
]

const processes = [
  graph({
    title: 'Lag of the event loop, p99',
    description: 'How late timers of the process run. Above 0.2 s it starts to refuse quotes: add replicas.',
    runbooks: addedLatency,
    unit: 's',
    queries: { '{{instance}}': series('nodejs_eventloop_lag_p99_seconds') },
    thresholds: [[0.2, 'red']],
  }),
  graph({
    title: 'Processor',
    description: 'CPU seconds per second. A process uses little more than one core. Near 1: add replicas.',
    unit: 'percentunit',
    queries: { '{{instance}}': rate('process_cpu_seconds_total', 'instance') },
    thresholds: [[0.9, 'orange']],
  }),
  graph({
    title: 'Memory',
    description:
      'Resident memory. It may grow for some minutes after the start. If it grows for hours, take a heap snapshot and restart.',
    unit: 'bytes',
    queries: { '{{instance}}': series('process_resident_memory_bytes') },
  }),
  graph({
    title: 'Requests in flight',
    description:
      'Requests that have begun, and those that wait to begin. Waiting for long: the process has more than it can do. Add replicas.',
    runbooks: ['SwapgateSaturated'],
    unit: 'short',
    queries: {
      '{{instance}} in flight': series('swapgate_requests_in_flight'),
      '{{instance}} waiting': series('swapgate_requests_waiting'),
    },
  }),
  graph({
    title: 'Memory in use',
    description: 'Share of the heap, or of what the process may take, whichever is higher. Requests are refused from 0.85 on.',
    runbooks: ['SwapgateSaturated'],
    unit: 'percentunit',
    max: 1,
    queries: { '{{instance}}': series('swapgate_memory_used_ratio') },
    thresholds: [[0.85, 'red']],
  }),
  graph({
    title: 'Connections closed before their time',
    description:
      'address: one too many of an address. full: of all. unfinished: a request that does not arrive. unread: a client that does not read. idle: of a full admin port.',
    unit: 'ops',
    queries: { '{{port}} {{reason}}': rate('swapgate_connections_closed_total', 'port, reason') },
  }),
  graph({
    title: 'Offset of clocks',
    description:
      'By how much the clock of a process is off that of PostgreSQL, and of Prometheus (by some milliseconds always: the way of a scrape). All instances off the same one: that one is wrong.',
    runbooks: ['SwapgateClockOffset'],
    unit: 's',
    queries: {
      '{{instance}} against {{against}}': `abs(${series('swapgate_clock_offset_seconds')})`,
      '{{instance}} against prometheus': `abs(${series('swapgate_time_seconds')} - timestamp(${series('swapgate_time_seconds')}))`,
    },
    thresholds: [[2, 'red']],
  }),
  graph({
    title: 'Spans',
    description: 'Of kept traces. failed: the collector did not take them. dropped: the queue was full. All 0 without tracing.',
    runbooks: ['SwapgateTelemetryLost'],
    unit: 'ops',
    queries: { '{{result}}': rate('swapgate_trace_spans_total', 'result') },
  }),
  graph({
    title: 'Processes behind the public port',
    description: 'With `server.workers` above 1 its workers, else 1; and those that have ended by themselves, each second.',
    runbooks: ['SwapgateCrashLoop'],
    unit: 'short',
    queries: {
      '{{instance}}': `${series('swapgate_workers')} or ${series('up')}`,
      '{{instance}} ended': rate('swapgate_worker_ends_total', 'instance'),
    },
  }),
  figure({
    title: 'Versions',
    description: 'Processes by version. Two versions are normal only during a rollout.',
    unit: 'short',
    queries: {
      '{{version}} (schema {{schema}}) on Node {{node}}': `count by (version, schema, node) (${series('swapgate_build_info')})`,
    },
    span: 8,
  }),
  figure({
    title: 'Refused configurations',
    description: 'Changed configurations with errors. The previous one stays in force: run `swapgate check`.',
    runbooks: ['SwapgateConfigurationRefused'],
    unit: 'short',
    queries: { refused: `${count('swapgate_configuration_reloads_total', '', 'result="refused"')} or vector(0)` },
    thresholds: [[1, 'red']],
    span: 8,
  }),
  figure({
    title: 'Lost log lines',
    description: 'Lines that could not be written to the log. Above 0: the reader of the log is too slow, and the log has gaps.',
    unit: 'short',
    queries: { lost: count('swapgate_log_lines_dropped_total', '') },
    thresholds: [[1, 'orange']],
    span: 8,
  }),
]

export const overview = board({
  name: 'overview',
  title: 'Overview',
  description: 'Whether the objectives are met, and the causes if they are not.',
  chooses: ['operation'],
  rows: { Objectives: objectives, Traffic: traffic, Latency: latency, Processes: processes },
})

/** Metrics of the process: version, reloads, closed connections, lost spans and log lines. */
import { connectionClosings, ports, reloadResults, spanResults } from '../../domain/observation.ts'
import { Counter } from './counter.ts'
import type { Exposition } from './exposition.ts'
import { gauge } from './gauge.ts'
import type { Handlers } from './handler.ts'
import { combinations } from './series-map.ts'

export interface ProcessInfo {
  readonly version: string
  /** The number of lost log lines. */
  readonly droppedLines: () => number
}

export function processMetrics(
  exposition: Exposition,
  { version, droppedLines }: ProcessInfo,
): Handlers<'reload' | 'override' | 'spans' | 'connectionClosed'> {
  const reloads = new Counter({
    name: 'swapgate_configuration_reloads_total',
    help: 'Reloads of the configuration, by result.',
    labels: ['result'],
    initialValues: () => combinations(reloadResults),
  })
  const spans = new Counter({
    name: 'swapgate_trace_spans_total',
    help: 'Spans of kept traces, by result.',
    labels: ['result'],
    initialValues: () => combinations(spanResults),
  })
  const closed = new Counter({
    name: 'swapgate_connections_closed_total',
    help: 'Connections that were closed before their time, for others.',
    labels: ['port', 'reason'],
    initialValues: () => combinations(ports, connectionClosings),
  })
  exposition.add(reloads)
  exposition.add(closed)
  exposition.add(spans)
  exposition.add({
    name: 'swapgate_log_lines_dropped_total',
    help: 'Log lines that were lost because standard error was not read.',
    type: 'counter',
    samples: () => [{ labels: {}, value: droppedLines() }],
  })
  const labels = { version, node: process.versions.node }
  exposition.add(gauge('swapgate_build_info', 'The running version: always 1.', () => [{ labels, value: 1 }]))
  return {
    reload: ({ result }) => reloads.add([result]),
    override: () => {}, // only logged
    connectionClosed: ({ port, reason }) => closed.add([port, reason]),
    spans: ({ result, count }) => spans.add([result], count),
  }
}

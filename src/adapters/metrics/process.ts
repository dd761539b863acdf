/** The program itself: what runs, what it was told to do, and what it could not tell. */
import { reloadResults, spanResults } from '../../domain/telemetry/observation.ts'
import { Counter } from './counter.ts'
import type { Exposition } from './exposition.ts'
import { gauge } from './gauge.ts'
import type { Handlers } from './handler.ts'
import { combinations } from './series-map.ts'

export interface ProcessInfo {
  readonly version: string
  /** Lines of the log that were lost. */
  readonly droppedLines: () => number
}

export function processMetrics(
  exposition: Exposition,
  { version, droppedLines }: ProcessInfo,
): Handlers<'reload' | 'override' | 'spans'> {
  const reloads = new Counter({
    name: 'swapgate_configuration_reloads_total',
    help: 'Times that the configuration was read again, and whether it was taken.',
    labels: ['result'],
    initialValues: () => combinations(reloadResults),
  })
  const spans = new Counter({
    name: 'swapgate_trace_spans_total',
    help: 'Spans of traces that were kept, by what became of them.',
    labels: ['result'],
    initialValues: () => combinations(spanResults),
  })
  exposition.add(reloads)
  exposition.add(spans)
  exposition.add({
    name: 'swapgate_log_lines_dropped_total',
    help: 'Lines of the log that were lost since nobody took them.',
    type: 'counter',
    samples: () => [{ labels: {}, value: droppedLines() }],
  })
  const labels = { version, node: process.versions.node }
  exposition.add(gauge('swapgate_build_info', 'What runs here: always 1.', () => [{ labels, value: 1 }]))
  return {
    reload: ({ result }) => reloads.add([result]),
    override: () => {}, // only logged
    spans: ({ result, count }) => spans.add([result], count),
  }
}

/** What the process reports. */
import { baseUrlOrNone, choice, flag, integer, share } from '../value-types.ts'
import { section, setting } from './setting.ts'

export const log = section(
  {
    level: setting(
      choice(['info', 'warn', 'error', 'silent']),
      'info',
      'The lowest level that is logged. `warn`: errors of providers. `error`: errors of the gateway',
    ),
    requests: setting(flag, true, 'Whether to log every request'),
  },
  'Logs: one line of JSON per event on standard error; readable text if that is a terminal.',
)

/** OpenTelemetry's names. The caller's sampling flag is ignored, so `parentbased_…` has no extra effect. */
const samplers = [
  'traceidratio',
  'parentbased_traceidratio',
  'always_on',
  'parentbased_always_on',
  'always_off',
  'parentbased_always_off',
] as const

export const telemetry = section(
  {
    metrics: setting(flag, true, 'Whether `/metrics` counts requests and calls; if not, it has only the metrics of the process'),
    endpoint: setting(
      baseUrlOrNone,
      '',
      'Base URL of a collector for OTLP over HTTP, like `http://127.0.0.1:4318`. Empty: no tracing',
    ),
    disabled: setting(flag, false, 'Switches tracing off, also with an endpoint'),
    sampler: setting(
      choice(samplers),
      'traceidratio',
      'Which traces without an error are kept: a `ratio`, all or none. The sampling flag of the caller is ignored',
    ),
    ratio: setting(share, 0.01, 'The share of traces without an error that is kept; traces that end in 5xx are always kept'),
    queue: setting(integer(1), 2_048, 'Maximum number of spans in the queue; further traces are dropped', 'spans'),
    batch: setting(integer(1), 512, 'Maximum number of spans per export request', 'spans'),
    delayMs: setting(integer(0), 5_000, 'How long a span waits for a full batch', 'milliseconds'),
    timeoutMs: setting(integer(1), 2_000, 'Timeout to send a batch, and to send the rest at shutdown', 'milliseconds'),
    exportTimeoutMs: setting(
      integer(1),
      30_000,
      'Time after which the next batch no longer waits for the previous one',
      'milliseconds',
    ),
  },
  'Metrics, and traces in OpenTelemetry. Read only at the start. An `OTEL_…` variable can set a key that the file does not ' +
    'have ([traces.md](traces.md)).',
)

/** Metrics of clients' requests. */
import { keyRefusals, snakeCase } from '../../domain/observation.ts'
import { Counter } from './counter.ts'
import type { Exposition } from './exposition.ts'
import type { FormOf, Handlers } from './handler.ts'
import { Histogram } from './histogram.ts'
import { combinations } from './series-map.ts'

/** Histogram bounds of OpenTelemetry's HTTP conventions, in seconds. */
export const httpBounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
/** Histogram bounds for fast work inside the gateway, in seconds. */
export const shortBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

export function requestMetrics(
  exposition: Exposition,
  formOf: FormOf,
): Handlers<'request' | 'keyRefused' | 'operatorTokenRefused'> {
  const durations = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from the complete head of a request to its response, by path and status.',
    labels: ['http_request_method', 'http_route', 'http_response_status_code', 'error_type'],
    bounds: httpBounds,
  })
  const ends = new Counter({
    name: 'swapgate_requests_total',
    help: 'Requests of clients, by result and responsible party.',
    labels: ['operation', 'client_form', 'provider_form', 'provider', 'error_type'],
  })
  const added = new Histogram({
    name: 'swapgate_added_seconds',
    help: 'Time of a request without the waits for providers and the client.',
    labels: ['operation'],
    bounds: shortBounds,
  })
  const refusals = new Counter({
    name: 'swapgate_key_refusals_total',
    help: "Clients' keys that were rejected, by cause.",
    labels: ['reason'],
    initialValues: () => combinations(keyRefusals.map(snakeCase)),
  })
  const errors = new Counter({
    name: 'swapgate_errors_total',
    help: 'Responses with 4xx and 5xx, by X-Swap-Reason.',
    labels: ['reason', 'operation', 'client_form'],
  })
  const tokenRefusals = new Counter({
    name: 'swapgate_operator_tokens_refused_total',
    help: 'Requests at the admin port with a token that is none.',
    labels: [],
    initialValues: () => combinations(),
  })
  for (const family of [durations, ends, added, refusals, errors, tokenRefusals]) exposition.add(family)
  return {
    request(end) {
      const { operation, method, route, status, errorType, fault, client, provider, seconds, addedSeconds } = end
      const exemplar = end.isTraceKept ? end.traceId : undefined
      const op = operation === undefined ? 'none' : snakeCase(operation)
      durations.observe([method, route, String(status), status >= 500 ? errorType : ''], seconds, exemplar)
      ends.add([op, client, formOf(provider), provider ?? 'none', errorType])
      added.observe([op], addedSeconds, exemplar)
      if (fault) errors.add([fault.reason, op, client])
    },
    keyRefused: ({ reason }) => refusals.add([snakeCase(reason)]),
    operatorTokenRefused: () => tokenRefusals.add([]),
  }
}

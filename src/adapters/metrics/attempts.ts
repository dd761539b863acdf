/** Metrics of calls to providers: durations, results, rejections and retries. */
import { STATUS_CODES } from 'node:http'
import { connectFailures } from '../../domain/connect-failure.ts'
import type { AttemptEnd } from '../../domain/observation.ts'
import { cooldownReasons, localRejectionCauses, snakeCase } from '../../domain/observation.ts'
import { Counter } from './counter.ts'
import type { Exposition } from './exposition.ts'
import type { Handlers, Providers } from './handler.ts'
import { Histogram } from './histogram.ts'
import { httpBounds } from './requests.ts'
import { combinations } from './series-map.ts'

export function attemptMetrics(
  exposition: Exposition,
  providers: Providers,
): Handlers<'attempt' | 'cooldown' | 'operationRefused' | 'localRejection' | 'retry'> {
  const tags = (): readonly string[] => providers().map(({ tag }) => tag)
  const durations = new Histogram({
    name: 'http_client_request_duration_seconds',
    help: 'Duration of a call to a provider, from the first byte of the request to the last byte of the response.',
    labels: ['http_request_method', 'server_address', 'server_port', 'http_response_status_code', 'error_type', 'provider'],
    bounds: httpBounds,
  })
  const attempts = new Counter({
    name: 'swapgate_attempts_total',
    help: 'Calls to providers, by result.',
    labels: ['operation', 'provider', 'outcome'],
  })
  const unreachable = new Counter({
    name: 'swapgate_provider_unreachable_total',
    help: 'Calls for which no connection to the provider was made, by cause.',
    labels: ['provider', 'cause'],
    initialValues: () => combinations(tags(), connectFailures),
  })
  const cooldowns = new Counter({
    name: 'swapgate_provider_cooldowns_total',
    help: 'Cooldowns of a provider, by reason.',
    labels: ['provider', 'reason'],
    initialValues: () => combinations(tags(), cooldownReasons.map(snakeCase)),
  })
  const refusedOperations = new Counter({
    name: 'swapgate_provider_operations_refused_total',
    help: "Operations that a provider refuses to the gateway's key, while it accepts the key for others.",
    labels: ['provider', 'operation'],
    initialValues: () => combinations(tags(), ['list_transactions']),
  })
  const localRejection = new Counter({
    name: 'swapgate_provider_local_rejections_total',
    help: 'Calls that were not sent, by cause.',
    labels: ['provider', 'by'],
    initialValues: () => combinations(tags(), localRejectionCauses),
  })
  const retries = new Counter({
    name: 'swapgate_provider_retries_total',
    help: 'Failed reads, by whether they were retried.',
    labels: ['provider', 'made'],
    initialValues: () => combinations(tags(), ['true', 'false']),
  })
  for (const family of [durations, attempts, unreachable, cooldowns, refusedOperations, localRejection, retries])
    exposition.add(family)
  return {
    attempt(observation) {
      const { operation, method, provider, server, outcome, connectFailure, seconds } = observation
      const status = statusOf(observation)
      const error = errorOf(observation, status)
      durations.observe([method, server.address, String(server.port), status, error, provider], seconds)
      attempts.add([snakeCase(operation), provider, snakeCase(outcome)])
      if (connectFailure) unreachable.add([provider, connectFailure])
    },
    cooldown: ({ provider, reason }) => cooldowns.add([provider, snakeCase(reason)]),
    operationRefused: ({ provider, operation }) => refusedOperations.add([provider, snakeCase(operation)]),
    localRejection: ({ provider, by }) => localRejection.add([provider, by]),
    retry: ({ provider, isMade }) => retries.add([provider, String(isMade)]),
  }
}

/** A provider may return any number: a status that is not registered is `_OTHER`, so that the label is bounded. */
function statusOf({ status }: AttemptEnd): string {
  if (status === undefined) return ''
  return STATUS_CODES[status] === undefined ? '_OTHER' : String(status)
}

/** OpenTelemetry's `error.type`: the status if it is an error, else the kind of failure. */
function errorOf({ status = 0, outcome }: AttemptEnd, statusLabel: string): string {
  if (status >= 400) return statusLabel
  return outcome === 'done' ? '' : snakeCase(outcome)
}

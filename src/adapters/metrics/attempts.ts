/** Calls that went up to providers, and what stood in their way. */
import { STATUS_CODES } from 'node:http'
import { type AttemptEnd, cooldownReasons, localRejectionCauses } from '../../domain/telemetry/observation.ts'
import { snakeCase } from '../../domain/telemetry/snake-case.ts'
import { Counter } from './counter.ts'
import type { Exposition } from './exposition.ts'
import type { Handlers, Providers } from './handler.ts'
import { Histogram } from './histogram.ts'
import { httpBounds } from './requests.ts'
import { combinations } from './series-map.ts'

export function attemptMetrics(
  exposition: Exposition,
  providers: Providers,
): Handlers<'attempt' | 'cooldown' | 'localRejection' | 'retry'> {
  const tags = (): readonly string[] => providers().map(({ tag }) => tag)
  const durations = new Histogram({
    name: 'http_client_request_duration_seconds',
    help: 'Each call at a provider, from its first byte to the last of the answer.',
    labels: ['http_request_method', 'server_address', 'server_port', 'http_response_status_code', 'error_type', 'provider'],
    bounds: httpBounds,
  })
  const attempts = new Counter({
    name: 'swapgate_attempts_total',
    help: 'Calls that went up to a provider, by how they ended.',
    labels: ['operation', 'provider', 'outcome'],
  })
  const cooldowns = new Counter({
    name: 'swapgate_provider_cooldowns_total',
    help: 'Times that a provider was left alone for a while, by reason.',
    labels: ['provider', 'reason'],
    initialValues: () => combinations(tags(), cooldownReasons.map(snakeCase)),
  })
  const localRejection = new Counter({
    name: 'swapgate_provider_local_rejections_total',
    help: 'Calls that did not go up, by what held them back.',
    labels: ['provider', 'by'],
    initialValues: () => combinations(tags(), localRejectionCauses),
  })
  const retries = new Counter({
    name: 'swapgate_provider_retries_total',
    help: 'Reads that failed: sent once more, or not.',
    labels: ['provider', 'made'],
    initialValues: () => combinations(tags(), ['true', 'false']),
  })
  for (const family of [durations, attempts, cooldowns, localRejection, retries]) exposition.add(family)
  return {
    attempt(observation) {
      const { operation, method, provider, server, outcome, seconds } = observation
      const status = statusOf(observation)
      const error = errorOf(observation, status)
      durations.observe([method, server.address, String(server.port), status, error, provider], seconds)
      attempts.add([snakeCase(operation), provider, snakeCase(outcome)])
    },
    cooldown: ({ provider, reason }) => cooldowns.add([provider, snakeCase(reason)]),
    localRejection: ({ provider, by }) => localRejection.add([provider, by]),
    retry: ({ provider, isMade }) => retries.add([provider, String(isMade)]),
  }
}

/** A provider may say any number: what is no status of the registry is `_OTHER`. */
function statusOf({ status }: AttemptEnd): string {
  if (status === undefined) return ''
  return STATUS_CODES[status] === undefined ? '_OTHER' : String(status)
}

/** As OpenTelemetry has it: the status where that tells of an error, else what happened. */
function errorOf({ status = 0, outcome }: AttemptEnd, statusLabel: string): string {
  if (status >= 400) return statusLabel
  return outcome === 'done' ? '' : snakeCase(outcome)
}

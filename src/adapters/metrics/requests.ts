/** Metrics of clients' requests. */

import { STATUS_CODES } from 'node:http'
import { connectFailures } from '../../domain/connect-failure.ts'
import {
  type AttemptEnd,
  type BreakerState,
  type BudgetPolicy,
  breakerStates,
  budgetPolicies,
  cooldownReasons,
  keyRefusals,
  localRejectionCauses,
  reservedForGatewayReads,
  snakeCase,
} from '../../domain/observation.ts'
import { type OperationName, operationNames } from '../../domain/service.ts'
import {
  Counter,
  combinations,
  type Exposition,
  earlierName,
  type Family,
  type FormOf,
  gauge,
  type Handlers,
  Histogram,
  type Providers,
  type Sample,
} from './series.ts'

/** Histogram bounds of OpenTelemetry's HTTP conventions, in seconds. */
const httpBounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
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

// Metrics of providers: configured state, breakers and budgets.

const states = ['active', 'draining', 'off']
/** A budget is full again this long after the last call. */
const budgetWindowMs = 60_000

interface RemainingBudget {
  readonly remaining: number
  readonly at: number
}

export function providerMetrics(exposition: Exposition, providers: Providers): Handlers<'breaker' | 'budget'> {
  const breakers = new Map<string, BreakerState>()
  const breakerOf = (tag: string, op: OperationName): readonly Sample[] => {
    const state = breakers.get(`${tag} ${op}`) ?? 'closed'
    return oneOf('state', breakerStates, state, { provider: tag, operation: snakeCase(op) })
  }
  const remainingBudgets = new Map<string, RemainingBudget>()
  const breakerSamples = (): readonly Sample[] =>
    providers().flatMap(({ tag }) => operationNames.flatMap((op) => breakerOf(tag, op)))
  const stateSamples = (): readonly Sample[] =>
    providers().flatMap(({ tag, state }) => oneOf('state', states, state, { provider: tag }))
  const remaining = ({ labels, value }: Sample): readonly Sample[] => {
    const last = remainingBudgets.get(`${labels.provider}\n${labels.policy}`)
    if (!last) return []
    return [{ labels, value: performance.now() - last.at < budgetWindowMs ? Math.min(last.remaining, value) : value }]
  }
  for (const [name, help, samples, earlier] of [
    ['swapgate_breaker_state', 'State of the breaker of an operation at a provider: 1 for the current state.', breakerSamples],
    ['swapgate_provider_state', 'State of a provider: 1 for the current state.', stateSamples],
    [
      'swapgate_upstream_quota_limit',
      "The configured limit of calls in any 60 seconds, without the share reserved for the gateway's own reads.",
      () => sizes(providers),
      'swapgate_budget_size',
    ],
    [
      'swapgate_upstream_quota_remaining',
      'The remaining calls of clients to a provider, as this process last read it.',
      () => sizes(providers).flatMap(remaining),
      'swapgate_budget_remaining',
    ],
  ] as const) {
    const family = gauge(name, help, samples)
    exposition.add(family)
    if (earlier !== undefined) exposition.add(earlierName(earlier, family))
  }
  return {
    breaker: ({ provider, operation, state }) => void breakers.set(`${provider} ${operation}`, state),
    budget: ({ provider, policy, remaining }) =>
      void remainingBudgets.set(`${provider}\n${policy}`, { remaining, at: performance.now() }),
  }
}

/** One sample for each value of the list: 1 for the current value, 0 for the others. */
function oneOf(label: string, list: readonly string[], current: string, labels: Sample['labels']): readonly Sample[] {
  return list.map((word) => ({ labels: { ...labels, [label]: snakeCase(word) }, value: word === current ? 1 : 0 }))
}

/** The sizes of the budgets. A budget of 0 is unlimited and has no sample. */
function sizes(providers: Providers): readonly Sample[] {
  return providers().flatMap(({ tag, rateLimit }) =>
    budgetPolicies
      .filter((policy) => (rateLimit[policy] ?? 0) > 0)
      .map((policy) => ({ labels: { provider: tag, policy }, value: clientsShare(policy, rateLimit[policy] ?? 0) })),
  )
}

function clientsShare(policy: BudgetPolicy, budget: number): number {
  return budget - reservedForGatewayReads(policy, budget)
}

// Metrics of calls to providers: durations, results, rejections and retries.

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
  const calls = new Counter({
    name: 'swapgate_provider_calls_total',
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
    help: 'Retries of failed reads. Deprecated: the label made, whose value false is swapgate_provider_retries_suppressed_total.',
    labels: ['provider', 'made'],
    initialValues: () => combinations(tags(), ['true', 'false']),
  })
  const suppressedRetries: Family = {
    name: 'swapgate_provider_retries_suppressed_total',
    help: 'Failed reads that were not retried, since too many are.',
    type: 'counter',
    samples: () =>
      retries
        .samples()
        .filter(({ labels }) => labels.made === 'false')
        .map(({ labels: { made: _, ...labels }, value }) => ({ labels, value })),
  }
  for (const family of [
    durations,
    calls,
    earlierName('swapgate_attempts_total', calls),
    unreachable,
    cooldowns,
    refusedOperations,
    localRejection,
    retries,
    suppressedRetries,
  ])
    exposition.add(family)
  return {
    attempt(observation) {
      const { operation, method, provider, server, outcome, connectFailure, seconds } = observation
      const status = statusOf(observation)
      const error = errorOf(observation, status)
      durations.observe([method, server.address, String(server.port), status, error, provider], seconds)
      calls.add([snakeCase(operation), provider, snakeCase(outcome)])
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

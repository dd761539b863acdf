/** Metrics of clients' requests. */

import { STATUS_CODES } from 'node:http'
import { unreachableCauses, unreadableCauses } from '../../domain/failure-cause.ts'
import {
  type BreakerState,
  type BudgetPolicy,
  breakerStates,
  budgetPolicies,
  type CallEnd,
  cooldownReasons,
  keyRefusals,
  localRejectionCauses,
  reservedForGatewayReads,
  snakeCase,
} from '../../domain/observation.ts'
import { type OperationName, operationNames } from '../../domain/service.ts'
import { combinations, type Exposition, type FormOf, type Handlers, type Providers, type Sample } from './series.ts'

/** Histogram bounds of OpenTelemetry's HTTP conventions, in seconds. */
const httpBounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
/** Histogram bounds for fast work inside the gateway, in seconds. */
export const shortBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

const noExemplar: Readonly<Record<string, string>> = {}
const noAccount: { readonly account?: string } = {}

export function requestMetrics(
  exposition: Exposition,
  formOf: FormOf,
  accounts: ReadonlySet<string>,
): Handlers<'request' | 'keyRefused' | 'operatorTokenRefused'> {
  const durations = exposition.histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from the complete head of a request to its response, by path and status.',
    labels: ['http_request_method', 'http_route', 'http_response_status_code', 'error_type'],
    buckets: httpBounds,
    enableExemplars: true,
  })
  const ends = exposition.counter({
    name: 'swapgate_requests_total',
    help: 'Requests of clients, by result and responsible party.',
    labels: ['operation', 'client_form', 'provider_form', 'provider', 'error_type', 'account'],
  })
  const added = exposition.histogram({
    name: 'swapgate_added_seconds',
    help: 'Time of a request without the waits for providers and the client.',
    labels: ['operation'],
    buckets: shortBounds,
    enableExemplars: true,
  })
  const refusals = exposition.counter({
    name: 'swapgate_key_refusals_total',
    help: "Clients' keys that were rejected, by cause.",
    labels: ['reason'],
    initialValues: () => combinations(keyRefusals.map(snakeCase)),
  })
  const errors = exposition.counter({
    name: 'swapgate_errors_total',
    help: 'Responses with 4xx and 5xx, by X-Swap-Reason.',
    labels: ['reason', 'operation', 'client_form', 'account'],
  })
  const tokenRefusals = exposition.counter({
    name: 'swapgate_operator_tokens_refused_total',
    help: 'Requests at the admin port with a token that is none.',
    labels: [],
    initialValues: () => combinations(),
  })
  return {
    request(end) {
      const { operation, method, route, status, errorType, fault, client, provider, account, seconds, addedSeconds } = end
      const exemplarLabels: Readonly<Record<string, string>> =
        end.isTraceKept && end.traceId !== undefined ? { trace_id: end.traceId } : noExemplar
      const op = operation === undefined ? 'none' : snakeCase(operation)
      const own = account !== undefined && accounts.has(account) ? { account } : noAccount
      durations.observe({
        labels: {
          http_request_method: method,
          http_route: route,
          http_response_status_code: String(status),
          error_type: status >= 500 ? errorType : '',
        },
        value: seconds,
        exemplarLabels,
      })
      ends.inc({
        operation: op,
        client_form: client,
        provider_form: formOf(provider),
        provider: provider ?? 'none',
        error_type: errorType,
        ...own,
      })
      added.observe({ labels: { operation: op }, value: addedSeconds, exemplarLabels })
      if (fault) errors.inc({ reason: fault.reason, operation: op, client_form: client, ...own })
    },
    keyRefused: ({ reason }) => refusals.labels(snakeCase(reason)).inc(),
    operatorTokenRefused: () => tokenRefusals.inc(),
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
  exposition.gauge({
    name: 'swapgate_breaker_state',
    help: 'State of the breaker of an operation at a provider: 1 for the current state.',
    labels: ['provider', 'operation', 'state'],
    samples: breakerSamples,
  })
  exposition.gauge({
    name: 'swapgate_provider_state',
    help: 'State of a provider: 1 for the current state.',
    labels: ['provider', 'state'],
    samples: stateSamples,
  })
  exposition.gauge({
    name: 'swapgate_upstream_quota_limit',
    earlierName: 'swapgate_budget_size',
    help: "The configured limit of calls in any 60 seconds, without the share reserved for the gateway's own reads.",
    labels: ['provider', 'policy'],
    samples: () => sizes(providers),
  })
  exposition.gauge({
    name: 'swapgate_upstream_quota_remaining',
    earlierName: 'swapgate_budget_remaining',
    help: 'The remaining calls of clients to a provider, as this process last read it.',
    labels: ['provider', 'policy'],
    aggregator: 'min',
    samples: () => sizes(providers).flatMap(remaining),
  })
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

export function callMetrics(
  exposition: Exposition,
  providers: Providers,
): Handlers<'call' | 'cooldown' | 'operationRefused' | 'localRejection' | 'retry'> {
  const tags = (): readonly string[] => providers().map(({ tag }) => tag)
  const durations = exposition.histogram({
    name: 'http_client_request_duration_seconds',
    help: 'Duration of a call to a provider, from the first byte of the request to the last byte of the response.',
    labels: ['http_request_method', 'server_address', 'server_port', 'http_response_status_code', 'error_type', 'provider'],
    buckets: httpBounds,
  })
  const calls = exposition.counter({
    name: 'swapgate_provider_calls_total',
    earlierName: 'swapgate_attempts_total',
    help: 'Calls to providers, by result.',
    labels: ['operation', 'provider', 'outcome'],
  })
  const unreachable = exposition.counter({
    name: 'swapgate_provider_unreachable_total',
    help: 'Calls for which no connection to the provider was made, by cause.',
    labels: ['provider', 'cause'],
    initialValues: () => combinations(tags(), unreachableCauses),
  })
  const unreadable = exposition.counter({
    name: 'swapgate_provider_unreadable_total',
    help: 'Calls whose response could not be read, by cause.',
    labels: ['provider', 'cause'],
    initialValues: () => combinations(tags(), unreadableCauses),
  })
  const cooldowns = exposition.counter({
    name: 'swapgate_provider_cooldowns_total',
    help: 'Cooldowns of a provider, by reason.',
    labels: ['provider', 'reason'],
    initialValues: () => combinations(tags(), cooldownReasons.map(snakeCase)),
  })
  const refusedOperations = exposition.counter({
    name: 'swapgate_provider_operations_refused_total',
    help: "Operations that a provider refuses to the gateway's key, while it accepts the key for others.",
    labels: ['provider', 'operation'],
    initialValues: () => combinations(tags(), ['list_transactions']),
  })
  const localRejection = exposition.counter({
    name: 'swapgate_provider_local_rejections_total',
    help: 'Calls that were not sent, by cause.',
    labels: ['provider', 'by'],
    initialValues: () => combinations(tags(), localRejectionCauses),
  })
  const retries = exposition.counter({
    name: 'swapgate_provider_retries_total',
    help: 'Retries of failed reads. Deprecated: the label made, whose value false is swapgate_provider_retries_suppressed_total.',
    labels: ['provider', 'made'],
    initialValues: () => combinations(tags(), ['true', 'false']),
  })
  const suppressedRetries = exposition.counter({
    name: 'swapgate_provider_retries_suppressed_total',
    help: 'Failed reads that were not retried, since too many are.',
    labels: ['provider'],
    initialValues: () => combinations(tags()),
  })
  return {
    call(observation) {
      const { operation, method, provider, server, outcome, failureCause, seconds } = observation
      const status = statusOf(observation)
      const error = errorOf(observation, status)
      durations.observe(
        {
          http_request_method: method,
          server_address: server.address,
          server_port: String(server.port),
          http_response_status_code: status,
          error_type: error,
          provider,
        },
        seconds,
      )
      calls.inc({ operation: snakeCase(operation), provider, outcome: snakeCase(outcome) })
      if (outcome === 'unreachable') unreachable.labels(provider, failureCause ?? 'other').inc()
      if (outcome === 'unreadable') unreadable.labels(provider, failureCause ?? 'not_of_form').inc()
    },
    cooldown: ({ provider, reason }) => cooldowns.labels(provider, snakeCase(reason)).inc(),
    operationRefused: ({ provider, operation }) => refusedOperations.labels(provider, snakeCase(operation)).inc(),
    localRejection: ({ provider, by }) => localRejection.labels(provider, by).inc(),
    retry({ provider, isMade }) {
      retries.inc({ provider, made: String(isMade) })
      if (!isMade) suppressedRetries.inc({ provider })
    },
  }
}

/** A provider may return any number: a status that is not registered is `_OTHER`, so that the label is bounded. */
function statusOf({ status }: CallEnd): string {
  if (status === undefined) return ''
  return STATUS_CODES[status] === undefined ? '_OTHER' : String(status)
}

/** OpenTelemetry's `error.type`: the status if it is an error, else the kind of failure. */
function errorOf({ status = 0, outcome }: CallEnd, statusLabel: string): string {
  if (status >= 400) return statusLabel
  return outcome === 'done' ? '' : snakeCase(outcome)
}

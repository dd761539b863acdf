/** Converts observations to log events, with a fixed list of fields for each kind (`docs/observability.md`). */
import type { LostCommits, Observation, RequestEnd } from '../../domain/observation.ts'
import { snakeCase } from '../../domain/observation.ts'
import { causeOf, type ErrorFacts } from './error.ts'

export interface Event {
  readonly level: 'info' | 'warn' | 'error'
  readonly fields: Readonly<Record<string, unknown>>
}

type FormOf = (tag: string | undefined) => string

const commitsLost: Readonly<Record<LostCommits, string>> = {
  position:
    'the log of the PostgreSQL server went back: commits that it had confirmed are gone. Compare what the providers list with the ledger before keys are repeated',
  server:
    'the ledger is on another PostgreSQL server than before: if it was restored from a backup, later transactions are missing',
}

/** Undefined if the observation is only counted, not logged. */
export function eventOf(observation: Observation, formOf: FormOf): Event | undefined {
  switch (observation.what) {
    case 'request':
      return requestEvent(observation, formOf)
    case 'create': {
      const { provider, outcome } = observation
      return { level: outcome === 'found' ? 'info' : 'warn', fields: { event: 'create', provider, outcome: snakeCase(outcome) } }
    }
    case 'judgement': {
      const { provider, kind, outcome, network } = observation
      if (outcome !== 'refused' && outcome !== 'counted') return undefined
      return { level: 'warn', fields: { event: 'judgement', provider, kind: snakeCase(kind), outcome, network } }
    }
    case 'suspended': {
      const { provider, kind, network } = observation
      return { level: 'warn', fields: { event: 'asset_suspended', provider, kind: snakeCase(kind), network } }
    }
    case 'breaker': {
      const { provider, operation, state } = observation
      const fields = { event: 'breaker', provider, operation: snakeCase(operation), state: snakeCase(state) }
      return { level: state === 'open' ? 'warn' : 'info', fields }
    }
    case 'cooldown': {
      const { provider, reason } = observation
      return { level: 'warn', fields: { event: 'provider_cooldown', provider, reason: snakeCase(reason) } }
    }
    case 'commitsLost': {
      const { by } = observation
      return { level: 'error', fields: { event: 'commits_lost', by, message: commitsLost[by] } }
    }
    case 'operationRefused': {
      const { provider, operation } = observation
      return { level: 'warn', fields: { event: 'provider_operation_refused', provider, operation: snakeCase(operation) } }
    }
    case 'operatorTokenRefused': {
      const { address, isFirst } = observation
      return isFirst ? { level: 'warn', fields: { event: 'operator_token_refused', address } } : undefined
    }
    case 'limitStore': {
      const { state } = observation
      return { level: state === 'local' ? 'warn' : 'info', fields: { event: 'limit_store', state } }
    }
    case 'reload': {
      const { result, messages: details, hash } = observation
      const message = result === 'applied' ? 'the configuration was read again' : 'the configuration stays as it was'
      return { level: result === 'applied' ? 'info' : 'error', fields: { event: 'reload', result, message, hash, details } }
    }
    case 'override': {
      const { key, change, value, fileValue, actor } = observation
      return { level: 'info', fields: { event: 'override', key, change, value, file_value: fileValue, actor } }
    }
    default:
      return undefined
  }
}

function requestEvent(end: RequestEnd, formOf: FormOf): Event {
  const { operation, provider, errorType, fault } = end
  const isOurs = errorType.startsWith('gateway_')
  return {
    level: isOurs ? 'error' : errorType.startsWith('provider_') ? 'warn' : 'info',
    fields: {
      event: 'request',
      request_id: end.requestId,
      trace_id: end.traceId,
      caller: end.caller,
      operation: operation === undefined ? 'none' : snakeCase(operation),
      method: end.method,
      route: end.route,
      status: end.status,
      error_type: errorType,
      reason: fault?.reason,
      client_form: end.client,
      provider_form: formOf(provider),
      provider: provider ?? 'none',
      seconds: rounded(end.seconds),
      provider_seconds: rounded(end.providerSeconds),
      added_seconds: rounded(end.addedSeconds),
      error: isOurs ? causeOf(fault) : errorType === 'provider_unreachable' ? withoutOrigin(causeOf(fault)) : undefined,
    },
  }
}

/** The code that fails to connect is not ours. */
function withoutOrigin(facts: ErrorFacts | undefined): Omit<ErrorFacts, 'stack'> | undefined {
  if (!facts) return undefined
  const { stack: _, ...rest } = facts
  return rest
}

/** Rounds to a microsecond. */
function rounded(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6
}

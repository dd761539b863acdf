/** Converts observations to log events, with a fixed list of fields for each kind (`docs/observability.md`). */
import type { FailureCause } from '../../domain/failure-cause.ts'
import { type Fault, failureCauseOf, rootCauseOf } from '../../domain/fault.ts'
import { type LostCommits, type Observation, type RequestEnd, snakeCase } from '../../domain/observation.ts'

/** From the least. */
export type Level = 'info' | 'warn' | 'error' | 'fatal'

/** In the order of the line. */
export interface Event {
  readonly level: Level
  readonly time: string
  readonly event: string
  readonly [field: string]: unknown
}

/** Returns the form of a provider, by tag. */
export type FormOf = (tag: string | undefined) => string

const commitsLost: Readonly<Record<LostCommits, string>> = {
  position:
    'the log of the PostgreSQL server went back: commits that it had confirmed are gone. Compare what the providers list with the ledger before keys are repeated',
  server:
    'the ledger is on another PostgreSQL server than before: if it was restored from a backup, later transactions are missing',
}

/** Undefined if the observation is only counted, not logged. */
export function eventOf(observation: Exclude<Observation, RequestEnd>, time: string): Event | undefined {
  switch (observation.what) {
    case 'create': {
      const { provider, outcome } = observation
      if (outcome === 'lookupFailed') return undefined // its search says it once for all of its creates, with the cause
      return { level: outcome === 'found' ? 'info' : 'warn', time, event: 'create', provider, outcome: snakeCase(outcome) }
    }
    case 'search': {
      if (observation.result !== 'failed') return undefined
      const { provider, creates, fault } = observation
      const isOurs = fault.kind === 'internal'
      const { stack: _, ...error } = describeError(rootCauseOf(fault))
      return {
        level: isOurs ? 'error' : 'warn',
        time,
        event: 'search',
        provider,
        outcome: 'lookup_failed',
        creates,
        reason: fault.reason,
        error: isOurs ? causeOf(fault) : (failureOf(fault) ?? error),
      }
    }
    case 'judgement': {
      const { provider, kind, outcome, network } = observation
      if (outcome !== 'refused' && outcome !== 'counted') return undefined
      return { level: 'warn', time, event: 'judgement', provider, kind: snakeCase(kind), outcome, network }
    }
    case 'suspended': {
      const { provider, kind, network } = observation
      return { level: 'warn', time, event: 'asset_suspended', provider, kind: snakeCase(kind), network }
    }
    case 'breaker': {
      const { provider, operation, state } = observation
      const level = state === 'open' ? 'warn' : 'info'
      return { level, time, event: 'breaker', provider, operation: snakeCase(operation), state: snakeCase(state) }
    }
    case 'cooldown': {
      const { provider, reason } = observation
      return { level: 'warn', time, event: 'provider_cooldown', provider, reason: snakeCase(reason) }
    }
    case 'assetsUnclear': {
      const { provider, messages: details } = observation
      const message = 'the list has assets twice: they are not offered'
      return { level: 'warn', time, event: 'assets_unclear', provider, message, details }
    }
    case 'commitsLost': {
      const { by } = observation
      return { level: 'error', time, event: 'commits_lost', by, message: commitsLost[by] }
    }
    case 'storeTrouble': {
      const { store, cause, message, isNew } = observation
      return isNew ? { level: 'warn', time, event: 'store_trouble', store, cause, message } : undefined
    }
    case 'operationRefused': {
      const { provider, operation } = observation
      return { level: 'warn', time, event: 'provider_operation_refused', provider, operation: snakeCase(operation) }
    }
    case 'webhookAttempt': {
      const { outcome, webhook, account, why } = observation
      if (outcome === 'delivered' || outcome === 'retried') return undefined
      return { level: 'warn', time, event: `webhook_${outcome}`, webhook, account, why }
    }
    case 'operatorTokenRefused': {
      const { address, isFirst } = observation
      return isFirst ? { level: 'warn', time, event: 'operator_token_refused', address } : undefined
    }
    case 'limitStore': {
      const { state } = observation
      return { level: state === 'local' ? 'warn' : 'info', time, event: 'limit_store', state }
    }
    case 'reload': {
      const { result, messages: details, hash } = observation
      const message =
        result === 'applied' ? 'the configuration was read again' : 'reload rejected: still running the previous configuration'
      return { level: result === 'applied' ? 'info' : 'error', time, event: 'reload', result, message, hash, details }
    }
    case 'override': {
      const { key, change, value, fileValue, actor } = observation
      return { level: 'info', time, event: 'override', key, change, value, file_value: fileValue, actor }
    }
    case 'workers': {
      const { running, ended } = observation
      if (ended === undefined) return undefined
      return {
        level: 'error',
        time,
        event: 'worker_ended',
        message: 'a worker has ended and is started again',
        ended,
        running,
      }
    }
    case 'workerSilent': {
      const { id } = observation
      const message = 'a worker hangs: the others have its new connections'
      return { level: 'warn', time, event: 'worker_silent', message, worker: id }
    }
    default:
      return undefined
  }
}

export function requestEvent(end: RequestEnd, time: string, formOf: FormOf): Event {
  const { operation, provider, errorType, fault } = end
  const isOurs = errorType.startsWith('gateway_')
  return {
    level: isOurs ? 'error' : errorType.startsWith('provider_') ? 'warn' : 'info',
    time,
    event: 'request',
    request_id: end.requestId,
    trace_id: end.traceId,
    caller: end.caller,
    account: end.account,
    key_id: end.keyId,
    address: end.address,
    intent: end.intent,
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
    error: isOurs ? causeOf(fault) : failureOf(fault),
  }
}

/** What kept a provider from being reached or read. Without a stack: the code that fails is not ours. */
function failureOf(fault: Fault | undefined): FailureFields | undefined {
  const cause = fault && failureCauseOf(fault)
  if (!fault || cause === undefined) return undefined
  const { stack: _, ...error } = describeError(rootCauseOf(fault))
  return { cause, ...error }
}

interface FailureFields extends Omit<ErrorFields, 'stack'> {
  readonly cause: FailureCause
}

/** Rounds to a microsecond. */
function rounded(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6
}

// Describes an unexpected error for the log: its origin, without data from clients or providers.

export interface ErrorFields {
  readonly name: string
  readonly code?: string
  readonly message: string
  readonly stack: readonly string[]
}

const word = /^[A-Za-z0-9_]{1,64}$/
const frame = /^ {4}at [^\r\n]{1,300}$/
const maxFrames = 12
const maxMessageLength = 200
/** Longer words of a message are removed: they may be keys or addresses. */
const maxWordLength = 24
const minSecretLength = 6

/** Describes the first cause of a fault that is no fault itself. Undefined if it has no cause. */
export function causeOf(fault: Fault | undefined): ErrorFields | undefined {
  return fault?.cause === undefined ? undefined : describeError(rootCauseOf(fault))
}

export function describeError(reason: unknown): ErrorFields {
  if (!(reason instanceof Error)) return { name: typeof reason, message: '', stack: [] }
  const { name, message, stack = '' } = reason
  const code = 'code' in reason ? reason.code : undefined
  const hasCode = typeof code === 'string' && word.test(code)
  return {
    name: word.test(name) ? name : 'Error',
    ...(hasCode && { code }),
    message: redact(message),
    // The stack repeats the message before the first frame.
    stack: stack
      .replace(`${name}: ${message}`, '')
      .split('\n')
      .filter((line) => frame.test(line))
      .slice(0, maxFrames)
      .map((line) => line.trim()),
  }
}

/** Removes quoted text, and words that may be a key, an address, an amount or a host. */
function redact(message: string): string {
  return message
    .replaceAll(/"[^"]*"?/g, '"…"')
    .replaceAll(/\S+/g, (token) => (mayBeSecret(token) ? '…' : token))
    .slice(0, maxMessageLength)
}

function mayBeSecret(token: string): boolean {
  return token.length >= maxWordLength || (token.length >= minSecretLength && /[\d@]/.test(token))
}

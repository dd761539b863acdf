/** Error responses as OpenAPI components, one for each status (docs/contract.md §6). */
import type { FaultKind } from '../../domain/fault.ts'
import { standardMessage } from '../../domain/fault.ts'
import type { Op } from '../../domain/service.ts'
import type { Form, OperationCodec } from '../../wire/form.ts'
import { reasonPhrase, toStatus } from '../../wire/http.ts'
import type { Schema } from '../../wire/schema.ts'
import { errorBody } from '../response.ts'
import { parseExact } from './exact-json.ts'
import { type HeaderName, headersOf } from './headers.ts'
import { reasonHeader } from './reasons.ts'
import { amountRefusalName, reference } from './schemas.ts'

interface Refusal {
  readonly when: string
  readonly message: string
  readonly headers?: readonly HeaderName[]
}

const always: readonly FaultKind[] = [
  ...(['invalid', 'methodNotAllowed', 'tooSlow', 'pathTooLong', 'expectationFailed', 'limited', 'headersTooLarge'] as const),
  ...(['internal', 'failed', 'unavailable', 'timedOut'] as const),
]

/** Operations that are refused for their amount. */
const amountOps: ReadonlySet<Op> = new Set<Op>(['getRate', 'createTransaction'])

/** The kinds of faults that an operation may return. */
function refusalsOf({ op, method, keyed }: OperationCodec): readonly FaultKind[] {
  return [
    ...always,
    ...(keyed ? (['unauthorized'] as const) : []),
    ...(op === 'getTransaction' || op === 'listTransactions' ? (['notFound'] as const) : []),
    ...(method === 'POST' ? (['inProgress', 'tooLarge', 'unsupportedMediaType', 'reusedKey'] as const) : []),
  ]
}

/** References to the error responses of an operation, ordered by status. */
export function refusalReferences(operation: OperationCodec, { amountRefusal }: Form): Schema {
  const aboutAmount = amountRefusal && amountOps.has(operation.op) ? [amountRefusal.status] : []
  const statuses = [...refusalsOf(operation).map(toStatus), ...aboutAmount]
  return Object.fromEntries(statuses.map((status) => [status, reference('responses', nameOf(status))]))
}

/** The components of all error responses. */
export function refusalResponses(form: Form): Readonly<Record<string, Schema>> {
  const statuses = Object.entries(refusals(form)).map(([status, refusal]) => [
    nameOf(Number(status)),
    response(form, Number(status), refusal),
  ])
  return Object.fromEntries(statuses)
}

function nameOf(status: number): string {
  return reasonPhrase(status).replaceAll(' ', '')
}

function response(form: Form, status: number, { when, message, headers = [] }: Refusal): Schema {
  const example = parseExact(errorBody(form, status, message))
  const error = reference('schemas', 'Error')
  const isAboutAmount = form.amountRefusal?.status === status
  return {
    description: isAboutAmount ? `${when} Or the amount is outside of the limits in the body.` : when,
    headers: { ...headersOf(...headers), 'X-Swap-Reason': reasonHeader(status, isAboutAmount) },
    content: {
      'application/json': {
        schema: isAboutAmount ? { anyOf: [error, reference('schemas', amountRefusalName)] } : error,
        example,
      },
    },
  }
}

function refusals({ operations }: Form): Readonly<Record<number, Refusal>> {
  const amount = operations.getRate.requestNames.get('amountIn')
  const path = operations.createTransaction.path.pattern
  return {
    400: {
      when: 'A parameter is missing, invalid, sent twice or unknown; a coin or network is not offered; the provider rejects the amount or an address. Nothing was created.',
      message: `Invalid ${amount}: it is missing.`,
    },
    401: { when: 'The key is missing or not valid.', message: standardMessage('unauthorized'), headers: ['WWW-Authenticate'] },
    404: { when: 'No such swap for this key.', message: standardMessage('notFound') },
    405: {
      when: `The path does not have the method; for example \`DELETE ${path}\`.`,
      message: 'This path has POST, GET, HEAD, OPTIONS.',
      headers: ['Allow'],
    },
    408: { when: 'The request did not arrive in time.', message: 'The request did not arrive in time.' },
    409: {
      when: 'Another request with this `Idempotency-Key` has no outcome yet. Repeat the request later with the same key.',
      message: 'A request with this Idempotency-Key has no known outcome yet; please ask again later with the same key.',
    },
    413: { when: 'The body is too large.', message: 'The body must have at most 16384 bytes.' },
    414: { when: 'The path and the query are too long.', message: 'The path and query must have at most 8192 characters.' },
    415: {
      when: 'The body is not sent as `application/json` in UTF-8.',
      message: 'The body must be sent once as content-type application/json in UTF-8.',
    },
    417: { when: 'An `Expect` other than `100-continue`.', message: 'Only Expect: 100-continue is understood.' },
    422: {
      when: 'This `Idempotency-Key` belongs to another request.',
      message: 'This Idempotency-Key was used for another request; please use a new key for each new swap.',
    },
    429: {
      when: 'Your limit is reached. Wait for `Retry-After` seconds.',
      message: standardMessage('limited'),
      headers: ['Retry-After'],
    },
    431: { when: 'The headers are too large.', message: 'The headers are too large.' },
    500: {
      when: 'An internal error of the gateway. Please report the `X-Request-Id`.',
      message: 'Internal error; please report the X-Request-Id.',
    },
    502: {
      when: 'The provider failed, or its response does not match its form. A create with this status did not happen, or the created swap contradicts your request; the response has no deposit address.',
      message: standardMessage('failed'),
      headers: ['Idempotent-Replayed'],
    },
    503: {
      when: 'No provider is available now; nothing was created.',
      message: standardMessage('unavailable'),
      headers: ['Retry-After'],
    },
    504: {
      when: 'The provider did not respond in time. **For a create the outcome is unknown**: repeat the request with the same `Idempotency-Key`, or check your list.',
      message: 'The provider did not answer in time; please try again later.',
    },
  }
}

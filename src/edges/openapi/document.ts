/** Makes an OpenAPI 3.1 document of a form. All of it follows from the form's tables. */

import { type FaultKind, faultTable, type ParameterError, standardMessage } from '../../domain/fault.ts'
import { type Op, ops } from '../../domain/service.ts'
import type { Form, OperationCodec } from '../../wire/form.ts'
import { reasonPhrase } from '../../wire/http.ts'
import type { RequestSlot } from '../../wire/request.ts'
import type { Schema } from '../../wire/schema.ts'
import { errorBody } from '../encode-response.ts'
import { type HeaderName, headersOf, requestHeaders, responseHeaders } from './headers.ts'
import { introduction, missingAmount, reasonHeader, type Served, sandboxKey } from './introduction.ts'
import {
  amountRefusalName,
  amountRefusalSchema,
  bodyName,
  bodySchema,
  describeSlot,
  errorSchema,
  pageSchema,
  parseExact,
  reference,
  requestExample,
  requestSchema,
  responseExample,
  responseName,
  rowNames,
  rowSchema,
} from './schemas.ts'

/** The document as JSON text. It depends only on the form and the version; with `served` on the configuration too. */
export function openApi(form: Form, served?: Served): string {
  return `${JSON.stringify(describeForm(form, served), null, 2)}\n`
}

/** The document, with numbers that keep their digits as JSON text. */
export function describeForm(form: Form, served?: Served): Schema {
  return {
    openapi: '3.1.0',
    info: {
      title: `swapgate, Form ${form.name}`,
      version: '2.0.0',
      description: introduction(form, served),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `/${form.name.toLowerCase()}/api/v2`, description: 'This gateway' }],
    tags: [
      { name: 'Quotes', description: 'Coins and rates. They need no key.' },
      { name: 'Swaps', description: 'Your swaps. They need your key.' },
    ],
    paths: paths(form, served),
    components: {
      securitySchemes: { [securityName]: { ...form.credential.scheme, description: keyDescription(served) } },
      schemas: schemas(form),
      parameters: requestHeaders(form.name, served?.picks),
      headers: responseHeaders,
      responses: refusalResponses(form),
    },
  }
}

function keyDescription(served: Served | undefined): string {
  return served === undefined || served.sandbox?.takesKeys ? `Your key. In the sandbox: \`${sandboxKey}\`.` : 'Your key.'
}

function schemas(form: Form): Readonly<Record<string, Schema>> {
  const rows = ops.map((op) => [rowNames[op], rowSchema(op, form)] as const)
  const paged = ops.filter((op) => form.operations[op].paged)
  const pages = paged.map((op) => [`${rowNames[op]}Page`, pageSchema(form.page, rowNames[op])] as const)
  const { amountRefusal } = form
  const refusal = amountRefusal ? [[amountRefusalName, amountRefusalSchema(amountRefusal)] as const] : []
  return Object.fromEntries([...rows, ...pages, [bodyName, bodySchema(form)], ['Error', errorSchema(form)], ...refusal])
}

// The operations of a form as OpenAPI paths.

interface OperationDocs {
  readonly tag: 'Quotes' | 'Swaps'
  readonly summary: string
  readonly description: string
}

const operationDocs: Readonly<Record<Op, OperationDocs>> = {
  listCurrencies: {
    tag: 'Quotes',
    summary: 'The coins that can be swapped',
    description:
      'All pages together have each coin once. The list changes rarely: cache it as `Cache-Control` allows, then repeat the request with `If-None-Match`.',
  },
  getRate: {
    tag: 'Quotes',
    summary: 'A quote',
    description: 'An estimate for an amount, with the minimum and the maximum amount. Nothing is created.',
  },
  createTransaction: {
    tag: 'Swaps',
    summary: 'Create a swap',
    description:
      'The response has the deposit address. Send an `Idempotency-Key`: then you can repeat the request after a broken connection, and nothing is created twice.',
  },
  listTransactions: { tag: 'Swaps', summary: 'Your swaps', description: 'The swaps of your key, or of your account.' },
  getTransaction: {
    tag: 'Swaps',
    summary: 'One swap',
    description:
      'Poll every few seconds until the status is `success`, `overdue` or `refunded`. A late deposit may still complete an overdue swap.',
  },
}

const securityName = 'key'

/** The operations of the form by path, then by method. */
function paths(form: Form, served: Served | undefined): Schema {
  const byPath = Map.groupBy(
    ops.map((op) => form.operations[op]),
    ({ path }) => path.pattern,
  )
  const items = [...byPath].map(([pattern, sharing]) => [
    pattern,
    Object.fromEntries(sharing.map((operation) => [operation.method.toLowerCase(), describe(operation, form, served)])),
  ])
  return Object.fromEntries(items)
}

function describe(operation: OperationCodec, form: Form, served: Served | undefined): Schema {
  const { op, keyed, method, requestCodec } = operation
  const { tag, summary, description } = operationDocs[op]
  const body = requestCodec.slots.filter(({ place }) => place === 'body')
  return {
    operationId: op,
    tags: [tag],
    summary,
    description,
    security: keyed ? [{ [securityName]: [] }] : [{}, { [securityName]: [] }],
    parameters: [
      ...requestCodec.slots.filter(({ place }) => place !== 'body').map((slot) => parameter(op, slot)),
      ...headerNames(operation, served).map((name) => reference('parameters', name)),
    ],
    ...(method === 'POST' && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: reference('schemas', bodyName), example: bodyExample(op, body) } },
      },
    }),
    responses: { ...success(operation, form), ...refusalReferences(operation, form) },
  }
}

/** Operations for which the caller may choose the provider. */
const pickingOps: ReadonlySet<Op> = new Set<Op>(['getRate', 'createTransaction'])

function headerNames({ op, method, keyed }: OperationCodec, served: Served | undefined): readonly string[] {
  const mayPick = pickingOps.has(op) && served?.picks.length !== 0
  return [
    'RequestId',
    'SwapForm',
    'Prefer',
    ...(mayPick ? ['SwapProvider'] : []),
    ...(keyed ? [] : ['IfNoneMatch']),
    ...(method === 'POST' ? ['IdempotencyKey'] : []),
  ]
}

function parameter(op: Op, slot: RequestSlot): Schema {
  const { name, place, absence, defaultValue } = slot
  const example = requestExample(op, slot)
  return {
    name,
    in: place,
    required: absence === 'required' && defaultValue === undefined,
    description: describeSlot(slot),
    schema: requestSchema(slot),
    ...(example !== undefined && { example }),
  }
}

function bodyExample(op: Op, slots: readonly RequestSlot[]): Schema {
  const examples = slots.map((slot) => [slot.name, requestExample(op, slot)] as const)
  return Object.fromEntries(examples.filter(([, value]) => value !== undefined))
}

function success(operation: OperationCodec, form: Form): Schema {
  const { op, keyed, method, success: status } = operation
  const cacheHeaders: readonly HeaderName[] = keyed ? [] : ['Age', 'ETag']
  const replayed: readonly HeaderName[] = method === 'POST' ? ['Idempotent-Replayed', 'X-Swap-Status', 'X-Swap-Warning'] : []
  const attention: readonly HeaderName[] = op === 'getTransaction' ? ['X-Swap-Attention', 'X-Swap-Poll-After'] : []
  const headers = headersOf('X-Swap-Derived', 'X-Swap-Omitted', 'X-Swap-Stale', ...attention, ...cacheHeaders, ...replayed)
  const schema = reference('schemas', responseName(op, form))
  const response = {
    description: operationDocs[op].summary,
    headers,
    content: { 'application/json': { schema, example: responseExample(op, form) } },
  }
  const notModified = { description: 'Your cached response is still current: its `ETag` is the one that you sent.', headers }
  return { [status]: response, ...(!keyed && { 304: notModified }) }
}

// Error responses as OpenAPI components, one for each status (docs/contract.md §6).

interface Refusal {
  readonly when: string
  readonly message: string
  readonly errors?: readonly ParameterError[]
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
function refusalReferences(operation: OperationCodec, { amountRefusal }: Form): Schema {
  const aboutAmount = amountRefusal && amountOps.has(operation.op) ? [amountRefusal.status] : []
  const statuses = [...refusalsOf(operation).map((kind) => faultTable[kind].status), ...aboutAmount]
  return Object.fromEntries(statuses.map((status) => [status, reference('responses', nameOf(status))]))
}

/** The components of all error responses. */
function refusalResponses(form: Form): Readonly<Record<string, Schema>> {
  const statuses = Object.entries(refusals(form)).map(([status, refusal]) => [
    nameOf(Number(status)),
    response(form, Number(status), refusal),
  ])
  return Object.fromEntries(statuses)
}

function nameOf(status: number): string {
  return reasonPhrase(status).replaceAll(' ', '')
}

function response(form: Form, status: number, { when, message, errors = [], headers = [] }: Refusal): Schema {
  const example = parseExact(errorBody(form, status, message, { errors }))
  const error = reference('schemas', 'Error')
  const isAboutAmount = form.amountRefusal?.status === status
  return {
    description: isAboutAmount ? `${when} Or the amount is outside of the limits in the body.` : when,
    headers: { ...headersOf('Link', ...headers), 'X-Swap-Reason': reasonHeader(status, isAboutAmount) },
    content: {
      'application/json': {
        schema: isAboutAmount ? { anyOf: [error, reference('schemas', amountRefusalName)] } : error,
        example,
      },
    },
  }
}

function refusals(form: Form): Readonly<Record<number, Refusal>> {
  const missing = missingAmount(form)
  const path = form.operations.createTransaction.path.pattern
  return {
    400: {
      when: 'A parameter is missing, invalid, sent twice or unknown; a coin or network is not offered; the provider rejects the amount or an address. Nothing was created.',
      message: missing.message,
      errors: [missing],
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
      when: 'Another request with this `Idempotency-Key` has no outcome yet. Repeat the request with the same key, after `Retry-After` seconds.',
      message: 'A request with this Idempotency-Key has no known outcome yet; please ask again later with the same key.',
      headers: ['Retry-After'],
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
      message: 'Too many requests: the limit is 60 quotes in 60 seconds; please wait 42 seconds.',
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
      headers: ['Retry-After'],
    },
  }
}

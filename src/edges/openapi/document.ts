/** Makes an OpenAPI 3.1 document of a form. All of it follows from the form's tables. */

import type { StreamName } from '../../domain/event-stream.ts'
import { type FaultKind, faultTable, type ParameterError, standardMessage } from '../../domain/fault.ts'
import { isAction, type Question } from '../../domain/question.ts'
import { type Op, ops } from '../../domain/service.ts'
import { swapActions } from '../../domain/swap-action.ts'
import { type Form, nameOf, type OperationCodec, type QuestionCodec, type StreamCodec } from '../../wire/form.ts'
import { reasonPhrase } from '../../wire/http.ts'
import type { RequestSlot } from '../../wire/request.ts'
import { asText, responseScalars, type Scalar } from '../../wire/scalar.ts'
import type { Schema } from '../../wire/schema.ts'
import { errorBody } from '../encode-response.ts'
import { type HeaderName, headersOf, requestHeaders, responseHeaders } from './headers.ts'
import { introduction, missingAmount, questionsOf, reasonHeader, type Served, sandboxKey } from './introduction.ts'
import {
  amountRefusalName,
  amountRefusalSchema,
  bodyNames,
  bodySchema,
  describeSlot,
  errorSchema,
  isPaged,
  pageSchema,
  parseExact,
  reference,
  requestExample,
  requestSchema,
  responseExample,
  responseName,
  rowNames,
  rowSchema,
  withAmountTexts,
} from './schemas.ts'

/** The document as JSON text. It depends only on the form and the version; with `served` on the configuration too. */
export function openApi(form: Form, served?: Served, mountedAt = '', hasAmountsAsText = false): string {
  return `${JSON.stringify(describeForm(form, served, mountedAt, hasAmountsAsText), null, 2)}\n`
}

/**
 * The document, with numbers that keep their digits as JSON text. `hasAmountsAsText`: as clients meet the API that send
 * `Prefer: amounts=text`; without webhooks, which have numbers.
 */
export function describeForm(tables: Form, served?: Served, mountedAt = '', hasAmountsAsText = false): Schema {
  const form = hasAmountsAsText ? withAmountTexts(tables) : tables
  const { amount } = responseScalars
  const { schema } = hasAmountsAsText ? asText(amount as Scalar<unknown>) : amount
  const requiresIdempotencyKey = served?.requiresIdempotencyKey === true && form.hasIdempotencyKey
  return {
    openapi: '3.1.0',
    info: {
      title: `swapgate, Form ${form.name}${hasAmountsAsText ? ', amounts as texts' : ''}`,
      version: '2.0.0',
      description: introduction(form, served, hasAmountsAsText),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `${mountedAt}/${form.name.toLowerCase()}/api/v2`, description: 'This gateway' }],
    tags: [
      { name: 'Quotes', description: 'Coins and rates. They need no key.' },
      { name: 'Swaps', description: 'Your swaps. They need your key.' },
    ],
    paths: paths(form, served),
    ...(form.streams.length > 0 && served?.isManaged !== false && !hasAmountsAsText && { webhooks }),
    components: {
      securitySchemes: securitySchemes(form, served),
      schemas: schemas(form, served, schema),
      parameters: requestHeaders(form.name, { picks: served?.picks, hasAmountsAsText, requiresIdempotencyKey }),
      headers: responseHeaders,
      responses: refusalResponses(form),
    },
  }
}

function securitySchemes({ credential, keyMember }: Form, served: Served | undefined): Readonly<Record<string, Schema>> {
  const description = keyDescription(served)
  const inQuery = served?.keyInQuery &&
    keyMember !== undefined && { [inQueryName]: { type: 'apiKey', in: 'query', name: keyMember, description } }
  return { [securityName]: { ...credential.scheme, description }, ...inQuery }
}

function keyDescription(served: Served | undefined): string {
  return served === undefined || served.sandbox?.takesKeys ? `Your key. In the sandbox: \`${sandboxKey}\`.` : 'Your key.'
}

type Endpoint = OperationCodec | QuestionCodec

/** What the form has here, but for streams. */
export function endpointsOf(form: Form, served?: Served): readonly Endpoint[] {
  return [...ops.map((op) => form.operations[op]), ...questionsOf(form, served)]
}

export function streamsOf({ streams }: Form, served?: Served): readonly StreamCodec[] {
  return streams.filter(({ stream }) => stream === 'watchTransaction' || served?.isManaged !== false)
}

function schemas(form: Form, served: Served | undefined, amount: Schema): Readonly<Record<string, Schema>> {
  const endpoints = endpointsOf(form, served)
  const rows = endpoints.map((endpoint) => [rowNames[nameOf(endpoint)], rowSchema(endpoint, form)] as const)
  const bodies = endpoints.flatMap((endpoint) => {
    const name = bodyNames[nameOf(endpoint)]
    return name === undefined ? [] : [[name, bodySchema(endpoint, form)] as const]
  })
  const paged = endpoints.filter(isPaged).map((endpoint) => rowNames[nameOf(endpoint)])
  const pages = paged.map((row) => [`${row}Page`, pageSchema(form.page, row)] as const)
  const { amountRefusal } = form
  const refusal = amountRefusal ? [[amountRefusalName, amountRefusalSchema(amountRefusal, amount)] as const] : []
  return Object.fromEntries([...rows, ...pages, ...bodies, ['Error', errorSchema(form, amount)], ...refusal])
}

// The operations of a form as OpenAPI paths.

interface OperationDocs {
  readonly tag: 'Quotes' | 'Swaps'
  readonly summary: string
  readonly description: string
}

const operationDocs: Readonly<Record<Op | Question, OperationDocs>> = {
  checkAddress: {
    tag: 'Quotes',
    summary: 'Is this an address?',
    description:
      'Checks an address, and the memo or tag for it, by the rules of its network, as a create does. Nothing is created, and nothing is sent to a provider. It counts as a quote.',
  },
  describePair: {
    tag: 'Quotes',
    summary: 'What a pair needs',
    description:
      'Decimals, memos and the limits of each rate type, and whether the opposite direction is offered too: before you show the pair to your users. It counts as one quote. What is not known now is omitted.',
  },
  coinNetworks: {
    tag: 'Quotes',
    summary: 'The networks of a coin',
    description: 'As `GET /currencies` has them with networks. It counts as a quote.',
  },
  allNetworks: {
    tag: 'Quotes',
    summary: 'All networks',
    description: 'Each network of the coins that can be swapped, once, as its own coin has it. It counts as a quote.',
  },
  listRates: {
    tag: 'Quotes',
    summary: 'The quotes of all providers',
    description:
      'The quotes of every provider that you may choose, the best first, and why others have none. Send the tag of the one that you choose in `X-Swap-Provider` with the create. It counts as one quote.',
  },
  refundTransaction: {
    tag: 'Swaps',
    summary: 'Ask for the deposit back',
    description:
      'For a swap that has `refund` among its `capabilities`. `address` may be left out where the swap has a refund address; another one than that is 409. A swap is sent back or continued once: repeat the request after a timeout, and nothing is sent twice. It counts as a create.',
  },
  continueTransaction: {
    tag: 'Swaps',
    summary: 'Let a held swap go on',
    description:
      'For a swap that has `continue` among its `capabilities`: it goes on at the current rate of the provider. A swap is sent back or continued once: repeat the request after a timeout, and nothing is sent twice. It counts as a create.',
  },
  setRefundAddress: {
    tag: 'Swaps',
    summary: 'Say where a deposit goes back to',
    description:
      'For a swap that has `refund-address` among its `capabilities`, which has none. It is checked as in a create, and set once: nothing changes it later. It counts as a create.',
  },
  driveSandbox: {
    tag: 'Swaps',
    summary: 'Let something happen to a swap of the sandbox',
    description:
      'Only for swaps with `X-Swap-Sandbox`, whose coins are not real. The response is the swap after it. It counts as a create.',
  },
  listCurrencies: {
    tag: 'Quotes',
    summary: 'The coins that can be swapped',
    description:
      'All pages together have each coin once. The list changes rarely: cache it as `Cache-Control` allows, then repeat the request with `If-None-Match`.',
  },
  getRate: {
    tag: 'Quotes',
    summary: 'A quote',
    description:
      'An estimate for an amount, with the minimum and the maximum amount. Nothing is created. With `quoteId=true`, your key and a fixed rate the quote is kept for one create of yours, where a provider does that.',
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
const inQueryName = 'keyInQuery'

/** The operations of the form by path, then by method. */
function paths(form: Form, served: Served | undefined): Schema {
  const byPath = Map.groupBy(endpointsOf(form, served), ({ path }) => path.pattern)
  const items = [...byPath].map(([pattern, sharing]) => [
    pattern,
    Object.fromEntries(sharing.map((endpoint) => [endpoint.method.toLowerCase(), describe(endpoint, form, served)])),
  ])
  const streamItems = streamsOf(form, served).map((codec) => [codec.path.pattern, { get: describeStream(codec, form, served) }])
  return Object.fromEntries([...items, ...streamItems])
}

// What the gateway sends to a webhook of an account (docs/contract.md §18.3).

const webhookHeaders: readonly (readonly [name: string, description: string])[] = [
  ['webhook-id', 'The same each time that it is sent again: handle it once.'],
  ['webhook-timestamp', 'When this attempt was sent, in seconds since 1970.'],
  [
    'webhook-signature',
    'That of Standard Webhooks (https://www.standardwebhooks.com); two, with a space between, while a secret is rotated.',
  ],
]

const sentAgain = 'It is sent again later, and what has changed in this swap since waits for it.'

function webhook(type: string, summary: string, description: string, data: Schema): Schema {
  const properties = { type: { type: 'string', const: type }, timestamp: { type: 'string', format: 'date-time' }, data }
  return {
    post: {
      summary,
      description,
      parameters: webhookHeaders.map(([name, about]) => ({
        ...{ name, in: 'header', required: true, description: about },
        schema: { type: 'string' },
      })),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { type: 'object', required: Object.keys(properties), properties } } },
      },
      responses: {
        '2XX': { description: 'You have it. Answer within ten seconds.' },
        410: { description: 'You want no more: the webhook is switched off.' },
        ...Object.fromEntries(['3XX', '4XX', '5XX'].map((status) => [status, { description: sentAgain }])),
      },
    },
  }
}

const webhooks: Schema = {
  'transaction.updated': webhook(
    'transaction.updated',
    'A swap has changed',
    'One for each change, in order for each swap, at least once. `data` is what a get of the swap returned then.',
    reference('schemas', rowNames.getTransaction),
  ),
  'webhook.test': webhook('webhook.test', 'A try', 'Sent by the operator.', { type: 'object' }),
}

const streamDocs: Readonly<Record<StreamName, Pick<OperationDocs, 'summary' | 'description'>>> = {
  watchTransaction: {
    summary: 'The changes of a swap, as they come',
    description:
      'Server-sent events `transaction`, their data as `GET` of the swap returns it: its state at once, then each change, until it has ended. After a broken connection send the last `id` in `Last-Event-ID`: what you missed is sent, in order. 204: you have seen the end. It counts as one read.',
  },
  watchTransactions: {
    summary: 'The changes of all your swaps, as they come',
    description:
      'The same for all swaps of your account, in order: from the `Last-Event-ID` that you send, or from now on: then the `id` of now comes first, without data. It does not end by itself. An event `gap` says that changes which you have not seen are not kept any more: read your list. It counts as one read.',
  },
}

/** Each event has the swap as its data. */
function describeStream(codec: StreamCodec, form: Form, served: Served | undefined): Schema {
  const { requestCodec, stream } = codec
  const lastEventId = {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The `id` of the last event that you have seen of this stream.',
    schema: { type: 'string' },
  }
  const ended = stream === 'watchTransaction' && { 204: { description: 'You have seen the end of this swap.' } }
  const kinds: readonly FaultKind[] = [...always, 'unauthorized', 'notFound']
  const statuses = kinds.map((kind) => faultTable[kind].status)
  const row = rowNames.getTransaction
  return {
    operationId: stream,
    tags: ['Swaps'],
    ...streamDocs[stream],
    security: Object.keys(securitySchemes(form, served)).map((scheme) => ({ [scheme]: [] })),
    parameters: [
      ...requestCodec.slots.map((slot) => parameter('getTransaction', slot, requestCodec.slots)),
      ...['RequestId', 'SwapForm', 'Prefer'].map((header) => reference('parameters', header)),
      lastEventId,
    ],
    responses: {
      200: {
        description: streamDocs[stream].summary,
        content: {
          'text/event-stream': {
            schema: { type: 'string', description: `Events \`transaction\`, each with a \`${row}\` as its data, and \`gap\`.` },
            example: `event: transaction\nid: 7\ndata: {"id":"alpha~ab12","status":"exchanging", …}\n\n`,
          },
        },
      },
      ...ended,
      ...Object.fromEntries(statuses.map((status) => [status, reference('responses', nameOfStatus(status))])),
    },
  }
}

function describe(endpoint: Endpoint, form: Form, served: Served | undefined): Schema {
  const { keyed, method, requestCodec } = endpoint
  const name = nameOf(endpoint)
  const { tag, summary, description } = operationDocs[name]
  const body = requestCodec.slots.filter(({ place }) => place === 'body')
  return {
    operationId: name,
    tags: [tag],
    summary,
    description,
    security: [...(keyed ? [] : [{}]), ...Object.keys(securitySchemes(form, served)).map((scheme) => ({ [scheme]: [] }))],
    parameters: [
      ...requestCodec.slots.filter(({ place }) => place !== 'body').map((slot) => parameter(name, slot, requestCodec.slots)),
      ...headerNames(endpoint, served).map((header) => reference('parameters', header)),
    ],
    ...(method === 'POST' && {
      requestBody: {
        required: body.some(({ absence }) => absence === 'required'),
        content: { 'application/json': { schema: reference('schemas', bodyNames[name] ?? ''), example: bodyExample(name, body) } },
      },
    }),
    responses: { ...success(endpoint, form), ...refusalReferences(endpoint, form) },
  }
}

/** Operations for which the caller may choose the provider. */
const pickingOps: ReadonlySet<Op | Question> = new Set<Op | Question>(['getRate', 'createTransaction', 'describePair'])

function headerNames(endpoint: Endpoint, served: Served | undefined): readonly string[] {
  const { method, keyed } = endpoint
  const mayPick = pickingOps.has(nameOf(endpoint)) && served?.picks.length !== 0
  return [
    'RequestId',
    'SwapForm',
    'Prefer',
    ...(mayPick ? ['SwapProvider'] : []),
    ...(keyed || !('op' in endpoint) ? [] : ['IfNoneMatch']),
    ...('op' in endpoint && keyed && method === 'POST' ? ['IdempotencyKey'] : []),
  ]
}

function parameter(endpoint: Op | Question, slot: RequestSlot, slots: readonly RequestSlot[]): Schema {
  const { name, place, absence, defaultValue } = slot
  const example = requestExample(endpoint, slot)
  return {
    name,
    in: place,
    required: absence === 'required' && defaultValue === undefined,
    description: describeSlot(slot, slots),
    schema: requestSchema(slot),
    ...(example !== undefined && { example }),
  }
}

function bodyExample(endpoint: Op | Question, slots: readonly RequestSlot[]): Schema {
  const examples = slots.map((slot) => [slot.name, requestExample(endpoint, slot)] as const)
  return Object.fromEntries(examples.filter(([, value]) => value !== undefined))
}

function success(endpoint: Endpoint, form: Form): Schema {
  const { keyed, method, success: status } = endpoint
  const name = nameOf(endpoint)
  const isQuestion = !('op' in endpoint)
  const cacheHeaders: readonly HeaderName[] = keyed || isQuestion ? [] : ['Age', 'ETag']
  const replayed: readonly HeaderName[] =
    keyed && method === 'POST'
      ? ['Idempotent-Replayed', 'X-Swap-Status', 'X-Swap-Warning']
      : name === 'listTransactions'
        ? ['X-Swap-Warning']
        : []
  const attention: readonly HeaderName[] = name === 'getTransaction' ? ['X-Swap-Attention', 'X-Swap-Poll-After'] : []
  const listed: readonly HeaderName[] = name === 'listTransactions' ? ['X-Swap-Warning'] : []
  const headers =
    name === 'checkAddress'
      ? headersOf('X-Swap-Warning')
      : isQuestion && !isAction(endpoint.question)
        ? headersOf('X-Swap-Derived', 'X-Swap-Omitted')
        : isQuestion
          ? headersOf('X-Swap-Derived', 'X-Swap-Omitted', 'X-Swap-Stale', 'Idempotent-Replayed')
          : headersOf('X-Swap-Derived', 'X-Swap-Omitted', 'X-Swap-Stale', ...listed, ...attention, ...cacheHeaders, ...replayed)
  const row = reference('schemas', responseName(endpoint))
  const schema = !('op' in endpoint) && endpoint.rows === 'list' ? { type: 'array', items: row } : row
  const response = {
    description: operationDocs[name].summary,
    headers,
    content: { 'application/json': { schema, example: responseExample(endpoint, form) } },
  }
  const notModified = { description: 'Your cached response is still current: its `ETag` is the one that you sent.', headers }
  return { [status]: response, ...(!keyed && !isQuestion && { 304: notModified }) }
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
const amountOps: ReadonlySet<Op | Question> = new Set<Op>(['getRate', 'createTransaction'])

/** What may find nothing: also a path that only some gateways have. */
const notFoundOf: ReadonlySet<Op | Question> = new Set<Op | Question>([
  ...(['getTransaction', 'listTransactions', 'listRates', 'driveSandbox'] as const),
  ...swapActions,
])

/** The kinds of faults that an operation may return. */
function refusalsOf(endpoint: Endpoint): readonly FaultKind[] {
  const { method, keyed, requestNames } = endpoint
  const name = nameOf(endpoint)
  return [
    ...always,
    ...(keyed || requestNames.has('isFirm') ? (['unauthorized'] as const) : []),
    ...(notFoundOf.has(name) ? (['notFound'] as const) : []),
    ...(method === 'POST' ? (['tooLarge', 'unsupportedMediaType'] as const) : []),
    ...(name === 'createTransaction' ? (['inProgress', 'reusedKey'] as const) : []),
    ...('question' in endpoint && isAction(endpoint.question) ? (['inProgress', 'conflict'] as const) : []),
  ]
}

/** References to the error responses of an operation, ordered by status. */
function refusalReferences(endpoint: Endpoint, { amountRefusal }: Form): Schema {
  const aboutAmount = amountRefusal && amountOps.has(nameOf(endpoint)) ? [amountRefusal.status] : []
  const statuses = [...refusalsOf(endpoint).map((kind) => faultTable[kind].status), ...aboutAmount]
  return Object.fromEntries(statuses.map((status) => [status, reference('responses', nameOfStatus(status))]))
}

/** The components of all error responses. */
function refusalResponses(form: Form): Readonly<Record<string, Schema>> {
  const statuses = Object.entries(refusals(form)).map(([status, refusal]) => [
    nameOfStatus(Number(status)),
    response(form, Number(status), refusal),
  ])
  return Object.fromEntries(statuses)
}

function nameOfStatus(status: number): string {
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
    404: { when: 'No such swap for this key, or no such path here.', message: standardMessage('notFound') },
    405: {
      when: `The path does not have the method; for example \`DELETE ${path}\`.`,
      message: 'This path has POST, GET, HEAD, OPTIONS.',
      headers: ['Allow'],
    },
    408: { when: 'The request did not arrive in time.', message: 'The request did not arrive in time.' },
    409: {
      when: 'Another request with this `Idempotency-Key`, or this action on the swap, has no outcome yet: repeat it unchanged, after `Retry-After` seconds. Or the swap does not allow the action any more (`conflict`).',
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
      message:
        'This Idempotency-Key was used for another request; please repeat that one unchanged, or use a new key for a new swap.',
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
      when: 'The provider did not respond in time. **For a create the outcome is unknown**: repeat the request with the same `Idempotency-Key`; if it had none, look for the swap in your list.',
      message: 'The provider did not answer in time; please try again later.',
      headers: ['Retry-After'],
    },
  }
}

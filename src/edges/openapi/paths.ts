/** The operations of a form as OpenAPI paths. */
import { describeField } from '../../domain/field-docs.ts'
import { type Op, ops } from '../../domain/service.ts'
import type { Form, OperationCodec } from '../../wire/form.ts'
import type { RequestSlot } from '../../wire/request.ts'
import type { Schema } from '../../wire/schema.ts'
import { requestExample, responseExample } from './example.ts'
import { type HeaderName, headersOf } from './headers.ts'
import { refusalReferences } from './responses.ts'
import { bodyName, reference, responseName } from './schemas.ts'

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

export const securityName = 'key'

/** The operations of the form by path, then by method. */
export function paths(form: Form): Schema {
  const byPath = Map.groupBy(
    ops.map((op) => form.operations[op]),
    ({ path }) => path.pattern,
  )
  const items = [...byPath].map(([pattern, sharing]) => [
    pattern,
    Object.fromEntries(sharing.map((operation) => [operation.method.toLowerCase(), describe(operation, form)])),
  ])
  return Object.fromEntries(items)
}

function describe(operation: OperationCodec, form: Form): Schema {
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
      ...headerNames(operation).map((name) => reference('parameters', name)),
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

function headerNames({ op, method, keyed }: OperationCodec): readonly string[] {
  return [
    'RequestId',
    'SwapForm',
    ...(pickingOps.has(op) ? ['SwapProvider'] : []),
    ...(keyed ? [] : ['IfNoneMatch']),
    ...(method === 'POST' ? ['IdempotencyKey'] : []),
  ]
}

function parameter(op: Op, slot: RequestSlot): Schema {
  const { name, place, absence, field, defaultValue, scalar } = slot
  const example = requestExample(op, slot)
  return {
    name,
    in: place,
    required: absence === 'required' && defaultValue === undefined,
    description: describeField(field),
    schema: { ...scalar.schema, ...(defaultValue !== undefined && { default: defaultValue }) },
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
  const replayed: readonly HeaderName[] = method === 'POST' ? ['Idempotent-Replayed', 'X-Swap-Status'] : []
  const attention: readonly HeaderName[] = op === 'getTransaction' ? ['X-Swap-Attention'] : []
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

/** The operations of a form as OpenAPI paths. */
import { type Field, meaning } from '../../domain/meaning.ts'
import { type Op, ops } from '../../domain/operations.ts'
import type { Form, OperationCodec } from '../../wire/form.ts'
import type { QuestionSlot } from '../../wire/question.ts'
import type { Schema } from '../../wire/schema.ts'
import { answerExample, questionExample } from './example.ts'
import { type HeaderName, headersOf } from './headers.ts'
import { refusalReferences } from './responses.ts'
import { answerName, bodyName, reference } from './schemas.ts'

interface Words {
  readonly tag: 'Quotes' | 'Swaps'
  readonly summary: string
  readonly description: string
}

const words: Readonly<Record<Op, Words>> = {
  listCurrencies: {
    tag: 'Quotes',
    summary: 'The coins that can be swapped',
    description:
      'The pages together have each coin once. The list changes rarely: keep it as long as `Cache-Control` says, and then ask with `If-None-Match`.',
  },
  getRate: {
    tag: 'Quotes',
    summary: 'What you would receive',
    description: 'An estimate for an amount, with the least and the greatest amount that can be swapped. Nothing is created.',
  },
  createTransaction: {
    tag: 'Swaps',
    summary: 'Create a swap',
    description:
      'The answer tells the address to pay to. Send an `Idempotency-Key`: then you may ask again after a broken connection, and nothing is created twice.',
  },
  listTransactions: { tag: 'Swaps', summary: 'Your swaps', description: 'The swaps of your key, or of your account.' },
  getTransaction: {
    tag: 'Swaps',
    summary: 'One swap',
    description:
      'Ask every few seconds until the status is final: `success`, `overdue` or `refunded`. A late deposit may still revive an overdue swap.',
  },
}

export const securityName = 'key'

/** By path, then by method. */
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
  const { op, keyed, method, question } = operation
  const { tag, summary, description } = words[op]
  const body = question.slots.filter(({ place }) => place === 'body')
  return {
    operationId: op,
    tags: [tag],
    summary,
    description,
    security: keyed ? [{ [securityName]: [] }] : [{}, { [securityName]: [] }],
    parameters: [
      ...question.slots.filter(({ place }) => place !== 'body').map((slot) => parameter(op, slot)),
      ...headerNames(operation).map((name) => reference('parameters', name)),
    ],
    ...(method === 'POST' && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: reference('schemas', bodyName), example: bodyExample(op, body) } },
      },
    }),
    responses: { ...success(operation, form), ...refusalReferences(operation) },
  }
}

function headerNames({ method, keyed }: OperationCodec): readonly string[] {
  return ['RequestId', 'SwapForm', ...(keyed ? [] : ['IfNoneMatch']), ...(method === 'POST' ? ['IdempotencyKey'] : [])]
}

function parameter(op: Op, slot: QuestionSlot): Schema {
  const { name, place, absence, field, standard, notation } = slot
  const example = questionExample(op, slot)
  return {
    name,
    in: place,
    required: absence === 'required' && standard === undefined,
    description: meaning[field as Field],
    schema: { ...notation.schema, ...(standard !== undefined && { default: standard }) },
    ...(example !== undefined && { example }),
  }
}

function bodyExample(op: Op, slots: readonly QuestionSlot[]): Schema {
  const said = slots.map((slot) => [slot.name, questionExample(op, slot)] as const)
  return Object.fromEntries(said.filter(([, value]) => value !== undefined))
}

function success(operation: OperationCodec, form: Form): Schema {
  const { op, keyed, method, success: status } = operation
  const kept: readonly HeaderName[] = keyed ? [] : ['Age', 'ETag']
  const replayed: readonly HeaderName[] = method === 'POST' ? ['Idempotent-Replayed'] : []
  const headers = headersOf('X-Swap-Derived', 'X-Swap-Omitted', 'X-Swap-Stale', ...kept, ...replayed)
  const schema = reference('schemas', answerName(op, form))
  const answer = {
    description: words[op].summary,
    headers,
    content: { 'application/json': { schema, example: answerExample(op, form) } },
  }
  const known = { description: 'You have this answer already: its `ETag` is the one that you sent.', headers }
  return { [status]: answer, ...(!keyed && { 304: known }) }
}

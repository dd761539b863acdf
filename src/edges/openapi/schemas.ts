/** The bodies of a form as JSON Schema, from its tables. Only what is documented reaches a client. */
import { certain, type Field, meaning } from '../../domain/meaning.ts'
import type { Op } from '../../domain/operations.ts'
import { type Status, statuses } from '../../domain/status.ts'
import type { AnswerSlot } from '../../wire/answer.ts'
import type { Envelope } from '../../wire/envelope.ts'
import type { Form } from '../../wire/form.ts'
import { answered, asked } from '../../wire/notation.ts'
import type { QuestionSlot } from '../../wire/question.ts'
import type { Schema } from '../../wire/schema.ts'
import { questionExample } from './example.ts'

const statusMeaning: Readonly<Record<Status, string>> = {
  wait: 'waits for the deposit',
  confirmation: 'the deposit is being confirmed',
  confirmed: 'the deposit is confirmed',
  exchanging: 'the coins are being exchanged',
  sending: 'the payment is on its way',
  success: 'complete',
  overdue: 'no deposit came in time',
  refunded: 'the deposit was sent back',
}

export const rowNames: Readonly<Record<Op, string>> = {
  listCurrencies: 'Currency',
  getRate: 'Rate',
  createTransaction: 'CreatedTransaction',
  listTransactions: 'ListedTransaction',
  getTransaction: 'Transaction',
}

/** What the component is called that a create asks with. */
export const bodyName = 'NewTransaction'

/** What the component is called that an operation answers with. */
export function answerName(op: Op, { operations }: Form): string {
  return operations[op].paged ? `${rowNames[op]}Page` : rowNames[op]
}

export function reference(kind: 'schemas' | 'responses' | 'headers' | 'parameters', name: string): Schema {
  return { $ref: `#/components/${kind}/${name}` }
}

/** A row of an answer: what is certain is required. */
export function rowSchema(op: Op, { operations, statuses: words }: Form): Schema {
  const { slots } = operations[op].answer
  const known: readonly string[] = certain[op]
  const isRequired = ({ absence, field, when }: AnswerSlot): boolean =>
    absence === 'null' || (known.includes(field) && absence !== 'extension' && when === undefined)
  return objectSchema(
    Object.fromEntries(slots.map((slot) => [slot.name, valueSchema(slot, words)])),
    slots.filter(isRequired).map(({ name }) => name),
  )
}

export function objectSchema(properties: Readonly<Record<string, Schema>>, required = Object.keys(properties)): Schema {
  return { type: 'object', additionalProperties: false, required, properties }
}

function valueSchema({ field, absence, notation }: AnswerSlot, words: readonly Status[]): Schema {
  const description = meaning[field as Field]
  if (field === 'status') return { type: 'string', enum: words, description: `${description} ${statusWords(words)}` }
  const { type, ...more } = notation.schema
  return { type: absence === 'null' ? [type, 'null'] : type, ...more, description }
}

/** Each status of a form with its meaning. */
export function statusWords(words: readonly Status[]): string {
  const told = statuses.filter((status) => words.includes(status)).map((status) => `\`${status}\`: ${statusMeaning[status]}`)
  return `${told.join('; ')}.`
}

/** A page around rows of that name. */
export function pageSchema(envelope: Envelope, row: string): Schema {
  const figures = {
    page: { ...asked.page.schema, description: 'Which page this is.' },
    size: { ...asked.size.schema, description: 'How many rows a page has.' },
    total: { ...answered.count.schema, description: 'How many rows there are on all pages.' },
  }
  const place = (stands: Envelope[string]): Schema => {
    if (typeof stands !== 'string') return pageSchema(stands, row)
    return stands === 'items' ? { type: 'array', items: reference('schemas', row) } : figures[stands]
  }
  return objectSchema(Object.fromEntries(Object.entries(envelope).map(([name, stands]) => [name, place(stands)])))
}

/** The body of a create; a field that is not listed is refused by name. */
export function bodySchema({ operations }: Form): Schema {
  const op = 'createTransaction'
  const { slots } = operations[op].question
  const isRequired = ({ absence, standard }: QuestionSlot): boolean => absence === 'required' && standard === undefined
  return objectSchema(
    Object.fromEntries(slots.map((slot) => [slot.name, askedSchema(op, slot)])),
    slots.filter(isRequired).map(({ name }) => name),
  )
}

function askedSchema(op: Op, slot: QuestionSlot): Schema {
  const { absence, field, standard, notation } = slot
  const { type, ...more } = notation.schema
  const isExtension = absence === 'extension'
  const example = questionExample(op, slot)
  return {
    type: isExtension ? [type, 'null'] : type,
    ...more,
    description: meaning[field as Field] + (isExtension ? ' `null` and an empty text mean none.' : ''),
    ...(standard !== undefined && { default: standard }),
    ...(example !== undefined && { examples: [example] }),
  }
}

export function errorSchema({ error }: Form): Schema {
  const parts = {
    reason: { type: 'string', description: 'The name of the status, for example `Bad Request`.' },
    message: {
      type: 'string',
      description: 'What is wrong and what to do, for people. Never holds a secret, a host or a name of a provider.',
    },
    status: { type: 'integer', minimum: 400, maximum: 599, description: 'The HTTP status.' },
  }
  return objectSchema(Object.fromEntries(Object.entries(error).map(([name, part]) => [name, parts[part]])))
}

/** A provider's answer, read by the table of its form. */
import type { Confidential } from '../domain/confidential.ts'
import type { Context } from '../domain/operations.ts'
import { inSlices } from '../domain/slices.ts'
import { standardFault } from '../domain/standard-fault.ts'
import type { Reading } from '../wire/answer.ts'
import { decodePage } from '../wire/envelope.ts'
import type { Form, OperationCodec } from '../wire/form.ts'
import { JsonError, type JsonValue, parseJson } from '../wire/json.ts'
import { WireProblem } from '../wire/problem.ts'
import { readUnreadable, type UnreadableFields } from '../wire/unreadable-row.ts'
import { detach, screen } from './screen.ts'

export interface AnswerOptions {
  readonly form: Form
  /** The provider's tag. */
  readonly provider: string
  readonly confidential: Confidential
  readonly reading: Reading
}

type Row = Record<string, unknown>

/** Throws `unreadable` where the answer is not of the form. */
export function readAnswer(operation: OperationCodec, text: string, options: AnswerOptions): unknown {
  try {
    const row = operation.answer.decode(parseJson(text), options.reading) as Row
    return accepting(operation, text, options)(row)
  } catch (reason) {
    throw toUnreadable(reason, options)
  }
}

/** The same of an operation that answers with pages. */
export async function readPaged(
  operation: OperationCodec,
  text: string,
  options: AnswerOptions,
  { takesUnreadableRows }: Pick<Context, 'takesUnreadableRows'>,
): Promise<unknown> {
  const { form, reading } = options
  const accept = accepting(operation, text, options)
  try {
    const body = parseJson(text)
    if (takesUnreadableRows) return readOddPage(form, operation, body, reading, accept)
    const page = await readPage(form, operation, body, reading)
    await inSlices(page.items, accept)
    return page
  } catch (reason) {
    throw toUnreadable(reason, options)
  }
}

/** Lets pass what may go on of a row of this text. */
function accepting({ answers }: OperationCodec, text: string, { confidential }: AnswerOptions): (row: Row) => Row {
  // One look at the whole text spares one at each field; behind an escape there may be anything.
  const mayHoldKey = confidential.holdsKey(text) || text.includes('\\')
  return (row) => {
    const field = screen(row, confidential, mayHoldKey)
    if (field !== undefined) throw new WireProblem(answers.get(field) ?? field, 'it holds a key')
    detach(row, text)
    return row
  }
}

function toUnreadable(reason: unknown, { provider, reading }: AnswerOptions): unknown {
  if (!(reason instanceof WireProblem || reason instanceof JsonError)) return reason
  reading.drift((reason instanceof WireProblem && reason.field) || '_other', 'unreadable')
  return standardFault('unreadable', { provider, cause: reason })
}

interface ReadPage {
  readonly items: readonly Row[]
  readonly total: number
  /** Rows that were not of the form. */
  readonly dropped: number
}

/** Each row that is not of the form is handed over beside the others, as far as it can be read. */
function readOddPage(
  form: Form,
  { answer }: OperationCodec,
  body: JsonValue,
  reading: Reading,
  accept: (row: Row) => Row,
): Omit<ReadPage, 'dropped'> & { readonly unreadable: readonly UnreadableFields[] } {
  const { items, total } = decodePage(form.page, body, reading)
  const unreadable: UnreadableFields[] = []
  const rows = items.map((item) => {
    try {
      return accept(answer.decode(item, reading) as Row)
    } catch (reason) {
      if (!(reason instanceof WireProblem)) throw reason
      reading.drift(reason.field || '_other', 'badRow')
      unreadable.push(readUnreadable(answer, item))
      return undefined
    }
  })
  return { items: rows.filter((row) => row !== undefined), total, unreadable }
}

/** A provider may send its whole list as one page. */
async function readPage(
  form: Form,
  { answer, dropsBadRows }: OperationCodec,
  body: JsonValue,
  reading: Reading,
): Promise<ReadPage> {
  const page = decodePage(form.page, body, reading)
  const items: Row[] = []
  await inSlices(page.items, (item) => {
    try {
      items.push(answer.decode(item, reading) as Row)
    } catch (reason) {
      if (!dropsBadRows || !(reason instanceof WireProblem)) throw reason
      reading.drift(reason.field || '_other', 'badRow')
    }
  })
  return { items, total: page.total, dropped: page.items.length - items.length }
}

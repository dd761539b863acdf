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
  readonly context: Pick<Context, 'takesUnreadableRows'>
}

/** Throws `unreadable` where the answer is not of the form. */
export async function readAnswer(operation: OperationCodec, text: string, options: AnswerOptions): Promise<unknown> {
  const { form, provider, confidential, reading, context } = options
  // One look at the whole text spares one at each field; behind an escape there may be anything.
  const mayHoldKey = confidential.holdsKey(text) || text.includes('\\')
  const accept = (row: Row): Row => {
    const field = screen(row, confidential, mayHoldKey)
    if (field !== undefined) throw new WireProblem(operation.answers.get(field) ?? field, 'it holds a key')
    detach(row, text)
    return row
  }
  try {
    const body = parseJson(text)
    if (!operation.paged) return accept(operation.answer.decode(body, reading) as Row)
    if (context.takesUnreadableRows) return readOddPage(form, operation, body, reading, accept)
    const page = await readPage(form, operation, body, reading)
    await inSlices(page.items, accept)
    return page
  } catch (reason) {
    if (!(reason instanceof WireProblem || reason instanceof JsonError)) throw reason
    reading.drift((reason instanceof WireProblem && reason.field) || '_other', 'unreadable')
    throw standardFault('unreadable', { provider, cause: reason })
  }
}

type Row = Record<string, unknown>

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

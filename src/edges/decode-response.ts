/** Decodes a provider's response by the table of its form. */
import type { Confidential } from '../domain/faults/confidential.ts'
import { standardFault } from '../domain/faults/standard-fault.ts'
import { inSlices } from '../domain/in-slices.ts'
import type { Context } from '../domain/swap/service.ts'
import { decodePage } from '../wire/envelope.ts'
import type { Form, OperationCodec } from '../wire/form.ts'
import { JsonError, type JsonValue, parseJson } from '../wire/json.ts'
import type { DecodeContext } from '../wire/response.ts'
import { readUnreadable, type UnreadableFields } from '../wire/unreadable-row.ts'
import { WireError } from '../wire/wire-error.ts'
import { detach, removeConfidential } from './confidential-fields.ts'

export interface DecodeOptions {
  readonly form: Form
  /** The provider's tag. */
  readonly provider: string
  readonly confidential: Confidential
  readonly decodeContext: DecodeContext
}

type Row = Record<string, unknown>

/** Throws a `Fault` `unreadable` if the response does not match the form. */
export function decodeResponse(operation: OperationCodec, text: string, options: DecodeOptions): unknown {
  try {
    const row = operation.responseCodec.decode(parseJson(text), options.decodeContext)
    return accepting(operation, text, options)(row)
  } catch (reason) {
    throw toUnreadable(reason, options)
  }
}

/** Decodes the response of a paged operation. */
export async function readPaged(
  operation: OperationCodec,
  text: string,
  options: DecodeOptions,
  { acceptsUnreadableRows: takesUnreadableRows }: Pick<Context, 'acceptsUnreadableRows'>,
): Promise<unknown> {
  const { form, decodeContext } = options
  const accept = accepting(operation, text, options)
  try {
    const body = parseJson(text)
    if (takesUnreadableRows) return readTolerantPage(form, operation, body, decodeContext, accept)
    const page = await readPage(form, operation, body, decodeContext)
    await inSlices(page.items, accept)
    return page
  } catch (reason) {
    throw toUnreadable(reason, options)
  }
}

/** A filter for the rows of this text: throws if a row contains a key, and removes confidential notes. */
function accepting({ responseNames }: OperationCodec, text: string, { confidential }: DecodeOptions): (row: Row) => Row {
  // One search of the whole text saves one per field. With escapes each field must be searched.
  const mayContainKey = confidential.containsKey(text) || text.includes('\\')
  return (row) => {
    const field = removeConfidential(row, confidential, mayContainKey)
    if (field !== undefined) throw new WireError(responseNames.get(field) ?? field, 'it contains a key')
    detach(row, text)
    return row
  }
}

function toUnreadable(reason: unknown, { provider, decodeContext }: DecodeOptions): unknown {
  if (!(reason instanceof WireError || reason instanceof JsonError)) return reason
  decodeContext.drift((reason instanceof WireError && reason.field) || '_other', 'unreadable')
  return standardFault('unreadable', { provider, cause: reason })
}

interface ReadPage {
  readonly items: readonly Row[]
  readonly total: number
  /** The number of rows that do not match the form. */
  readonly dropped: number
}

/** Returns rows that do not match the form separately, with their readable fields. */
function readTolerantPage(
  form: Form,
  { responseCodec }: OperationCodec,
  body: JsonValue,
  decodeContext: DecodeContext,
  accept: (row: Row) => Row,
): Omit<ReadPage, 'dropped'> & { readonly unreadable: readonly UnreadableFields[] } {
  const { items, total } = decodePage(form.page, body, decodeContext)
  const unreadable: UnreadableFields[] = []
  const rows = items.map((item) => {
    try {
      return accept(responseCodec.decode(item, decodeContext))
    } catch (reason) {
      if (!(reason instanceof WireError)) throw reason
      decodeContext.drift(reason.field || '_other', 'badRow')
      unreadable.push(readUnreadable(responseCodec, item))
      return undefined
    }
  })
  return { items: rows.filter((row) => row !== undefined), total, unreadable }
}

/** Accepts a provider's whole list as one page. */
async function readPage(
  form: Form,
  { responseCodec, dropsBadRows }: OperationCodec,
  body: JsonValue,
  decodeContext: DecodeContext,
): Promise<ReadPage> {
  const page = decodePage(form.page, body, decodeContext)
  const items: Row[] = []
  await inSlices(page.items, (item) => {
    try {
      items.push(responseCodec.decode(item, decodeContext))
    } catch (reason) {
      if (!dropsBadRows || !(reason instanceof WireError)) throw reason
      decodeContext.drift(reason.field || '_other', 'badRow')
    }
  })
  return { items, total: page.total, dropped: page.items.length - items.length }
}

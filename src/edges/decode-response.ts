/** Decodes a provider's response by the table of its form. */
import type { Confidential } from '../domain/confidential.ts'
import { standardFault } from '../domain/fault.ts'
import { JsonError, type JsonValue, parseJson, parseJsonList } from '../wire/json.ts'
import type { ProviderCall } from '../wire/provider-operation.ts'
import type { DecodeContext, Given, ResponseFields } from '../wire/response-table.ts'
import { EmptyResponse, WireError } from '../wire/wire-error.ts'

export interface DecodeOptions {
  /** The provider's tag. */
  readonly provider: string
  readonly confidential: Confidential
  readonly decodeContext: DecodeContext
}

/** A response, as text and as JSON. */
export interface ResponseDocument {
  readonly text: string
  readonly body: JsonValue
}

/** Throws a `Fault` `unreadable` if the response does not match the form. */
export function decodeResponse(
  call: ProviderCall,
  { text, body }: ResponseDocument,
  options: DecodeOptions,
  given?: Given,
): ResponseFields {
  try {
    return accepting(call, text, options)(call.responseCodec.decode(body, options.decodeContext, given))
  } catch (reason) {
    if (reason instanceof EmptyResponse && call.op === 'getTransaction')
      throw standardFault('notFound', { provider: options.provider, cause: reason })
    throw toUnreadable(reason, options)
  }
}

/** No response but a list is longer; most that are wait for a turn of the queue in vain. */
const maxShortLength = 65_536

/** Throws a `Fault` `unreadable` if the text is not JSON. */
export function readDocument(text: string, options: DecodeOptions): ResponseDocument | Promise<ResponseDocument> {
  if (text.length > maxShortLength) return readLongDocument(text, options)
  try {
    return { text, body: parseJson(text) }
  } catch (reason) {
    throw toUnreadable(reason, options)
  }
}

async function readLongDocument(text: string, options: DecodeOptions): Promise<ResponseDocument> {
  try {
    return { text, body: await parseJsonList(text) }
  } catch (reason) {
    throw toUnreadable(reason, options)
  }
}

/** A filter for the rows of this text: throws if a row contains a key, and removes confidential notes. */
export function accepting(
  { responseNames }: ProviderCall,
  text: string,
  { confidential }: DecodeOptions,
): (row: ResponseFields) => ResponseFields {
  // One search of the whole text saves one per field. With escapes each field must be searched.
  const mayContainKey = confidential.containsKey(text) || text.includes('\\')
  return (row) => {
    const field = removeConfidential(row, confidential, mayContainKey)
    if (field !== undefined) throw new WireError(responseNames.get(field) ?? field, 'it contains a key')
    detach(row, text)
    return row
  }
}

export function toUnreadable(reason: unknown, { provider, decodeContext }: DecodeOptions): unknown {
  if (!(reason instanceof WireError || reason instanceof JsonError)) return reason
  decodeContext.drift((reason instanceof WireError && reason.field) || '_other', 'unreadable')
  return standardFault('unreadable', { provider, cause: reason })
}

// Filters providers' responses: no key in any field, and no confidential text in free text (docs/contract.md §8).

/** Free text that is omitted if it is confidential. A rate's `message` may be a rejection: another layer handles it. */
const notesField = 'notes'
const freeTextFields: ReadonlySet<string> = new Set([notesField, 'message'])

type Row = Record<string, unknown>

/** Returns the first field that contains a key: the response must then be rejected. Undefined if there is none. Removes confidential `notes`. */
export function removeConfidential(row: Row, confidential: Confidential, mayContainKey: boolean): string | undefined {
  const notes = row[notesField]
  if (typeof notes === 'string' && confidential.containsWord(notes)) row[notesField] = undefined
  if (!mayContainKey) return undefined
  for (const field in row) {
    const value = row[field]
    if (typeof value === 'string' && !freeTextFields.has(field) && confidential.containsKey(value)) return field
  }
  return undefined
}

/** V8 copies shorter strings; longer ones are slices that keep their source text in memory. */
const minSliceLength = 13
/** Parts of a source text up to this length may keep it in memory. */
const maxSharedLength = 2_048

/** Copies the strings of a row from a large text, so that a stored field does not keep the whole text in memory. */
export function detach(row: Row, text: string): void {
  if (text.length <= maxSharedLength) return
  for (const field in row) {
    const value = row[field]
    if (typeof value === 'string' && value.length >= minSliceLength) row[field] = detachedString(value)
  }
}

/** A slice of a new string keeps only that string, which is one character longer. */
function detachedString(text: string): string {
  return ` ${text}`.slice(1)
}

/** Decodes a provider's response by the table of its form. */
import type { Confidential } from '../domain/confidential.ts'
import { standardFault } from '../domain/fault.ts'
import { JsonError, type JsonValue, parseJson, parseJsonList } from '../wire/json.ts'
import type { ProviderCall } from '../wire/provider-operation.ts'
import type { DecodeContext, Given, ResponseFields } from '../wire/response-table.ts'
import { EmptyResponse, WireError } from '../wire/wire-error.ts'
import { detach, removeConfidential } from './confidential-fields.ts'

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

/** Decodes a client's request by the table of its form. */
import { Fault } from '../domain/fault.ts'
import type { Op, Request } from '../domain/service.ts'
import type { OperationCodec } from '../wire/form.ts'
import type { HttpRequest } from '../wire/http.ts'
import { JsonError, type JsonValue, parseJson } from '../wire/json.ts'
import { WireError } from '../wire/wire-error.ts'

const jsonType = /^application\/json\s*(?:;|$)/i
const otherCharset = /;\s*charset\s*=\s*(?!"?utf-?8"?\s*(?:;|$))/i

/** Decodes the fields of an operation's request. Throws `invalid` with the name of the first invalid parameter. */
export function readFields(
  { requestCodec }: OperationCodec,
  path: Readonly<Record<string, string>>,
  query: string,
  text: string | undefined,
): Request<Op> {
  try {
    const body: JsonValue | undefined = text === undefined ? undefined : parseJson(text)
    const fields: object = requestCodec.decode({ path, query, body })
    return fields as Request<Op>
  } catch (reason) {
    throw toInvalid(reason)
  }
}

/** The body as text. Throws a `Fault` if it is not JSON in UTF-8. */
export async function readText({ headers, repeated, body }: HttpRequest): Promise<string> {
  const type = headers['content-type'] ?? ''
  if (!jsonType.test(type) || otherCharset.test(type) || repeated?.includes('content-type')) {
    throw new Fault('unsupportedMediaType', 'The body must be sent once as content-type application/json in UTF-8.')
  }
  return body ? await body() : ''
}

function toInvalid(reason: unknown): unknown {
  if (reason instanceof JsonError)
    return new Fault('invalid', `The body must be a JSON object: ${reason.message}.`, { reason: 'body_invalid', cause: reason })
  if (!(reason instanceof WireError)) return reason
  return new Fault('invalid', `Invalid ${printableName(reason.field)}: ${reason.message}.`, {
    reason: reason.reason,
    cause: reason,
  })
}

/** The parameter's name as the client sent it, if it is printable and short. */
function printableName(field: string): string {
  return field === '' ? 'request' : /^[\x21-\x7e]{1,64}$/.test(field) ? field : 'parameter name'
}

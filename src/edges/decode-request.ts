/** Decodes a client's request by the table of its form. */
import { Fault, type ParameterError } from '../domain/fault.ts'
import type { EndpointCodec } from '../wire/form.ts'
import type { HttpRequest } from '../wire/http.ts'
import { JsonError, type JsonValue, parseJson } from '../wire/json.ts'
import type { NetworksOf } from '../wire/request.ts'
import { InvalidRequest, type WireError } from '../wire/wire-error.ts'

const jsonType = /^application\/json\s*(?:;|$)/i
const otherCharset = /;\s*charset\s*=\s*(?!"?utf-?8"?\s*(?:;|$))/i

/** Decodes the fields of a request. Throws `invalid` with all invalid parameters; the first decides the reason. */
export function readFields(
  { requestCodec }: EndpointCodec,
  path: Readonly<Record<string, string>>,
  query: string,
  body: JsonValue | undefined,
  networksOf: NetworksOf,
): object {
  try {
    return requestCodec.decode({ path, query, body }, networksOf)
  } catch (reason) {
    throw toInvalid(reason, networksOf)
  }
}

/** Throws `invalid` for what is not JSON. */
export function parseBody(text: string): JsonValue {
  if (text.trim() === '') throw new Fault('invalid', 'The body must be a JSON object, but it is empty.', { reason: 'body_invalid' })
  try {
    return parseJson(text)
  } catch (reason) {
    if (!(reason instanceof JsonError)) throw reason
    throw new Fault('invalid', `The body must be a JSON object: ${reason.message}.`, { reason: 'body_invalid', cause: reason })
  }
}

/** The body as text. Throws a `Fault` if it is not JSON in UTF-8. */
export async function readText(request: HttpRequest): Promise<string> {
  requireJson(request)
  return (await request.body?.()) ?? ''
}

/** Throws a `Fault` if the media type of the body is another one than JSON in UTF-8. */
export function requireJson({ headers, repeated }: HttpRequest): void {
  const type = headers['content-type'] ?? ''
  if (!jsonType.test(type) || otherCharset.test(type) || repeated?.includes('content-type')) {
    throw new Fault('unsupportedMediaType', 'The body must be sent once as content-type application/json in UTF-8.')
  }
}

function toInvalid(reason: unknown, networksOf: NetworksOf): unknown {
  if (!(reason instanceof InvalidRequest)) return reason
  const errors = reason.faults.map((fault) => parameterError(fault, reason.fields, networksOf))
  const [first] = errors
  return new Fault('invalid', errors.map(({ message }) => message).join(' '), {
    errors,
    cause: reason,
    ...(first && { reason: first.reason }),
  })
}

function parameterError(
  { field, reason, message }: WireError,
  fields: InvalidRequest['fields'],
  networksOf: NetworksOf,
): ParameterError {
  const name = /^[\x21-\x7e]{1,64}$/.test(field) ? field : ''
  const subject = name || (field === '' ? 'request' : 'parameter name')
  const coin = reason === 'network_required' ? fields[field.replace('network', 'coin')] : undefined
  const networks = typeof coin === 'string' ? networksOf(coin) : []
  const hint = networks.length > 0 ? `; it must be one of ${networks.join(', ')}` : ''
  return { field: name, reason, message: `Invalid ${subject}: ${message}${hint}.` }
}

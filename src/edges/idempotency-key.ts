/** The `Idempotency-Key` header (docs/contract.md §10.1): a string of RFC 9651 with optional quotes. */
import { Fault } from '../domain/fault.ts'
import type { HttpRequest } from '../wire/http.ts'

const header = 'idempotency-key'
const bareKey = /^[\x21\x23-\x7e][\x21-\x7e]*$/
const quotedKey = /^"((?:[\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/

/** The key without quotes. Undefined if there is no header, or if it is invalid. */
export function idempotencyKeyIn({ headers, repeated }: HttpRequest): string | undefined {
  const value = headers[header]
  if (value === undefined || repeated?.includes(header)) return undefined
  const key = quotedKey.exec(value)?.[1]?.replace(/\\(.)/g, '$1') ?? (bareKey.test(value) ? value : '')
  return key.length >= 1 && key.length <= 255 ? key : undefined
}

/** The same. Throws a `Fault` (400) if it is invalid, or required and missing. */
export function readIdempotencyKey(request: HttpRequest, isRequired: boolean): string | undefined {
  const key = idempotencyKeyIn(request)
  if (key !== undefined) return key
  if (request.headers[header] === undefined) {
    if (!isRequired) return undefined
    const message =
      'A create needs an Idempotency-Key here: send a new one with each new swap, like a UUID, and the same one with each repeat.'
    throw new Fault('invalid', message, { reason: 'idempotency_key_missing', effect: 'refused' })
  }
  throw new Fault(
    'invalid',
    'Invalid Idempotency-Key: it must be sent once, as 1 to 255 visible ASCII characters, in quotes or without.',
  )
}

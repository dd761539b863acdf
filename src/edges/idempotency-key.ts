/** The `Idempotency-Key` header (docs/contract.md §10.1): a string of RFC 9651 with optional quotes. */
import { Fault } from '../domain/fault.ts'
import type { HttpRequest } from '../wire/http.ts'

const header = 'idempotency-key'
const bareKey = /^[\x21\x23-\x7e][\x21-\x7e]*$/
const quotedKey = /^"((?:[\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/

/** The key without quotes. Undefined if there is no header. Throws a `Fault` (400) if it is invalid. */
export function readIdempotencyKey({ headers, repeated }: HttpRequest): string | undefined {
  const value = headers[header]
  if (value === undefined) return undefined
  const key = quotedKey.exec(value)?.[1]?.replace(/\\(.)/g, '$1') ?? (bareKey.test(value) ? value : '')
  if (key.length >= 1 && key.length <= 255 && !repeated?.includes(header)) return key
  throw new Fault(
    'invalid',
    'Invalid Idempotency-Key: it must be sent once, as 1 to 255 visible ASCII characters, in quotes or without.',
  )
}

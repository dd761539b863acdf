/** The header in which a form carries a key. */
import type { Headers } from './http.ts'
import type { Schema } from './schema.ts'

export interface Credential {
  readonly name: string
  /** The name in lower case. */
  readonly header: string
  /** For the `WWW-Authenticate` of a 401. */
  readonly challenge: string
  /** As OpenAPI describes it: a security scheme object. */
  readonly scheme: Schema
  /** Whether a key is offered in this way, a good one or not. */
  readonly isOffered: (headers: Headers) => boolean
  /** The key, or undefined where it is missing, empty or malformed. */
  readonly decode: (headers: Headers) => string | undefined
  readonly encode: (key: string) => Headers
}

/** A JSON Web Token has some thousand characters. */
const token = /^[\x21-\x7e]{1,4096}$/
const bearerScheme = /^bearer(?: |$)/i
const bearerToken = /^bearer +([\x21-\x7e]{1,4096})$/i

/** A header that holds the key alone. */
export function keyHeader(name: string): Credential {
  const header = name.toLowerCase()
  return {
    name,
    header,
    challenge: `ApiKey header="${name}"`,
    scheme: { type: 'apiKey', in: 'header', name },
    isOffered: (headers) => headers[header] !== undefined,
    decode: (headers) => (token.test(headers[header] ?? '') ? headers[header] : undefined),
    encode: (key) => ({ [header]: key }),
  }
}

/** `Authorization: Bearer <key>`; the scheme matches without regard to case (RFC 9110 §11.1). */
export function bearer(): Credential {
  return {
    name: 'Authorization',
    header: 'authorization',
    challenge: 'Bearer',
    scheme: { type: 'http', scheme: 'bearer' },
    isOffered: ({ authorization = '' }) => bearerScheme.test(authorization),
    decode: ({ authorization = '' }) => bearerToken.exec(authorization)?.[1],
    encode: (key) => ({ authorization: `Bearer ${key}` }),
  }
}

/** A header that holds the key alone, or behind `Bearer`. */
export function keyOrBearer(name: string): Credential {
  const alone = keyHeader(name)
  return {
    ...alone,
    decode(headers) {
      const value = headers[alone.header] ?? ''
      return bearerScheme.test(value) ? bearerToken.exec(value)?.[1] : alone.decode(headers)
    },
  }
}

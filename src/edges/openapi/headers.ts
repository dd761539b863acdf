/** The headers of requests and answers, for every form. */
import { requestScalars } from '../../wire/scalar.ts'
import type { Schema } from '../../wire/schema.ts'
import { reference } from './schemas.ts'

const text = { type: 'string' }
const seconds = { type: 'integer', minimum: 0 }
const names = { type: 'string', pattern: '^[^,]+(?:,[^,]+)*$' }

/** By name: what each header of an answer says. */
export const responseHeaders = {
  'X-Request-Id': header('The id of this request: your own `X-Request-Id`, or a new one. Please name it when you report a fault.', {
    type: 'string',
    pattern: '^[A-Za-z0-9._-]{1,128}$',
  }),
  'X-Swap-Form': header('The form of this answer.', text),
  'X-Swap-Provider': header('The tag of the provider that answered; absent where none did, and for a union of several.', text),
  'X-Swap-Derived': header('Fields of this answer that the gateway worked out itself, sorted, with commas between.', names),
  'X-Swap-Omitted': header('Fields of the form that are left out because nobody knows them, sorted, with commas between.', names),
  'X-Swap-Stale': header('How many seconds old this state is. It is sent where the provider cannot be asked now.', seconds),
  'RateLimit-Policy': header(
    'The limit that this request counted for (RFC 9651): `q` requests in `w` seconds.',
    text,
    '"quotes";q=60;w=60',
  ),
  RateLimit: header('Where you stand in that limit: `r` requests are left, for `t` seconds.', text, '"quotes";r=59;t=42'),
  'Retry-After': header('How many whole seconds to wait before you try again.', { type: 'integer', minimum: 1 }, 42),
  'Cache-Control': header('How long you may keep the answer; `no-store` for whatever needs a key, and for errors.', text),
  Age: header('How many seconds ago the provider said so.', seconds),
  ETag: header('The tag of these bytes. Send it in `If-None-Match`, and you get 304 while they are the same.', text),
  'Idempotent-Replayed': header(
    'This is the answer to an earlier request under the same `Idempotency-Key`; nothing was created again.',
    {
      type: 'string',
      enum: ['true'],
    },
  ),
  'WWW-Authenticate': header('How to send the key.', text),
  Allow: header('The methods that this path has.', text),
} as const

export type HeaderName = keyof typeof responseHeaders

function header(description: string, schema: Schema, example?: unknown): Schema {
  return { description, schema, ...(example !== undefined && { example }) }
}

const always: readonly HeaderName[] = [
  'X-Request-Id',
  'X-Swap-Form',
  'X-Swap-Provider',
  'Cache-Control',
  'RateLimit-Policy',
  'RateLimit',
]

/** The headers of an answer: those that any answer may have, and these. */
export function headersOf(...more: readonly HeaderName[]): Schema {
  return Object.fromEntries([...always, ...more].map((name) => [name, reference('headers', name)]))
}

/** The headers of a request that are no key, by the name of their component; `form` is what clients call the form. */
export function requestHeaders(form: string): Readonly<Record<string, Schema>> {
  const parameter = (name: string, description: string, schema: Schema): Schema => ({ name, in: 'header', description, schema })
  return {
    RequestId: parameter('X-Request-Id', 'Your own id for this request; it comes back.', {
      type: 'string',
      pattern: '^[A-Za-z0-9._-]{1,128}$',
    }),
    SwapForm: parameter('X-Swap-Form', 'The form, once more. Another one than that of the path is refused.', {
      type: 'string',
      enum: [form],
    }),
    SwapProvider: parameter(
      'X-Swap-Provider',
      'The tag of the provider that is to answer, where your operator lets you choose; any other is refused. It needs your key.',
      { type: 'string', pattern: '^[a-z0-9]{1,16}$' },
    ),
    IfNoneMatch: parameter('If-None-Match', 'The `ETag` of the answer that you have.', text),
    IdempotencyKey: parameter(
      'Idempotency-Key',
      'A name of your own for this create, so that asking again does not create again. Quotes around it may be left out.',
      { ...requestScalars.name.schema, pattern: '^[!-~]+$', maxLength: 512 },
    ),
  }
}

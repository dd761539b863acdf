/** The headers of requests and responses, for every form. */

import { warnings } from '../../domain/service.ts'
import { attentions, statuses } from '../../domain/status.ts'
import { requestScalars } from '../../wire/scalar.ts'
import type { Schema } from '../../wire/schema.ts'
import { reference } from './schemas.ts'

const text = { type: 'string' }
const seconds = { type: 'integer', minimum: 0 }
const names = { type: 'string', pattern: '^[^,]+(?:,[^,]+)*$' }

/** The response headers by name. */
export const responseHeaders = {
  'X-Request-Id': header(
    'The id of this request: your own `X-Request-Id`, or a new one. Please include it when you report an error.',
    {
      type: 'string',
      pattern: '^[A-Za-z0-9._-]{1,128}$',
    },
  ),
  'X-Swap-Form': header('The form of this response.', text),
  'X-Swap-Provider': header('The tag of the provider; absent if no provider responded, and for a merged list of several.', text),
  'X-Swap-Sandbox': header('Sent if any of this is about swaps that are not real ones: pay nothing for them.', {
    type: 'string',
    enum: ['true'],
  }),
  'X-Swap-Derived': header('Fields of this response that the gateway calculated, sorted and separated by commas.', names),
  'X-Swap-Omitted': header('Fields of the form that are omitted because they are unknown, sorted and separated by commas.', names),
  'X-Swap-Stale': header('The age of this stored state in seconds. Sent if the provider cannot be reached now.', seconds),
  'X-Swap-Attention': header(
    'This swap needs the provider’s or your operator’s support: the provider reported that it failed, or that a check holds it, or a status that is not known here, or has not found it for an hour. The status is the last known one. Send your user to support.',
    { type: 'string', enum: [...attentions] },
  ),
  'X-Swap-Poll-After': header('Seconds after which another get of this swap is worth while. Absent for a swap that has ended.', {
    type: 'integer',
    minimum: 1,
  }),
  'X-Swap-Warning': header(
    '`memo_recommended`: an address of this swap is on a network with memos or tags, and you have sent none for it. If its owner is an exchange, it probably needs one: ask your user before anything is paid. `rows_unreadable`, with a list: rows could not be read at the provider, and were left out. `ledger_restored`, with a list: the service was restored from a backup, and the list may lack swaps; create none of them again. `ledger_unavailable`, with a list: the deposit addresses are missing, since the service cannot tell now whether they may be paid, and so may be swaps that you made before the service changed its provider.',
    { type: 'string', enum: [...warnings] },
  ),
  'RateLimit-Policy': header('The limit of this request (RFC 9651): `q` requests in `w` seconds.', text, '"quotes";q=60;w=60'),
  RateLimit: header('The rest of this limit: `r` requests are left for `t` seconds.', text, '"quotes";r=59;t=42'),
  'Retry-After': header('The number of whole seconds to wait before you try again.', { type: 'integer', minimum: 1 }, 42),
  'Cache-Control': header('How long you may cache the response; `no-store` for operations with a key and for errors.', text),
  Age: header('The age of the provider’s data in seconds.', seconds),
  ETag: header('The tag of these bytes. Send it in `If-None-Match` to get 304 if they have not changed.', text),
  'Idempotent-Replayed': header(
    'This is the response to an earlier request with the same `Idempotency-Key`; nothing was created again.',
    {
      type: 'string',
      enum: ['true'],
    },
  ),
  'X-Swap-Status': header(
    'The newest known status of this swap, in a repeated response: its body is that of the first one. Absent while the swap waits for its deposit.',
    { type: 'string', enum: statuses.filter((status) => status !== 'wait') },
  ),
  'Preference-Applied': header('What of your `Prefer` was done: `amounts=text`; `wait=N`, if this request has waited.', text),
  Link: header('Where this reason is explained; absent if your operator serves no reference.', text, '</docs#limited>; rel="help"'),
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
  'X-Swap-Sandbox',
  'Cache-Control',
  'RateLimit-Policy',
  'RateLimit',
  'Preference-Applied',
]

/** The headers of a response: those that any response may have, and these. */
export function headersOf(...more: readonly HeaderName[]): Schema {
  return Object.fromEntries([...always, ...more].map((name) => [name, reference('headers', name)]))
}

interface DescribedHeaders {
  /** The tags to choose from, if known. */
  readonly picks: readonly string[] | undefined
  readonly hasAmountsAsText: boolean
  readonly requiresIdempotencyKey: boolean
}

/** The request headers except the key, by the name of their component; `form` is the name of the form. */
export function requestHeaders(
  form: string,
  { picks, hasAmountsAsText, requiresIdempotencyKey }: DescribedHeaders,
): Readonly<Record<string, Schema>> {
  const parameter = (name: string, description: string, schema: Schema): Schema => ({ name, in: 'header', description, schema })
  return {
    RequestId: parameter('X-Request-Id', 'Your own id for this request; the response returns it.', {
      type: 'string',
      pattern: '^[A-Za-z0-9._-]{1,128}$',
    }),
    SwapForm: parameter('X-Swap-Form', 'The form again. It must be the form of the path.', {
      type: 'string',
      enum: [form],
    }),
    ...(picks?.length !== 0 && {
      SwapProvider: parameter(
        'X-Swap-Provider',
        'The tag of the provider for this request, if your operator lets you choose; any other is rejected. It needs your key.',
        { type: 'string', ...(picks ? { enum: picks } : { pattern: '^[a-z0-9]{1,16}$' }) },
      ),
    }),
    Prefer: hasAmountsAsText
      ? {
          ...parameter(
            'Prefer',
            'Without it each amount of the response is a number, where this description has a string (RFC 7240).',
            {
              type: 'string',
              enum: ['amounts=text'],
            },
          ),
          required: true,
        }
      : parameter(
          'Prefer',
          '`amounts=text` (RFC 7240): each amount of the response is a string with the same digits, where this description has a number. `wait=N`, with a create that is repeated under its `Idempotency-Key`: it waits up to N seconds for its outcome.',
          text,
        ),
    IfNoneMatch: parameter('If-None-Match', 'The `ETag` of your cached response.', text),
    IdempotencyKey: {
      ...parameter(
        'Idempotency-Key',
        'Your own key for this create, so that a repeated request does not create again. Quotes around it are optional.',
        { ...requestScalars.name.schema, pattern: '^[!-~]+$', maxLength: 512 },
      ),
      ...(requiresIdempotencyKey && { required: true }),
    },
  }
}

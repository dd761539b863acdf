/** Encodes the body of a response in a client's form. */

import type { Op, Request } from '../domain/swap/operations.ts'
import type { ServiceResponse } from '../domain/swap/service.ts'
import type { Observer } from '../domain/telemetry/observation.ts'
import { encodePage } from '../wire/codec/envelope.ts'
import { entityTag } from '../wire/entity-tag.ts'
import type { Form, OperationCodec } from '../wire/form.ts'

export interface EncodeOptions {
  readonly maxAgeSeconds: Readonly<Partial<Record<Op, number>>>
  readonly observe: Observer
  /** A cache of encoded pages. */
  readonly encodedPages: WeakMap<object, Encoded>
}

interface Encoded {
  readonly text: string
  /** Wire names of the omitted fields. */
  readonly omitted: readonly string[]
  /** Undefined if the response must not be cached. */
  readonly etag: string | undefined
}

/** Encodes a response. If clients may cache it, adds an ETag and encodes each page only once. */
export function encodeBody(
  body: ServiceResponse<Op>['body'],
  request: Request<Op>,
  operation: OperationCodec,
  form: Form,
  { maxAgeSeconds, encodedPages }: EncodeOptions,
): Encoded {
  const isCacheable = maxAgeSeconds[operation.op] !== undefined
  const cached = isCacheable && operation.paged ? encodedPages.get(body) : undefined
  if (cached) return cached
  const omitted = new Set<string>()
  const text = print(body, request, operation, form, omitted)
  const encoded = { text, omitted: [...omitted], etag: isCacheable ? entityTag(text) : undefined }
  if (isCacheable && operation.paged) encodedPages.set(body, encoded)
  return encoded
}

function print(
  body: ServiceResponse<Op>['body'],
  request: Request<Op>,
  { paged, responseCodec }: OperationCodec,
  form: Form,
  omitted: Set<string>,
): string {
  if (!(paged && 'items' in body && 'page' in request)) return responseCodec.encode(body, omitted)
  const { items, total } = body
  const { page, size } = request
  return encodePage(
    form.page,
    items.map((item) => responseCodec.encode(item, omitted)),
    { page, size, total },
  )
}

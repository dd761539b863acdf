/** Encodes the body of a response in a client's form. */

import type { Op, Request } from '../domain/swap/operations.ts'
import type { Encoding, ServiceResponse } from '../domain/swap/service.ts'
import type { Observer } from '../domain/telemetry/observation.ts'
import { encodePage } from '../wire/codec/envelope.ts'
import { entityTag } from '../wire/entity-tag.ts'
import type { Form, OperationCodec } from '../wire/form.ts'

export interface EncodeOptions {
  readonly maxAgeSeconds: Readonly<Partial<Record<Op, number>>>
  readonly observe: Observer
}

/** Encodes a response; a cached page only once. If clients may cache it, adds an ETag. */
export function encodeBody(
  { body, encodings }: ServiceResponse<Op>,
  request: Request<Op>,
  operation: OperationCodec,
  form: Form,
  { maxAgeSeconds }: EncodeOptions,
): Encoding {
  const cached = encodings?.get(form.name)
  if (cached) return cached
  const omitted = new Set<string>()
  const text = print(body, request, operation, form, omitted)
  const isCacheable = maxAgeSeconds[operation.op] !== undefined
  const encoding = { text, omitted: [...omitted], etag: isCacheable ? entityTag(text) : undefined }
  encodings?.set(form.name, encoding)
  return encoding
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

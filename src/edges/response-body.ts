/** Encodes the body of a response in a client's form. */

import type { Observer } from '../domain/observation.ts'
import type { Encoding, Op, Request, ServiceResponse } from '../domain/service.ts'
import type { Form, OperationCodec } from '../wire/form.ts'
import { entityTag } from '../wire/http.ts'
import { encodePage } from '../wire/response-table.ts'

export interface EncodeOptions {
  readonly maxAgeSeconds: Readonly<Partial<Record<Op, number>>>
  readonly observe: Observer
}

/** Characters of pages. Requests that waited for one list get their pages at once, and of more than these only one in each turn. */
const maxPerTurn = 2 * 1_048_576
/** In this turn of the event loop. */
let encodedCharacters = 0
let isTurnScheduled = false
const waiting: { readonly isEncoded: () => boolean; readonly resume: () => void }[] = []

/** Waits until the pages that were encoded before can have been written: they would take the memory, all at once. */
export async function turnToEncode({ encodings }: ServiceResponse<Op>, form: Form): Promise<void> {
  const isEncoded = (): boolean => encodings?.get(form.name) !== undefined
  if (isEncoded() || (encodedCharacters < maxPerTurn && waiting.length === 0)) return
  await new Promise<void>((resume) => waiting.push({ isEncoded, resume }))
}

function count(characters: number): void {
  encodedCharacters += characters
  if (isTurnScheduled) return
  isTurnScheduled = true
  setImmediate(endTurn)
}

function endTurn(): void {
  encodedCharacters = 0
  while (waiting[0]?.isEncoded()) waiting.shift()?.resume()
  const next = waiting.shift()
  isTurnScheduled = next !== undefined
  if (!next) return
  setImmediate(endTurn)
  next.resume()
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
  if (operation.paged) count(text.length)
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

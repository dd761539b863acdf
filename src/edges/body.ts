/** The body of an answer in a client's form. */
import type { Observer } from '../domain/observation.ts'
import type { Answer, Op, Request } from '../domain/operations.ts'
import type { CurrencyQuery, Page, TransactionQuery } from '../domain/swap.ts'
import { entityTag } from '../wire/entity-tag.ts'
import { encodePage } from '../wire/envelope.ts'
import type { Form, OperationCodec } from '../wire/form.ts'

type Row = Readonly<Record<string, unknown>>

export interface Encoding {
  readonly lifetimes: Readonly<Partial<Record<Op, number>>>
  readonly observe: Observer
  /** Pages that are told again and again, ready-made. */
  readonly ready: WeakMap<object, Encoded>
}

interface Encoded {
  readonly text: string
  /** Wire names of the fields that are left out. */
  readonly omitted: readonly string[]
  /** Absent where the answer is never kept. */
  readonly tag: string | undefined
}

/** What may be kept may be asked for again: it has a tag, and a page of it is made once. */
export function encodeBody(
  body: Answer<Op>['body'],
  question: Request<Op>,
  operation: OperationCodec,
  form: Form,
  { lifetimes, ready }: Encoding,
): Encoded {
  const isKept = lifetimes[operation.op] !== undefined
  const before = isKept && operation.paged ? ready.get(body) : undefined
  if (before) return before
  const omitted = new Set<string>()
  const text = print(body, question, operation, form, omitted)
  const encoded = { text, omitted: [...omitted], tag: isKept ? entityTag(text) : undefined }
  if (isKept && operation.paged) ready.set(body, encoded)
  return encoded
}

function print(
  body: Answer<Op>['body'],
  question: Request<Op>,
  { paged, answer }: OperationCodec,
  form: Form,
  omitted: Set<string>,
): string {
  if (!paged) return answer.encode(body as unknown as Row, omitted)
  const { items, total } = body as Page<never>
  const { page, size } = question as CurrencyQuery | TransactionQuery
  return encodePage(
    form.page,
    items.map((item) => answer.encode(item as Row, omitted)),
    { page, size, total },
  )
}

/**
 * Decodes a provider's response by the table of its form: one row, or the rows of a page. No response blocks the event loop for over 250 ms. Not
 * of the form are also: more than 200,000 values, a text over 4,096 characters in a field of a transaction, a time that is no moment, more than
 * two codings, a fee (out of the amount received) below 0 or above that amount. A row of currencies over 64 KiB is a bad row. A maximum that is
 * null, absent, empty, negative or the largest number of a program is none.
 */
import { inSlices } from '../domain/async.ts'
import type { Confidential } from '../domain/confidential.ts'
import { standardFault } from '../domain/fault.ts'
import { JsonError, type JsonValue, parseJson, parseJsonList } from '../wire/json.ts'
import { type DecodedPage, decodePage } from '../wire/page.ts'
import type { ProviderCall, ProviderOperation } from '../wire/provider-operation.ts'
import { readUnreadable, type UnreadableFields } from '../wire/response.ts'
import type { DecodeContext, DecodedRow, Given, ResponseFields } from '../wire/response-nodes.ts'
import { memberAt } from '../wire/table.ts'
import { EmptyResponse, WireError } from '../wire/wire-error.ts'

/** A response, as text and as JSON. */
export interface ResponseDocument {
  readonly text: string
  readonly body: JsonValue
}

/** The requested page. */
export interface PageQuery {
  readonly page: number
  readonly size: number
}

/** No response but a list is longer; most that are wait for a turn of the queue in vain. */
const maxShortLength = 65_536
/** Of one page: some thousand coins with their networks, in one response, is the most that a provider has. */
const maxRows = 20_000

/** The responses of one provider. Throws a `Fault` `unreadable` for one that does not match the form. */
export class ResponseDecoder {
  /** The provider's tag. */
  private readonly provider: string
  private readonly confidential: Confidential
  private readonly context: DecodeContext

  constructor(provider: string, confidential: Confidential, context: DecodeContext) {
    this.provider = provider
    this.confidential = confidential
    this.context = context
  }

  /** A long text is parsed in slices. */
  parse(text: string): ResponseDocument | Promise<ResponseDocument> {
    if (text.length > maxShortLength) return this.parseLong(text)
    try {
      return { text, body: parseJson(text) }
    } catch (reason) {
      throw this.toUnreadable(reason)
    }
  }

  private async parseLong(text: string): Promise<ResponseDocument> {
    try {
      return { text, body: await parseJsonList(text) }
    } catch (reason) {
      throw this.toUnreadable(reason)
    }
  }

  decode(call: ProviderCall, { text, body }: ResponseDocument, given?: Given): DecodedRow {
    try {
      const row = call.responseCodec.decode(body, this.context, given)
      this.accept(call, row.fields, text, this.mayContainKey(text))
      return row
    } catch (reason) {
      if (reason instanceof EmptyResponse && call.op === 'getTransaction')
        throw standardFault('notFound', { provider: this.provider, cause: reason })
      throw this.toUnreadable(reason)
    }
  }

  /** `acceptsUnreadableRows`: rows that do not match the form are returned separately, with their readable fields. */
  async decodePage(
    operation: ProviderOperation,
    { text, body }: ResponseDocument,
    query: PageQuery,
    acceptsUnreadableRows: boolean,
  ): Promise<DecodedRows> {
    try {
      const page = decodePage(operation.page ?? 'items', body, this.context)
      const rows = page.items.filter((item) => counts(operation, item))
      const read = await (acceptsUnreadableRows ? this.readTolerantly(operation, rows, text) : this.readRows(operation, rows, text))
      return { ...read, ...extentOf(page, query, operation), ...(isSpread(read, page) && { rowCount: page.items.length }) }
    } catch (reason) {
      throw this.toUnreadable(reason)
    }
  }

  private async readTolerantly(operation: ProviderOperation, rows: readonly JsonValue[], text: string): Promise<ReadRows> {
    const { responseCodec } = operation
    const given = emptyTexts(operation)
    const mayContainKey = this.mayContainKey(text)
    const derived = new Set<string>()
    const unreadable: UnreadableFields[] = []
    const items: ResponseFields[] = []
    await inSlices(rows, (item) => {
      try {
        const decoded = responseCodec.decodeRows(item, this.context, given)
        for (const row of decoded) this.accept(operation, row.fields, text, mayContainKey)
        for (const row of decoded) keep(row, operation, items, derived)
      } catch (reason) {
        if (!(reason instanceof WireError)) throw reason
        this.context.drift(reason.field || '_other', 'badRow')
        unreadable.push(readUnreadable(responseCodec, item))
      }
    })
    return { items, derived, unreadable }
  }

  /** A row of swaps that cannot be read takes no other one along. */
  private async readRows(operation: ProviderOperation, rows: readonly JsonValue[], text: string): Promise<ReadRows> {
    const { responseCodec } = operation
    const dropsBadRows = operation.dropsBadRows || operation.op === 'listTransactions'
    const given = emptyTexts(operation)
    const mayContainKey = this.mayContainKey(text)
    const derived = new Set<string>()
    const items: ResponseFields[] = []
    let dropped = 0
    await inSlices(rows, (item) => {
      try {
        for (const row of responseCodec.decodeRows(item, this.context, given)) keep(row, operation, items, derived)
        if (items.length > maxRows) throw new JsonError(`more than ${maxRows} rows`, 'too_large')
      } catch (reason) {
        if (!dropsBadRows || !(reason instanceof WireError)) throw reason
        this.context.drift(reason.field || '_other', 'badRow')
        dropped++
      }
    })
    await inSlices(items, (fields) => this.accept(operation, fields, text, mayContainKey))
    return { items, derived, dropped }
  }

  /** One search of the whole text saves one per field. With escapes each field must be searched. */
  private mayContainKey(text: string): boolean {
    return this.confidential.containsKey(text) || text.includes('\\')
  }

  /** Throws if a row of this text contains a key, and removes confidential notes. */
  private accept({ responseNames }: ProviderCall, fields: ResponseFields, text: string, mayContainKey: boolean): void {
    const field = removeConfidential(fields, this.confidential, mayContainKey)
    if (field !== undefined) throw new WireError(responseNames.get(field) ?? field, 'it contains a key')
    detach(fields, text)
  }

  private toUnreadable(reason: unknown): unknown {
    if (!(reason instanceof WireError || reason instanceof JsonError)) return reason
    this.context.drift((reason instanceof WireError && reason.field) || '_other', 'unreadable')
    const failureCause = reason instanceof JsonError ? reason.failureCause : 'not_of_form'
    return standardFault('unreadable', { provider: this.provider, failureCause, cause: reason })
  }
}

// The rows of a page.

/** The items of a page, the fields that they lacked, and how many there are. */
export interface DecodedRows extends ReadRows {
  readonly total: number
  readonly hasMore?: boolean
  /** The rows in the provider's list, where each is several items or none. */
  readonly rowCount?: number
}

interface ReadRows {
  readonly items: readonly ResponseFields[]
  readonly derived: ReadonlySet<string>
  /** The number of rows that do not match the form. */
  readonly dropped?: number
  readonly unreadable?: readonly UnreadableFields[]
}

function isSpread({ items, dropped = 0, unreadable = [] }: ReadRows, page: DecodedPage): boolean {
  return items.length + dropped + unreadable.length !== page.items.length
}

function counts({ only }: ProviderOperation, item: JsonValue): boolean {
  return only.every(([name, value]) => memberAt(item, [name]) === value)
}

/** Texts that a row may lack are empty, and not derived. */
function emptyTexts({ assumes }: ProviderOperation): Given {
  return { assumed: Object.fromEntries(assumes.map((field) => [field, ''])) }
}

function keep({ fields, derived }: DecodedRow, { assumes }: ProviderOperation, items: ResponseFields[], all: Set<string>): void {
  items.push(fields)
  for (const field of derived) if (!assumes.includes(field)) all.add(field)
}

/** Rows without a total: there are more if the provider says so, else if the page is full, or is not the last one. A list without pages is whole. */
function extentOf(
  { items, total, lastPage, hasMore: saysMore }: DecodedPage,
  { page, size }: PageQuery,
  { requestCodec }: ProviderOperation,
): { readonly total: number; readonly hasMore?: boolean } {
  if (total !== undefined) return { total }
  const hasPages = requestCodec.slots.some(({ field }) => field === 'page' || (field as string) === 'offset')
  if (!hasPages) return { total: items.length }
  const hasMore = saysMore ?? (lastPage === undefined ? items.length >= size : page < lastPage)
  return { total: (page - 1) * size + items.length, hasMore }
}

// Filters providers' responses: no key in any field, and no confidential text in free text (docs/contract-operators.md §8).

/** Free text that is omitted if it is confidential. A rate's `message` may be a rejection: another layer handles it. */
const notesField = 'notes'
const freeTextFields: ReadonlySet<string> = new Set([notesField, 'message'])

type Row = Record<string, unknown>

/** Returns the first field that contains a key: the response must then be rejected. Undefined if there is none. Removes confidential `notes`. */
export function removeConfidential(row: Row, confidential: Confidential, mayContainKey: boolean): string | undefined {
  const notes = row[notesField]
  if (typeof notes === 'string' && confidential.containsWord(notes)) row[notesField] = undefined
  if (!mayContainKey) return undefined
  for (const field in row) {
    const value = row[field]
    if (typeof value === 'string' && !freeTextFields.has(field) && confidential.containsKey(value)) return field
  }
  return undefined
}

/** V8 copies shorter strings; longer ones are slices that keep their source text in memory. */
const minSliceLength = 13
/** Parts of a source text up to this length may keep it in memory. */
const maxSharedLength = 2_048

/** Copies the strings of a row from a large text, so that a stored field does not keep the whole text in memory. */
export function detach(row: Row, text: string): void {
  if (text.length <= maxSharedLength) return
  for (const field in row) {
    const value = row[field]
    if (typeof value === 'string' && value.length >= minSliceLength) row[field] = detachedString(value)
  }
}

/** A slice of a new string keeps only that string, which is one character longer. */
function detachedString(text: string): string {
  return ` ${text}`.slice(1)
}

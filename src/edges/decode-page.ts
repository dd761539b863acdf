/** Decodes a page of a provider's list by the table of its form. */
import { inSlices } from '../domain/async.ts'
import type { Context } from '../domain/service.ts'
import { JsonError, type JsonValue } from '../wire/json.ts'
import type { ProviderOperation } from '../wire/provider-operation.ts'
import type { Given, ResponseFields } from '../wire/response-table.ts'
import { type DecodedPage, decodePage, readUnreadable, type UnreadableFields } from '../wire/response-table.ts'
import { memberAt } from '../wire/table.ts'
import { WireError } from '../wire/wire-error.ts'
import { accepting, type DecodeOptions, type ResponseDocument, toUnreadable } from './decode-response.ts'

/** For a page: also a callback for amounts that are not the provider's own. */
export interface PageOptions extends DecodeOptions {
  readonly onDerived: (field: string) => void
}

/** Of one page: some thousand coins with their networks, in one response, is the most that a provider has. */
const maxRows = 20_000

/** The requested page. */
export interface PageQuery {
  readonly page: number
  readonly size: number
}

/** Decodes the response of a paged operation. */
export async function readPaged(
  operation: ProviderOperation,
  { text, body }: ResponseDocument,
  query: PageQuery,
  options: PageOptions,
  { acceptsUnreadableRows }: Pick<Context, 'acceptsUnreadableRows'>,
): Promise<object> {
  const accept = accepting(operation, text, options)
  try {
    const page = decodePage(operation.page ?? 'items', body, options.decodeContext)
    const rows = page.items.filter((item) => counts(operation, item))
    const read = acceptsUnreadableRows
      ? await readTolerantly(operation, rows, options, accept)
      : await readRows(operation, rows, options, accept)
    return { ...read, ...extentOf(page, query, operation), ...(isSpread(read, page) && { rowCount: page.items.length }) }
  } catch (reason) {
    throw toUnreadable(reason, options)
  }
}

/** Texts that a row may lack are empty, without a report as derived. */
function assumedIn({ assumes }: ProviderOperation, { onDerived }: PageOptions): Given {
  const assumed = assumes.length === 0 ? undefined : Object.fromEntries(assumes.map((field) => [field, '']))
  return { assumed, onAssumed: (field) => assumes.includes(field) || onDerived(field) }
}

function counts({ only }: ProviderOperation, item: JsonValue): boolean {
  return only.every(([name, value]) => memberAt(item, [name]) === value)
}

/** Rows without a total: there are more if the page is full, or is not the last one. A list without pages is whole. */
function extentOf(
  { items, total, lastPage }: DecodedPage,
  { page, size }: PageQuery,
  { requestCodec }: ProviderOperation,
): { readonly total: number; readonly hasMore?: boolean } {
  if (total !== undefined) return { total }
  const hasPages = requestCodec.slots.some(({ field }) => field === 'page' || (field as string) === 'offset')
  if (!hasPages) return { total: items.length }
  const hasMore = lastPage === undefined ? items.length >= size : page < lastPage
  return { total: (page - 1) * size + items.length, hasMore }
}

interface ReadRows {
  readonly items: readonly ResponseFields[]
  /** The number of rows that do not match the form. */
  readonly dropped?: number
  readonly unreadable?: readonly UnreadableFields[]
}

function isSpread({ items, dropped = 0, unreadable = [] }: ReadRows, page: DecodedPage): boolean {
  return items.length + dropped + unreadable.length !== page.items.length
}

/** Returns rows that do not match the form separately, with their readable fields. */
async function readTolerantly(
  operation: ProviderOperation,
  rows: readonly JsonValue[],
  options: PageOptions,
  accept: (row: ResponseFields) => ResponseFields,
): Promise<ReadRows> {
  const { responseCodec } = operation
  const { decodeContext } = options
  const given = assumedIn(operation, options)
  const unreadable: UnreadableFields[] = []
  const items: ResponseFields[] = []
  await inSlices(rows, (item) => {
    try {
      for (const row of responseCodec.decodeRows(item, decodeContext, given).map(accept)) items.push(row)
    } catch (reason) {
      if (!(reason instanceof WireError)) throw reason
      decodeContext.drift(reason.field || '_other', 'badRow')
      unreadable.push(readUnreadable(responseCodec, item))
    }
  })
  return { items, unreadable }
}

/** Accepts a provider's whole list as one page. */
async function readRows(
  operation: ProviderOperation,
  rows: readonly JsonValue[],
  options: PageOptions,
  accept: (row: ResponseFields) => ResponseFields,
): Promise<ReadRows> {
  const { responseCodec, dropsBadRows } = operation
  const { decodeContext } = options
  const given = assumedIn(operation, options)
  const items: ResponseFields[] = []
  let dropped = 0
  await inSlices(rows, (item) => {
    try {
      for (const row of responseCodec.decodeRows(item, decodeContext, given)) items.push(row)
      if (items.length > maxRows) throw new JsonError(`more than ${maxRows} rows`)
    } catch (reason) {
      if (!dropsBadRows || !(reason instanceof WireError)) throw reason
      decodeContext.drift(reason.field || '_other', 'badRow')
      dropped++
    }
  })
  await inSlices(items, accept)
  return { items, dropped }
}

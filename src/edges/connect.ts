/** The provider's edge: a `SwapService` that calls a provider over HTTP in its form. The inverse of `serve`. */
import { isSameButForRounding } from '../domain/amount.ts'
import { inSlices, withDefault } from '../domain/async.ts'
import { explainedByLimits, Fault, generalMessage, standardFault } from '../domain/fault.ts'
import type { Context, Op, Request, ResponseBody, ServiceResponse, SwapService } from '../domain/service.ts'
import type { Rate } from '../domain/swap.ts'
import { JsonError, type JsonValue } from '../wire/json.ts'
import type { ProviderCall, ProviderOperation } from '../wire/provider-operation.ts'
import {
  type DecodedPage,
  decodePage,
  type Given,
  type ResponseFields,
  readUnreadable,
  type UnreadableFields,
} from '../wire/response-table.ts'
import { memberAt } from '../wire/table.ts'
import { WireError } from '../wire/wire-error.ts'
import { type Connection, notOffered, operationOf, type Sender, sender } from './call.ts'
import { accepting, type DecodeOptions, decodeResponse, type ResponseDocument, toUnreadable } from './decode-response.ts'

type Respond = <O extends Op>(op: O, request: Request<O>, context: Context, quote?: Rate) => Promise<ServiceResponse<O>>

/**
 * Throws a `Fault`: `invalid` if the form cannot express the request, `unreadable` if the response does not match the form. An
 * operation may take several calls; that of a create is the last one and is sent once.
 */
export function connect(connection: Connection): SwapService {
  const { form } = connection
  const calls = sender(connection)
  const respond: Respond = (op, request, context, quote) => {
    const operation = operationOf(form, op, request)
    if (!operation) return Promise.reject(notOffered(form, op, request))
    return 'page' in request ? page(calls, operation, request, context) : single(calls, operation, request, context, quote)
  }
  return {
    call(op, request, context) {
      const isQuotedFirst = op === 'createTransaction' && 'rateType' in request && form.quotedFirst.has(request.rateType)
      return isQuotedFirst ? createWithQuote(connection, respond, op, request, context) : respond(op, request, context)
    },
  }
}

/** Requests a quote for this create only and uses its id at once. If the quote fails or is for another swap, nothing was created. */
async function createWithQuote<O extends Op>(
  connection: Connection,
  respond: Respond,
  op: O,
  request: Request<O>,
  context: Context,
): Promise<ServiceResponse<O>> {
  const { provider, isOtherPair } = connection
  const { withdrawalAddress, withdrawalExtraId, refundAddress, refundExtraId, reference, ...query } =
    request as Request<'createTransaction'>
  const { body: quote } = await respond('getRate', query, context).catch((reason) => {
    throw refusesOwnKey(Fault.from(reason), connection, context)
      ? standardFault('accessRefused', { effect: 'refused', cause: reason }) // without the provider: it has not seen the client's key
      : withoutEffect(Fault.from(reason))
  })
  const { quoteId, rateType = query.rateType } = quote
  if (
    rateType !== query.rateType ||
    isOtherPair(query, quote, context.pair) ||
    !isSameButForRounding(quote.amountIn, query.amountIn)
  )
    throw otherQuote(provider)
  if (quoteId === undefined)
    throw new Fault('failed', 'The provider has no fixed quote; please try again later.', { effect: 'refused' })
  await context.beforeSend?.()
  return { ...(await respond(op, { ...request, quoteId }, context, quote)), quotedAmountOut: quote.amountOut }
}

/** The failure of a quote leaves nothing behind: the create was not sent. */
function withoutEffect(fault: Fault): Fault {
  return fault.effect === 'maybe' ? fault.with({ effect: 'refused' }) : fault
}

/** Whether the key of a quote is refused, and is not the one that the create is sent with. */
function refusesOwnKey({ kind }: Fault, { keyOf }: Connection, context: Context): boolean {
  return kind === 'unauthorized' && keyOf(context, { op: 'getRate' }) !== keyOf(context, { op: 'createTransaction' })
}

function otherQuote(provider: string): Fault {
  return new Fault('unreadable', 'The provider returned a quote for another swap; please try again later.', {
    provider,
    effect: 'refused',
    reason: 'mismatch',
  })
}

/** One page of a list; empty without a call after the first page of a list that has no pages. */
async function page<O extends Op>(
  calls: Sender,
  operation: ProviderOperation,
  query: PageRequest,
  context: Context,
): Promise<ServiceResponse<O>> {
  const { page: number, size, ...filters } = query
  const places = knownFields({ page: number, size, offset: (number - 1) * size }, operation)
  if (!('page' in places || 'offset' in places) && number > 1) return responseOf(calls, { items: [], total: 0 }, [])
  const derived = new Set<string>()
  const options = { ...calls.options, onDerived: (field: string) => void derived.add(field) }
  const pending = calls.send(operation, { ...filters, ...places }, context, (document) =>
    readPaged(operation, document, query, options, context),
  )
  const fields = await pending.catch((reason) => {
    const fault = Fault.from(reason)
    if (fault.kind !== 'notFound') throw reason
    if (number > 1) return { items: [], total: (number - 1) * size, hasMore: false }
    // A search must not conclude from it that there is nothing.
    if (operation.op === 'listTransactions' && !context.isGatewayCall) return { items: [], total: 0 }
    throw standardFault('failed', { provider: calls.options.provider, effect: 'refused', cause: reason })
  })
  return responseOf(calls, fields, [...derived])
}

type PageRequest = Request<'listTransactions'> | Request<'listCurrencies'>

/** How long a response waits for that of the call beside it. */
const besideGraceMs = 1_000

/** `derived`: fields that the provider's response lacked. */
function responseOf<O extends Op>({ options }: Sender, fields: object, derived: readonly string[]): ServiceResponse<O> {
  return { body: fields as ResponseBody<O>, provider: options.provider, ...(derived.length > 0 && { derived }) }
}

/** The call of an operation, with the fields of the call beside it. A refusal gets the limits from the other call, which is the only one if nothing else is needed. */
async function single<O extends Op>(
  calls: Sender,
  operation: ProviderOperation,
  request: Request<Op>,
  context: Context,
  quote: Rate | undefined,
): Promise<ServiceResponse<O>> {
  if (context.needsAmountRangeOnly && operation.also)
    return responseOf(calls, await sendBeside(calls, operation.also, request, context), [])
  // Without its response the fields of this call are not known; the operation goes on.
  const beside = operation.also && sendBeside(calls, operation.also, request, context).catch(() => undefined)
  const besideSoon = async (): Promise<ResponseFields | undefined> => beside && withDefault(beside, besideGraceMs, undefined)
  const derived: string[] = []
  const assumed = assumedFields(operation, request, quote)
  // An amount that is not there says nothing: it is judged with those that do.
  const mayLack = operation.op === 'createTransaction' ? 'amountOut' : undefined
  const onAssumed = (field: string): void => void derived.push(field)
  const nulls = new Set<string>()
  const fallbacks = new Set<string>()
  const onNull = (field: string): void => void nulls.add(field)
  const onFallback = (field: string): void => void fallbacks.add(field)
  const decode = (document: ResponseDocument, fields?: ResponseFields): ResponseFields =>
    decodeResponse(operation, document, calls.options, { fields, assumed, onAssumed, onNull, onFallback, mayLack })
  try {
    const fields = await calls.send(operation, request, context, (document) =>
      beside ? besideSoon().then((besideFields) => decode(document, besideFields)) : decode(document),
    )
    if (operation.refusesByLimits) refuseByLimits(fields, request)
    const response = responseOf<O>(calls, fields, derived)
    if (operation.op !== 'getTransaction') return response
    const deniesRefund = nulls.has('refundAddress') && fields.refundAddress === undefined
    const lacksPayout = isPayoutMissing(fields, fallbacks, operation)
    return { ...response, ...(deniesRefund && { deniesRefund }), ...(lacksPayout && { lacksPayout }) }
  } catch (reason) {
    const fault = Fault.from(reason)
    throw mayBeAboutAmount(fault) ? withLimits(fault, request, await besideSoon()) : fault
  }
}

/** Of a form without the hash only the amount counts. */
function isPayoutMissing(
  { status, amountOut, txHashOut }: ResponseFields,
  fallbacks: ReadonlySet<string>,
  { responseNames }: ProviderOperation,
): boolean {
  const isAgreedOnly = amountOut === undefined || fallbacks.has('amountOut')
  return status === 'success' && (isAgreedOnly || (responseNames.has('txHashOut') && txHashOut === undefined))
}

function refuseByLimits(fields: ResponseFields, request: Request<Op>): void {
  const fault = withLimits(new Fault('invalid', generalMessage, { effect: 'refused', reason: 'refused' }), request, fields)
  if (fault.reason !== 'refused') throw fault
}

function sendBeside(calls: Sender, call: ProviderCall, request: object, context: Context): Promise<ResponseFields> {
  return calls.send(call, knownFields(request, call), context, (document) => decodeResponse(call, document, calls.options))
}

function mayBeAboutAmount({ kind, reason }: Fault): boolean {
  return kind === 'invalid' && reason === 'refused'
}

function withLimits(fault: Fault, request: Request<Op>, { minAmount, maxAmount }: Partial<Rate> = {}): Fault {
  return 'amountIn' in request ? explainedByLimits(fault, { amountIn: request.amountIn, minAmount, maxAmount }) : fault
}

/** The fields that the call can express. */
function knownFields(fields: object, { requestCodec }: ProviderCall): object {
  const known = new Set<string>(requestCodec.slots.map(({ field }) => field))
  return Object.fromEntries(Object.entries(fields).filter(([field]) => known.has(field)))
}

/** Fields that the response may lack: those of the request and of its quote, and the time of the call. */
function assumedFields(
  { op, assumes: own }: ProviderOperation,
  request: object,
  quote: Partial<Rate> = {},
): ResponseFields | undefined {
  const assumes = op === 'createTransaction' ? [...own, 'amountIn'] : own
  if (assumes.length === 0) return undefined
  const known: ResponseFields = { ...quote, ...request, status: 'wait', createdAt: new Date().toISOString() }
  return Object.fromEntries(assumes.map((field) => [field, known[field]]))
}

// Decodes a page of a provider's list by the table of its form.

/** For a page: also a callback for amounts that are not the provider's own. */
interface PageOptions extends DecodeOptions {
  readonly onDerived: (field: string) => void
}

/** Of one page: some thousand coins with their networks, in one response, is the most that a provider has. */
const maxRows = 20_000

/** The requested page. */
interface PageQuery {
  readonly page: number
  readonly size: number
}

/** Decodes the response of a paged operation. */
async function readPaged(
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

/** The provider's edge: a `SwapService` that calls a provider over HTTP in its form. The inverse of `serve`. */
import { type Amount, isSameButForRounding, isZero, zero } from '../domain/amount.ts'
import { withDefault } from '../domain/async.ts'
import { acceptsUnreadableRows, beforeSend, needsAmountRangeOnly, promisedAmounts } from '../domain/call-options.ts'
import { valueIn } from '../domain/context-values.ts'
import { explainedByAmountRange, Fault, generalMessage, standardFault } from '../domain/fault.ts'
import type { Context, Op, Request, ResponseBody, ServiceResponse, SwapService } from '../domain/service.ts'
import { type NewTransaction, type Rate, type RateQuery, type RequestedAmount, requestedAmountOf } from '../domain/swap.ts'
import type { SwapAction, SwapActionRequest } from '../domain/swap-action.ts'
import type { ProviderCall, ProviderOperation } from '../wire/provider-operation.ts'
import type { DecodedRow, ResponseFields, ResponseSlot } from '../wire/response-nodes.ts'
import { Calls, type Connection, noQuoteId, notOffered, operationOf } from './call.ts'

/**
 * Throws a `Fault`: `invalid` if the form cannot express the request, `unreadable` if the response does not match the form. An
 * operation may take several calls; that of a create is the last one and is sent once.
 */
export function connect(connection: Connection): SwapService {
  const calls = new Calls(connection)
  return {
    call(op, request, context) {
      const { quotedFirst } = connection.form
      if (op === 'getRate' && 'isFirm' in request && request.isFirm) return firmQuote(calls, request as RateQuery, context)
      if (op !== 'createTransaction') return respond(calls, op, request, context)
      const { rateType, quoteId, amountOut } = request as NewTransaction
      if (quoteId !== undefined) {
        const { quotedAmount } = valueIn(context, promisedAmounts)
        const quote = amountOut === undefined ? { amountOut: quotedAmount } : { amountIn: quotedAmount }
        return respond(calls, op, request, context, quote as Partial<Rate>)
      }
      return quotedFirst.has(rateType) ? createWithQuote(calls, op, request, context) : respond(calls, op, request, context)
    },
  }
}

/** Sends an action on a swap, once. Resolves when the provider has taken it. */
export type SendAction = (action: SwapAction, request: SwapActionRequest, context: Context) => Promise<void>

/** Throws a `Fault`, as for a create: with the effect `maybe` it may have been carried out. */
export function connectActions(connection: Connection): SendAction {
  const calls = new Calls(connection)
  return async (action, request, context) => {
    const call = connection.form.actions.get(action)
    if (!call) throw new Fault('internal', 'An action was sent that the provider does not have.', { effect: 'nothingSent' })
    const answer = await calls.send(call, knownFields(request, call), context)
    answer.confirm(call.confirmedBy)
  }
}

/** `quote`: that of a create which has one. */
function respond<O extends Op>(
  calls: Calls,
  op: O,
  request: Request<O>,
  context: Context,
  quote?: Partial<Rate>,
): Promise<ServiceResponse<O>> {
  const { form } = calls.connection
  const operation = operationOf(form, op, request)
  if (!operation) return Promise.reject(notOffered(form, op, request))
  return 'page' in request ? page(calls, operation, request, context) : single(calls, operation, request, context, quote)
}

/** A quote that the provider keeps for one create. One without an id is none, and another provider may have one. */
async function firmQuote<O extends Op>(
  calls: Calls,
  { isFirm, ...query }: RateQuery,
  context: Context,
): Promise<ServiceResponse<O>> {
  const { form } = calls.connection
  const asked = form.asksForQuoteId ? { ...query, isFirm } : query
  const response = await respond(calls, 'getRate', asked, context).catch((reason) => {
    throw form.asksForQuoteId && isPlainRefusal(Fault.from(reason)) ? noQuoteId(reason) : reason
  })
  const { quoteId } = response.body
  if (quoteId === undefined) throw noQuoteId()
  refuseOtherQuote(response.body, query, calls.connection, context)
  return response as ServiceResponse<Op> as ServiceResponse<O>
}

/** Without a reason of its own: the service may not know the parameter. */
function isPlainRefusal({ kind, reason }: Fault): boolean {
  return kind === 'invalid' && reason === 'refused'
}

/**
 * Requests a quote for this create only and uses its id at once. If the quote fails or is for another swap, nothing was created. A create that
 * names its quote has the settings of the quote; a firm quote is its create's only one.
 */
async function createWithQuote<O extends Op>(
  calls: Calls,
  op: O,
  request: Request<O>,
  context: Context,
): Promise<ServiceResponse<O>> {
  const { withdrawalAddress, withdrawalExtraId, refundAddress, refundExtraId, reference, ...query } =
    request as Request<'createTransaction'>
  const { body: quote } = await respond(calls, 'getRate', query, context).catch((reason) => {
    throw refusesOwnKey(Fault.from(reason), calls.connection, context)
      ? standardFault('accessRefused', { effect: 'refused', cause: reason }) // without the provider: it has not seen the client's key
      : withoutEffect(Fault.from(reason))
  })
  const { quoteId } = quote
  refuseOtherQuote(quote, query, calls.connection, context)
  if (quoteId === undefined)
    throw new Fault('failed', 'The provider has no fixed quote; please try again later.', { effect: 'refused' })
  await valueIn(context, beforeSend)?.(quote)
  const response = await respond(calls, op, { ...request, quoteId }, context, quote)
  return { ...response, report: { quotedAmount: query.amountOut === undefined ? quote.amountOut : quote.amountIn } }
}

/** The amount of the quote that is the requested one. */
function amountLike({ amountOut }: RequestedAmount, quote: Rate): Amount {
  return amountOut === undefined ? quote.amountIn : (quote.amountOut ?? zero)
}

/** The failure of a quote leaves nothing behind: the create was not sent. */
function withoutEffect(fault: Fault): Fault {
  return fault.effect === 'maybe' ? fault.with({ effect: 'refused' }) : fault
}

/** Whether the key of a quote is refused, and is not the one that the create is sent with. */
function refusesOwnKey({ kind }: Fault, { keyOf }: Connection, context: Context): boolean {
  return kind === 'unauthorized' && keyOf(context, { op: 'getRate' }) !== keyOf(context, { op: 'createTransaction' })
}

/** Throws `unreadable` for a quote for another swap. */
function refuseOtherQuote(quote: Rate, query: RateQuery, { provider, isOtherPair }: Connection, { pair }: Context): void {
  const { rateType = query.rateType } = quote
  const isSameAmount = isSameButForRounding(amountLike(query, quote), requestedAmountOf(query))
  if (rateType !== query.rateType || isOtherPair(query, quote, pair) || !isSameAmount) throw otherQuote(provider)
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
  calls: Calls,
  operation: ProviderOperation,
  query: PageRequest,
  context: Context,
): Promise<ServiceResponse<O>> {
  const { page: number, size, ...filters } = query
  const places = knownFields({ page: number, size, offset: (number - 1) * size }, operation)
  if (!('page' in places || 'offset' in places) && number > 1) return responseOf(calls, { items: [], total: 0 }, [])
  try {
    const answer = await calls.send(operation, { ...filters, ...places }, context)
    const { derived, ...fields } = await answer.decodePage(operation, query, valueIn(context, acceptsUnreadableRows))
    const response = responseOf<O>(calls, fields, [...derived])
    return operation.op === 'listTransactions' && fields.dropped ? { ...response, warning: 'rows_unreadable' } : response
  } catch (reason) {
    const { kind } = Fault.from(reason)
    if (kind !== 'notFound') throw reason
    if (number > 1) return responseOf(calls, { items: [], total: (number - 1) * size, hasMore: false }, [])
    // A search must not conclude from it that there is nothing.
    if (operation.op === 'listTransactions' && !context.isGatewayCall) return responseOf(calls, { items: [], total: 0 }, [])
    throw standardFault('failed', { provider: calls.connection.provider, effect: 'refused', cause: reason })
  }
}

type PageRequest = Request<'listTransactions'> | Request<'listCurrencies'>

/** How long a quote waits for limits from the call beside it; a refusal never beyond its deadline. */
const besideGraceMs = 1_000

/** `derived`: fields that the provider's response lacked. */
function responseOf<O extends Op>({ connection }: Calls, fields: object, derived: readonly string[]): ServiceResponse<O> {
  return { body: fields as ResponseBody<O>, provider: connection.provider, ...(derived.length > 0 && { derived }) }
}

/** The call of an operation, with the fields of the call beside it. A refusal gets the limits from the other call, which is the only one if nothing else is needed. */
async function single<O extends Op>(
  calls: Calls,
  operation: ProviderOperation,
  request: Request<Op>,
  context: Context,
  quote: Partial<Rate> | undefined,
): Promise<ServiceResponse<O>> {
  if (valueIn(context, needsAmountRangeOnly) && operation.also)
    return responseOf(calls, await fetchBeside(calls, operation.also, request, context), [])
  // Without its response the fields of this call are not known; the operation goes on.
  const beside = operation.also && fetchBeside(calls, operation.also, request, context).catch(() => undefined)
  const assumed = assumedFields(operation, request, quote)
  // An amount that is not there says nothing: it is judged with those that do.
  const mayLack = operation.op === 'createTransaction' ? 'amountOut' : undefined
  try {
    const answer = await calls.send(operation, request, context)
    const fields = beside && (await withDefault(beside, besideGraceMs, undefined))
    const row = answer.decode({ fields, assumed, mayLack })
    if (operation.refusesByAmountRange) refuseByAmountRange(row.fields, request, calls.connection)
    const response = responseOf<O>(calls, row.fields, row.derived)
    if (operation.op !== 'getTransaction') return response
    const deniesRefund = row.nulls.includes('refundAddress') && row.fields.refundAddress === undefined
    const lacksPayout = isPayoutMissing(row, operation)
    const { awaitsOwner } = row
    return { ...response, report: { deniesRefund, lacksPayout, awaitsOwner } }
  } catch (reason) {
    const fault = Fault.from(reason)
    if (!mayBeAboutAmount(fault)) throw fault
    throw withAmountRange(fault, request, beside && (await withDefault(beside, besideGraceMs, undefined)))
  }
}

/** Of a form without the hash only the amount counts. What came back has a hash where the form itself has one. */
function isPayoutMissing(
  { fields: { status, amountOut, txHashOut, refundHash }, fallbacks }: DecodedRow,
  { responseNames, responseCodec }: ProviderOperation,
): boolean {
  if (status === 'refunded') return refundHash === undefined && responseCodec.slots.some(carriesRefundHash)
  const isAgreedOnly = amountOut === undefined || fallbacks.includes('amountOut')
  return status === 'success' && (isAgreedOnly || (responseNames.has('txHashOut') && txHashOut === undefined))
}

function carriesRefundHash({ field, refundWords, absence }: ResponseSlot): boolean {
  return (field === 'refundHash' || refundWords !== undefined) && absence !== 'extension'
}

/** The provider's refusal, in a response of success. */
function refuseByAmountRange(fields: ResponseFields, request: Request<Op>, { provider }: Connection): void {
  const refusal = new Fault('invalid', generalMessage, { provider, effect: 'refused', reason: 'refused' })
  const { amountIn = zero }: Partial<Rate> = fields
  // Outside of its limits it may quote nothing to be sent.
  if ('amountOut' in request && request.amountOut !== undefined && isZero(amountIn)) throw refusal
  const fault = withAmountRange(refusal, request, fields)
  if (fault.reason !== 'refused') throw fault
}

async function fetchBeside(calls: Calls, call: ProviderCall, request: object, context: Context): Promise<ResponseFields> {
  const answer = await calls.send(call, knownFields(request, call), context)
  return answer.decode().fields
}

function mayBeAboutAmount({ kind, reason }: Fault): boolean {
  return kind === 'invalid' && reason === 'refused'
}

function withAmountRange(fault: Fault, request: Request<Op>, { amountIn, ...quote }: Partial<Rate> = {}): Fault {
  const { minAmount, maxAmount, receivedMin } = quote
  return 'rateType' in request
    ? explainedByAmountRange(fault, { amountIn: request.amountIn ?? amountIn, minAmount, maxAmount, receivedMin })
    : fault
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

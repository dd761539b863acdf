/** Quotes that bind: each is of one provider, for one create of one caller, until its time is over (docs/contract.md §10.7). */
import { compareAmounts, isPositive } from '../../domain/amount.ts'
import type { AssetTable } from '../../domain/asset.ts'
import { withTimeout } from '../../domain/async.ts'
import { promisedAmounts } from '../../domain/call-options.ts'
import { ContextKey, withValue } from '../../domain/context-values.ts'
import { Fault, joinedFaults, quoteExpired, standardFault } from '../../domain/fault.ts'
import { millisecondsOf } from '../../domain/instant.ts'
import { type Context, ownerOf, type ServiceResponse } from '../../domain/service.ts'
import { type NewTransaction, type Rate, type RateQuery, requestedAmountOf } from '../../domain/swap.ts'
import { assetKeyOf, from, pairOf, type Side, to } from '../assets/asset-naming.ts'
import { ledgerUnavailable } from '../instrumented-ledger.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { FirmQuote, JournaledLedger } from '../ports/ledger.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { quotedAmountOf } from './offers.ts'

/** How long a quote or a create waits for the ledger here. */
const maxWaitMs = 1_000
/** A provider that promises more is taken at its word for so long. */
const longestMs = 3_600_000
/** Of a quote whose provider does not say until when it holds. */
const defaultMs = 60_000
/** A random id of the gateway: clients never get the provider's own. No other text is looked up. */
const idPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Of a create: the firm quote that it uses, with the tag of its provider. */
export const usedFirmQuote = new ContextKey<Pick<FirmQuote, 'id' | 'provider' | 'validUntil'> | undefined>(undefined)

interface FirmQuoteOptions {
  readonly ledger: JournaledLedger
  readonly table: AssetTable
  /** That have firm quotes. */
  readonly scopes: readonly ProviderScope[]
}

/**
 * Keeps the quote of a caller who asks for a firm one, and gives it an id; of all others no id reaches a client. A create with such an id
 * goes to the provider of the quote, with the provider's id. Throws `quoteExpired` for one that does not hold, `invalid` for other terms.
 */
export function firmQuotes({ ledger, table, scopes }: FirmQuoteOptions): Layer {
  const byTag = new Map(scopes.map((scope) => [scope.tag, scope]))
  return onOperations({
    async getRate({ isFirm = false, ...query }, context, next) {
      if (!isFirm) return withoutId(await next.call('getRate', query, context))
      if (context.caller.identity === undefined) throw standardFault('unauthorized', { reason: 'key_missing' })
      if (query.rateType !== 'fixed') throw floatIsNeverFirm()
      const response = await next.call('getRate', { ...query, isFirm }, context)
      return keep(query, response, context, ledger, byTag.get(response.provider ?? ''))
    },
    async createTransaction(request, context, next) {
      if (request.quoteId === undefined) return next.call('createTransaction', request, context)
      const quote = await find(request.quoteId, context, ledger)
      refuseOtherTerms(request, quote, context, table)
      const { id, provider, quoteId, terms, validUntil } = quote
      const held = withValue(context, usedFirmQuote, { id, provider, validUntil })
      const { quotedAmount } = terms
      return next.call('createTransaction', { ...request, quoteId }, withValue(held, promisedAmounts, { quotedAmount }))
    },
  })
}

function withoutId(response: ServiceResponse<'getRate'>): ServiceResponse<'getRate'> {
  const { quoteId, quoteValidUntil, ...body } = response.body
  return quoteId === undefined && quoteValidUntil === undefined ? response : { ...response, body }
}

function floatIsNeverFirm(): Fault {
  return new Fault('invalid', 'only a quote with a fixed rate can be kept', {
    field: 'isFirm',
    reason: 'parameter_invalid',
    effect: 'nothingSent',
  })
}

async function keep(
  query: RateQuery,
  response: ServiceResponse<'getRate'>,
  context: Context,
  ledger: JournaledLedger,
  scope: ProviderScope | undefined,
): Promise<ServiceResponse<'getRate'>> {
  const { body, derived = [] } = response
  const { quoteId, amountOut } = body
  const quotedAmount = quotedAmountOf(body, query)
  if (!scope || quoteId === undefined) throw new Fault('internal', 'A firm quote has no provider, or none of its ids.')
  if (amountOut === undefined || !isPositive(amountOut) || quotedAmount === undefined) throw noFirmQuote()
  const known = validForMs(body, scope)
  const quote: FirmQuote = {
    id: crypto.randomUUID(),
    owner: ownerOf(context),
    provider: scope.tag,
    quoteId,
    // Not the amount of the response, which may be rounded: a create has that of its request.
    terms: { ...query, ...pairOf(body), quotedAmount },
  }
  const keptUntil = await withTimeout(ledger.keepFirmQuote(quote, known ?? defaultMs), maxWaitMs, () => {
    throw ledgerUnavailable()
  })
  if (keptUntil === 'tooMany') throw tooMany()
  return {
    ...response,
    body: { ...body, quoteId: quote.id, quoteValidUntil: new Date(keptUntil).toISOString() },
    caching: { ...response.caching, isForbidden: true },
    ...(known === undefined && { derived: [...derived, 'quoteValidUntil'] }),
  }
}

/** By the provider's own clock, or by ours if that leaves less: its `Date` may be of another machine. Undefined if it does not say it, or says what cannot be. */
function validForMs({ quoteValidUntil = '' }: Rate, { configured, clock, clockSkewMs }: ProviderScope): number | undefined {
  const at = millisecondsOf(quoteValidUntil, configured.timezone)
  if (at === undefined) return undefined
  const now = clock()
  const left = [at - now, at - (now + clockSkewMs())].filter((forMs) => forMs > 0)
  return left.length === 0 ? undefined : Math.floor(Math.min(...left, longestMs))
}

/** Also of a ledger that has not got the table for them yet. */
export function noFirmQuote(): Fault {
  return new Fault('invalid', 'no quote of this swap can be kept now', {
    field: 'isFirm',
    reason: 'not_offered',
    effect: 'nothingSent',
  })
}

const tooManyRetryAfter = 60

function tooMany(): Fault {
  const message = 'Too many of your quotes are kept; please wait until some of them are over.'
  return new Fault('limited', message, { retryAfter: tooManyRetryAfter, effect: 'refused' })
}

async function find(id: string, context: Context, ledger: JournaledLedger): Promise<FirmQuote> {
  if (!idPattern.test(id)) throw quoteExpired()
  const quote = await withTimeout(ledger.findFirmQuote(ownerOf(context), id), maxWaitMs, () => {
    throw ledgerUnavailable()
  })
  if (!quote) throw quoteExpired()
  return quote
}

/** Throws `invalid` with each parameter that is not that of the quote. */
function refuseOtherTerms(request: NewTransaction, { terms, provider }: FirmQuote, { pick }: Context, table: AssetTable): void {
  const field = request.amountOut === undefined ? 'amountIn' : 'amountOut'
  const isSameAmount = terms[field] !== undefined && compareAmounts(requestedAmountOf(request), terms[field]) === 0
  const isOtherAsset = (side: Side): boolean => assetKeyOf(request, side, table) !== assetKeyOf(terms, side, table)
  const others = [
    ...[from, to].filter(isOtherAsset).map((side) => otherAssetField(request, side, terms)),
    ...(isSameAmount ? [] : [field]),
    ...(request.rateType === terms.rateType ? [] : ['rateType']),
  ]
  if (others.length > 0) throw joinedFaults(others.map(otherThanQuoted))
  if (pick !== undefined && pick !== provider) throw otherPick()
}

/** The name at fault in the words of the request: the coin, or the network of the same coin. */
function otherAssetField(request: NewTransaction, side: Side, terms: FirmQuote['terms']): string {
  if (request[side.code] !== undefined) return side.code
  return request[side.coin]?.toLowerCase() === terms[side.coin]?.toLowerCase() ? side.network : side.coin
}

function otherThanQuoted(field: string): Fault {
  return new Fault('invalid', 'it is not that of the quote', { field, reason: 'parameter_invalid', effect: 'nothingSent' })
}

function otherPick(): Fault {
  const message = 'Invalid X-Swap-Provider: the quote is that of another provider; leave the header out.'
  return new Fault('invalid', message, { reason: 'parameter_invalid', effect: 'nothingSent' })
}

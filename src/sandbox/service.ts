/** A complete swap service over a simulated chain: what any provider is to the gateway. */
import { createService } from '../core/layer.ts'
import { cutPage } from '../core/paging.ts'
import { listFilter, passes } from '../core/transactions/list-filter.ts'
import { type Amount, compareAmounts } from '../domain/amount.ts'
import type { Asset, AssetTable, Coin } from '../domain/asset.ts'
import { Fault, messageWithAmountRange, quoteExpired, reasonByAmountRange, standardFault } from '../domain/fault.ts'
import { toTimeRange } from '../domain/instant.ts'
import { type Caller, type Context, namesByCode, type SwapService } from '../domain/service.ts'
import type { Status } from '../domain/status.ts'
import {
  type Currency,
  type CurrencyQuery,
  type NewTransaction,
  type Page,
  type RateType,
  type RequestedAmount,
  requestedAmountOf,
  type Transaction,
  type TransactionQuery,
} from '../domain/swap.ts'
import { zero } from './decimal.ts'
import { isWithin, type Market, needed, priceOf, received, type Terms } from './market.ts'
import { type Digest, depositAddress, memo, networkOf, transactionHash } from './networks.ts'
import { rehearsalOf } from './rehearsals.ts'
import {
  type Assets,
  assetNames,
  assetsOf,
  expiresAt,
  type KeptQuote,
  type Pace,
  type Selection,
  type Stage,
  type Store,
  type Swap,
  stageOf,
} from './store.ts'

export interface Sandbox {
  readonly assets: AssetTable
  readonly market: Market
  readonly store: Store
  readonly pace: Pace
  readonly digest: Digest
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

/** Every swap belongs to the key that created it; to another key it does not exist. */
export function sandboxService({ assets, market, store, pace, digest, clock }: Sandbox): SwapService {
  const present = (swap: Swap, { clientCapabilities: client }: Context): Transaction => {
    const transaction = toTransaction(swap, stageOf(swap, pace, clock()), digest)
    const hasPayout = transaction.status !== 'refunded' || client.hasExpectedAmount
    return {
      ...transaction,
      amountOut: hasPayout ? transaction.amountOut : undefined,
      validUntil: timestamp(expiresAt(swap, pace)),
    }
  }
  return createService({
    listCurrencies: async (query, context) => ({ body: listCurrencies(assets, query, context) }),
    async getRate(query, { caller }) {
      const { rateType, isFirm } = query
      const swapAssets = assetsOf(query, assets)
      const terms = market.terms(swapAssets.from, swapAssets.to, rateType, clock())
      const amountIn = amountInOf(query, terms, swapAssets)
      refuseOutside(amountIn, terms)
      const amountOut = query.amountOut ?? received(amountIn, terms, swapAssets.to.coin)
      const quote = { ...assetNames(swapAssets), ...terms, amountIn, amountOut, rateType }
      if (!isFirm) return { body: quote }
      if (rateType !== 'fixed')
        throw new Fault('invalid', 'only a fixed quote is kept', { field: 'isFirm', reason: 'parameter_invalid' })
      const kept = { id: crypto.randomUUID(), owner: ownerOf(caller), validUntil: clock() + quoteValidityMs }
      store.keepQuote({ ...assetNames(swapAssets), ...terms, amountIn, promised: query.amountOut, ...kept }, clock())
      return { body: { ...quote, quoteId: kept.id, quoteValidUntil: timestamp(kept.validUntil) } }
    },
    async createTransaction({ quoteId, ...request }, context) {
      const { caller } = context
      const swapAssets = assetsOf(request, assets)
      const createdAt = clock()
      const terms =
        quoteId === undefined
          ? market.terms(swapAssets.from, swapAssets.to, request.rateType, createdAt)
          : termsOf(store.takeQuote(quoteId, ownerOf(caller)), request, swapAssets, createdAt)
      refuseOutside(amountInOf(request, terms, swapAssets), terms)
      const rehearsed = rehearsalOf(requestedAmountOf(request))?.swap
      const ordered = rehearsed === 'withOtherRateType' ? { ...request, rateType: otherRateType(request.rateType) } : request
      const make = (): Swap => newSwap(ordered, swapAssets, terms, ownerOf(caller), createdAt, digest)
      const swap = make()
      store.insert(swap)
      if (rehearsed === 'twice') store.insert(make())
      return { body: present(swap, context) }
    },
    async listTransactions(query, context) {
      const selection = { owner: ownerOf(context.caller), ...boundsOf(query) }
      const { page, size } = query
      const filter = listFilter(query)
      if (filter) {
        const every = store.list(selection, { page: 1, size: store.count(selection) }).map((swap) => present(swap, context))
        const matching = every.filter((swap) => passes(filter, swap, {}, undefined))
        return { body: cutPage(matching, query) }
      }
      const items = store.list(selection, query).map((swap) => present(swap, context))
      return { body: { items, total: store.count(selection), page, size } }
    },
    async getTransaction({ id }, context) {
      const swap = store.find(id)
      if (swap?.owner !== ownerOf(context.caller)) throw standardFault('notFound')
      if (rehearsalOf(swap.promised ?? swap.amountIn)?.get === 'fails') throw standardFault('failed')
      return { body: present(swap, context) }
    },
  })
}

/** How long a quote is kept: short, so that a client sees one that is over. */
const quoteValidityMs = 60_000

/** Throws `quoteExpired` if there is no such quote any more, `invalid` if it is for another swap. */
function termsOf(quote: KeptQuote | undefined, request: NewTransaction, { from, to }: Assets, now: number): Terms {
  if (!quote || quote.validUntil <= now) throw quoteExpired()
  const isByReceived = request.amountOut !== undefined
  const quoted = isByReceived ? quote.promised : quote.amountIn
  const isSameAmount =
    quoted !== undefined &&
    isByReceived === (quote.promised !== undefined) &&
    compareAmounts(quoted, requestedAmountOf(request)) === 0
  const isSamePair = quote.codeFrom === from.code && quote.codeTo === to.code
  if (!isSamePair || request.rateType !== 'fixed' || !isSameAmount)
    throw new Fault('invalid', 'it is for another swap', { field: 'quoteId', reason: 'parameter_invalid' })
  const { rate, fee, minAmount, maxAmount } = quote
  return { rate, fee, minAmount, maxAmount }
}

/** The amount that must be given for what is requested. */
function amountInOf(request: RequestedAmount, terms: Terms, { from }: Assets): Amount {
  if (request.amountOut === undefined) return request.amountIn
  return needed(request.amountOut, terms, Math.min(priceOf(from.coin).decimals, from.decimals ?? Number.POSITIVE_INFINITY))
}

function refuseOutside(amountIn: Amount, terms: Terms): void {
  if (isWithin(amountIn, terms)) return
  throw new Fault('invalid', messageWithAmountRange('The amount is outside the limits of this pair.', terms), {
    reason: reasonByAmountRange(amountIn, terms),
  })
}

function newSwap(
  request: NewTransaction,
  swapAssets: Assets,
  terms: Terms,
  owner: string,
  createdAt: number,
  digest: Digest,
): Swap {
  const id = crypto.randomUUID()
  const network = networkOf(swapAssets.from.network)
  const { amountIn: _, amountOut: promised, ...kept } = request
  return {
    ...kept,
    amountIn: amountInOf(request, terms, swapAssets),
    ...(promised !== undefined && { promised }),
    ...assetNames(swapAssets),
    ...terms,
    id,
    owner,
    depositAddress: depositAddress(network, id, digest),
    depositExtraId: network.hasMemo ? memo(id, digest) : undefined,
    createdAt,
  }
}

function otherRateType(rateType: RateType): RateType {
  return rateType === 'float' ? 'fixed' : 'float'
}

function ownerOf({ identity }: Caller): string {
  if (identity === undefined) throw standardFault('unauthorized')
  return identity
}

/** Dates are inclusive; a plain date is its whole UTC day. */
function boundsOf({ dateFrom, dateTo }: TransactionQuery): Omit<Selection, 'owner'> {
  const first = dateFrom === undefined ? undefined : toTimeRange(dateFrom)?.first
  const last = dateTo === undefined ? undefined : toTimeRange(dateTo)?.last
  if (first !== undefined && last !== undefined && first > last) {
    throw new Fault('invalid', 'it must not be after the last date', { field: 'dateFrom' })
  }
  return {
    from: first === undefined ? 0 : Number((first + 999_999n) / 1_000_000n),
    to: last === undefined ? Number.MAX_SAFE_INTEGER : Number(last / 1_000_000n),
  }
}

// Converts a swap to a transaction of the service.

const isPaidOut: ReadonlySet<Stage['status']> = new Set<Status>(['sending', 'success'])

/** The amounts are those of the deposit, once there is one; in both manners of naming, so that any form can show it. */
function toTransaction(swap: Swap, { status, since, deposit }: Stage, digest: Digest): Transaction {
  const {
    owner: _,
    deposit: _stored,
    intervention: _own,
    minAmount: _least,
    maxAmount: _most,
    fee: _fee,
    promised,
    ...fields
  } = swap
  const amountIn = deposit?.amount ?? swap.amountIn
  const isAsAgreed = promised !== undefined && compareAmounts(amountIn, swap.amountIn) === 0
  return {
    ...fields,
    status: status as Status, // its own words, too: `withStatusWords`
    amountIn,
    ...(isAsAgreed
      ? { amountOut: promised }
      : isWithin(amountIn, swap)
        ? { amountOut: received(amountIn, swap, swap.coinTo) }
        : { amountOut: zero, statusReason: 'amount_out_of_range' }),
    ...(status === 'refunded' && sentBack(swap, amountIn, digest)),
    txHashIn: deposit && transactionHash(networkOf(swap.networkFrom), 'deposit', swap.id, digest),
    txHashOut: isPaidOut.has(status) ? transactionHash(networkOf(swap.networkTo), 'payout', swap.id, digest) : undefined,
    createdAt: timestamp(swap.createdAt),
    updatedAt: timestamp(since),
  }
}

/** What was agreed is not paid out. */
function sentBack(swap: Swap, deposited: Amount, digest: Digest): Partial<Transaction> {
  const refundHash = transactionHash(networkOf(swap.networkFrom), 'refund', swap.id, digest)
  return { amountOut: received(swap.amountIn, swap, swap.coinTo), refundHash, refundAmount: deposited }
}

function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

// The coins that can be swapped: the asset table, in the manner of the caller's form.

/** One row for each asset, or for each coin if the form has the network in a field of its own. */
function listCurrencies({ coins }: AssetTable, query: CurrencyQuery, { clientCapabilities: client }: Context): Page<Currency> {
  const byCode = namesByCode(client)
  const rows = byCode ? coins.flatMap(({ assets }) => assets.map(assetRow)) : coins.map(coinRow)
  const searchTerm = query.search?.toLowerCase() ?? ''
  const found = rows.filter(({ code, coin, name }) =>
    [byCode ? code : coin, name].some((text) => text?.toLowerCase().includes(searchTerm)),
  )
  return cutPage(found, query)
}

function assetRow({ code, coin, network, name, depositMin, depositMax }: Asset): Currency {
  return { code, coin, network, name, icon: iconOf(coin), depositMin, depositMax }
}

function coinRow({ coin, name, assets }: Coin): Currency {
  const networks = assets.map(({ network }) => network).join(', ')
  return { coin, name, icon: iconOf(coin), notes: assets.length > 1 ? `Networks: ${networks}` : '' }
}

function iconOf(coin: string): string {
  return `https://icons.example/${encodeURIComponent(coin.toLowerCase())}.svg`
}

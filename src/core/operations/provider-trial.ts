/** Tries a provider before a client is routed to it (docs/contract.md §16): public reads and reads with the key, never a create. */
import { isZero } from '../../domain/amount.ts'
import { Fault } from '../../domain/faults/fault.ts'
import type { Asset } from '../../domain/swap/asset.ts'
import type { Op, ResponseBody } from '../../domain/swap/operations.ts'
import type { Context, SwapService } from '../../domain/swap/service.ts'
import type { RateType } from '../../domain/swap/swap.ts'
import type { Catalogue } from '../assets/catalogue.ts'
import type { Listing } from '../assets/listing.ts'
import { describeFault } from './describe-fault.ts'
import { notOfferedReasons, type Quote, quoteSuitableAmount } from './quote-diff.ts'

export type TrialCheckName = 'currencies' | 'assets' | 'float quote' | 'fixed quote' | 'list' | 'unknown id' | 'key'

/** `none`: the form does not have it. `skipped`: it could not be tried. Neither is a failure of its own. */
export type TrialOutcome = 'works' | 'fails' | 'none' | 'skipped'

export interface TrialCheck {
  readonly check: TrialCheckName
  readonly outcome: TrialOutcome
  readonly message: string
  /** Codes of the table's assets that the provider lists without ambiguity. */
  readonly assets?: readonly string[]
}

export interface TriedProvider {
  readonly catalogue: Catalogue
  /** With the provider's names of assets. */
  readonly service: SwapService
  /** With the table's names of assets. */
  readonly translated: SwapService
  readonly hasKey: boolean
  readonly has: (op: Op) => boolean
  readonly needsKey: (op: Op) => boolean
  /** Whether a create needs the id of a quote. */
  readonly isQuotedFirst: (rateType: RateType) => boolean
  readonly contextOf: () => Context
}

/** How each operation ended that the provider answers only with a key. */
type KeyedEnds = Map<Op, 'done' | Fault>

const maxPairs = 3

/** Yields each check as soon as it is made. */
export async function* tryProvider(provider: TriedProvider): AsyncGenerator<TrialCheck> {
  const ends: KeyedEnds = new Map()
  const listing = await read(provider, ends, 'listCurrencies', provider.catalogue.listing(provider.contextOf()))
  yield listing instanceof Fault
    ? fails('currencies', describeFault(listing))
    : works('currencies', `${listing.offers.length} assets are listed`)
  const known = listing instanceof Fault ? undefined : listing
  if (known) yield checkAssets(known)
  yield await checkQuote(provider, ends, 'float', known)
  yield await checkQuote(provider, ends, 'fixed', known)
  yield await checkList(provider, ends)
  yield await checkUnknownId(provider, ends)
  yield checkKey(provider, ends)
}

function works(check: TrialCheckName, message: string): TrialCheck {
  return { check, outcome: 'works', message }
}

function fails(check: TrialCheckName, message: string): TrialCheck {
  return { check, outcome: 'fails', message }
}

function skipped(check: TrialCheckName, message: string): TrialCheck {
  return { check, outcome: 'skipped', message }
}

async function read<T>({ needsKey }: TriedProvider, ends: KeyedEnds, op: Op, response: Promise<T>): Promise<T | Fault> {
  const note = (end: 'done' | Fault): void => void (needsKey(op) && ends.set(op, end))
  try {
    const value = await response
    note('done')
    return value
  } catch (reason) {
    const fault = Fault.from(reason)
    note(fault)
    return fault
  }
}

function checkAssets(listing: Listing): TrialCheck {
  const clear = usableAssets(listing)
  const ambiguous = [...listing.ambiguousAssets].map(({ code }) => code)
  const assets = clear.map(({ code }) => code)
  const also = ambiguous.length > 0 ? `; ambiguous, so not offered: ${ambiguous.join(', ')}` : ''
  const message = `${assets.length} are in the table${assets.length > 0 ? `: ${assets.join(', ')}` : ''}${also}`
  return { check: 'assets', outcome: assets.length > 1 ? 'works' : 'fails', message, assets }
}

/** In the order of the list. */
function usableAssets({ byAsset, ambiguousAssets }: Listing): readonly Asset[] {
  return [...byAsset].flatMap(([asset, { isAmbiguous = false }]) => (isAmbiguous || ambiguousAssets.has(asset) ? [] : [asset]))
}

async function checkQuote(
  provider: TriedProvider,
  ends: KeyedEnds,
  rateType: RateType,
  listing: Listing | undefined,
): Promise<TrialCheck> {
  const check = `${rateType} quote` as const
  const pairs = listing ? pairsIn(provider, listing) : []
  if (!listing || pairs.length === 0) return skipped(check, 'there is no pair of assets to quote')
  const sources = { services: [provider.translated], rateType, contextOf: provider.contextOf }
  let found = fails(check, 'no quote')
  for (const [from, to] of pairs) {
    const listedMinimum = listing.byAsset.get(from)?.row.depositMin
    const { amount, quotes } = await quoteSuitableAmount({ from: from.code, to: to.code, listedMinimum }, sources)
    const [quote = {}] = quotes
    if (provider.needsKey('getRate')) ends.set('getRate', quote.fault ?? 'done')
    const wrong = wrongWith(quote, provider.isQuotedFirst(rateType))
    const pair = `${amount} ${from.code} to ${to.code}`
    found =
      wrong === undefined
        ? works(check, `${pair} gives ${quote.received}, ${limitsText(quote)}`)
        : fails(check, `${pair}: ${wrong}`)
    if (!quote.fault || !mayOtherPairWork(quote.fault)) return found
  }
  return found
}

/** Of the first assets of the table: those of most trade come first there. */
function pairsIn({ catalogue }: TriedProvider, listing: Listing): readonly (readonly [Asset, Asset])[] {
  const usable = new Set(usableAssets(listing))
  const assets = catalogue.naming.table.coins.flatMap((coin) => coin.assets).filter((asset) => usable.has(asset))
  const [first, ...others] = assets
  if (!first) return []
  const second = others.filter(({ coin }) => coin !== first.coin)
  return second
    .flatMap((asset, at) => (at === 0 ? [[first, asset] as const, [asset, first] as const] : [[first, asset] as const]))
    .slice(0, maxPairs)
}

function mayOtherPairWork({ kind, reason }: Fault): boolean {
  return kind === 'invalid' && (reason === 'refused' || notOfferedReasons.has(reason))
}

function wrongWith({ fault, received, quoteId }: Quote, needsId: boolean): string | undefined {
  if (fault) return describeFault(fault)
  if (received === undefined || isZero(received)) return 'the quote has no amount received'
  return needsId && quoteId === undefined ? 'the quote has no id, which a create at this rate needs' : undefined
}

function limitsText({ minAmount, maxAmount }: Quote): string {
  return `minimum ${minAmount ?? 'unknown'}, maximum ${maxAmount ?? 'unknown'}`
}

async function checkList(provider: TriedProvider, ends: KeyedEnds): Promise<TrialCheck> {
  if (!provider.has('listTransactions'))
    return { check: 'list', outcome: 'none', message: 'the form has no list: a create of unknown outcome cannot be found again' }
  if (!provider.hasKey) return skipped('list', 'no key is configured')
  const request = { page: 1, size: 1 }
  const page = await read(
    provider,
    ends,
    'listTransactions',
    provider.service.call('listTransactions', request, provider.contextOf()),
  )
  if (page instanceof Fault) return fails('list', describeFault(page))
  return works('list', describePage(page.body))
}

function describePage({ items, total, hasMore = false }: ResponseBody<'listTransactions'>): string {
  if (items.length === 0) return 'it is empty, so the form of its rows is not proven'
  return `${hasMore ? 'more than ' : ''}${total} ${total === 1 ? 'transaction' : 'transactions'}`
}

/** An id that no transaction has. */
async function checkUnknownId(provider: TriedProvider, ends: KeyedEnds): Promise<TrialCheck> {
  if (!provider.hasKey) return skipped('unknown id', 'no key is configured')
  const wasRefused = isRefused(ends)
  const request = { id: crypto.randomUUID().replaceAll('-', '').slice(0, 14) }
  const found = await read(provider, ends, 'getTransaction', provider.service.call('getTransaction', request, provider.contextOf()))
  if (!(found instanceof Fault)) return fails('unknown id', 'the provider has a transaction with an id that was made up')
  if (found.kind === 'notFound') return works('unknown id', '404')
  if (found.kind === 'unavailable' && wasRefused) return skipped('unknown id', 'the key is refused')
  return fails('unknown id', `it must be 404: ${describeFault(found)}`)
}

function isRefused(ends: KeyedEnds): boolean {
  return refusedIn(ends).length > 0
}

function refusedIn(ends: KeyedEnds): readonly Op[] {
  return [...ends].flatMap(([op, end]) =>
    end !== 'done' && (end.kind === 'unauthorized' || end.kind === 'accessRefused') ? [op] : [],
  )
}

function checkKey({ hasKey, has }: TriedProvider, ends: KeyedEnds): TrialCheck {
  if (!hasKey) return skipped('key', 'no key is configured')
  const refused = refusedIn(ends)
  if (refused.length > 0) return fails('key', `refused for ${refused.join(', ')}`)
  const proof = [...ends].filter(([, end]) => end === 'done').map(([op]) => op)
  if (proof.length > 0) return works('key', `accepted for ${proof.join(', ')}`)
  const isNotFound = ends.get('getTransaction') instanceof Fault && (ends.get('getTransaction') as Fault).kind === 'notFound'
  if (isNotFound && !has('listTransactions')) return works('key', 'accepted, as far as a get of an unknown id can show')
  return fails('key', 'no call shows that it is accepted')
}

/** Tries a provider before a client is routed to it (docs/contract.md §16): public reads and reads with the key, never a create. */

import { type Amount, isZero } from '../../domain/amount.ts'
import type { Asset } from '../../domain/asset.ts'
import type { FailureCause } from '../../domain/failure-cause.ts'
import { type AmountRange, Fault, failureCauseOf, rootCauseOf } from '../../domain/fault.ts'
import { instantsOf } from '../../domain/instant.ts'
import type { Deviation, Drift, Observation } from '../../domain/observation.ts'
import { printable } from '../../domain/printable.ts'
import type { Context, Op, ResponseBody, SwapService } from '../../domain/service.ts'
import type { CoinOffer, RateType } from '../../domain/swap.ts'
import { type CachedCurrencyList, type CurrencyList, isOff } from '../assets/currency-list.ts'
import type { SharedDeposits } from '../assets/deposits.ts'
import { unclearLines, wordsIn } from '../assets/provider-rows.ts'
import { notOfferedReasons, type Quote, quoteSuitableAmount } from './provider-diff.ts'

/** Yields each check as soon as it is made. Returns what they have found. */
export async function* tryProvider(provider: TriedProvider): AsyncGenerator<TrialCheck, FoundAtProvider> {
  const ends: KeyedEnds = new Map()
  const list = await read(provider, ends, 'listCurrencies', provider.currencyList.read(provider.contextOf()))
  yield list instanceof Fault
    ? fails('currencies', describeFault(list))
    : works('currencies', `${list.listedAssets.length} assets are listed`)
  const known = list instanceof Fault ? undefined : list
  if (known) yield checkAssets(known, provider)
  const quotes = new Map<RateType, FoundQuote>()
  yield await checkQuote(provider, ends, 'float', known, quotes)
  yield await checkQuote(provider, ends, 'fixed', known, quotes)
  yield await checkList(provider, ends)
  yield await checkUnknownId(provider, ends)
  yield checkKey(provider, ends)
  return { list: known, quotes }
}

// What a provider returns only with a key.

async function checkList(provider: TriedProvider, ends: KeyedEnds): Promise<TrialCheck> {
  if (!provider.has('listTransactions'))
    return none('list', 'the form has no list: a create of unknown outcome cannot be found again')
  if (!provider.hasKey) return skipped('list', 'no key is configured')
  const request = { page: 1, size: 1 }
  const page = await read(
    provider,
    ends,
    'listTransactions',
    provider.service.call('listTransactions', request, provider.contextOf()),
  )
  if (page instanceof Fault) return fails('list', describeFault(page))
  if (page.body.dropped) return fails('list', 'a row is not of the form: a create of unknown outcome may not be found again')
  const unreadable = page.body.items.find(({ createdAt }) => instantsOf(createdAt).length === 0)
  if (unreadable) return fails('list', 'the creation time of a row cannot be read: a create of unknown outcome is not found again')
  const [newest] = page.body.items
  const isSilent = newest?.id !== undefined && provider.mustNameNetworks && (await namesNoNetwork(provider, newest.id))
  const hint = isSilent
    ? '; a get names no network: without `networks: unconfirmed` creates of coins that have several stay unknown'
    : ''
  return works('list', `${describePage(page.body)}${hint}`)
}

/** Whether a get has coins without their networks. False where it fails. */
async function namesNoNetwork({ service, contextOf }: TriedProvider, id: string): Promise<boolean> {
  try {
    const { body } = await service.call('getTransaction', { id }, contextOf())
    const isSilent = [body.networkFrom, body.networkTo].every((network) => !network)
    return isSilent && !body.codeFrom && Boolean(body.coinFrom)
  } catch {
    return false
  }
}

function describePage({ items, total, hasMore = false }: ResponseBody<'listTransactions'>): string {
  if (items.length === 0) return 'it is empty, so the form of its rows is not verified'
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

function checkKey({ hasKey, has, lacksAddress }: TriedProvider, ends: KeyedEnds): TrialCheck {
  if (!hasKey) return skipped('key', 'no key is configured')
  const refused = refusedIn(ends)
  const accepted = [...ends].filter(([, end]) => end === 'done').map(([op]) => op)
  const end = ends.get('getTransaction')
  const isShownByGet = end instanceof Fault && end.kind === 'notFound'
  if (refused.length > 0) {
    const isListOnly = refused.every((op) => op === 'listTransactions') && (accepted.length > 0 || isShownByGet)
    if (!isListOnly) return fails('key', `refused for ${refused.join(', ')}`)
    return works('key', 'accepted, but for listTransactions: providers.<name>.listKey is a key for lists')
  }
  if (accepted.length > 0) return works('key', `accepted for ${accepted.join(', ')}`)
  if (isShownByGet && !has('listTransactions')) return works('key', 'accepted, as far as a get of an unknown id can show')
  if (lacksAddress('fixed') || lacksAddress('float')) return skipped('key', 'only a call with the address of a client shows it')
  return fails('key', 'no call shows that it is accepted')
}

// Whether a provider quotes a pair of assets that it and the table have.

const maxPairs = 3

function checkAssets(list: CurrencyList, provider: TriedProvider): TrialCheck {
  const clear = usableAssets(list)
  const { ambiguousAssets, byAsset, otherTokens, unclear } = list
  const ambiguous = [...ambiguousAssets].filter((asset) => !otherTokens.has(asset) && !unclear.has(asset)).map(({ code }) => code)
  const doubles = unclearLines(unclear).map((line) => `it ${line}`)
  const otherWords = [...byAsset].flatMap(([{ code }, { by, assetName }]) =>
    by === undefined
      ? []
      : [`${printable(wordsIn(assetName))} is ${code} ${by === 'also' ? 'by another name' : 'by its contract'}`],
  )
  const others = [...otherTokens].map(
    ([{ code, contract = 'unknown' }, listed]) => `${code} (${printable(listed.slice(0, 128))} in the place of ${contract})`,
  )
  const assets = clear.map(({ code }) => code)
  const also =
    (ambiguous.length > 0 ? `; ambiguous, so not offered: ${ambiguous.join(', ')}` : '') +
    (others.length > 0 ? `; another contract than the table's, so not offered: ${others.join(', ')}` : '') +
    [...doubles, ...otherWords].map((text) => `; ${text}`).join('') +
    depositsText(clear, list, provider)
  const message = `${assets.length} are in the table${assets.length > 0 ? `: ${assets.join(', ')}` : ''}${also}`
  return { check: 'assets', outcome: assets.length > 1 ? 'works' : 'fails', message, assets }
}

/** Whether a deposit is safe on each network that has memos: where its addresses are shared, one without its memo is lost. */
function depositsText(assets: readonly Asset[], list: CurrencyList, { sharedDeposits, acceptsMemos }: TriedProvider): string {
  const texts = new Map<string, string>()
  for (const asset of assets) {
    const isListed = list.byAsset.get(asset)?.row.needsMemo === true
    const isShared = sharedDeposits.mayBeShared({ code: asset.code })
    if (asset.memo === 'none' || (asset.memo === undefined && !isShared && !isListed)) continue
    const place = isListed ? `${asset.network} (${asset.code}, as its list says)` : asset.network
    if (!isShared && isListed) texts.set(place, `${place} is said to need a memo, which depositMemo does not ask for`)
    else if (!isShared) texts.set(place, `${place} is taken for addresses of one swap each`)
    else if (acceptsMemos) texts.set(place, `${place} needs a memo`)
    else texts.set(place, `${place} needs a memo, so not offered without extraIds`)
  }
  return texts.size === 0 ? '' : `; deposits: ${[...texts.values()].join(', ')}`
}

/** In the order of the list. */
export function usableAssets({ byAsset, ambiguousAssets }: CurrencyList): readonly Asset[] {
  return [...byAsset].flatMap(([asset, { isAmbiguous = false, row }]) =>
    isAmbiguous || isOff(row) || ambiguousAssets.has(asset) ? [] : [asset],
  )
}

async function checkQuote(
  provider: TriedProvider,
  ends: KeyedEnds,
  rateType: RateType,
  list: CurrencyList | undefined,
  found: Map<RateType, FoundQuote>,
): Promise<TrialCheck> {
  const check = `${rateType} quote` as const
  if (!provider.has('getRate', rateType)) return none(check, 'the form has no swaps with this type of rate')
  if (provider.lacksAddress(rateType)) return skipped(check, 'it carries the address of a client: give your own as --address')
  const pairs = list ? pairsIn(provider, list, rateType) : []
  if (!list || pairs.length === 0) return skipped(check, 'there is no pair of assets to quote')
  const sources = { services: [provider.translated], rateType, contextOf: provider.contextOf }
  let ended = fails(check, 'no quote')
  for (const [from, to] of pairs) {
    const listedMinimum = list.byAsset.get(from)?.row.depositMin
    const { amount, quotes } = await quoteSuitableAmount({ from: from.code, to: to.code, listedMinimum }, sources)
    const [quote = {}] = quotes
    if (provider.needsKey('getRate')) ends.set('getRate', quote.fault ?? 'done')
    const wrong = wrongWith(quote, provider.isQuotedFirst(rateType))
    const pair = `${amount} ${from.code} to ${to.code}`
    if (wrong === undefined) {
      found.set(rateType, { from, to, quote, listedMinimum })
      return works(check, `${pair} gives ${quote.received}, ${limitsText(quote)}`)
    }
    ended = fails(check, `${pair}: ${wrong}`)
    if (!quote.fault || !mayOtherPairWork(quote.fault)) return ended
  }
  return ended
}

/** Of the first assets of the table that its list has as on: those of most trade come first there. */
function pairsIn({ currencyList }: TriedProvider, list: CurrencyList, rateType: RateType): readonly (readonly [Asset, Asset])[] {
  const usable = new Set(usableAssets(list))
  const offerOf = (asset: Asset): CoinOffer => list.byAsset.get(asset)?.row ?? {}
  const assets = currencyList.naming.table.coins
    .flatMap((coin) => coin.assets)
    .filter((asset) => usable.has(asset) && offerOf(asset)[`${rateType}Rate`] !== false)
  const [first, ...others] = assets
  if (!first) return []
  const second = others.filter(({ coin }) => coin !== first.coin)
  return second
    .flatMap((asset, at) => (at === 0 ? [[first, asset] as const, [asset, first] as const] : [[first, asset] as const]))
    .filter(([source, target]) => offerOf(source).canDeposit !== false && offerOf(target).canWithdraw !== false)
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

export function limitsText({ minAmount, maxAmount }: AmountRange): string {
  return `minimum ${minAmount ?? 'unknown'}, maximum ${maxAmount ?? 'unknown'}`
}

const failureCauses: Readonly<Record<FailureCause, string>> = {
  dns_not_found: 'its name does not exist',
  dns_timeout: 'no name server answers about its name',
  dns_failed: 'the look-up of its name fails',
  refused: 'nothing listens at its address and port',
  no_route: 'there is no route to its address',
  timed_out: 'its address does not answer',
  reset: 'it closes the connection',
  tls_expired: 'its certificate is not valid today',
  tls_untrusted: 'its certificate is of an authority that is not known here',
  tls_wrong_name: 'its certificate is of another name',
  not_tls: 'it does not speak TLS there',
  tls_failed: 'TLS with it fails',
  proxy_unreachable: 'the proxy on the way does not answer',
  proxy_refused: 'the proxy on the way refuses it',
  other: 'it cannot be made',
  charset: 'it is not in UTF-8',
  encoding: 'its content coding is not known, or not what it says',
  bom: 'it begins with the byte order mark of another charset, or with two',
  cut_off: 'it ends before its end',
  too_large: 'it is too large',
  not_json: 'it is not JSON',
  not_of_form: 'it is not of the form',
}

/** A failed call for the operator, with more of the cause than a client gets. */
export function describeFault(fault: Fault): string {
  const { kind, message, cause } = fault
  switch (kind) {
    case 'unauthorized':
    case 'accessRefused':
      return 'the key is refused'
    case 'unreachable':
      return `no connection to the provider: ${failureCauses[failureCauseOf(fault) ?? 'other']}${codeOf(fault)}`
    case 'timedOut':
      return 'no response within the timeout'
    case 'limited':
      return "the provider's limit of requests is reached"
    case 'unreadable':
      return unreadableText(fault)
    case 'unavailable':
      return fault.unavailableCause === 'budget'
        ? 'the budget for calls to the provider is used up'
        : 'not called, because earlier calls failed'
    case 'failed':
      return cause instanceof Fault ? describeFault(cause) : 'the provider failed'
    default:
      return message
  }
}

function unreadableText(fault: Fault): string {
  const { cause } = fault
  const failureCause = failureCauseOf(fault) ?? 'not_of_form'
  if (failureCause !== 'not_of_form') return `the response cannot be read: ${failureCauses[failureCause]}`
  return `the response is not of the form${cause instanceof Error ? `: ${cause.message}` : ''}`
}

/** The word of the system or of OpenSSL, which can be searched for. */
function codeOf(fault: Fault): string {
  const cause = rootCauseOf(fault)
  return cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
}

// The checks of a trial, and what they share.

export type TrialCheckName =
  | 'currencies'
  | 'assets'
  | `${RateType} ${'quote' | 'received' | 'minimum'}`
  | 'list'
  | 'unknown id'
  | 'key'
  | 'memo coins'
  | 'statuses'
  | 'gets'

/** A quote that works. */
export interface FoundQuote {
  readonly from: Asset
  readonly to: Asset
  readonly quote: Quote
  readonly listedMinimum: Amount | undefined
}

interface FoundAtProvider {
  /** Undefined if it could not be read. */
  readonly list: CurrencyList | undefined
  readonly quotes: ReadonlyMap<RateType, FoundQuote>
}

/** `none`: the form does not have it. `skipped`: it could not be tried. Neither is a failure of its own. */
type TrialOutcome = 'works' | 'fails' | 'none' | 'skipped'

export interface TrialCheck {
  readonly check: TrialCheckName
  readonly outcome: TrialOutcome
  readonly message: string
  /** Codes of the table's assets that the provider lists without ambiguity. */
  readonly assets?: readonly string[]
}

export interface TriedProvider {
  readonly currencyList: CachedCurrencyList
  /** With the provider's names of assets. */
  readonly service: SwapService
  /** With the table's names of assets. */
  readonly translated: SwapService
  readonly sharedDeposits: SharedDeposits
  /** Whether the provider supports memos: `providers.<name>.extraIds`. */
  readonly acceptsMemos: boolean
  /** Whether a get must name the networks of a transaction: `providers.<name>.networks`. */
  readonly mustNameNetworks: boolean
  readonly hasKey: boolean
  readonly has: (op: Op, rateType?: RateType) => boolean
  readonly needsKey: (op: Op) => boolean
  /** Whether a create needs the id of a quote. */
  readonly isQuotedFirst: (rateType: RateType) => boolean
  /** Whether such a quote carries the address of a client, and the trial has none. */
  readonly lacksAddress: (rateType: RateType) => boolean
  readonly contextOf: () => Context
}

/** How each operation ended that the provider has only with a key. */
type KeyedEnds = Map<Op, 'done' | Fault>

export function works(check: TrialCheckName, message: string): TrialCheck {
  return { check, outcome: 'works', message }
}

export function fails(check: TrialCheckName, message: string): TrialCheck {
  return { check, outcome: 'fails', message }
}

export function none(check: TrialCheckName, message: string): TrialCheck {
  return { check, outcome: 'none', message }
}

export function skipped(check: TrialCheckName, message: string): TrialCheck {
  return { check, outcome: 'skipped', message }
}

/** The value or the fault. The end of a keyed operation is noted. */
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

// How the responses of each check deviate from the form.

/** What was observed during one check. */
export interface Observed {
  /** Of the last response; absent if there was none. */
  readonly status?: number
  /** Of the last call, if it found no provider or no response that can be read. */
  readonly cause?: FailureCause
  /** In the order of their first appearance. */
  readonly deviations: readonly DeviationCount[]
}

export interface DeviationCount {
  /** A field of the form, or `_other`. */
  readonly field: string
  /** The provider's own name of a field that the form does not have. */
  readonly name?: string
  readonly drift: Drift
  readonly count: number
}

/** Another name could write anything to the terminal. */
const plainName = /^[\w$.-]{1,64}$/
const maxNames = 50

/** Counts how a provider's responses deviate from its form, from one `take` to the next. */
export class TrialObserver {
  private readonly counts = new Map<string, DeviationCount>()
  private status: number | undefined
  private cause: FailureCause | undefined

  readonly observe = (observation: Observation): void => {
    if (observation.what === 'drift') this.add(observation)
    if (observation.what !== 'call') return
    this.status = observation.status
    this.cause = observation.failureCause
  }

  take(): Observed {
    const { status, cause } = this
    const deviations = [...this.counts.values()]
    this.counts.clear()
    this.status = undefined
    this.cause = undefined
    return { ...(status !== undefined && { status }), ...(cause !== undefined && { cause }), deviations }
  }

  private add({ field, name, drift }: Deviation): void {
    const plain = name !== undefined && plainName.test(name) && this.counts.size < maxNames ? name : undefined
    const key = `${drift} ${field} ${plain ?? ''}`
    const count = (this.counts.get(key)?.count ?? 0) + 1
    this.counts.set(key, { field, ...(plain !== undefined && { name: plain }), drift, count })
  }
}

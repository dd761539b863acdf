/** Tries a provider more closely (docs/contract-operators.md §12): what a nightly job asks, or a provider of itself. It creates nothing, either. */

import { type Amount, compareAmounts, divide, isPositive, two, withoutExponent } from '../../domain/amount.ts'
import type { Asset } from '../../domain/asset.ts'
import { Fault } from '../../domain/fault.ts'
import { printable } from '../../domain/printable.ts'
import type { RateType, Transaction } from '../../domain/swap.ts'
import type { CurrencyList } from '../assets/currency-list.ts'
import type { StatusCount } from '../ports/ledger-admin.ts'
import { notOfferedReasons, type QuotedPair, quoteAmount, quoteSuitableAmount } from './provider-diff.ts'
import {
  describeFault,
  type FoundQuote,
  fails,
  limitsText,
  none,
  skipped,
  type TrialCheck,
  type TriedProvider,
  tryProvider,
  usableAssets,
  works,
} from './trial.ts'

export interface StrictlyTried extends TriedProvider {
  /** By the amount that is to be received. */
  readonly quotesReceived: (rateType: RateType) => boolean
  /** Whether a refusal of an amount need not say that it is too little. */
  readonly mayHideMinimum: boolean
  /** What the ledger has of this provider. */
  readonly recorded: readonly StatusCount[]
  /** The provider's words for each status that it has. */
  readonly words: ReadonlyMap<string, readonly string[]>
  readonly pageSize: number
}

const rateTypes: readonly RateType[] = ['float', 'fixed']
const maxMemoCoins = 2
const maxGets = 5

/** Yields the checks of every trial, then those of its own. */
export async function* tryStrictly(provider: StrictlyTried): AsyncGenerator<TrialCheck> {
  const { list, quotes } = yield* tryProvider(provider)
  for (const rateType of rateTypes) {
    yield await checkReceived(provider, rateType, quotes.get(rateType))
    yield await checkMinimum(provider, rateType, quotes.get(rateType))
  }
  yield await checkMemoCoins(provider, list, quotes)
  yield* checkTransactions(provider)
}

/** A quote for exactly the amount that another one gives. */
async function checkReceived(provider: StrictlyTried, rateType: RateType, found: FoundQuote | undefined): Promise<TrialCheck> {
  const check = `${rateType} received` as const
  if (!provider.quotesReceived(rateType)) return none(check, 'the form has no such quotes by the amount received')
  const amountOut = found?.quote.received
  if (!found || amountOut === undefined) return skipped(check, `there is no ${rateType} quote to compare with`)
  const { from, to } = found
  const asked = `${amountOut} ${to.code} from ${from.code}`
  try {
    const query = { codeFrom: from.code, codeTo: to.code, amountOut, rateType }
    const { body } = await provider.translated.call('getRate', query, provider.contextOf())
    if (body.amountOut === undefined || compareAmounts(body.amountOut, amountOut) !== 0)
      return fails(check, `${asked}: the quote gives ${body.amountOut ?? 'no amount'}`)
    if (!isPositive(body.amountIn)) return fails(check, `${asked}: the quote has nothing to be paid`)
    if (provider.isQuotedFirst(rateType) && body.quoteId === undefined)
      return fails(check, `${asked}: the quote has no id, which a create at this rate needs`)
    return works(check, `${asked} needs ${body.amountIn}, ${limitsText(body)}`)
  } catch (reason) {
    return fails(check, `${asked}: ${describeFault(Fault.from(reason))}`)
  }
}

/** Half of the minimum must be refused for that, with the provider's word for it and its limits. */
async function checkMinimum(provider: StrictlyTried, rateType: RateType, found: FoundQuote | undefined): Promise<TrialCheck> {
  const check = `${rateType} minimum` as const
  if (!provider.has('getRate', rateType)) return none(check, 'the form has no swaps with this type of rate')
  if (!found) return skipped(check, `there is no ${rateType} quote with a minimum`)
  const half = halfOf(found.quote.minAmount ?? found.listedMinimum)
  if (half === undefined) return skipped(check, 'no minimum is known')
  const pair = pairOf(found.from, found.to, undefined)
  const [quote = {}] = await quoteAmount(pair, half, sourcesOf(provider, rateType))
  const asked = `${half} ${found.from.code} to ${found.to.code}`
  const { fault, received } = quote
  if (!fault) return fails(check, `${asked} must be refused: the quote gives ${received ?? 'no amount'}, ${limitsText(quote)}`)
  const word = `"${printable(fault.message.slice(0, 200))}"`
  if (fault.kind !== 'invalid') return fails(check, `${asked} must be refused: ${describeFault(fault)}`)
  const isSilent = provider.mayHideMinimum && fault.reason === 'refused'
  if (fault.reason !== 'below_minimum' && !isSilent)
    return fails(check, `${asked}: its refusal does not say that it is too little: ${word}`)
  return works(check, `${asked} is refused: ${word}, ${limitsText(quote)}`)
}

function halfOf(minimum: Amount | undefined): Amount | undefined {
  if (minimum === undefined || !isPositive(minimum)) return undefined
  const half = divide(minimum, two)
  return half && withoutExponent(half)
}

/** Quotes from and to coins whose addresses have memos. What the list says of their deposits must be what the gateway does. */
async function checkMemoCoins(
  provider: StrictlyTried,
  list: CurrencyList | undefined,
  quotes: ReadonlyMap<RateType, FoundQuote>,
): Promise<TrialCheck> {
  const check = 'memo coins'
  if (!list) return skipped(check, 'there is no list of currencies')
  const isShared = ({ code }: Asset): boolean => provider.sharedDeposits.mayBeShared({ code })
  const coins = usableAssets(list).filter(({ memo }) => memo !== undefined && memo !== 'none')
  if (coins.length === 0) return none(check, 'it lists none that the table has')
  const unsafe = coins.filter((asset) => list.byAsset.get(asset)?.row.needsMemo === true && !isShared(asset))
  if (unsafe.length > 0)
    return fails(check, `its list says that these need a memo, which depositMemo does not ask for: ${codesOf(unsafe)}`)
  const [[rateType, quoted] = []] = quotes
  if (rateType === undefined || !quoted) return skipped(check, 'no pair is quoted')
  const { from: other } = quoted
  const sharedFirst = coins.toSorted((a, b) => Number(isShared(b)) - Number(isShared(a)))
  const texts: string[] = []
  for (const coin of sharedFirst.filter(({ code }) => code !== other.code).slice(0, maxMemoCoins))
    for (const [from, to] of [[coin, other] as const, [other, coin] as const]) {
      const pair = pairOf(from, to, list)
      const { amount, quotes: answers } = await quoteSuitableAmount(pair, sourcesOf(provider, rateType))
      const [{ fault, received } = {}] = answers
      const asked = `${amount} ${from.code} to ${to.code}`
      if (fault?.unavailableCause === 'budget') return skipped(check, `${asked}: ${describeFault(fault)}`)
      if (fault && !isNotOffered(fault)) return fails(check, `${asked}: ${describeFault(fault)}`)
      texts.push(fault ? `${from.code} to ${to.code} is not offered` : `${asked} gives ${received}`)
    }
  return works(check, `${codesOf(coins)} are listed; ${texts.join(', ')}`)
}

function isNotOffered({ kind, reason }: Fault): boolean {
  return kind === 'invalid' && notOfferedReasons.has(reason)
}

function codesOf(assets: readonly Asset[]): string {
  return assets.map(({ code }) => code).join(', ')
}

function pairOf(from: Asset, to: Asset, list: CurrencyList | undefined): QuotedPair {
  return { from: from.code, to: to.code, listedMinimum: list?.byAsset.get(from)?.row.depositMin }
}

function sourcesOf({ translated, contextOf }: StrictlyTried, rateType: RateType) {
  return { services: [translated], rateType, contextOf }
}

/** The words for statuses on the newest page, and a get of one transaction with each. */
async function* checkTransactions(provider: StrictlyTried): AsyncGenerator<TrialCheck> {
  const { recorded, words } = provider
  const rows = await newestRows(provider)
  const seen = typeof rows === 'string' ? [] : rows
  const inList = countsOf(seen.map((row) => [wordOf(row), 1] as const))
  const inLedger = countsOf(recorded.map(({ status = 'unknown', count }) => [status, count] as const))
  const missing = [...words.keys()].filter((status) => !inList.has(status) && !inLedger.has(status))
  const message = [
    typeof rows === 'string' ? rows : `in its list: ${countsText(inList, words)}`,
    `in the ledger: ${countsText(inLedger, words)}`,
    `not seen yet: ${missing.map((status) => withWords(status, words)).join(', ') || 'none'}`,
  ].join('; ')
  const isUntried = typeof rows === 'string' && recorded.length === 0
  if (isUntried) yield skipped('statuses', message)
  else
    yield inList.has('unknown') ? fails('statuses', `a word that the form does not have; ${message}`) : works('statuses', message)
  yield await checkGets(provider, rows)
}

/** Why there are none, as a text. */
async function newestRows({ service, has, hasKey, pageSize, contextOf }: StrictlyTried): Promise<readonly Transaction[] | string> {
  if (!has('listTransactions')) return 'the form has no list'
  if (!hasKey) return 'without a key there is no list'
  try {
    return (await service.call('listTransactions', { page: 1, size: pageSize }, contextOf())).body.items
  } catch (reason) {
    return `its list failed: ${describeFault(Fault.from(reason))}`
  }
}

async function checkGets({ service, contextOf }: StrictlyTried, rows: readonly Transaction[] | string): Promise<TrialCheck> {
  if (typeof rows === 'string') return skipped('gets', rows)
  const newest = [...new Map(rows.toReversed().map((row) => [wordOf(row), row])).values()].slice(0, maxGets)
  if (newest.length === 0) return skipped('gets', 'its list is empty, so the form of a get is not verified')
  for (const { id } of newest)
    try {
      await service.call('getTransaction', { id }, contextOf())
    } catch (reason) {
      return fails('gets', `a get of a transaction in its list: ${describeFault(Fault.from(reason))}`)
    }
  return works('gets', `${newest.length} of ${rows.length}, one for each status`)
}

function wordOf({ status, attention }: Transaction): string {
  return attention === 'held' ? 'held' : (status ?? 'unknown')
}

function countsOf(words: readonly (readonly [string, number])[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const [word, count] of words) counts.set(word, (counts.get(word) ?? 0) + count)
  return counts
}

function countsText(counts: ReadonlyMap<string, number>, words: StrictlyTried['words']): string {
  return [...counts].map(([status, count]) => `${withWords(status, words)} ${count}`).join(', ') || 'none'
}

/** `success (finished)`. */
function withWords(status: string, words: StrictlyTried['words']): string {
  const own = (words.get(status) ?? []).filter((word) => word !== status)
  return own.length === 0 ? status : `${status} (${own.join(' or ')})`
}

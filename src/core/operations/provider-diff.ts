/** Compares what two providers offer before a switch (docs/contract-operators.md §12). It never creates anything. */
import { sameContract } from '../../domain/address/same-address.ts'
import {
  type Amount,
  compareAmounts,
  divide,
  isPositive,
  isZero,
  multiplySubtract,
  one,
  toAmount,
  two,
  zero,
} from '../../domain/amount.ts'
import type { Asset } from '../../domain/asset.ts'
import { type AmountRange, Fault, type Reason } from '../../domain/fault.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import type { RateType } from '../../domain/swap.ts'
import { type CurrencyList, isOff, type ListedAsset } from '../assets/currency-list.ts'
import { areDifferent } from '../assets/outside-table.ts'

/** A provider whose service uses the names of the asset table. */
export interface ComparedProvider {
  readonly list: CurrencyList
  readonly service: SwapService
}

interface AssetLimits {
  readonly depositMin: Amount | null
  readonly depositMax: Amount | null
}

export interface AssetDiff {
  readonly code: string
  readonly coin: string
  readonly network: string
}

interface LimitDiff extends AssetDiff {
  readonly first: AssetLimits
  readonly second: AssetLimits
}

/** A token with its contract at both; null: not listed, or without one. */
interface ContractDiff extends AssetDiff {
  readonly first: string | null
  readonly second: string | null
}

/** A row of a coin that the table lacks. */
export interface OwnCoin {
  readonly code: string
  readonly network: string | null
  readonly name: string
  readonly contract: string | null
}

/** A code that means different coins at both, so that it is not offered while both are routed. */
interface OwnCoinDiff {
  readonly code: string
  readonly first: readonly OwnCoin[]
  readonly second: readonly OwnCoin[]
}

/** What the table lacks, by code. */
interface OutsideTableDiff {
  readonly onlyFirst: readonly OwnCoin[]
  readonly onlySecond: readonly OwnCoin[]
  readonly different: readonly OwnCoinDiff[]
}

export interface ProviderDiff {
  /** Assets of the table that only one provider lists. */
  readonly onlyFirst: readonly AssetDiff[]
  readonly onlySecond: readonly AssetDiff[]
  /** Assets that both list with other limits. */
  readonly limits: readonly LimitDiff[]
  /** Assets that one provider has as another token than the table or the other provider. */
  readonly contracts: readonly ContractDiff[]
  readonly outsideTable: OutsideTableDiff
  readonly quotes: readonly QuoteDiff[]
  readonly medianDeviation: number | null
}

interface DiffOptions {
  readonly first: ComparedProvider
  readonly second: ComparedProvider
  /** Number of pairs that are quoted at both. */
  readonly pairs: number
  readonly contextOf: () => Context
}

/** Compares lists, limits and sample quotes. Quotes are requested one pair after the other. */
export async function providerDiff({ first, second, pairs, contextOf }: DiffOptions): Promise<ProviderDiff> {
  const [firstAssets, secondAssets] = [assetsOf(first.list), assetsOf(second.list)]
  const common = firstAssets.filter((asset) => secondAssets.includes(asset))
  const quotes: QuoteDiff[] = []
  for (const [source, target] of samplePairs(common, pairs)) {
    const pair = { from: source.code, to: target.code, listedMinimum: listedMinimum(source, [first, second]) }
    quotes.push(await compareQuotes(pair, { services: [first.service, second.service], rateType: 'float', contextOf }))
  }
  const deviations = quotes.flatMap(({ deviation }) => deviation ?? []).toSorted((a, b) => a - b)
  return {
    onlyFirst: firstAssets.filter((asset) => !secondAssets.includes(asset)).map(nameOf),
    onlySecond: secondAssets.filter((asset) => !firstAssets.includes(asset)).map(nameOf),
    limits: common
      .map((asset) => ({ ...nameOf(asset), first: limitsOf(asset, first), second: limitsOf(asset, second) }))
      .filter((row) => !areSame(row.first, row.second)),
    contracts: contractDiffs(first.list, second.list),
    outsideTable: outsideTableDiff(outsideTable(first.list), outsideTable(second.list)),
    quotes,
    medianDeviation: deviations[Math.floor(deviations.length / 2)] ?? null,
  }
}

function assetsOf({ byAsset }: CurrencyList): readonly Asset[] {
  const offered = [...byAsset].flatMap(([asset, { row }]) => (isOff(row) ? [] : [asset]))
  return offered.toSorted((a, b) => (a.code < b.code ? -1 : 1))
}

/** A coin of a chain has no contract, whatever stands in its row. */
function contractDiffs(first: CurrencyList, second: CurrencyList): readonly ContractDiff[] {
  const listed = new Set([first, second].flatMap(({ byAsset, otherTokens }) => [...byAsset.keys(), ...otherTokens.keys()]))
  const coinsOfChains = new Set([...listed].flatMap(({ coin, isHome }) => (isHome ? [coin] : [])))
  return [...listed]
    .filter(({ coin, contract }) => contract !== undefined || !coinsOfChains.has(coin))
    .map((asset) => ({ asset, one: contractAt(asset, first), other: contractAt(asset, second) }))
    .filter(({ asset, one, other }) => {
      if (first.otherTokens.has(asset) || second.otherTokens.has(asset)) return true
      return one !== null && other !== null && !sameContract(one, other)
    })
    .map(({ asset, one, other }) => ({ ...nameOf(asset), first: one, second: other }))
    .toSorted((a, b) => (a.code < b.code ? -1 : 1))
}

type AssetsOutsideTable = CurrencyList['assetsOutsideTable']

/** Without the provider's words for assets of the table. */
function outsideTable({ assetsOutsideTable }: CurrencyList): AssetsOutsideTable {
  const own = [...assetsOutsideTable].map(([word, listed]) => [word, listed.filter(({ asset }) => !asset)] as const)
  return new Map(own.filter(([, listed]) => listed.length > 0))
}

function outsideTableDiff(first: AssetsOutsideTable, second: AssetsOutsideTable): OutsideTableDiff {
  const lackedBy = (other: AssetsOutsideTable, own: AssetsOutsideTable): readonly OwnCoin[] =>
    inOrder([...own]).flatMap(([word, listedAssets]) => (other.has(word) ? [] : listedAssets.map(ownCoin)))
  return {
    onlyFirst: lackedBy(second, first),
    onlySecond: lackedBy(first, second),
    different: inOrder([...first]).flatMap(([word, listedAssets]) => {
      const others = second.get(word) ?? []
      if (!areDifferent([listedAssets, others], undefined)) return []
      return [{ code: listedAssets[0]?.row.code ?? word, first: listedAssets.map(ownCoin), second: others.map(ownCoin) }]
    }),
  }
}

function inOrder(words: readonly (readonly [word: string, listedAssets: readonly ListedAsset[]])[]) {
  return words.toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function ownCoin({ row }: ListedAsset): OwnCoin {
  const { code = '', network, name, contract } = row
  return { code, network: network ?? null, name, contract: contract ?? null }
}

function contractAt(asset: Asset, { byAsset, otherTokens }: CurrencyList): string | null {
  return otherTokens.get(asset) ?? byAsset.get(asset)?.row.contract ?? null
}

function nameOf({ code, coin, network }: Asset): AssetDiff {
  return { code, coin, network }
}

function limitsOf(asset: Asset, { list }: ComparedProvider): AssetLimits {
  const { depositMin = null, depositMax = null } = list.byAsset.get(asset)?.row ?? {}
  return { depositMin, depositMax }
}

/** A limit that one provider does not report is no difference. */
function areSame(first: AssetLimits, second: AssetLimits): boolean {
  return (['depositMin', 'depositMax'] as const).every((limit) => {
    const [a, b] = [first[limit], second[limit]]
    return a === null || b === null || compareAmounts(a, b) === 0
  })
}

/** Pairs of different assets, spread over all of them and the same each time. */
function samplePairs(assets: readonly Asset[], count: number): readonly (readonly [Asset, Asset])[] {
  const { length } = assets
  const total = length * (length - 1)
  const size = Math.min(count, total)
  const picked = Array.from({ length: size }, (_, at) => {
    const pair = Math.floor((at * total) / size)
    const source = Math.floor(pair / (length - 1))
    const target = (source + 1 + (pair % (length - 1))) % length
    return [assets[source], assets[target]] as const
  })
  return picked.flatMap(([source, target]) => (source && target ? [[source, target] as const] : []))
}

/** Undefined if neither lists one. */
function listedMinimum(asset: Asset, providers: readonly ComparedProvider[]): Amount | undefined {
  const minimums = providers.flatMap((provider) => limitsOf(asset, provider).depositMin ?? [])
  return minimums.toSorted((a, b) => compareAmounts(b, a))[0]
}

// Compares the quotes of two providers for one pair (docs/contract-operators.md §12).

interface QuoteDiff {
  readonly from: string
  readonly to: string
  readonly amount: Amount
  /** `notOffered`: one of them does not offer the pair. `notCompared`: no amount was found that both quote, or one of them failed. */
  readonly outcome: 'compared' | 'notOffered' | 'notCompared'
  /** The amount received; null without a quote. */
  readonly first: Amount | null
  readonly second: Amount | null
  /** (second − first) ÷ first. */
  readonly deviation: number | null
  /** Reasons of missing quotes. */
  readonly errors: readonly string[]
}

export interface QuotedPair {
  /** Codes of the asset table. */
  readonly from: string
  readonly to: string
  /** The largest minimum in the lists of both. */
  readonly listedMinimum: Amount | undefined
}

interface QuoteSources {
  readonly services: readonly SwapService[]
  readonly rateType: RateType
  readonly contextOf: () => Context
}

/** What one provider responses for an amount. */
export interface Quote extends AmountRange {
  readonly received?: Amount | undefined
  readonly quoteId?: string | undefined
  readonly fault?: Fault | undefined
}

interface QuotesOfAmount {
  readonly amount: Amount
  /** In the order of the services. */
  readonly quotes: readonly Quote[]
}

export const notOfferedReasons: ReadonlySet<Reason> = new Set<Reason>([
  'not_offered',
  'unknown_asset',
  'network_required',
  'network_unknown',
])

/** `services`: of two providers. */
async function compareQuotes(pair: QuotedPair, sources: QuoteSources): Promise<QuoteDiff> {
  const { amount, quotes } = await quoteSuitableAmount(pair, sources)
  return diffOf(pair, amount, quotes)
}

/** Requests quotes for twice the listed minimum, or 1. If a provider rejects the amount, repeats with an amount within all reported limits. */
export async function quoteSuitableAmount(pair: QuotedPair, sources: QuoteSources): Promise<QuotesOfAmount> {
  const { listedMinimum: listed } = pair
  const guess = listed === undefined || isZero(listed) ? one : twice(listed)
  const quotes = await quoteAmount(pair, guess, sources)
  const better = quotes.every((quote) => suits(guess, quote)) ? undefined : amountWithin(quotes)
  if (better === undefined || compareAmounts(better, guess) === 0) return { amount: guess, quotes }
  return { amount: better, quotes: await quoteAmount(pair, better, sources) }
}

export function quoteAmount(
  { from, to }: QuotedPair,
  amountIn: Amount,
  { services, rateType, contextOf }: QuoteSources,
): Promise<readonly Quote[]> {
  const quote = async (service: SwapService): Promise<Quote> => {
    try {
      const query = { codeFrom: from, codeTo: to, amountIn, rateType }
      const { amountOut, minAmount, maxAmount, quoteId } = (await service.call('getRate', query, contextOf())).body
      return { received: amountOut, minAmount, maxAmount, quoteId }
    } catch (reason) {
      const fault = Fault.from(reason)
      return { ...amountRangeIn(fault.message), ...fault.amountRange, fault }
    }
  }
  return Promise.all(services.map(quote))
}

/** A refusal ends with its limits (docs/contract.md §6), also that of a provider which is a gateway or a sandbox itself. */
function amountRangeIn(message: string): AmountRange {
  const [, minimum = '', maximum = ''] = /\bMinimum (\d[\d.]{0,63}), maximum (\d[\d.]{0,63})\.$/.exec(message) ?? []
  return { minAmount: toAmount(minimum), maxAmount: toAmount(maximum) }
}

function suits(amount: Amount, { received, minAmount, maxAmount }: Quote): boolean {
  if (received === undefined || (minAmount !== undefined && compareAmounts(amount, minAmount) < 0)) return false
  return maxAmount === undefined || !isPositive(maxAmount) || compareAmounts(amount, maxAmount) <= 0
}

/** Twice the larger minimum, or the smaller maximum if that is less. Undefined if no amount suits both, or no limit is known. */
function amountWithin(quotes: readonly Quote[]): Amount | undefined {
  const known = (limit: keyof AmountRange) => quotes.flatMap((quote) => quote[limit] ?? []).filter(isPositive)
  const [minimum] = known('minAmount').toSorted((a, b) => compareAmounts(b, a))
  const [maximum] = known('maxAmount').toSorted(compareAmounts)
  if (minimum === undefined) return maximum
  if (maximum === undefined || compareAmounts(twice(minimum), maximum) <= 0) return twice(minimum)
  return compareAmounts(minimum, maximum) <= 0 ? maximum : undefined
}

function diffOf({ from, to }: QuotedPair, amount: Amount, quotes: readonly Quote[]): QuoteDiff {
  const [first = null, second = null] = quotes.map(({ received }) => received ?? null)
  const deviation =
    first === null || second === null || isZero(first) ? undefined : divide(multiplySubtract(second, one, first), first)
  const isCompared = deviation !== undefined && quotes.every((quote) => suits(amount, quote))
  const isOffered = quotes.every(({ fault }) => fault === undefined || !notOfferedReasons.has(fault.reason))
  return {
    from,
    to,
    amount,
    outcome: isCompared ? 'compared' : isOffered ? 'notCompared' : 'notOffered',
    first,
    second,
    deviation: isCompared ? Number(deviation) : null,
    errors: quotes.flatMap(({ fault }) => fault?.message ?? []),
  }
}

function twice(amount: Amount): Amount {
  return multiplySubtract(amount, two, zero)
}

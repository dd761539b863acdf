/** Translates asset names: the table's names towards the client, the provider's towards the provider (docs/contract.md §3, docs/contract-operators.md §9). */

import { sameContract } from '../../domain/address/same-address.ts'
import { type Asset, type AssetTable, type Coin, defaultAsset, fold, sameName, spellingOf } from '../../domain/asset.ts'
import { ContextKey, valueIn, withValue } from '../../domain/context-values.ts'
import { Fault, joinedFaults, type Reason } from '../../domain/fault.ts'
import { nearestName } from '../../domain/nearest-name.ts'
import type { Context, Op, Request, ServiceResponse, SwapService } from '../../domain/service.ts'
import type { CoinOffer, Contracts, Pair, RateType, SentWords, Transaction } from '../../domain/swap.ts'
import { type Layer, onOperations } from '../layer.ts'
import {
  type AssetName,
  type AssetNaming,
  assetIn,
  assetNameOf,
  from,
  isRepeated,
  pairOf,
  type Side,
  to,
  withAssetNames,
} from './asset-naming.ts'
import type { CachedCurrencyList, CurrencyList, ListedAsset } from './currency-list.ts'
import { wordsOf } from './provider-rows.ts'

/** The assets of a create by the names that were asked for: what is shown. */
export const askedPair = new ContextKey<Pair | undefined>(undefined)

/** Of a get: what the create of that swap has sent, if that is known. Its deposit address is judged by the table of then. */
export const sentWords = new ContextKey<SentWords | undefined>(undefined)

/** `mustBeListed`: assets that the provider's list lacks are refused, because another provider may offer them. */
export function translateAssets(currencyList: CachedCurrencyList, mustBeListed: boolean): Layer {
  const resolveBoth = async (op: Op, request: Pair, context: Context): Promise<[ResolvedAsset, ResolvedAsset]> => {
    const isCreate = op === 'createTransaction'
    // One wait for both sides: two would take three quarters of the time budget.
    const options = {
      currencyList,
      readList: once(() => (isCreate ? currencyList.readForCreate(context) : currencyList.read(context))),
      readAvailable: once(() => currencyList.readAvailable(context)),
      isCreate,
      mustBeListed,
    }
    const resolve = async (side: Side): Promise<ResolvedAsset> => {
      const resolved = await assetFromRequest(assetNameOf(request, side), side, options)
      refuseDirection(resolved.offer, side, request)
      return resolved
    }
    const [source, target] = await bothOrFaults(resolve(from), resolve(to))
    refuseEqual(source.tableName, target.tableName, request.codeTo === undefined ? to.coin : to.code)
    return [source, target]
  }
  const callTranslated = async <O extends 'getRate' | 'createTransaction'>(
    op: O,
    request: Request<O>,
    context: Context,
    next: SwapService,
  ): Promise<ServiceResponse<O>> => {
    const [source, target] = await resolveBoth(op, request, context)
    refuseRateType(request.rateType, source.offer, target.offer)
    const pair = withAssetNames({}, source.tableName, target.tableName)
    const asked = withAssetNames({}, source.askedName, target.askedName)
    const translated = withAssetNames(request, source.providerName, target.providerName)
    const response = await next.call(op, translated, withValue({ ...context, pair }, askedPair, asked))
    return { ...response, body: withAssetNames(response.body, source.askedName, target.askedName) }
  }
  /** Words that the list has for another token name no asset: only the provider's word for the coin is left. */
  const nameIn = (row: Pair, side: Side, list?: CurrencyList | 'unreadable'): AssetName | undefined => {
    const words = assetNameOf(row, side)
    const isOfOther = currencyList.last()?.wordsOfOthers.has(wordsOf(words)) === true
    return isOfOther ? { coin: words.coin ?? words.code } : assetFromResponse(words, currencyList.naming, list)
  }
  const bothFromResponse = <Row extends Pair>(row: Row, list?: CurrencyList | 'unreadable'): Row | undefined => {
    const source = nameIn(row, from, list)
    const target = nameIn(row, to, list)
    return source && target && { ...withAssetNames(row, source, target), ownAssets: ownAssetsOf(row) }
  }
  /** Resolves names that configuration and table do not have through the provider's list. */
  const bothFromList = async <Row extends Pair>(row: Row, context: Context): Promise<Row> => {
    const list = await currencyList.read(context).catch(() => 'unreadable' as const)
    return bothFromResponse(row, list) ?? { ...row, ownAssets: ownAssetsOf(row) }
  }
  return onOperations({
    getRate: (request, context, next) => callTranslated('getRate', request, context, next),
    createTransaction: (request, context, next) => callTranslated('createTransaction', request, context, next),
    async getTransaction(request, context, next) {
      const response = await next.call('getTransaction', request, context)
      const sent = valueIn(context, sentWords)
      if ((sent || context.isGatewayCall) && mayBeOfOthers(response.body, sent, currencyList))
        await currencyList.readAvailable(context)
      const body = bothFromResponse(response.body) ?? (await bothFromList(response.body, context))
      return { ...response, body }
    },
    async listTransactions(request, context, next) {
      const response = await next.call('listTransactions', request, context)
      const rowFromResponse = <Row extends Pair>(row: Row) => bothFromResponse(row) ?? bothFromList(row, context)
      const items = await Promise.all(response.body.items.map(rowFromResponse))
      const unreadable = response.body.unreadable?.map(async ({ key, fields }) => ({ key, fields: await rowFromResponse(fields) }))
      const unreadableRows = unreadable && { unreadable: await Promise.all(unreadable) }
      return { ...response, body: { ...response.body, items, ...unreadableRows } }
    },
  })
}

/**
 * Whether a report, in the provider's words, may be of another token, as far as is known: it has other words than were sent, and no list says
 * what they mean.
 */
function mayBeOfOthers(reported: Pair, sent: Pair | undefined, { naming, last }: CachedCurrencyList): boolean {
  if (last() || !(naming.byCode || naming.listsNetworks)) return false
  return [from, to].some((side) => !isRepeated(assetNameOf(sent ?? {}, side), assetNameOf(reported, side)))
}

/** Throws 503 for a report of a create that may be of another token, as far as is known: its swap may not become payable. */
export function refuseUnknownWords(
  { ownAssets = {} }: Transaction,
  sent: Pair | undefined,
  currencyList: CachedCurrencyList,
): void {
  if (!sent || !mayBeOfOthers(ownAssets, sent, currencyList)) return
  const message = "The provider's list of currencies, which says what its words mean, cannot be read; please try again soon."
  throw new Fault('unavailable', message, { retryAfter: 1 })
}

/** Throws the fault of the source, with that of the target beside it if both are about their own asset. */
async function bothOrFaults(
  ...sides: readonly [Promise<ResolvedAsset>, Promise<ResolvedAsset>]
): Promise<readonly [ResolvedAsset, ResolvedAsset]> {
  const [source, target] = await Promise.allSettled(sides)
  if (source.status === 'fulfilled' && target.status === 'fulfilled') return [source.value, target.value]
  const faults = [source, target].flatMap((side) => (side.status === 'rejected' ? [Fault.from(side.reason)] : []))
  throw joinedFaults(faults)
}

function refuseEqual(one: AssetName, other: AssetName, field: string): void {
  const isEqual =
    one.code !== undefined && other.code !== undefined
      ? one.code === other.code
      : sameName(one.coin ?? '', other.coin ?? '') && sameName(one.network ?? '', other.network ?? '')
  if (!isEqual) return
  throw new Fault('invalid', 'it must be another asset than the one that is paid', {
    field,
    effect: 'nothingSent',
    reason: 'parameter_invalid',
    refusal: 'forEveryProvider',
  })
}

/** A direction that the provider's list has as off. Nothing was sent, and another provider may have it. */
function refuseDirection({ canDeposit, canWithdraw }: CoinOffer, side: Side, request: Pair): void {
  const isSource = side === from
  if ((isSource ? canDeposit : canWithdraw) !== false) return
  throw new Fault('invalid', `it cannot be ${isSource ? 'sent' : 'received'} here at the moment`, {
    field: assetNameOf(request, side).code === undefined ? side.coin : side.code,
    effect: 'nothingSent',
    reason: 'not_offered',
  })
}

/** The same for a rate type that either coin lacks. */
function refuseRateType(rateType: RateType, ...offers: readonly CoinOffer[]): void {
  const isOff = (type: RateType): boolean =>
    offers.some(({ fixedRate, floatRate }) => (type === 'fixed' ? fixedRate : floatRate) === false)
  if (!isOff(rateType)) return
  const other = rateType === 'fixed' ? 'float' : 'fixed'
  const message = isOff(other) ? 'this swap is not offered here at the moment' : `this swap is offered only with ${other}`
  throw new Fault('invalid', message, { field: 'rateType', effect: 'nothingSent', reason: 'not_offered' })
}

function ownAssetsOf(row: Pair & Contracts): Pair & Contracts {
  const { contractFrom, contractTo } = row
  return { ...pairOf(row), ...(contractFrom !== undefined && { contractFrom }), ...(contractTo !== undefined && { contractTo }) }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let promise: Promise<T> | undefined
  return () => {
    promise ??= work()
    return promise
  }
}

// Resolves the asset names of a request to the provider's names, and to the table's names for the response.

/** An asset of a request, with its names. */
interface ResolvedAsset {
  /** The name that is sent to the provider. */
  readonly providerName: AssetName
  /** What the table calls it today; of an asset that it lacks, the provider's words. */
  readonly tableName: AssetName
  /** The name in the response: all known fields of the name that was asked for, in the spelling of the table. */
  readonly askedName: AssetName
  /** By the provider's list; empty while that is not known. */
  readonly offer: CoinOffer
}

interface ResolveOptions {
  readonly currencyList: CachedCurrencyList
  /** Reads the provider's list, for assets that the table does not resolve. */
  readonly readList: () => Promise<CurrencyList>
  /** Undefined if the list is not available: assets of the table are resolved without it. */
  readonly readAvailable: () => Promise<CurrencyList | undefined>
  /** A create must name the network, in the asset's code or beside it. */
  readonly isCreate: boolean
  /** Refuses assets that the provider's list lacks, even if the table has them: another provider may offer them. */
  readonly mustBeListed: boolean
}

/** Throws `invalid` with the field if the asset is unknown, not offered or ambiguous. */
async function assetFromRequest(requested: AssetName, side: Side, options: ResolveOptions): Promise<ResolvedAsset> {
  const { currencyList, readList } = options
  if (requested.code !== undefined) return resolveCode(requested.code, side, options)
  const name = requested.coin ?? ''
  const coin = currencyList.naming.table.coin(name)
  if (!coin) return resolveOwnCoin(name, requested.network, side, options)
  if (requested.network === undefined) return resolveOpenNetwork(coin, name, side, options)
  const asset = currencyList.naming.table.find(name, requested.network)
  if (asset) return resolveAsset(asset, requested, side.coin, options)
  const listedAssets = await listedAssetsFor(name, readList)
  const listed = listedAssets.find(({ row }) => row.network !== undefined && sameName(row.network, requested.network ?? ''))
  if (listed) return resolveListed(listed, side.coin)
  throw unknownNetwork(side.network, [...coin.assets.map(({ network }) => network), ...networksOf(listedAssets)], 'network_unknown')
}

async function resolveCode(code: string, side: Side, options: ResolveOptions): Promise<ResolvedAsset> {
  const { currencyList, readList, isCreate } = options
  const asset = currencyList.naming.table.byCode(code)
  if (asset) return resolveAsset(asset, { code }, side.code, options)
  const [listedAsset, ...others] = await listedAssetsFor(code, readList)
  if (!listedAsset || others.length > 0 || (isCreate && !currencyList.naming.listsNetworks))
    throw unknownAsset(side.code, code, hintForCode(code, currencyList.naming.table))
  return resolveListed(listedAsset, side.code)
}

/** `asked`: by which of its names. */
async function resolveAsset(asset: Asset, asked: AssetName, field: string, options: ResolveOptions): Promise<ResolvedAsset> {
  const { naming } = options.currencyList
  const names = namesOf(asset, asked)
  const providerName = naming.nameFor(asset)
  if (!providerName) throw notOffered(field)
  const isNamedByList = dependsOnList(asset, naming)
  if (!isNamedByList && !naming.listsNetworks && !options.mustBeListed)
    return { providerName, ...names, offer: offerOf(options.currencyList.last()?.byAsset.get(asset)) }
  const refuseAmbiguous = (): void => {
    if (options.currencyList.last()?.ambiguousAssets.has(asset)) throw ambiguous(field)
  }
  const pendingList = isNamedByList && options.isCreate ? options.readList() : options.readAvailable()
  const list = await pendingList.finally(refuseAmbiguous)
  const listedAsset = list?.byAsset.get(asset)
  if (list && !listedAsset && (isNamedByList || options.mustBeListed)) throw notOffered(field)
  return { providerName: listedAsset?.assetName ?? providerName, ...names, offer: offerOf(listedAsset) }
}

/** Whether only the provider's list says what it calls the asset: where its form lists networks, and for a coin that has other names. */
function dependsOnList(asset: Asset, naming: AssetNaming): boolean {
  return (naming.listsNetworks || asset.also !== undefined) && naming.configuredNameFor(asset) === undefined
}

function namesOf(asset: Asset, asked: AssetName): Pick<ResolvedAsset, 'tableName' | 'askedName'> {
  const { code, coin, network } = asset
  const spelling = spellingOf(asset, asked)
  return { tableName: { code, coin, network }, askedName: { code: spelling.code, coin: spelling.coin, network } }
}

const noOffer: CoinOffer = {}

function offerOf(listedAsset: ListedAsset | undefined): CoinOffer {
  return listedAsset?.row ?? noOffer
}

/** A coin without a network: its default asset in a form that names by code; in the other form the network stays open. */
async function resolveOpenNetwork(coin: Coin, name: string, side: Side, options: ResolveOptions): Promise<ResolvedAsset> {
  const { naming } = options.currencyList
  const defaultOfCoin = defaultAsset(coin)
  if (naming.listsNetworks) {
    if (defaultOfCoin) return resolveAsset(defaultOfCoin, { coin: name }, side.coin, options)
    throw unknownNetwork(
      side.network,
      coin.assets.map(({ network }) => network),
      'network_required',
    )
  }
  const isRenamed = coin.assets.some((asset) => dependsOnList(asset, naming))
  const list = options.mustBeListed || isRenamed ? await options.readAvailable() : undefined
  const isListed = (asset: Asset): boolean => !list || list.byAsset.has(asset)
  const offered = [defaultOfCoin, ...coin.assets].find((asset) => asset && naming.nameFor(asset) && isListed(asset))
  const listed = offered && (list ?? options.currencyList.last())?.byAsset.get(offered)
  const providerName = offered && (listed?.assetName ?? naming.nameFor(offered))
  if (!offered || !providerName) throw notOffered(side.coin)
  return {
    providerName: { ...(providerName.coin !== undefined && { coin: providerName.coin }) },
    tableName: { coin: coin.coin },
    askedName: { coin: spellingOf(offered, { coin: name }).coin },
    offer: offerOf(listed),
  }
}

/** A coin outside the table: sent under the provider's own name, if the provider lists it. */
async function resolveOwnCoin(
  name: string,
  network: string | undefined,
  side: Side,
  { currencyList, readList }: ResolveOptions,
): Promise<ResolvedAsset> {
  const listedAssets = await listedAssetsFor(name, readList)
  const [listedAsset] = listedAssets
  if (!listedAsset) throw unknownAsset(side.coin, name, hintForCoin(name, side.network, currencyList.naming.table))
  if (!currencyList.naming.listsNetworks) {
    const requested = { ...listedAsset.assetName, ...(network !== undefined && { network }) }
    const askedName = { code: listedAsset.row.code ?? name, ...requested }
    return { providerName: requested, tableName: askedName, askedName, offer: offerOf(listedAsset) }
  }
  if (network === undefined && listedAssets.length === 1) return resolveListed(listedAsset, side.coin)
  const listed = listedAssets.find(
    ({ row }) => row.network !== undefined && network !== undefined && sameName(row.network, network),
  )
  if (listed) return resolveListed(listed, side.coin)
  throw unknownNetwork(side.network, networksOf(listedAssets), network === undefined ? 'network_required' : 'network_unknown')
}

function resolveListed(listedAsset: ListedAsset, field: string): ResolvedAsset {
  const { asset, assetName: providerName, row, isAmbiguous } = listedAsset
  if (isAmbiguous) throw ambiguous(field)
  const { code, coin, network } = row
  const askedName = {
    ...(code !== undefined && { code }),
    ...(coin !== undefined && { coin }),
    ...(network !== undefined && { network }),
  }
  const tableName = asset ? { code: asset.code, coin: asset.coin, network: asset.network } : askedName
  return { providerName, tableName, askedName, offer: offerOf(listedAsset) }
}

async function listedAssetsFor(name: string, readList: ResolveOptions['readList']): Promise<readonly ListedAsset[]> {
  return (await readList()).assetsOutsideTable.get(fold(name)) ?? []
}

function networksOf(listedAssets: readonly ListedAsset[]): readonly string[] {
  return listedAssets.map(({ row }) => row.network).filter((network) => network !== undefined)
}

/** `which`: the coins that are known. */
export function unknownAsset(field: string, name: string, hint: string, which = 'that can be swapped here'): Fault {
  const subject = /^[A-Za-z0-9]{1,32}$/.test(name) ? `${name} is` : 'it is'
  return new Fault('invalid', `${subject} not a coin ${which}${hint}`, {
    field,
    effect: 'nothingSent',
    reason: 'unknown_asset',
  })
}

/** For a form that names an asset by its code: a coin has one code on each network. */
export function hintForCode(code: string, table: AssetTable): string {
  const coin = table.coin(code)
  if (coin) return `: its codes are ${coin.assets.map((asset) => asset.code).join(', ')}`
  return similar(
    code,
    table.coins.flatMap((known) => known.assets.map((asset) => asset.code)),
  )
}

/** For a form that names an asset by coin and network. */
export function hintForCoin(name: string, field: string, table: AssetTable): string {
  const asset = table.byCode(name)
  if (asset) return `: it is the coin ${asset.coin} with ${field} ${asset.network}`
  return similar(
    name,
    table.coins.map((known) => known.coin),
  )
}

function similar(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known)
  return nearest === undefined ? '' : `; the nearest name is ${nearest}`
}

function notOffered(field: string): Fault {
  return new Fault('invalid', 'it is not offered here at the moment', { field, effect: 'nothingSent', reason: 'not_offered' })
}

/** Neither network nor token is ever guessed: the provider uses this name for another one, or for several. */
function ambiguous(field: string): Fault {
  return new Fault('invalid', 'it cannot be swapped here, because its network or its token is ambiguous', {
    field,
    effect: 'nothingSent',
    reason: 'not_offered',
  })
}

export function unknownNetwork(field: string, networks: readonly string[], reason: Reason): Fault {
  const known = networks.length === 0 ? 'no network of this coin is known here' : `it must be one of ${networks.join(', ')}`
  return new Fault('invalid', known, { field, effect: 'nothingSent', reason })
}

// Translates the asset names of a provider's response to the table's names. Unknown names stay as they are.

/**
 * Returns all known names of the asset in a provider's response. Undefined if only the provider's list can resolve it and no
 * `list` is given.
 */
export function assetFromResponse(
  assetName: AssetName,
  naming: AssetNaming,
  list?: CurrencyList | 'unreadable',
): AssetName | undefined {
  const { code, coin, network } = assetName
  if (code !== undefined) return fromCode(code, naming, list)
  if (coin === undefined) return {}
  return network === undefined ? fromCoin(coin, naming) : fromCoinAndNetwork(coin, network, naming)
}

/** The contracts that the assets of a pair have here. It has the names of the table. */
export function contractsOf(pair: Pair, naming: AssetNaming): Contracts {
  const contractOf = (side: Side): string | undefined => {
    const asset = assetIn(pair, side, naming.table)
    return asset && naming.contractOf(asset)
  }
  const [contractFrom, contractTo] = [contractOf(from), contractOf(to)]
  return { ...(contractFrom !== undefined && { contractFrom }), ...(contractTo !== undefined && { contractTo }) }
}

/** The contracts that a provider reports where others are expected. One that it leaves out contradicts nothing. */
export function otherTokens(reported: Contracts, expected: Contracts): readonly (keyof Contracts)[] {
  return (['contractFrom', 'contractTo'] as const).filter((field) => {
    const [own, other] = [expected[field], reported[field]]
    return own !== undefined && Boolean(other) && !sameContract(own, other ?? '')
  })
}

function fromCode(code: string, naming: AssetNaming, list: CurrencyList | 'unreadable' | undefined): AssetName | undefined {
  const [candidate] = naming.assetsNamed({ code })
  const asset = candidate ?? naming.table.byCode(code)
  if (asset) return asset
  if (list === undefined) return undefined
  const [listedAsset, ...others] = (list !== 'unreadable' && list.byProviderCode.get(fold(code))) || []
  return (others.length === 0 && listedAsset?.asset) || { code, coin: code }
}

/** A coin of the table on a network that it does not have here has no code: its network is a word of the provider's. */
function fromCoinAndNetwork(coin: string, network: string, { assetsNamed, isOnNetwork, table }: AssetNaming): AssetName {
  const named = assetsNamed({ coin, network })
  if (named[0] && named.length === 1) return named[0]
  const coins = table.coinsNamed(coin)
  const known = coins.flatMap(({ assets }) => assets).find((asset) => isOnNetwork(asset, network))
  return known ?? (coins[0] ? { coin: coins[0].coin, network } : { code: coin, coin, network })
}

/** A coin without a network is one asset if the table has exactly one network for it. */
function fromCoin(coin: string, { assetsNamed, table }: AssetNaming): AssetName {
  const [candidate] = assetsNamed({ coin })
  const tableCoin = table.coin(candidate?.coin ?? coin)
  if (!tableCoin) return { code: coin, coin }
  const [asset, ...others] = tableCoin.assets
  return asset && others.length === 0 ? { code: asset.code, coin: asset.coin } : { coin: tableCoin.coin }
}

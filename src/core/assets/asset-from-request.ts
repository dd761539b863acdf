/** Resolves the asset names of a request to the provider's names, and to the table's names for the response. */

import type { Asset, Coin } from '../../domain/asset.ts'
import { defaultAsset, fold, sameName } from '../../domain/asset.ts'
import type { Reason } from '../../domain/fault.ts'
import { Fault } from '../../domain/fault.ts'
import type { AssetName } from './asset-naming.ts'
import type { Catalogue } from './catalogue.ts'
import type { Listing } from './listing.ts'
import type { Offer } from './offer.ts'
import type { Side } from './pair.ts'

/** An asset of a request, with both of its names. */
export interface ResolvedAsset {
  /** The name that is sent to the provider. */
  readonly providerName: AssetName
  /** The name in the response: all known fields, in the table's spelling. */
  readonly tableName: AssetName
}

export interface ResolveOptions {
  readonly catalogue: Catalogue
  /** Reads the provider's list, for assets that the table does not resolve. */
  readonly readListing: () => Promise<Listing>
  /** Undefined if the list is not available: assets of the table are resolved without it. */
  readonly readAvailable: () => Promise<Listing | undefined>
  /** A create must name the network, in the asset's code or beside it. */
  readonly isCreate: boolean
  /** Refuses assets that the provider's list lacks, even if the table has them: another provider may offer them. */
  readonly mustBeListed: boolean
}

/** Throws `invalid` with the field if the asset is unknown, not offered or ambiguous. */
export async function assetFromRequest(requested: AssetName, side: Side, options: ResolveOptions): Promise<ResolvedAsset> {
  const { catalogue, readListing } = options
  if (requested.code !== undefined) return resolveCode(requested.code, side, options)
  const name = requested.coin ?? ''
  const coin = catalogue.naming.table.coin(name)
  if (!coin) return resolveOwnCoin(name, requested.network, side, options)
  if (requested.network === undefined) return resolveOpenNetwork(coin, side, options)
  const asset = catalogue.naming.table.find(name, requested.network)
  if (asset) return resolveAsset(asset, side.coin, options)
  const offers = await offersFor(name, readListing)
  const listed = offers.find(({ row }) => row.network !== undefined && sameName(row.network, requested.network ?? ''))
  if (listed) return resolveOffer(listed, side.coin)
  throw unknownNetwork(side, [...coin.assets.map(({ network }) => network), ...networksOf(offers)], 'network_unknown')
}

async function resolveCode(code: string, side: Side, options: ResolveOptions): Promise<ResolvedAsset> {
  const { catalogue, readListing, isCreate } = options
  const asset = catalogue.naming.table.byCode(code)
  if (asset) return resolveAsset(asset, side.code, options)
  const [offer, ...others] = await offersFor(code, readListing)
  if (!offer || others.length > 0 || (isCreate && !catalogue.naming.listsNetworks)) throw unknownAsset(side.code, code)
  return resolveOffer(offer, side.code)
}

async function resolveAsset(asset: Asset, field: string, options: ResolveOptions): Promise<ResolvedAsset> {
  const { naming } = options.catalogue
  const { code, coin, network } = asset
  const tableName = { code, coin, network }
  const providerName = naming.nameFor(asset)
  if (!providerName) throw notOffered(field)
  if (!naming.listsNetworks && !options.mustBeListed) return { providerName, tableName }
  const needsList = options.isCreate && naming.listsNetworks && naming.configuredNameFor(asset) === undefined
  const refuseAmbiguous = (): void => {
    if (options.catalogue.lastListing()?.ambiguousAssets.has(asset)) throw ambiguous(field)
  }
  const pendingListing = needsList ? options.readListing() : options.readAvailable()
  const listing = await pendingListing.finally(refuseAmbiguous)
  const offer = listing?.byAsset.get(asset)
  if (listing && !offer && (needsList || options.mustBeListed)) throw notOffered(field)
  return { providerName: offer?.assetName ?? providerName, tableName }
}

/** A coin without a network: its default asset in a form that names by code; in the other form the network stays open. */
async function resolveOpenNetwork(coin: Coin, side: Side, options: ResolveOptions): Promise<ResolvedAsset> {
  const { naming } = options.catalogue
  const defaultOfCoin = defaultAsset(coin)
  if (naming.listsNetworks) {
    if (defaultOfCoin) return resolveAsset(defaultOfCoin, side.coin, options)
    throw unknownNetwork(
      side,
      coin.assets.map(({ network }) => network),
      'network_required',
    )
  }
  const listing = options.mustBeListed ? await options.readAvailable() : undefined
  const isListed = (asset: Asset): boolean => !listing || listing.byAsset.has(asset)
  const offered = [defaultOfCoin, ...coin.assets].find((asset) => asset && naming.nameFor(asset) && isListed(asset))
  const providerName = offered && naming.nameFor(offered)
  if (!providerName) throw notOffered(side.coin)
  return { providerName: { ...(providerName.coin !== undefined && { coin: providerName.coin }) }, tableName: { coin: coin.coin } }
}

/** A coin outside the table: sent under the provider's own name, if the provider lists it. */
async function resolveOwnCoin(
  name: string,
  network: string | undefined,
  side: Side,
  { catalogue, readListing }: ResolveOptions,
): Promise<ResolvedAsset> {
  const offers = await offersFor(name, readListing)
  const [offer] = offers
  if (!offer) throw unknownAsset(side.coin, name)
  if (!catalogue.naming.listsNetworks) {
    const requested = { ...offer.assetName, ...(network !== undefined && { network }) }
    return { providerName: requested, tableName: { code: offer.row.code ?? name, ...requested } }
  }
  if (network === undefined && offers.length === 1) return resolveOffer(offer, side.coin)
  const listed = offers.find(({ row }) => row.network !== undefined && network !== undefined && sameName(row.network, network))
  if (listed) return resolveOffer(listed, side.coin)
  throw unknownNetwork(side, networksOf(offers), network === undefined ? 'network_required' : 'network_unknown')
}

function resolveOffer({ assetName: providerName, row, isAmbiguous }: Offer, field: string): ResolvedAsset {
  if (isAmbiguous) throw ambiguous(field)
  const { code, coin, network } = row
  return {
    providerName,
    tableName: {
      ...(code !== undefined && { code }),
      ...(coin !== undefined && { coin }),
      ...(network !== undefined && { network }),
    },
  }
}

async function offersFor(name: string, readListing: ResolveOptions['readListing']): Promise<readonly Offer[]> {
  return (await readListing()).offersOutsideTable.get(fold(name)) ?? []
}

function networksOf(offers: readonly Offer[]): readonly string[] {
  return offers.map(({ row }) => row.network).filter((network) => network !== undefined)
}

function unknownAsset(field: string, name: string): Fault {
  const subject = /^[A-Za-z0-9]{1,32}$/.test(name) ? `${name} is` : 'it is'
  return new Fault('invalid', `${subject} not a coin that can be swapped here`, { field, noEffect: true, reason: 'unknown_asset' })
}

function notOffered(field: string): Fault {
  return new Fault('invalid', 'it is not offered here at the moment', { field, noEffect: true, reason: 'not_offered' })
}

/** Neither network nor token is ever guessed: the provider uses this name for another one, or for several. */
function ambiguous(field: string): Fault {
  return new Fault('invalid', 'it cannot be swapped here, because its network or its token is ambiguous', {
    field,
    noEffect: true,
    reason: 'not_offered',
  })
}

function unknownNetwork({ network }: Side, networks: readonly string[], reason: Reason): Fault {
  const known = networks.length === 0 ? 'no network of this coin is known here' : `it must be one of ${networks.join(', ')}`
  return new Fault('invalid', known, { field: network, noEffect: true, reason })
}

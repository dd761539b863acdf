/** From a client's words for an asset to a provider's, and to the stable words for the answer. */
import type { Asset, Coin } from '../domain/asset.ts'
import { fold, sameName, standardOf } from '../domain/asset.ts'
import { Fault } from '../domain/fault.ts'
import type { Reason } from '../domain/reason.ts'
import type { Catalogue } from './catalogue.ts'
import type { Listing } from './listing.ts'
import type { Words } from './naming.ts'
import type { Offer } from './offer.ts'
import type { Side } from './pair.ts'

export interface Resolved {
  /** What goes up. */
  readonly words: Words
  /** What comes back: all the names that are known, in the table's spelling. */
  readonly names: Words
}

export interface Resolution {
  readonly catalogue: Catalogue
  /** The list, for what nothing else can tell. */
  readonly read: () => Promise<Listing>
  /** Undefined where the list is not to be had: what the table knows can be asked for all the same. */
  readonly readAtHand: () => Promise<Listing | undefined>
  /** A create says the network, by the asset or beside it, and none of its networks is in doubt. */
  readonly isCreate: boolean
  /** Whether another provider may be asked for what this one's list lacks, though the table knows it. */
  readonly mustBeListed: boolean
}

/** Throws `invalid`, naming the field, where the asset is unknown, not offered, or in any doubt. */
export async function resolve(said: Words, side: Side, resolution: Resolution): Promise<Resolved> {
  const { catalogue, read } = resolution
  if (said.code !== undefined) return resolveCode(said.code, side, resolution)
  const name = said.coin ?? ''
  const coin = catalogue.naming.table.coin(name)
  if (!coin) return resolveOwnCoin(name, said.network, side, resolution)
  if (said.network === undefined) return resolveOpenNetwork(coin, side, resolution)
  const asset = catalogue.naming.table.find(name, said.network)
  if (asset) return resolveAsset(asset, side.coin, resolution)
  const own = await ownOffers(name, read)
  const listed = own.find(({ row }) => row.network !== undefined && sameName(row.network, said.network ?? ''))
  if (listed) return ofOffer(listed, side.coin)
  throw unknownNetwork(side, [...coin.assets.map(({ network }) => network), ...networksOf(own)], 'network_unknown')
}

async function resolveCode(code: string, side: Side, resolution: Resolution): Promise<Resolved> {
  const { catalogue, read, isCreate } = resolution
  const asset = catalogue.naming.table.byCode(code)
  if (asset) return resolveAsset(asset, side.code, resolution)
  const [offer, ...others] = await ownOffers(code, read)
  if (!offer || others.length > 0 || (isCreate && !catalogue.naming.byCode)) throw unknownAsset(side.code, code)
  return ofOffer(offer, side.code)
}

async function resolveAsset(asset: Asset, field: string, resolution: Resolution): Promise<Resolved> {
  const { naming } = resolution.catalogue
  const { code, coin, network } = asset
  const names = { code, coin, network }
  const words = naming.wordsFor(asset)
  if (!words) throw notOffered(field)
  if (!naming.byCode && !resolution.mustBeListed) return { words, names }
  const needsList = resolution.isCreate && naming.byCode && naming.ownWordsFor(asset) === undefined
  const refuseDoubtful = (): void => {
    if (resolution.catalogue.last()?.doubtful.has(asset)) throw doubtful(field)
  }
  const reading = needsList ? resolution.read() : resolution.readAtHand()
  const listing = await reading.finally(refuseDoubtful)
  const offer = listing?.byAsset.get(asset)
  if (listing && !offer && (needsList || resolution.mustBeListed)) throw notOffered(field)
  return { words: offer?.words ?? words, names }
}

/** No network: a form that names by code means the coin's standard one, the other leaves it open too. */
async function resolveOpenNetwork(coin: Coin, side: Side, resolution: Resolution): Promise<Resolved> {
  const { naming } = resolution.catalogue
  const standard = standardOf(coin)
  if (naming.byCode) {
    if (standard) return resolveAsset(standard, side.coin, resolution)
    throw unknownNetwork(
      side,
      coin.assets.map(({ network }) => network),
      'network_required',
    )
  }
  const listing = resolution.mustBeListed ? await resolution.readAtHand() : undefined
  const isListed = (asset: Asset): boolean => !listing || listing.byAsset.has(asset)
  const offered = [standard, ...coin.assets].find((asset) => asset && naming.wordsFor(asset) && isListed(asset))
  const words = offered && naming.wordsFor(offered)
  if (!words) throw notOffered(side.coin)
  return { words: { ...(words.coin !== undefined && { coin: words.coin }) }, names: { coin: coin.coin } }
}

/** A coin that the table lacks goes up in the provider's own words, if the provider lists it. */
async function resolveOwnCoin(
  name: string,
  network: string | undefined,
  side: Side,
  { catalogue, read }: Resolution,
): Promise<Resolved> {
  const own = await ownOffers(name, read)
  const [offer] = own
  if (!offer) throw unknownAsset(side.coin, name)
  if (!catalogue.naming.byCode) {
    const said = { ...offer.words, ...(network !== undefined && { network }) }
    return { words: said, names: { code: offer.row.code ?? name, ...said } }
  }
  if (network === undefined && own.length === 1) return ofOffer(offer, side.coin)
  const listed = own.find(({ row }) => row.network !== undefined && network !== undefined && sameName(row.network, network))
  if (listed) return ofOffer(listed, side.coin)
  throw unknownNetwork(side, networksOf(own), network === undefined ? 'network_required' : 'network_unknown')
}

function ofOffer({ words, row, isDoubtful }: Offer, field: string): Resolved {
  if (isDoubtful) throw doubtful(field)
  const { code, coin, network } = row
  return {
    words,
    names: { ...(code !== undefined && { code }), ...(coin !== undefined && { coin }), ...(network !== undefined && { network }) },
  }
}

async function ownOffers(word: string, read: Resolution['read']): Promise<readonly Offer[]> {
  return (await read()).ownOffers.get(fold(word)) ?? []
}

function networksOf(offers: readonly Offer[]): readonly string[] {
  return offers.map(({ row }) => row.network).filter((network) => network !== undefined)
}

function unknownAsset(field: string, word: string): Fault {
  const shown = /^[A-Za-z0-9]{1,32}$/.test(word) ? `${word} is` : 'it is'
  return new Fault('invalid', `${shown} not a coin that can be swapped here`, { field, certain: true, reason: 'unknown_asset' })
}

function notOffered(field: string): Fault {
  return new Fault('invalid', 'it is not offered here at the moment', { field, certain: true, reason: 'not_offered' })
}

/** A network is never guessed: the provider's word for this coin means another network, or several. */
function doubtful(field: string): Fault {
  return new Fault('invalid', 'it cannot be asked for here, since its network is in doubt', {
    field,
    certain: true,
    reason: 'not_offered',
  })
}

function unknownNetwork({ network }: Side, networks: readonly string[], reason: Reason): Fault {
  const known = networks.length === 0 ? 'this coin has no network that is known here' : `it must be one of ${networks.join(', ')}`
  return new Fault('invalid', known, { field: network, certain: true, reason })
}

/**
 * Parses the rows of a form that names an asset by code, with an optional network beside it. A code that the list uses for
 * several assets, or for another network or token than the table, is ambiguous and names none of them.
 */

import { type Asset, fold } from '../../domain/asset.ts'
import { inSlices } from '../../domain/async.ts'
import type { Drift } from '../../domain/observation.ts'
import type { Currency } from '../../domain/swap.ts'
import type { AssetNaming } from './asset-naming.ts'
import { type ListedOffers, notOffered, type Offer, withTableNames } from './offer.ts'

/** The assets that each code (folded) means in the list. */
type Uses = Map<string, Set<Asset | string>>

/** Parses all rows. Reports contradicting and ambiguous rows as drift. */
export async function parseByCode(
  rows: readonly Currency[],
  naming: AssetNaming,
  drift: (drift: Drift) => void,
): Promise<ListedOffers> {
  const uses: Uses = new Map()
  const offersByUse = new Map<Asset | string, Offer[]>()
  const otherTokens = new Map<Asset, string>()
  await inSlices(rows, (row) => {
    const { asset, contradicted, otherThan = [] } = matchAsset(row, naming)
    for (const each of otherThan) otherTokens.set(each, row.contract ?? '')
    const code = row.code ?? ''
    const use = asset ?? `${fold(code)}\n${fold(row.network ?? '')}\n${row.contract ?? ''}`
    uses.getOrInsertComputed(fold(code), () => new Set()).add(use)
    if (contradicted) drift(contradicted === 'network' ? 'contradictingNetwork' : 'contradictingContract')
    if (contradicted || (asset && !naming.nameFor(asset))) return
    const offers = offersByUse.getOrInsertComputed(use, () => [])
    if (offers.length > 0 && !asset) return
    const assetName = (asset && naming.configuredNameFor(asset)) ?? { code }
    const known = asset ? { asset } : { chain: naming.chainOf(code, row.network) }
    offers.push({ ...known, assetName, row: withTableNames(row, asset) })
  })
  const isAmbiguous = ({ asset, assetName }: Offer): boolean => isContradicted(uses, assetName.code ?? '', asset)
  const offers: Offer[] = []
  await inSlices(offersByUse.values(), (candidates) => {
    const offer = bestOffer(candidates, isAmbiguous)
    if (!offer) return
    if (isAmbiguous(offer)) drift('ambiguousName')
    offers.push(isAmbiguous(offer) ? { ...offer, isAmbiguous: true } : offer)
  })
  const ambiguousAssets = ambiguousAssetsOf(offers, uses, otherTokens, naming)
  return { offers, ambiguousAssets, otherTokens: notOffered(otherTokens, ambiguousAssets) }
}

export interface Match {
  readonly asset?: Asset | undefined
  /** The table has the row's code, but on another network, or as another token. */
  readonly contradicted?: 'network' | 'contract' | undefined
  /** The assets that the row would be by its words, if it had their contract. */
  readonly otherThan?: readonly Asset[]
}

/** The table's asset of a row. */
export function matchAsset({ code = '', network, contract }: Currency, naming: AssetNaming): Match {
  const named = [...naming.assetsNamed({ code }), naming.table.byCode(code)].filter((asset) => asset !== undefined)
  const onNetwork = named.filter((candidate) => network === undefined || naming.isOnNetwork(candidate, network))
  const byNetwork = network === undefined || onNetwork.length > 0 ? undefined : naming.table.find(code, network)
  const meant = byNetwork ? [byNetwork] : onNetwork
  const asset = meant.find((candidate) => naming.hasContract(candidate, contract))
  if (asset) return { asset }
  if (meant.length > 0) return { contradicted: 'contract', otherThan: meant }
  return { contradicted: named.length > 0 ? 'network' : undefined }
}

/** The best of several rows for one asset: an unambiguous one if possible, and of those the one with the table's code. */
function bestOffer(candidates: readonly Offer[], isAmbiguous: (offer: Offer) => boolean): Offer | undefined {
  const clear = candidates.filter((offer) => !isAmbiguous(offer))
  const isTableCode = ({ asset, assetName }: Offer): boolean => fold(assetName.code ?? '') === fold(asset?.code ?? '')
  return clear.find(isTableCode) ?? clear[0] ?? candidates[0]
}

/** Whether the list uses the code for another asset too; without `asset`, whether it has more than one meaning. */
function isContradicted(uses: Uses, code: string, asset: Asset | undefined): boolean {
  const used = uses.get(fold(code))
  return used !== undefined && (used.size > 1 || (asset !== undefined && !used.has(asset)))
}

/** Assets for which the list or the table has a code, but none that is unambiguous. */
function ambiguousAssetsOf(
  offers: readonly Offer[],
  uses: Uses,
  otherTokens: ReadonlyMap<Asset, string>,
  naming: AssetNaming,
): ReadonlySet<Asset> {
  const clear = new Set(offers.filter((offer) => !offer.isAmbiguous).map(({ asset }) => asset))
  const unclear = offers.filter((offer) => offer.isAmbiguous).map(({ asset }) => asset)
  const assets = naming.table.coins.flatMap((coin) => coin.assets)
  const contradicted = assets.filter((asset) => {
    const code = naming.nameFor(asset)?.code
    return code !== undefined && isContradicted(uses, code, asset)
  })
  return new Set(
    [...unclear, ...contradicted, ...otherTokens.keys()]
      .filter((asset) => asset !== undefined)
      .filter((asset) => !clear.has(asset)),
  )
}

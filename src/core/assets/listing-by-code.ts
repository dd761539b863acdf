/**
 * Parses the rows of a form that names an asset by code, with an optional network beside it. A code that the list uses for
 * several assets, or for another network than the table, is ambiguous and names none of them.
 */

import { inSlices } from '../../domain/in-slices.ts'
import { type Asset, fold } from '../../domain/swap/asset.ts'
import type { Currency } from '../../domain/swap/swap.ts'
import type { Drift } from '../../domain/telemetry/labels.ts'
import type { AssetNaming } from './asset-naming.ts'
import { type ListedOffers, type Offer, withTableNames } from './offer.ts'

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
  await inSlices(rows, (row) => {
    const { asset, isContradiction } = matchAsset(row, naming)
    const code = row.code ?? ''
    const use = asset ?? `${fold(code)}\n${fold(row.network ?? '')}`
    uses.getOrInsertComputed(fold(code), () => new Set()).add(use)
    if (isContradiction) drift('contradictingNetwork')
    if (isContradiction || (asset && !naming.nameFor(asset))) return
    const offers = offersByUse.getOrInsertComputed(use, () => [])
    if (offers.length > 0 && !asset) return
    const assetName = (asset && naming.configuredNameFor(asset)) ?? { code }
    offers.push({ ...(asset && { asset }), assetName, row: withTableNames(row, asset) })
  })
  const isAmbiguous = ({ asset, assetName }: Offer): boolean => isContradicted(uses, assetName.code ?? '', asset)
  const offers: Offer[] = []
  await inSlices(offersByUse.values(), (candidates) => {
    const offer = bestOffer(candidates, isAmbiguous)
    if (!offer) return
    if (isAmbiguous(offer)) drift('ambiguousName')
    offers.push(isAmbiguous(offer) ? { ...offer, isAmbiguous: true } : offer)
  })
  return { offers, ambiguousAssets: ambiguousAssetsOf(offers, uses, naming) }
}

/** The table's asset of a row. A contradiction: the table has the row's code, but on another network. */
export function matchAsset(
  { code = '', network }: Currency,
  naming: AssetNaming,
): { readonly asset?: Asset | undefined; readonly isContradiction: boolean } {
  const named = [...naming.assetsNamed({ code }), naming.table.byCode(code)].filter((asset) => asset !== undefined)
  const asset = named.find((candidate) => network === undefined || naming.isOnNetwork(candidate, network))
  if (asset) return { asset, isContradiction: false }
  const byNetwork = network === undefined ? undefined : naming.table.find(code, network)
  return { asset: byNetwork, isContradiction: named.length > 0 && !byNetwork }
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
function ambiguousAssetsOf(offers: readonly Offer[], uses: Uses, naming: AssetNaming): ReadonlySet<Asset> {
  const clear = new Set(offers.filter((offer) => !offer.isAmbiguous).map(({ asset }) => asset))
  const unclear = offers.filter((offer) => offer.isAmbiguous).map(({ asset }) => asset)
  const assets = naming.table.coins.flatMap((coin) => coin.assets)
  const contradicted = assets.filter((asset) => {
    const code = naming.nameFor(asset)?.code
    return code !== undefined && isContradicted(uses, code, asset)
  })
  return new Set([...unclear, ...contradicted].filter((asset) => asset !== undefined).filter((asset) => !clear.has(asset)))
}

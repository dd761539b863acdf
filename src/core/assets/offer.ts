/** One row of a provider's currency list. */
import type { Asset } from '../../domain/asset.ts'
import type { Currency } from '../../domain/swap.ts'
import type { AssetName } from './asset-naming.ts'

/** One asset that a provider offers. `asset` is absent if the table lacks it: then the names are the provider's own. */
export interface Offer {
  readonly asset?: Asset
  readonly assetName: AssetName
  readonly row: Currency
  /** For a coin that the table lacks: its network in the words of the table, as far as it has it. Undefined: the row names none. */
  readonly chain?: string | undefined
  /** True if the name also means another asset: the offer is listed, but cannot be requested. */
  readonly isAmbiguous?: boolean
}

/** The parsed rows of a list. */
export interface ListedOffers {
  readonly offers: readonly Offer[]
  /** Assets of the table for which the provider has no unambiguous name. */
  readonly ambiguousAssets: ReadonlySet<Asset>
  /** Those of them that the provider has as another token, with its contract there. */
  readonly otherTokens: ReadonlyMap<Asset, string>
}

/** Of the assets that a list has as other tokens: those that it has as nothing else. */
export function notOffered(
  otherTokens: ReadonlyMap<Asset, string>,
  ambiguousAssets: ReadonlySet<Asset>,
): ReadonlyMap<Asset, string> {
  return new Map([...otherTokens].filter(([asset]) => ambiguousAssets.has(asset)))
}

/** A row with both `code` and `coin`, so that any form can encode it. The table's names and limits are used if it has the asset. */
export function withTableNames(row: Currency, asset: Asset | undefined): Currency {
  const providerName = row.code ?? row.coin ?? ''
  if (!asset) return { ...row, code: providerName, coin: providerName }
  const { code, coin, network, name } = asset
  const limits = { depositMin: row.depositMin ?? asset.depositMin, depositMax: row.depositMax ?? asset.depositMax }
  const known = Object.fromEntries(Object.entries(limits).filter(([, amount]) => amount !== undefined))
  return { ...row, ...known, code, coin, network, name }
}

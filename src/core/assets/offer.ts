/** What a row of a provider's currency list offers. */
import type { Asset } from '../../domain/swap/asset.ts'
import type { Currency } from '../../domain/swap/swap.ts'
import type { AssetName } from './asset-naming.ts'

/** One asset that a provider offers. `asset` is absent where the table lacks it: then the words are the provider's own. */
export interface Offer {
  readonly asset?: Asset
  readonly assetName: AssetName
  readonly row: Currency
  /** True where the words mean another asset too: it is listed, and cannot be asked for. */
  readonly isAmbiguous?: boolean
}

/** What the rows of a list mean by themselves. */
export interface ListedOffers {
  readonly offers: readonly Offer[]
  /** Assets of the table that the provider's words cannot name without doubt. */
  readonly ambiguousAssets: ReadonlySet<Asset>
}

/** A row in both manners of naming, so that any form can show it; the table speaks where it has the asset. */
export function withTableNames(row: Currency, asset: Asset | undefined): Currency {
  const providerName = row.code ?? row.coin ?? ''
  if (!asset) return { ...row, code: providerName, coin: providerName }
  const { code, coin, network, name } = asset
  const limits = { depositMin: row.depositMin ?? asset.depositMin, depositMax: row.depositMax ?? asset.depositMax }
  const known = Object.fromEntries(Object.entries(limits).filter(([, amount]) => amount !== undefined))
  return { ...row, ...known, code, coin, network, name }
}

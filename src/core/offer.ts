/** What a row of a provider's currency list offers. */
import type { Asset } from '../domain/asset.ts'
import type { Currency } from '../domain/swap.ts'
import type { Words } from './naming.ts'

/** One asset that a provider offers. `asset` is absent where the table lacks it: then the words are the provider's own. */
export interface Offer {
  readonly asset?: Asset
  readonly words: Words
  readonly row: Currency
  /** True where the words mean another asset too: it is listed, and cannot be asked for. */
  readonly isDoubtful?: boolean
}

/** What the rows of a list mean by themselves. */
export interface Meaning {
  readonly offers: readonly Offer[]
  /** Assets of the table that the provider's words cannot name without doubt. */
  readonly doubtful: ReadonlySet<Asset>
}

/** A row in both manners of naming, so that any form can show it; the table speaks where it has the asset. */
export function inTableWords(row: Currency, asset: Asset | undefined): Currency {
  const own = row.code ?? row.coin ?? ''
  if (!asset) return { ...row, code: own, coin: own }
  const { code, coin, network, name } = asset
  const limits = { depositMin: row.depositMin ?? asset.depositMin, depositMax: row.depositMax ?? asset.depositMax }
  const known = Object.fromEntries(Object.entries(limits).filter(([, amount]) => amount !== undefined))
  return { ...row, ...known, code, coin, network, name }
}

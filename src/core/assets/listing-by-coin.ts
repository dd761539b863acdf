/** Parses the rows of a form that lists coins without networks: one row stands for all assets of the coin. */

import { fold } from '../../domain/asset.ts'
import { inSlices } from '../../domain/async.ts'
import type { Drift } from '../../domain/observation.ts'
import type { Currency } from '../../domain/swap.ts'
import type { AssetNaming } from './asset-naming.ts'
import { type ListedOffers, type Offer, withTableNames } from './offer.ts'

/** Parses all rows. A coin that is one of the table's codes is ambiguous: it is omitted and reported as drift. */
export async function parseByCoin(
  rows: readonly Currency[],
  naming: AssetNaming,
  drift: (drift: Drift) => void,
): Promise<ListedOffers> {
  const offers = new Map<string, Offer>()
  await inSlices(rows, (row) => {
    const coin = row.coin ?? ''
    const assets = naming.assetsNamed({ coin })
    for (const asset of assets) {
      const assetName = naming.nameFor(asset)
      if (assetName && !offers.has(asset.code)) offers.set(asset.code, { asset, assetName, row: withTableNames(row, asset) })
    }
    if (assets.length > 0 || naming.table.coin(coin)) return
    const key = `own ${fold(coin)}`
    if (naming.table.byCode(coin)) drift('ambiguousName')
    else if (!offers.has(key)) offers.set(key, { assetName: { coin }, row: withTableNames(row, undefined) })
  })
  return { offers: [...offers.values()], ambiguousAssets: new Set(), otherTokens: new Map() }
}

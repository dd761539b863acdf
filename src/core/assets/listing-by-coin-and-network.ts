/** Parses the rows of a form that lists each coin with its networks: one row is one asset. */
import { inSlices } from '../../domain/in-slices.ts'
import type { Asset } from '../../domain/swap/asset.ts'
import { fold } from '../../domain/swap/asset.ts'
import type { Currency } from '../../domain/swap/swap.ts'
import type { Drift } from '../../domain/telemetry/labels.ts'
import type { AssetNaming } from './asset-naming.ts'
import { type ListedOffers, type Offer, withTableNames } from './offer.ts'

/**
 * Parses all rows. A row that may be several assets makes them ambiguous, and is reported as drift. A coin of the table on a network
 * that the table lacks is not offered: no request could name it.
 */
export async function parseByCoinAndNetwork(
  rows: readonly Currency[],
  naming: AssetNaming,
  drift: (drift: Drift) => void,
): Promise<ListedOffers> {
  const offers = new Map<string, Offer>()
  const ambiguousAssets = new Set<Asset>()
  await inSlices(rows, (row) => {
    const { coin = '', network } = row
    const [asset, ...others] = naming.assetsNamed({ coin, network })
    if (asset && others.length > 0) {
      for (const each of [asset, ...others]) ambiguousAssets.add(each)
      drift('ambiguousName')
      return
    }
    if (asset) {
      const assetName = naming.configuredNameFor(asset) ?? { coin, network }
      if (naming.nameFor(asset) && !offers.has(asset.code))
        offers.set(asset.code, { asset, assetName, row: withTableNames(row, asset) })
      return
    }
    if (naming.table.coin(coin)) return
    const key = `own ${fold(coin)}\n${fold(network ?? '')}`
    if (naming.table.byCode(coin)) drift('ambiguousName')
    else if (!offers.has(key)) offers.set(key, { assetName: { coin, network }, row: withTableNames(row, undefined) })
  })
  const clear = new Set([...offers.values()].map(({ asset }) => asset))
  return { offers: [...offers.values()], ambiguousAssets: new Set([...ambiguousAssets].filter((asset) => !clear.has(asset))) }
}

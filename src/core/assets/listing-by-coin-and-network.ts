/** Parses the rows of a form that lists each coin with its networks: one row is one asset. */

import type { Asset } from '../../domain/asset.ts'
import { fold } from '../../domain/asset.ts'
import { inSlices } from '../../domain/async.ts'
import type { Drift } from '../../domain/observation.ts'
import type { Currency } from '../../domain/swap.ts'
import type { AssetName, AssetNaming } from './asset-naming.ts'
import { type ListedOffers, notOffered, type Offer, withTableNames } from './offer.ts'

/**
 * Parses all rows. A row that may be several assets makes them ambiguous, and is reported as drift; so does a row of another token,
 * whose words then name no asset. A coin of the table on a network that the table lacks is not offered: no request could name it.
 */
export async function parseByCoinAndNetwork(
  rows: readonly Currency[],
  naming: AssetNaming,
  drift: (drift: Drift) => void,
): Promise<ListedOffers> {
  const offers = new Map<string, Offer>()
  const ambiguousAssets = new Set<Asset>()
  const otherTokens = new Map<Asset, string>()
  const wordsOfOthers = new Set<string>()
  await inSlices(rows, (row) => {
    const { coin = '', network, contract } = row
    const named = naming.assetsNamed({ coin, network })
    const [asset, ...others] = named.filter((candidate) => naming.hasContract(candidate, contract))
    if (named.length > 0 && !asset) {
      wordsOfOthers.add(wordsOf(row))
      for (const each of named) otherTokens.set(each, contract ?? '')
      drift('contradictingContract')
      return
    }
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
    const key = `own ${wordsOf(row)}`
    if (naming.table.byCode(coin)) drift('ambiguousName')
    else if (!offers.has(key)) offers.set(key, ownOffer(row, naming))
    else if (contract !== offers.get(key)?.row.contract) wordsOfOthers.add(wordsOf(row))
  })
  const clear = [...offers.values()].filter(({ assetName }) => !wordsOfOthers.has(wordsOf(assetName)))
  const offered = new Set(clear.map(({ asset }) => asset))
  const unclear = new Set([...ambiguousAssets, ...otherTokens.keys()].filter((asset) => !offered.has(asset)))
  return { offers: clear, ambiguousAssets: unclear, otherTokens: notOffered(otherTokens, unclear) }
}

function ownOffer(row: Currency, naming: AssetNaming): Offer {
  const { coin = '', network } = row
  return { assetName: { coin, network }, chain: naming.chainOf(coin, network), row: withTableNames(row, undefined) }
}

/** What a request would name the row by. */
function wordsOf({ coin = '', network = '' }: AssetName): string {
  return `${fold(coin)}\n${fold(network)}`
}

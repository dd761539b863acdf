/** From a provider's words in an answer to the table's: what it cannot tell stays unknown. */
import { fold } from '../../domain/swap/asset.ts'
import type { AssetName, AssetNaming } from './asset-naming.ts'
import type { Listing } from './listing.ts'

/**
 * All the names that are known of the asset which a provider's answer means. Undefined where only the provider's list
 * can tell, and no `listing` is given.
 */
export function assetFromResponse(
  assetName: AssetName,
  naming: AssetNaming,
  listing?: Listing | 'unreadable',
): AssetName | undefined {
  const { code, coin, network } = assetName
  if (code !== undefined) return fromCode(code, naming, listing)
  if (coin === undefined) return {}
  return network === undefined ? fromCoin(coin, naming) : fromCoinAndNetwork(coin, network, naming)
}

function fromCode(code: string, naming: AssetNaming, listing: Listing | 'unreadable' | undefined): AssetName | undefined {
  const [candidate] = naming.assetsNamed({ code })
  const asset = candidate ?? naming.table.byCode(code)
  if (asset) return asset
  if (listing === undefined) return undefined
  const [offer, ...others] = (listing !== 'unreadable' && listing.byProviderCode.get(fold(code))) || []
  return (others.length === 0 && offer?.asset) || { code, coin: code }
}

function fromCoinAndNetwork(coin: string, network: string, { assetsNamed, table }: AssetNaming): AssetName {
  const [asset, ...others] = assetsNamed({ coin, network })
  if (asset && others.length === 0) return asset
  const known = table.find(coin, network)
  if (known) return known
  const tableCoin = table.coin(coin)
  return tableCoin ? { coin: tableCoin.coin, network } : { code: coin, coin, network }
}

/** A coin alone is an asset where the table gives it one network. */
function fromCoin(coin: string, { assetsNamed, table }: AssetNaming): AssetName {
  const [candidate] = assetsNamed({ coin })
  const tableCoin = table.coin(candidate?.coin ?? coin)
  if (!tableCoin) return { code: coin, coin }
  const [asset, ...others] = tableCoin.assets
  return asset && others.length === 0 ? { code: asset.code, coin: asset.coin } : { coin: tableCoin.coin }
}

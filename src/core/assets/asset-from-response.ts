/** Translates the asset names of a provider's response to the table's names. Unknown names stay as they are. */
import { sameContract } from '../../domain/address/same-address.ts'
import { fold } from '../../domain/asset.ts'
import type { Contracts, Pair } from '../../domain/swap.ts'
import type { AssetName, AssetNaming } from './asset-naming.ts'
import type { Listing } from './listing.ts'
import { assetIn, from, type Side, to } from './pair.ts'

/**
 * Returns all known names of the asset in a provider's response. Undefined if only the provider's list can resolve it and no
 * `listing` is given.
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

/** The contracts that the assets of a pair have here. It has the names of the table. */
export function contractsOf(pair: Pair, naming: AssetNaming): Contracts {
  const contractOf = (side: Side): string | undefined => {
    const asset = assetIn(pair, side, naming.table)
    return asset && naming.contractOf(asset)
  }
  const [contractFrom, contractTo] = [contractOf(from), contractOf(to)]
  return { ...(contractFrom !== undefined && { contractFrom }), ...(contractTo !== undefined && { contractTo }) }
}

/** The contracts that a provider reports where others are expected. One that it leaves out contradicts nothing. */
export function otherTokens(reported: Contracts, expected: Contracts): readonly (keyof Contracts)[] {
  return (['contractFrom', 'contractTo'] as const).filter((field) => {
    const [own, other] = [expected[field], reported[field]]
    return own !== undefined && Boolean(other) && !sameContract(own, other ?? '')
  })
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
  const named = assetsNamed({ coin, network })
  if (named[0] && named.length === 1) return named[0]
  const known = table.find(coin, network)
  if (known) return known
  const tableCoin = table.coin(coin)
  return tableCoin ? { coin: tableCoin.coin, network } : { code: coin, coin, network }
}

/** A coin without a network is one asset if the table has exactly one network for it. */
function fromCoin(coin: string, { assetsNamed, table }: AssetNaming): AssetName {
  const [candidate] = assetsNamed({ coin })
  const tableCoin = table.coin(candidate?.coin ?? coin)
  if (!tableCoin) return { code: coin, coin }
  const [asset, ...others] = tableCoin.assets
  return asset && others.length === 0 ? { code: asset.code, coin: asset.coin } : { coin: tableCoin.coin }
}

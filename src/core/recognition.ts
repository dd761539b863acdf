/** From a provider's words in an answer to the table's: what it cannot tell stays unknown. */
import { fold } from '../domain/asset.ts'
import type { Listing } from './listing.ts'
import type { Naming, Words } from './naming.ts'

/**
 * All the names that are known of the asset which a provider's answer means. Undefined where only the provider's list
 * can tell, and no `listing` is given.
 */
export function recognise(words: Words, naming: Naming, listing?: Listing | 'unreadable'): Words | undefined {
  const { code, coin, network } = words
  if (code !== undefined) return recogniseCode(code, naming, listing)
  if (coin === undefined) return {}
  return network === undefined ? recogniseCoin(coin, naming) : recogniseBoth(coin, network, naming)
}

function recogniseCode(code: string, naming: Naming, listing: Listing | 'unreadable' | undefined): Words | undefined {
  const [meant] = naming.meanings({ code })
  const asset = meant ?? naming.table.byCode(code)
  if (asset) return asset
  if (listing === undefined) return undefined
  const [offer, ...others] = (listing !== 'unreadable' && listing.byWord.get(fold(code))) || []
  return (others.length === 0 && offer?.asset) || { code, coin: code }
}

function recogniseBoth(coin: string, network: string, { meanings, table }: Naming): Words {
  const [asset, ...others] = meanings({ coin, network })
  if (asset && others.length === 0) return asset
  const known = table.find(coin, network)
  if (known) return known
  const tableCoin = table.coin(coin)
  return tableCoin ? { coin: tableCoin.coin, network } : { code: coin, coin, network }
}

/** A coin alone is an asset where the table gives it one network. */
function recogniseCoin(coin: string, { meanings, table }: Naming): Words {
  const [meant] = meanings({ coin })
  const tableCoin = table.coin(meant?.coin ?? coin)
  if (!tableCoin) return { code: coin, coin }
  const [asset, ...others] = tableCoin.assets
  return asset && others.length === 0 ? { code: asset.code, coin: asset.coin } : { coin: tableCoin.coin }
}

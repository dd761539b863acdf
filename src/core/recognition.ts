/** From a provider's words in an answer to the table's: what it cannot tell stays unknown. */
import { sameName } from '../domain/asset.ts'
import type { Context } from '../domain/operations.ts'
import type { Catalogue } from './catalogue.ts'
import type { Words } from './naming.ts'

/** All the names that are known of the asset which a provider's answer means. */
export function recognise(words: Words, catalogue: Catalogue, context: Context): Words | Promise<Words> {
  const { code, coin, network } = words
  if (code !== undefined) return recogniseCode(code, catalogue, context)
  if (coin === undefined) return {}
  return network === undefined ? recogniseCoin(coin, catalogue) : recogniseBoth(coin, network, catalogue)
}

function recogniseCode(code: string, catalogue: Catalogue, context: Context): Words | Promise<Words> {
  const [asset] = catalogue.naming.meanings({ code })
  return asset ?? catalogue.naming.table.byCode(code) ?? recogniseListed(code, catalogue, context)
}

/** A word that only the provider's list explains, by the network beside it. */
async function recogniseListed(code: string, catalogue: Catalogue, context: Context): Promise<Words> {
  const listing = await catalogue.listing(context).catch(() => undefined)
  const offer = listing?.offers.find(({ words }) => sameName(words.code ?? '', code))
  return offer?.asset ?? { code, coin: code }
}

function recogniseBoth(coin: string, network: string, { naming }: Catalogue): Words {
  const [asset, ...others] = naming.meanings({ coin, network })
  if (asset && others.length === 0) return asset
  const known = naming.table.find(coin, network)
  if (known) return known
  const tableCoin = naming.table.coin(coin)
  return tableCoin ? { coin: tableCoin.coin, network } : { code: coin, coin, network }
}

/** A coin alone is an asset where the table gives it one network. */
function recogniseCoin(coin: string, { naming }: Catalogue): Words {
  const [meant] = naming.meanings({ coin })
  const tableCoin = naming.table.coin(meant?.coin ?? coin)
  if (!tableCoin) return { code: coin, coin }
  const [asset, ...others] = tableCoin.assets
  if (!asset || others.length > 0) return { coin: tableCoin.coin }
  return { code: asset.code, coin: asset.coin }
}

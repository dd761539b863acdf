/** `assets.yaml` as an asset table (`spec/contract.md` §9). */
import { type Asset, AssetTable, type Coin, fold } from '../domain/asset.ts'
import type { ConfigFault } from './document.ts'
import type { AssetSettings } from './schema.ts'

type CoinSettings = AssetSettings[number]

export function toAssetTable(settings: AssetSettings, faults: ConfigFault[]): AssetTable {
  const networks = settings.flatMap((coin) => coin.networks)
  refuseTwice(
    settings.map(({ coin }) => coin),
    'the coin',
    faults,
  )
  refuseTwice(
    networks.map(({ code }) => code),
    'the code',
    faults,
  )
  return new AssetTable(settings.map((coin) => toCoin(coin, faults)))
}

function toCoin({ coin, name, networks }: CoinSettings, faults: ConfigFault[]): Coin {
  refuseTwice(
    networks.flatMap(({ network, aliases }) => [network, ...aliases]),
    `${coin}: the network`,
    faults,
  )
  if (networks.filter((network) => network.default).length > 1) {
    faults.push({ path: 'assets', message: `${coin} has more than one default network` })
  }
  const assets = networks.map(({ default: isDefault, ...network }): Asset => {
    const { depositMin, depositMax, ...words } = network
    return {
      ...words,
      coin,
      name,
      isStandard: isDefault || networks.length === 1,
      ...(depositMin !== undefined && { depositMin }),
      ...(depositMax !== undefined && { depositMax }),
    }
  })
  return { coin, name, assets: assets.toSorted((a, b) => Number(b.isStandard) - Number(a.isStandard)) }
}

function refuseTwice(names: readonly string[], what: string, faults: ConfigFault[]): void {
  const folded = names.map(fold)
  const twice = names.filter((name, at) => folded.indexOf(fold(name)) !== at)
  for (const name of twice) faults.push({ path: 'assets', message: `${what} ${name} is given twice` })
}

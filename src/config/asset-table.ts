/** Converts `assets.yaml` into an asset table (docs/contract.md §9). */
import { compareAmounts } from '../domain/amount.ts'
import { type Asset, AssetTable, type Coin, fold } from '../domain/asset.ts'
import type { Faults, Path } from './faults.ts'
import type { AssetSettings } from './schema/asset-table.ts'

type CoinSettings = AssetSettings[number]

/** A name and its path in the file. */
type Named = readonly [path: Path, name: string]

/** Adds a fault for each ambiguous name. The table is valid only if no fault was added. */
export function toAssetTable(coins: AssetSettings, faults: Faults): AssetTable {
  rejectDuplicates(
    coins.map(({ coin }, at): Named => [[at, 'coin'], coin]),
    faults,
  )
  rejectDuplicates(
    coins.flatMap(({ networks }, at) => networks.map(({ code }, index): Named => [[at, 'networks', index, 'code'], code])),
    faults,
  )
  for (const [at, { networks }] of coins.entries()) checkNetworks(networks, faults.under(at, 'networks'))
  return new AssetTable(coins.map(toCoin))
}

function checkNetworks(networks: CoinSettings['networks'], faults: Faults): void {
  rejectDuplicates(
    networks.flatMap(({ network, aliases }, at): Named[] => [
      [[at, 'network'], network],
      ...aliases.map((alias, index): Named => [[at, 'aliases', index], alias]),
    ]),
    faults,
  )
  const defaultAt = networks.findIndex((network) => network.default)
  const homeAt = networks.findIndex((network) => network.home)
  for (const [at, { default: isMarkedDefault, home, depositMin, depositMax }] of networks.entries()) {
    if (home && at !== homeAt) faults.add([at, 'home'], 'only one network of a coin can be its own chain')
    if (isMarkedDefault && at !== defaultAt) faults.add([at, 'default'], 'only one network of a coin can be the default')
    if (depositMin !== undefined && depositMax !== undefined && compareAmounts(depositMin, depositMax) > 0)
      faults.add([at, 'depositMax'], 'must not be below depositMin')
  }
}

function toCoin({ coin, name, networks }: CoinSettings): Coin {
  const assets = networks.map(
    ({ default: isMarkedDefault, home: isHome, decimals, contract, depositMin, depositMax, address, memo, ...names }): Asset => {
      const isDefault = isMarkedDefault || networks.length === 1
      const limits = { ...(depositMin !== undefined && { depositMin }), ...(depositMax !== undefined && { depositMax }) }
      const rules = { ...(address && { address }), ...(memo && { memo }), ...(decimals !== undefined && { decimals }) }
      return { ...names, coin, name, isDefault, ...(isHome && { isHome }), ...(contract && { contract }), ...limits, ...rules }
    },
  )
  return { coin, name, assets: assets.toSorted((a, b) => Number(b.isDefault) - Number(a.isDefault)) }
}

function rejectDuplicates(names: readonly Named[], faults: Faults): void {
  const taken = new Set<string>()
  for (const [path, name] of names) {
    if (taken.has(fold(name))) faults.add(path, 'is given twice')
    taken.add(fold(name))
  }
}

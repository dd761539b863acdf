/** A provider's currency list, in the names of the asset table (docs/contract.md §3, §9). */
import { type Asset, fold } from '../../domain/asset.ts'
import { inSlices } from '../../domain/async.ts'
import type { Drift } from '../../domain/observation.ts'
import type { Context } from '../../domain/service.ts'
import type { CoinOffer, Currency } from '../../domain/swap.ts'
import type { AssetName, AssetNaming } from './asset-naming.ts'

/** A provider's complete list. */
export interface CurrencyList extends ListedAssets {
  readonly byAsset: ReadonlyMap<Asset, ListedAsset>
  /** Assets outside the table, by the provider's code (folded). */
  readonly assetsOutsideTable: ReadonlyMap<string, readonly ListedAsset[]>
  /** Every asset with a code, by that code (folded). */
  readonly byProviderCode: ReadonlyMap<string, readonly ListedAsset[]>
  readonly provider: string | undefined
  /** On the clock of `performance.now()`. */
  readonly fetchedAt: number
}

/** Parses all rows in slices, so that the event loop is not blocked. Reports rows that contradict the table as drift. */
export async function parseCurrencyList(
  rows: readonly Currency[],
  naming: AssetNaming,
  drift: (drift: Drift) => void,
): Promise<Omit<CurrencyList, 'provider' | 'fetchedAt'>> {
  const parse = naming.byCode ? parseByCode : naming.listsNetworks ? parseByCoinAndNetwork : parseByCoin
  const content = await parse(rows, naming, drift)
  const { listedAssets } = content
  return {
    ...content,
    byAsset: new Map(listedAssets.flatMap((listed) => (listed.asset ? [[listed.asset, listed] as const] : []))),
    assetsOutsideTable: Map.groupBy(
      listedAssets.filter(({ asset }) => !asset),
      ({ row }) => fold(row.code ?? ''),
    ),
    byProviderCode: Map.groupBy(
      listedAssets.filter(({ assetName }) => assetName.code !== undefined),
      ({ assetName }) => fold(assetName.code ?? ''),
    ),
  }
}

// Parses the rows of a form that lists coins without networks: one row stands for all assets of the coin.

/** Parses all rows. A coin that is one of the table's codes is ambiguous: it is omitted and reported as drift. */
async function parseByCoin(rows: readonly Currency[], naming: AssetNaming, drift: (drift: Drift) => void): Promise<ListedAssets> {
  const listedAssets = new Map<string, ListedAsset>()
  await inSlices(rows, (row) => {
    const coin = row.coin ?? ''
    const assets = naming.assetsNamed({ coin })
    for (const asset of assets) {
      const assetName = naming.nameFor(asset)
      if (assetName && !listedAssets.has(asset.code))
        listedAssets.set(asset.code, { asset, assetName, row: withTableNames(row, asset) })
    }
    if (assets.length > 0 || naming.table.coin(coin)) return
    const key = `own ${fold(coin)}`
    if (naming.table.byCode(coin)) drift('ambiguousName')
    else if (!listedAssets.has(key)) listedAssets.set(key, { assetName: { coin }, row: withTableNames(row, undefined) })
  })
  return { listedAssets: [...listedAssets.values()], ambiguousAssets: new Set(), otherTokens: new Map() }
}

// Parses the rows of a form that lists each coin with its networks: one row is one asset.

/**
 * Parses all rows. A row that may be several assets makes them ambiguous, and is reported as drift; so does a row of another token,
 * whose words then name no asset. A coin of the table on a network that the table lacks is not offered: no request could name it.
 */
async function parseByCoinAndNetwork(
  rows: readonly Currency[],
  naming: AssetNaming,
  drift: (drift: Drift) => void,
): Promise<ListedAssets> {
  const listedAssets = new Map<string, ListedAsset>()
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
      if (naming.nameFor(asset) && !listedAssets.has(asset.code))
        listedAssets.set(asset.code, { asset, assetName, row: withTableNames(row, asset) })
      return
    }
    if (naming.table.coin(coin)) return
    const key = `own ${wordsOf(row)}`
    if (naming.table.byCode(coin)) drift('ambiguousName')
    else if (!listedAssets.has(key)) listedAssets.set(key, assetOutsideTable(row, naming))
    else if (contract !== listedAssets.get(key)?.row.contract) wordsOfOthers.add(wordsOf(row))
  })
  const clear = [...listedAssets.values()].filter(({ assetName }) => !wordsOfOthers.has(wordsOf(assetName)))
  const offered = new Set(clear.map(({ asset }) => asset))
  const unclear = new Set([...ambiguousAssets, ...otherTokens.keys()].filter((asset) => !offered.has(asset)))
  return { listedAssets: clear, ambiguousAssets: unclear, otherTokens: notOffered(otherTokens, unclear) }
}

function assetOutsideTable(row: Currency, naming: AssetNaming): ListedAsset {
  const { coin = '', network } = row
  return { assetName: { coin, network }, chain: naming.chainOf(coin, network), row: withTableNames(row, undefined) }
}

/** What a request would name the row by. */
function wordsOf({ coin = '', network = '' }: AssetName): string {
  return `${fold(coin)}\n${fold(network)}`
}

// Parses the rows of a form that names an asset by code, with an optional network beside it. A code that the list uses for
// several assets, or for another network or token than the table, is ambiguous and names none of them.

/** The assets that each code (folded) means in the list. */
type Uses = Map<string, Set<Asset | string>>

/** Parses all rows. Reports contradicting and ambiguous rows as drift. */
async function parseByCode(rows: readonly Currency[], naming: AssetNaming, drift: (drift: Drift) => void): Promise<ListedAssets> {
  const uses: Uses = new Map()
  const assetsByUse = new Map<Asset | string, ListedAsset[]>()
  const otherTokens = new Map<Asset, string>()
  await inSlices(rows, (row) => {
    const { asset, contradicted, otherThan = [] } = matchAsset(row, naming)
    for (const each of otherThan) otherTokens.set(each, row.contract ?? '')
    const code = row.code ?? ''
    const use = asset ?? `${fold(code)}\n${fold(row.network ?? '')}\n${row.contract ?? ''}`
    uses.getOrInsertComputed(fold(code), () => new Set()).add(use)
    if (contradicted) drift(contradicted === 'network' ? 'contradictingNetwork' : 'contradictingContract')
    if (contradicted || (asset && !naming.nameFor(asset))) return
    const listedAssets = assetsByUse.getOrInsertComputed(use, () => [])
    if (listedAssets.length > 0 && !asset) return
    const assetName = (asset && naming.configuredNameFor(asset)) ?? { code }
    const known = asset ? { asset } : { chain: naming.chainOf(code, row.network) }
    listedAssets.push({ ...known, assetName, row: withTableNames(row, asset) })
  })
  const isAmbiguous = ({ asset, assetName }: ListedAsset): boolean => isContradicted(uses, assetName.code ?? '', asset)
  const listedAssets: ListedAsset[] = []
  await inSlices(assetsByUse.values(), (candidates) => {
    const listed = bestListedAsset(candidates, isAmbiguous)
    if (!listed) return
    if (isAmbiguous(listed)) drift('ambiguousName')
    listedAssets.push(isAmbiguous(listed) ? { ...listed, isAmbiguous: true } : listed)
  })
  const ambiguousAssets = ambiguousAssetsOf(listedAssets, uses, otherTokens, naming)
  return { listedAssets, ambiguousAssets, otherTokens: notOffered(otherTokens, ambiguousAssets) }
}

export interface Match {
  readonly asset?: Asset | undefined
  /** The table has the row's code, but on another network, or as another token. */
  readonly contradicted?: 'network' | 'contract' | undefined
  /** The assets that the row would be by its words, if it had their contract. */
  readonly otherThan?: readonly Asset[]
}

/** The table's asset of a row. */
export function matchAsset({ code = '', network, contract }: Currency, naming: AssetNaming): Match {
  const named = [...naming.assetsNamed({ code }), naming.table.byCode(code)].filter((asset) => asset !== undefined)
  const onNetwork = named.filter((candidate) => network === undefined || naming.isOnNetwork(candidate, network))
  const byNetwork = network === undefined || onNetwork.length > 0 ? undefined : naming.table.find(code, network)
  const meant = byNetwork ? [byNetwork] : onNetwork
  const asset = meant.find((candidate) => naming.hasContract(candidate, contract))
  if (asset) return { asset }
  if (meant.length > 0) return { contradicted: 'contract', otherThan: meant }
  return { contradicted: named.length > 0 ? 'network' : undefined }
}

/** The best of several rows for one asset: an unambiguous one if possible, and of those the one with the table's code. */
function bestListedAsset(
  candidates: readonly ListedAsset[],
  isAmbiguous: (listed: ListedAsset) => boolean,
): ListedAsset | undefined {
  const clear = candidates.filter((listed) => !isAmbiguous(listed))
  const isTableCode = ({ asset, assetName }: ListedAsset): boolean => fold(assetName.code ?? '') === fold(asset?.code ?? '')
  return clear.find(isTableCode) ?? clear[0] ?? candidates[0]
}

/** Whether the list uses the code for another asset too; without `asset`, whether it has more than one meaning. */
function isContradicted(uses: Uses, code: string, asset: Asset | undefined): boolean {
  const used = uses.get(fold(code))
  return used !== undefined && (used.size > 1 || (asset !== undefined && !used.has(asset)))
}

/** Assets for which the list or the table has a code, but none that is unambiguous. */
function ambiguousAssetsOf(
  listedAssets: readonly ListedAsset[],
  uses: Uses,
  otherTokens: ReadonlyMap<Asset, string>,
  naming: AssetNaming,
): ReadonlySet<Asset> {
  const clear = new Set(listedAssets.filter((listed) => !listed.isAmbiguous).map(({ asset }) => asset))
  const unclear = listedAssets.filter((listed) => listed.isAmbiguous).map(({ asset }) => asset)
  const assets = naming.table.coins.flatMap((coin) => coin.assets)
  const contradicted = assets.filter((asset) => {
    const code = naming.nameFor(asset)?.code
    return code !== undefined && isContradicted(uses, code, asset)
  })
  return new Set(
    [...unclear, ...contradicted, ...otherTokens.keys()]
      .filter((asset) => asset !== undefined)
      .filter((asset) => !clear.has(asset)),
  )
}

// One row of a provider's currency list.

/** One asset that a provider offers. `asset` is absent if the table lacks it: then the names are the provider's own. */
export interface ListedAsset {
  readonly asset?: Asset
  readonly assetName: AssetName
  readonly row: Currency
  /** For a coin that the table lacks: its network in the words of the table, as far as it has it. Undefined: the row names none. */
  readonly chain?: string | undefined
  /** True if the name also means another asset: the asset is listed, but cannot be requested. */
  readonly isAmbiguous?: boolean
}

/** Whether the provider swaps it neither from nor to, or at no rate. */
export function isOff({ canDeposit, canWithdraw, fixedRate, floatRate }: CoinOffer): boolean {
  return (canDeposit === false && canWithdraw === false) || (fixedRate === false && floatRate === false)
}

/** The parsed rows of a list. */
interface ListedAssets {
  readonly listedAssets: readonly ListedAsset[]
  /** Assets of the table for which the provider has no unambiguous name. */
  readonly ambiguousAssets: ReadonlySet<Asset>
  /** Those of them that the provider has as another token, with its contract there. */
  readonly otherTokens: ReadonlyMap<Asset, string>
}

/** Of the assets that a list has as other tokens: those that it has as nothing else. */
function notOffered(otherTokens: ReadonlyMap<Asset, string>, ambiguousAssets: ReadonlySet<Asset>): ReadonlyMap<Asset, string> {
  return new Map([...otherTokens].filter(([asset]) => ambiguousAssets.has(asset)))
}

/** A row with both `code` and `coin`, so that any form can encode it. The table's names and limits are used if it has the asset. */
function withTableNames(row: Currency, asset: Asset | undefined): Currency {
  const providerName = row.code ?? row.coin ?? ''
  if (!asset) return { ...row, code: providerName, coin: providerName }
  const { code, coin, network, name } = asset
  const limits = { depositMin: row.depositMin ?? asset.depositMin, depositMax: row.depositMax ?? asset.depositMax }
  const known = Object.fromEntries(Object.entries(limits).filter(([, amount]) => amount !== undefined))
  return { ...row, ...known, code, coin, network, name }
}

// Port: the currency list of one provider.

/** A cached currency list, for quotes, creates and `/currencies`. */
export interface CachedCurrencyList {
  readonly naming: AssetNaming
  /** Refreshed before its lifetime ends, by one call for all callers. The last list is returned while the provider is slow or fails. */
  readonly read: (context: Context) => Promise<CurrencyList>
  /** The list if it is available soon, else undefined; not retried right after a failure. For callers that only confirm the table. */
  readonly readAvailable: (context: Context) => Promise<CurrencyList | undefined>
  /**
   * The list for a create: at most `staleFor` old. Throws 503 if there is none soon. Nothing was sent then, so another provider
   * may take the create.
   */
  readonly readForCreate: (context: Context) => Promise<CurrencyList>
  /** The last complete list, of any age. */
  readonly last: () => CurrencyList | undefined
  /** Stops the background refresh. */
  readonly close: () => void
}

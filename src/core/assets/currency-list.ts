/** A provider's currency list, in the names of the asset table (docs/contract.md §3, docs/contract-operators.md §9). */
import { type Asset, fold } from '../../domain/asset.ts'
import { inSlices } from '../../domain/async.ts'
import type { Drift } from '../../domain/observation.ts'
import type { Context } from '../../domain/service.ts'
import type { CoinOffer, Currency } from '../../domain/swap.ts'
import type { AssetName, AssetNaming } from './asset-naming.ts'
import { chosenRow, type Match, matchRow, wordsOf } from './provider-rows.ts'

/** A provider's complete list. */
export interface CurrencyList extends Omit<ListedAssets, 'ownWords'> {
  readonly byAsset: ReadonlyMap<Asset, ListedAsset>
  /** What only the provider's words name, by its code (folded): assets outside the table, and those of it that are known by their contract. */
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
  const { listedAssets, ownWords, ...found } = content
  return {
    listedAssets,
    ...found,
    byAsset: new Map(listedAssets.flatMap((listed) => (listed.asset ? [[listed.asset, listed] as const] : []))),
    assetsOutsideTable: Map.groupBy([...listedAssets.filter(({ asset }) => !asset), ...ownWords], ({ row }) =>
      fold(row.code ?? ''),
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
  const found = new RowsInOrder()
  await inSlices(rows, (row) => {
    const coin = row.coin ?? ''
    const named = naming.assetsNamed({ coin })
    const also = named.length > 0 ? [] : naming.assetsAlsoNamed({ coin })
    for (const asset of [...named, ...also]) {
      const own = naming.nameFor(asset)
      if (own && named.includes(asset)) found.add({ asset, words: own, row })
      else if (own) found.add({ asset, by: 'also', words: { coin, network: own.network }, row })
    }
    if (named.length > 0 || naming.table.coin(coin)) return
    if (naming.table.byCode(coin)) drift('ambiguousName')
    else found.addOutside(fold(coin), () => ({ assetName: { coin }, row: withTableNames(row, undefined) }))
  })
  const { listedAssets, unclear } = found.choose(naming, drift)
  return {
    listedAssets,
    ambiguousAssets: new Set(unclear.keys()),
    otherTokens: new Map(),
    wordsOfOthers: new Set(),
    unclear,
    ownWords: [],
  }
}

/** A row of the list that is an asset of the table. */
interface RowOfAsset extends Pick<ListedAsset, 'by'> {
  readonly asset: Asset
  /** In the provider's words. */
  readonly words: AssetName
  readonly row: Currency
}

/** The rows of each asset, of which one stands for it, or none; and what the table lacks. In the order of the list. */
class RowsInOrder {
  readonly entries = new Map<Asset | string, RowOfAsset[] | ListedAsset>()

  add(row: RowOfAsset): void {
    const rows = this.entries.getOrInsertComputed(row.asset, () => []) as RowOfAsset[]
    rows.push(row)
  }

  /** The first one of each word. */
  addOutside(word: string, listed: () => ListedAsset): ListedAsset {
    return this.entries.getOrInsertComputed(word, listed) as ListedAsset
  }

  rowsOf(asset: Asset): readonly RowOfAsset[] {
    return (this.entries.get(asset) as RowOfAsset[] | undefined) ?? []
  }

  /** `unclear`: the words of the assets that have several rows and no line that says which. */
  choose(
    naming: AssetNaming,
    drift: (drift: Drift) => void,
  ): { readonly listedAssets: readonly ListedAsset[]; readonly unclear: UnclearAssets } {
    const listedAssets: ListedAsset[] = []
    const unclear = new Map<Asset, readonly AssetName[]>()
    for (const [asset, entry] of this.entries) {
      if (typeof asset === 'string') {
        listedAssets.push(entry as ListedAsset)
        continue
      }
      const rows = this.rowsOf(asset)
      const row = chosenRow(asset, rows, naming)
      if (row) listedAssets.push(toListed(row, naming))
      else if (rows.length > 1) {
        unclear.set(asset, distinctWords(rows))
        drift('ambiguousName')
      }
    }
    return { listedAssets, unclear }
  }
}

function distinctWords(rows: readonly RowOfAsset[]): readonly AssetName[] {
  return [...new Map(rows.map(({ words }) => [wordsOf(words), words])).values()]
}

function toListed({ asset, by, words, row }: RowOfAsset, naming: AssetNaming): ListedAsset {
  const assetName = naming.configuredNameFor(asset) ?? words
  return { asset, assetName, ...(by && { by }), row: withTableNames(row, asset) }
}

/** An asset by the provider's own word for it: what clients have called it by, they may go on to. */
function ownWordOf({ asset, by, words, row }: RowOfAsset): readonly ListedAsset[] {
  if (by !== 'contract') return []
  return [{ asset, by, assetName: words, chain: fold(asset.network), row: withTableNames(row, undefined) }]
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
  const found = new RowsInOrder()
  const ownWords: ListedAsset[] = []
  const ambiguousAssets = new Set<Asset>()
  const otherTokens = new Map<Asset, string>()
  const wordsOfOthers = new Set<string>()
  const meanings = new Map<string, Asset | undefined>()
  const mean = (key: string, asset: Asset | undefined): void => {
    if (meanings.has(key) && meanings.get(key) !== asset) wordsOfOthers.add(key)
    meanings.set(key, asset)
  }
  await inSlices(rows, (row) => {
    const { coin = '', network, contract } = row
    const words = { coin, network }
    const { asset, by, contradicted, otherThan = [], several = [] } = matchRow(row, naming)
    if (contradicted) {
      wordsOfOthers.add(wordsOf(words))
      for (const each of otherThan) otherTokens.set(each, contract ?? '')
      drift('contradictingContract')
      return
    }
    if (several.length > 0) {
      for (const each of several) ambiguousAssets.add(each)
      drift('ambiguousName')
      return
    }
    if (asset) {
      mean(wordsOf(words), asset)
      if (!naming.nameFor(asset)) return
      const own = { asset, ...(by && { by }), words, row }
      found.add(own)
      ownWords.push(...ownWordOf(own))
      return
    }
    if (naming.table.coin(coin)) return
    const key = wordsOf(words)
    mean(key, undefined)
    if (naming.table.byCode(coin)) drift('ambiguousName')
    else if (contract !== found.addOutside(key, () => assetOutsideTable(row, naming)).row.contract) wordsOfOthers.add(key)
  })
  const { listedAssets: chosen, unclear } = found.choose(naming, drift)
  const isClear = ({ assetName }: ListedAsset): boolean => !wordsOfOthers.has(wordsOf(assetName))
  const clear = chosen.filter(isClear)
  const offered = new Set(clear.map(({ asset }) => asset))
  const named = [...ambiguousAssets, ...otherTokens.keys(), ...unclear.keys(), ...chosen.map(({ asset }) => asset)]
  const notNamed = new Set(named.filter((asset) => asset !== undefined).filter((asset) => !offered.has(asset)))
  return {
    listedAssets: clear,
    ambiguousAssets: notNamed,
    otherTokens: notOffered(otherTokens, notNamed),
    wordsOfOthers,
    unclear,
    ownWords: ownWords.filter(isClear),
  }
}

function assetOutsideTable(row: Currency, naming: AssetNaming): ListedAsset {
  const { coin = '', network } = row
  return { assetName: { coin, network }, chain: naming.chainOf(coin, network), row: withTableNames(row, undefined) }
}

// Parses the rows of a form that names an asset by code, with an optional network beside it. A code that the list uses for
// several assets, or for another network or token than the table, is ambiguous and names none of them.

/** The assets that each code (folded) means in the list. */
type Uses = Map<string, Set<Asset | string>>

/** Parses all rows. Reports contradicting and ambiguous rows as drift. */
async function parseByCode(rows: readonly Currency[], naming: AssetNaming, drift: (drift: Drift) => void): Promise<ListedAssets> {
  const uses: Uses = new Map()
  const found = new RowsInOrder()
  const otherTokens = new Map<Asset, string>()
  const wordsOfOthers = new Set<string>()
  await inSlices(rows, (row) => {
    const { asset, by, contradicted, otherThan = [] } = matchRow(row, naming)
    for (const each of otherThan) otherTokens.set(each, row.contract ?? '')
    const code = row.code ?? ''
    if (contradicted) wordsOfOthers.add(wordsOf({ code }))
    const use = asset ?? `${fold(code)}\n${fold(row.network ?? '')}\n${row.contract ?? ''}`
    uses.getOrInsertComputed(fold(code), () => new Set()).add(use)
    if (contradicted) drift(contradicted === 'network' ? 'contradictingNetwork' : 'contradictingContract')
    if (contradicted || (asset && !naming.nameFor(asset))) return
    if (asset) found.add({ asset, ...(by && { by }), words: { code }, row })
    else if (typeof use === 'string') {
      const chain = naming.chainOf(code, row.network)
      found.addOutside(use, () => ({ chain, assetName: { code }, row: withTableNames(row, undefined) }))
    }
  })
  const isAmbiguous = ({ asset, assetName }: Pick<ListedAsset, 'asset' | 'assetName'>): boolean =>
    isContradicted(uses, assetName.code ?? '', asset)
  const listedAssets: ListedAsset[] = []
  const ownWords: ListedAsset[] = []
  const unclear = new Map<Asset, readonly AssetName[]>()
  const marked = (listed: ListedAsset): ListedAsset => (isAmbiguous(listed) ? { ...listed, isAmbiguous: true } : listed)
  await inSlices(found.entries, ([asset, entry]) => {
    if (typeof asset === 'string') {
      const listed = marked(entry as ListedAsset)
      if (listed.isAmbiguous) drift('ambiguousName')
      listedAssets.push(listed)
      return
    }
    const candidates = found.rowsOf(asset)
    const clear = candidates.filter(({ words }) => !isAmbiguous({ asset, assetName: words }))
    ownWords.push(...candidates.flatMap(ownWordOf).map(marked))
    const [chosen] = clear.length > 0 ? [chosenRow(asset, clear, naming)] : candidates
    if (chosen) listedAssets.push(marked(toListed(chosen, naming)))
    else if (clear.length > 1) unclear.set(asset, distinctWords(clear))
    if (chosen ? isAmbiguous(toListed(chosen, naming)) : clear.length > 1) drift('ambiguousName')
  })
  const ambiguousAssets = ambiguousAssetsOf(listedAssets, uses, [...otherTokens.keys(), ...unclear.keys()], naming)
  return { listedAssets, ambiguousAssets, otherTokens: notOffered(otherTokens, ambiguousAssets), wordsOfOthers, unclear, ownWords }
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
  unnamed: readonly Asset[],
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
    [...unclear, ...contradicted, ...unnamed].filter((asset) => asset !== undefined).filter((asset) => !clear.has(asset)),
  )
}

// One row of a provider's currency list.

/** One asset that a provider offers. `asset` is absent if the table lacks it: then the names are the provider's own. */
export interface ListedAsset {
  readonly asset?: Asset
  readonly assetName: AssetName
  readonly row: Currency
  /** `also`: the row has another name of the asset. `contract`: a word that the table does not have. */
  readonly by?: Match['by']
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
  /** By which the provider means something else (`wordsOf`): in an answer they are no asset of the table. */
  readonly wordsOfOthers: ReadonlySet<string>
  /** Those of them that have several rows, of which nothing says which one stands for the asset, with its words there. */
  readonly unclear: UnclearAssets
  /** Assets of the table by words of the provider that the table does not have. */
  readonly ownWords: readonly ListedAsset[]
}

export type UnclearAssets = ReadonlyMap<Asset, readonly AssetName[]>

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
  /** Takes the list that another process has stored, if there is one that is newer. Never throws. */
  readonly loadStored: (maxWaitMs: number) => Promise<void>
  /** Stops the background refresh. */
  readonly close: () => void
}

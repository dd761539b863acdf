/** `GET /currencies` from the providers' complete lists: merged, mapped to the client's form, searched and paged. */

import { addressPattern } from '../../domain/address/shapes.ts'
import { type Asset, fold } from '../../domain/asset.ts'
import { inSlices, singleFlight } from '../../domain/async.ts'
import { BoundedMap, bytesOf, CacheSlot, cacheShares } from '../../domain/bounded-map.ts'
import { standardFault } from '../../domain/fault.ts'
import {
  type Capabilities,
  type Context,
  type Encoding,
  type Encodings,
  namesByCode,
  type ServiceResponse,
} from '../../domain/service.ts'
import type { CoinOffer, Currency, CurrencyNetwork, CurrencyQuery } from '../../domain/swap.ts'
import { type CachedCurrencyList, type CurrencyList, isOff, type ListedAsset } from '../assets/currency-list.ts'
import { areDifferent } from '../assets/outside-table.ts'
import { type Layer, onOperations } from '../layer.ts'
import { cutPage } from '../paging.ts'

interface CurrencySource {
  readonly tag: string
  readonly currencyList: CachedCurrencyList
  /** The fields of the provider's form. */
  readonly capabilities: Capabilities
}

type CurrenciesResponse = ServiceResponse<'listCurrencies'>

/** A dropped page is built again. */
const maxPages = 1_000
/** Bytes of a page, and of a row of it: the texts are those of the list. */
const pageBytes = 1_024
const copyBytes = 256
/** Seconds, if no provider is active. */
const retryAfter = 10

/**
 * Returns the union of the lists of the providers that take new swaps, in their order; what other ones mean by a word only shows that it is
 * not clear. A list that cannot be read is omitted; if none of those can be read, the first provider's `Fault` is thrown. Throws
 * `unavailable` without such a provider. `taking`: their tags.
 */
export function currencies(sources: readonly CurrencySource[], taking: ReadonlySet<string>): Layer {
  const made = new MadeOfLists()
  return onOperations({
    async listCurrencies(query, context) {
      if (taking.size === 0) throw standardFault('unavailable', { retryAfter, effect: 'refused' })
      const read = await readLists(sources, taking, context)
      const lists = read.filter(({ isOffered }) => isOffered)
      const fetchedAt = Math.min(...lists.map(({ list }) => list.fetchedAt))
      const response = await made.of(read).page(query, context)
      return { ...response, caching: { ...response.caching, ageSeconds: (performance.now() - fetchedAt) / 1000 } }
    },
  })
}

/** What is made of some lists, for as long as each of them is in use: the rest goes with the first that is replaced. */
class MadeOfLists {
  private made: MadePages | undefined
  private readonly withNext = new WeakMap<CurrencyList, MadeOfLists>()

  of(lists: readonly ProviderList[]): MadePages {
    let path: MadeOfLists = this
    for (const { list } of lists) path = path.withNext.getOrInsertComputed(list, () => new MadeOfLists())
    path.made ??= new MadePages(lists)
    return path.made
  }
}

interface KeptPage {
  readonly response: CurrenciesResponse
  bytes: number
}

/** Rows by the client's way of naming assets, and finished pages. */
class MadePages {
  private readonly lists: readonly ProviderList[]
  private readonly byCode: JoinedRows
  private readonly byCoin: JoinedRows
  private readonly pages = new BoundedMap<KeptPage>({
    share: cacheShares.currencyPages,
    maxEntries: maxPages,
    sizeOf: ({ bytes }) => bytes,
  })

  constructor(lists: readonly ProviderList[]) {
    this.lists = lists
    this.byCode = new JoinedRows(lists, true)
    this.byCoin = new JoinedRows(lists, false)
  }

  async page(query: CurrencyQuery, { clientCapabilities: client }: Context): Promise<CurrenciesResponse> {
    const byCode = namesByCode(client)
    const searchTerm = query.search?.toLowerCase()
    const key = `${byCode} ${query.withNetworks ?? false} ${query.page} ${query.size} ${searchTerm ?? ''}`
    const before = this.pages.get(key)
    if (before) return before.response
    const rows = await (byCode ? this.byCode : this.byCoin).read()
    // Of requests that waited for the rows together, the first makes the page.
    return this.pages.get(key)?.response ?? this.keep(key, pageOf(rows, searchTerm, query, this.lists))
  }

  private keep(key: string, response: CurrenciesResponse): CurrenciesResponse {
    const encoded = new Map<string, Encoding>()
    const set: Encodings['set'] = (form, encoding) => {
      encoded.set(form, encoding)
      page.bytes += bytesOf(encoding)
      this.pages.set(key, page)
    }
    const encodings = { get: (form: string) => encoded.get(form), set }
    const cached = { ...response, caching: { ...response.caching, encodings } }
    const page = { response: cached, bytes: pageBytes + copyBytes * response.body.items.length }
    return this.pages.set(key, page).response
  }
}

/** The rows of all lists, made once unless there is no room for them. */
class JoinedRows {
  private readonly slot = new CacheSlot<readonly CurrencyRow[]>(cacheShares.currencyLists)
  private readonly joining: ReturnType<typeof singleFlight<[], readonly CurrencyRow[]>>

  constructor(lists: readonly ProviderList[], byCode: boolean) {
    this.joining = singleFlight(async () => {
      const rows = await currencyRows(lists, byCode)
      this.slot.set(
        rows,
        rows.reduce((sum, row) => sum + rowBytes(row), 0),
      )
      return rows
    })
  }

  read(): readonly CurrencyRow[] | Promise<readonly CurrencyRow[]> {
    return this.slot.value ?? this.joining.run()
  }
}

/** What a row has beside the texts of the list. */
function rowBytes({ currency, texts }: CurrencyRow): number {
  const { networks } = currency
  return copyBytes + bytesOf(networks) + bytesOf(texts)
}

function pageOf(
  rows: readonly CurrencyRow[],
  searchTerm: string | undefined,
  query: CurrencyQuery,
  lists: readonly ProviderList[],
): CurrenciesResponse {
  const matching = searchTerm === undefined ? rows : rows.filter(({ texts }) => texts.some((text) => text.includes(searchTerm)))
  const { items, total } = cutPage(matching, query)
  const sources = lists.flatMap(({ list, isOffered }) => (isOffered ? (list.provider ?? []) : []))
  const [provider, ...others] = sources
  return {
    body: { items: items.map(({ currency }) => (query.withNetworks ? currency : { ...currency, networks: undefined })), total },
    ...(provider !== undefined && others.length === 0 ? { provider } : { sources }),
    ...(items.some(({ isNotesDerived }) => isNotesDerived) && { derived: ['notes'] }),
  }
}

async function readLists(
  sources: readonly CurrencySource[],
  taking: ReadonlySet<string>,
  context: Context,
): Promise<readonly ProviderList[]> {
  const reads = sources.map(async ({ tag, currencyList, capabilities }): Promise<ProviderList> => {
    const isOffered = taking.has(tag)
    const list = isOffered ? await currencyList.read(context) : ((await currencyList.readAvailable(context)) ?? currencyList.last())
    if (!list) throw standardFault('unavailable')
    return { list, capabilities, isOffered }
  })
  const results = await Promise.allSettled(reads)
  const fulfilled = results.filter((result) => result.status === 'fulfilled').map(({ value }) => value)
  if (fulfilled.some(({ isOffered }) => isOffered)) return fulfilled
  return Promise.all(reads.filter((_, at) => taking.has(sources[at]?.tag ?? '')).slice(0, 1))
}

// The rows of `/currencies`: of all providers, for one way of naming assets (docs/contract.md §3.1).

/** A provider's list, and the fields of its form. */
interface ProviderList {
  readonly list: CurrencyList
  readonly capabilities: Capabilities
  /** Whether it takes new swaps. */
  readonly isOffered: boolean
}

interface CurrencyRow {
  readonly currency: Currency
  /** Whether the gateway derived the notes. */
  readonly isNotesDerived: boolean
  /** The texts that a search matches, in lower case. */
  readonly texts: readonly string[]
}

/** A listed asset, and whether its provider's form has notes. */
interface JoinedAsset extends ListedAsset {
  readonly hasNotes: boolean
  /** Of all providers that have it. */
  readonly offers: CoinOffer[]
}

/** One row per asset (`byCode`), or one per coin if the client's form names the network beside it. Works in slices: the event loop is not blocked. */
export async function currencyRows(lists: readonly ProviderList[], byCode: boolean): Promise<readonly CurrencyRow[]> {
  const joined = await join(lists, byCode)
  const rows: CurrencyRow[] = []
  if (byCode) {
    await inSlices(joined, ({ asset, row, offers }) => {
      const currency = withOffers(row, offers)
      for (const code of new Set([row.code, ...(asset?.also ?? []).map((other) => other.code)]))
        rows.push({ currency: { ...currency, code }, isNotesDerived: false, texts: textsOf(code, row) })
    })
  } else {
    const homeNames = new Map(joined.flatMap(({ asset }) => (asset?.isHome ? [[fold(asset.network), asset.name] as const] : [])))
    const coins = Map.groupBy(joined, ({ row }) => fold(row.coin ?? ''))
    await inSlices(coins.values(), (listedAssets) => {
      const best = listedAssets.find(({ asset }) => asset) ?? listedAssets[0]
      if (!best) return
      const row = coinRow(best, listedAssets, homeNames)
      const others = otherNamesOf(best).filter((name) => !coins.has(fold(name)))
      rows.push(row, ...others.map((name) => rowUnder(name, row)))
    })
  }
  return rows
}

/** One row per asset, from the first provider that offers it; none for a word by which providers mean different coins. */
async function join(lists: readonly ProviderList[], byCode: boolean): Promise<readonly JoinedAsset[]> {
  const rows = new Map<string, JoinedAsset>()
  const isDifferent = (listed: ListedAsset): boolean => {
    const listedAssets = lists.map(({ list }) => list.assetsOutsideTable.get(providerCode(listed)) ?? [])
    return areDifferent(listedAssets, byCode ? undefined : listed.row.network)
  }
  for (const { list, capabilities, isOffered } of lists) {
    if (!isOffered) continue
    const hasNotes = capabilities.responseFields.listCurrencies.has('notes')
    const earlier = Map.groupBy([...rows.values()].filter(isOutsideTable), providerCode)
    await inSlices(list.listedAssets, (listed) => {
      const key = listed.asset?.code ?? `own ${providerCode(listed)} ${listed.chain ?? ''}`
      if (isOff(listed.row)) return
      const known = isOutsideTable(listed) ? earlier.get(providerCode(listed))?.find((row) => mayBeSame(row, listed)) : undefined
      const first = rows.get(key) ?? known
      if (first) first.offers.push(listed.row)
      else if (!isOutsideTable(listed) || !isDifferent(listed)) rows.set(key, { ...listed, hasNotes, offers: [listed.row] })
    })
  }
  return [...rows.values()]
}

/** What any provider has is there; what each of them says that it lacks is not. */
function withOffers(row: Currency, offers: readonly CoinOffer[]): Currency {
  const anyOf = (field: keyof CoinOffer): boolean | undefined => {
    const said = offers.map((offer) => offer[field])
    return said.includes(true) || (said.includes(undefined) ? undefined : false)
  }
  return { ...row, canDeposit: anyOf('canDeposit'), canWithdraw: anyOf('canWithdraw'), fixedRate: anyOf('fixedRate') }
}

function isOutsideTable({ asset }: ListedAsset): boolean {
  return asset === undefined
}

function providerCode({ row }: ListedAsset): string {
  return fold(row.code ?? '')
}

/** Two rows of one coin may be the same asset if either has no network. */
function mayBeSame({ row: one }: ListedAsset, { row: other }: ListedAsset): boolean {
  return one.network === undefined || other.network === undefined
}

/** A create in a form with networks needs one, so empty notes are replaced by the list of known networks. */
function coinRow(
  { row, hasNotes }: JoinedAsset,
  listedAssets: readonly JoinedAsset[],
  homeNames: ReadonlyMap<string, string>,
): CurrencyRow {
  const providerNotes = hasNotes ? (row.notes ?? '') : ''
  const notes = providerNotes.trim() === '' ? networkNotes(listedAssets) || providerNotes : providerNotes
  return {
    currency: {
      ...withOffers(
        row,
        listedAssets.flatMap(({ offers }) => offers),
      ),
      notes,
      networks: listedAssets.flatMap((listed) => networkOf(listed, homeNames)),
    },
    isNotesDerived: !hasNotes || notes !== providerNotes,
    texts: textsOf(row.coin, row),
  }
}

/** Of its coin, but for the one that it has today. */
function otherNamesOf({ asset, row }: JoinedAsset): readonly string[] {
  const names = (asset?.also ?? []).map(({ coin }) => coin)
  return [...new Set(names)].filter((name) => fold(name) !== fold(row.coin ?? ''))
}

/** The same coin by another name. */
function rowUnder(name: string, { currency }: CurrencyRow): CurrencyRow {
  return {
    currency: { ...currency, coin: name, notes: `now ${currency.coin}` },
    isNotesDerived: true,
    texts: textsOf(name, currency),
  }
}

/** The table's rule for memos, otherwise the provider's. A network is named like the coin whose own chain it is. */
function networkOf({ asset, row }: ListedAsset, homeNames: ReadonlyMap<string, string>): readonly CurrencyNetwork[] {
  const { network, depositMin, blockExplorer } = row
  if (network === undefined) return []
  return [
    {
      network,
      name: homeNames.get(fold(network)) ?? network,
      shortName: asset?.aliases.find((alias) => tokenStandard.test(alias)) ?? network,
      isDefault: asset?.isDefault ?? false,
      needsMemo: asset?.memo === undefined ? row.needsMemo : asset.memo !== 'none',
      depositMin,
      decimals: asset?.decimals,
      precision: asset?.decimals ?? row.precision,
      addressPattern: asset?.address && addressPattern(asset.address),
      contract: contractOf(asset, row),
      blockExplorer,
    },
  ]
}

/** A coin of a chain has none, whatever its row has. */
function contractOf(asset: Asset | undefined, { contract }: Currency): string | undefined {
  if (asset && asset.contract === undefined) return undefined
  return contract || asset?.contract
}

/** Like TRC20. */
const tokenStandard = /^[A-Z]+[0-9]+$/

/** `Networks: TRX, ETH`, with the default network first; empty if no network is known. */
function networkNotes(listedAssets: readonly ListedAsset[]): string {
  const defaultFirst = listedAssets.toSorted((a, b) => Number(isDefault(b)) - Number(isDefault(a)))
  const networks = defaultFirst.map(({ row }) => row.network).filter((network) => network !== undefined)
  return networks.length > 0 ? `Networks: ${networks.join(', ')}` : ''
}

function isDefault({ asset }: ListedAsset): boolean {
  return asset?.isDefault === true
}

function textsOf(displayed: string | undefined, { name }: Currency): readonly string[] {
  return [(displayed ?? '').toLowerCase(), name.toLowerCase()]
}

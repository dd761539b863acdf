/** Compares the asset table with published lists. */
import { sameContract } from '../../src/domain/address/same-address.ts'
import { fold, sameName } from '../../src/domain/asset.ts'
import type { PublishedRow } from './lists.ts'

/** An asset of the table, under every name of its coin. */
export interface TableAsset {
  readonly code: string
  readonly names: readonly string[]
  readonly network: string
  /** Absent where an amount has significant digits instead. */
  readonly decimals?: number
  readonly contract?: string
}

/** How the lists call a network of the table. */
export interface NetworkWords {
  readonly chainId?: number
  readonly words: readonly string[]
}

export const factNames = ['contract', 'ticker', 'decimals', 'chain id', 'network name', 'list'] as const

type Fact = (typeof factNames)[number]

export interface Difference {
  /** The code of the asset, or the network. */
  readonly of: string
  readonly fact: Fact
  readonly table: string
  /** The lists that say what the table says. */
  readonly agreeing: readonly string[]
  readonly published: string
  readonly lists: readonly string[]
}

/** Why a difference is no mistake of the table. */
export type Reason = Pick<Difference, 'of' | 'fact' | 'published'>

/** One list's word about one fact. */
interface Statement {
  readonly of: string
  readonly fact: Fact
  readonly table: string
  readonly published: string
  readonly agrees: boolean
  readonly list: string
}

/** A contract that a list has under several tickers, or a ticker with several contracts, is no difference if one of them is the table's. */
export function compare(
  assets: readonly TableAsset[],
  networks: ReadonlyMap<string, NetworkWords>,
  published: readonly PublishedRow[],
): readonly Difference[] {
  const rows = byNetwork(published, networks)
  const coins = coinsOfIds(assets, rows)
  const statements = [...networks].flatMap(([network, words]) => {
    const listed = (rows.get(network) ?? []).map((row) =>
      row.isId ? { ...row, ticker: coins.get(row.ticker) ?? row.ticker } : row,
    )
    const lists = [...Map.groupBy(listed, ({ list }) => list).values()]
    return [
      ...listed.flatMap((row) => aboutNetwork(network, words, row)),
      ...assets.filter((asset) => asset.network === network).flatMap((asset) => lists.flatMap((list) => aboutAsset(asset, list))),
    ]
  })
  const listed = new Set(statements.filter(({ fact }) => fact === 'ticker').map(({ of }) => of))
  const unlisted = assets.filter(({ code }) => !listed.has(code))
  return [
    ...differencesOf(statements),
    ...unlisted.map(
      ({ code, contract, network }): Difference => ({
        of: code,
        fact: 'list',
        table: contract ?? network,
        agreeing: [],
        published: 'nothing',
        lists: [],
      }),
    ),
  ]
}

/** What has no reason, and the reasons of nothing. */
export function explain(
  differences: readonly Difference[],
  reasons: readonly Reason[],
): { readonly unexplained: readonly Difference[]; readonly unused: readonly Reason[] } {
  const explains = (reason: Reason, { of, fact, published }: Difference): boolean =>
    reason.of === of && reason.fact === fact && sameName(reason.published, published)
  return {
    unexplained: differences.filter((one) => !reasons.some((reason) => explains(reason, one))),
    unused: reasons.filter((reason) => !differences.some((one) => explains(reason, one))),
  }
}

type RowsByNetwork = ReadonlyMap<string, readonly PublishedRow[]>

/** The rows of the table's networks. A word says more than the id of a chain, which may be what differs. */
function byNetwork(published: readonly PublishedRow[], networks: ReadonlyMap<string, NetworkWords>): RowsByNetwork {
  const all = [...networks]
  const byWord = new Map(all.flatMap(([network, { words }]) => words.map((word) => [fold(word), network] as const)))
  const byChain = new Map(all.map(([network, { chainId }]) => [chainId, network]))
  const networkOf = ({ words, chainId }: PublishedRow): string | undefined =>
    words.map((word) => byWord.get(fold(word))).find((network) => network !== undefined) ??
    (chainId === undefined ? undefined : byChain.get(chainId))
  return Map.groupBy(published, (row) => networkOf(row) ?? '')
}

/** By the id of a list that has ids: the coin most of whose assets have it. */
function coinsOfIds(assets: readonly TableAsset[], rows: RowsByNetwork): ReadonlyMap<string, string> {
  const coins = Map.groupBy(assets, ({ names }) => names[0] ?? '')
  return new Map(
    [...coins].flatMap(([coin, own]) => {
      const ids = own.flatMap((asset) => (rows.get(asset.network) ?? []).filter((row) => row.isId && isRowOf(asset, row)))
      const [most] = [...Map.groupBy(ids, ({ ticker }) => ticker).values()].sort((one, other) => other.length - one.length)
      return most?.[0] ? [[most[0].ticker, coin] as const] : []
    }),
  )
}

/** Whether a row of the asset's network is about the asset. A contract that is spelt in another way is looked for under its ticker only. */
function isRowOf({ names, contract }: TableAsset, row: PublishedRow): boolean {
  if (contract === undefined || row.contract === undefined) return contract === row.contract
  if (contract.toLowerCase() === row.contract.toLowerCase()) return true
  return isNamed(names, row) && sameContract(contract, row.contract)
}

function isNamed(names: readonly string[], { ticker }: PublishedRow): boolean {
  return names.some((name) => sameName(name, plain(ticker)))
}

function aboutNetwork(network: string, { chainId, words }: NetworkWords, { list, ...row }: PublishedRow): readonly Statement[] {
  const statement = { of: network, list }
  const unknown = row.words.filter((word) => !words.some((own) => sameName(own, word)))
  return [
    ...(row.chainId === undefined || chainId === undefined
      ? []
      : [{ ...statement, fact: 'chain id' as const, ...sides(String(chainId), String(row.chainId)) }]),
    ...unknown.map((word) => ({ ...statement, fact: 'network name' as const, ...sides(words.join(', '), word) })),
  ]
}

/** `listed` are the rows of one list about the asset's network. */
function aboutAsset(asset: TableAsset, listed: readonly PublishedRow[]): readonly Statement[] {
  const { code, names, contract, decimals } = asset
  const statement = (fact: Fact, table: string, published: string): readonly Statement[] => [
    { of: code, fact, ...sides(table, published), list: listed[0]?.list ?? '' },
  ]
  const named = listed.filter((row) => isNamed(names, row))
  const found = listed.filter((row) => isRowOf(asset, row))
  if (contract !== undefined && found.length === 0)
    return named.flatMap((row) => statement('contract', contract, row.contract ?? 'none'))
  const [name = ''] = names
  const tickers = found.some((row) => named.includes(row)) ? [name] : found.map(({ ticker }) => plain(ticker))
  const places = decimals === undefined ? [] : found.flatMap((row) => row.decimals ?? [])
  return [
    ...(contract === undefined ? [] : statement('contract', contract, contract)),
    ...tickers.flatMap((ticker) => statement('ticker', name, ticker)),
    ...places.flatMap((published) => statement('decimals', String(decimals), String(published))),
  ]
}

function sides(table: string, published: string): Pick<Statement, 'table' | 'published' | 'agrees'> {
  return { table, published, agrees: table === published }
}

/** Tether writes its T as the sign of its currency. */
function plain(ticker: string): string {
  return ticker.replaceAll('₮', 'T').trim()
}

function differencesOf(statements: readonly Statement[]): readonly Difference[] {
  const listsOf = (of: readonly Statement[]): readonly string[] => [...new Set(of.map(({ list }) => list))]
  return [...Map.groupBy(statements, ({ of, fact }) => `${of} ${fact}`).values()].flatMap((facts) => {
    const agreeing = listsOf(facts.filter(({ agrees }) => agrees))
    const others = Map.groupBy(
      facts.filter(({ agrees }) => !agrees),
      ({ published }) => published.toLowerCase(),
    )
    return [...others.values()].flatMap((same) => {
      const [first] = same
      return first
        ? [{ of: first.of, fact: first.fact, table: first.table, agreeing, published: first.published, lists: listsOf(same) }]
        : []
    })
  })
}

/**
 * Codes that the asset table lacks, at several providers (docs/contract-operators.md §12). Nothing proves that two providers mean one coin by
 * such a word: it belongs to one of them, or to none. In a form with networks only rows of the requested network count, and it goes as
 * written to a provider whose rows have none (`test/routing/outside-table.test.ts`). Nor is another provider asked by `X-Swap-Provider` or the
 * mirror. A row that names no network, name or contract contradicts none; names of one network in the table are one. In such a form a coin is
 * offered on each network on which one provider has it.
 */
import { sameContract } from '../../domain/address/same-address.ts'
import { type AssetTable, fold, sameName } from '../../domain/asset.ts'
import { Fault } from '../../domain/fault.ts'
import type { Context } from '../../domain/service.ts'
import type { Pair } from '../../domain/swap.ts'
import { assetNameOf, from, type Side, to } from './asset-naming.ts'
import type { CachedCurrencyList, CurrencyList, ListedAsset } from './currency-list.ts'

/** A provider that takes new swaps, in list order. */
export interface ListedProvider {
  readonly tag: string
  readonly currencyList: Pick<CachedCurrencyList, 'readAvailable' | 'last'>
}

interface ReadProvider {
  readonly tag: string
  /** Undefined if no list of it was ever read. */
  readonly list: CurrencyList | undefined
}

/** Seconds: the lists are read again soon. */
const retryAfter = 1

export class OutsideTable {
  private readonly providers: readonly ListedProvider[]
  private readonly table: AssetTable

  constructor(providers: readonly ListedProvider[], table: AssetTable) {
    this.providers = providers
    this.table = table
  }

  /** Whether a request for the pair may go to one provider only. */
  concerns(pair: Pair): boolean {
    return this.providers.length > 1 && isOutsideTable(pair, this.table)
  }

  /**
   * The only provider that may be asked for the pair: the first of these that lists what the table lacks. Undefined if none lists
   * it. Throws `not_offered` where providers mean different coins by a word, and `unavailable` while the list of an earlier provider
   * is not known.
   */
  async ownerOf(pair: Pair, eligible: ReadonlySet<string>, context: Context): Promise<string | undefined> {
    const read = await Promise.all(
      this.providers.map(async ({ tag, currencyList }): Promise<ReadProvider> => {
        return { tag, list: (await currencyList.readAvailable(context)) ?? currencyList.last() }
      }),
    )
    const sides = [from, to].filter((side) => isSideOutsideTable(pair, side, this.table))
    const owners = sides
      .map((side) => ({ side, owner: ownerOfSide(pair, side, read, eligible) }))
      .filter(({ owner }) => owner !== undefined)
    const [first, second] = owners
    if (first && second && first.owner !== second.owner) throw notOffered(pair, second.side)
    return first?.owner
  }
}

export function isOutsideTable(pair: Pair, table: AssetTable): boolean {
  return isSideOutsideTable(pair, from, table) || isSideOutsideTable(pair, to, table)
}

function isSideOutsideTable(pair: Pair, side: Side, table: AssetTable): boolean {
  const { code, coin = '', network } = assetNameOf(pair, side)
  if (code !== undefined) return !table.byCode(code)
  return !table.coin(coin) || (network !== undefined && !table.find(coin, network))
}

function ownerOfSide(
  pair: Pair,
  side: Side,
  providers: readonly ReadProvider[],
  eligible: ReadonlySet<string>,
): string | undefined {
  const { code, coin = '', network } = assetNameOf(pair, side)
  const listedAssetsOf = ({ list }: ReadProvider): readonly ListedAsset[] => list?.assetsOutsideTable.get(fold(code ?? coin)) ?? []
  if (areDifferent(providers.map(listedAssetsOf), network)) throw notOffered(pair, side)
  const candidates = providers.filter(({ tag }) => eligible.has(tag))
  const offering = candidates.filter((provider) => listedAssetsOf(provider).length > 0)
  const owner = offering.find((provider) => listedAssetsOf(provider).some((listed) => mayBeOn(listed, network))) ?? offering[0]
  if (!owner) return undefined
  if (candidates.slice(0, candidates.indexOf(owner)).some((earlier) => earlier.list === undefined)) throw unknownLists()
  return owner.tag
}

/**
 * Whether providers mean different coins by one word. `listedAssets`: those of each provider under the word. A request that names a
 * network can only mean the rows of that network; a row without network, name or contract contradicts none.
 */
export function areDifferent(listedAssets: readonly (readonly ListedAsset[])[], network: string | undefined): boolean {
  const lists = listedAssets.filter(({ length }) => length > 0)
  if (lists.length < 2) return false
  const networks = lists.map(networksOf).filter(({ size }) => size > 0)
  const haveOthers = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
    network === undefined ? one.symmetricDifference(other).size > 0 : one.isDisjointFrom(other)
  if (isAny(networks, haveOthers)) return true
  const meant = lists.map((list) => list.filter((listed) => mayBeOn(listed, network)))
  return isAny(meant, (one, other) => one.some((listed) => other.some((another) => isOther(listed, another))))
}

/** Whether this holds of any two. */
function isAny<T>(items: readonly T[], holds: (one: T, other: T) => boolean): boolean {
  return items.some((one, at) => items.slice(at + 1).some((other) => holds(one, other)))
}

function networksOf(listedAssets: readonly ListedAsset[]): ReadonlySet<string> {
  return new Set(listedAssets.flatMap(({ chain }) => chain ?? []))
}

function mayBeOn({ row }: ListedAsset, network: string | undefined): boolean {
  return !row.network || network === undefined || sameName(row.network, network)
}

/** Whether two rows that may be on one network are different coins, by name or contract. */
function isOther({ row: one, chain }: ListedAsset, { row: other, chain: otherChain }: ListedAsset): boolean {
  if (chain !== undefined && otherChain !== undefined && chain !== otherChain) return false
  const [name, otherName] = [bareName(one.name), bareName(other.name)]
  if (name !== '' && otherName !== '' && name !== otherName) return true
  return Boolean(one.contract && other.contract && !sameContract(one.contract, other.contract))
}

/** `Zeta (ERC20)` is `Zeta`: some providers add the network. Spaces, signs and case mean nothing. */
function bareName(name: string): string {
  return withoutNote(name.trim())
    .replace(/[\s\p{P}\p{S}]/gu, '')
    .toLowerCase()
}

function withoutNote(name: string): string {
  const start = name.lastIndexOf('(')
  const isNote = start >= 0 && name.indexOf(')', start) === name.length - 1
  return isNote ? name.slice(0, start) : name
}

function notOffered(pair: Pair, side: Side): Fault {
  const field = pair[side.code] === undefined ? side.coin : side.code
  const message = 'it cannot be swapped here, because providers mean different coins by it'
  return new Fault('invalid', message, { field, effect: 'nothingSent', reason: 'not_offered' })
}

function unknownLists(): Fault {
  const message = 'It is not known at the moment whose coin this is; please try again soon.'
  return new Fault('unavailable', message, { retryAfter, effect: 'refused' })
}

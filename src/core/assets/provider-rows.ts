/**
 * Which asset of the table a row of a provider's list is (docs/contract.md §3): by its contract, by its words, or by another name of the
 * asset (`provider-rows.test.ts`, `test/providers/contracts.test.ts`).
 *
 * - By its code, the table's or the configured one, or by its coin and network (or an alias); never by its network alone. A word that means
 *   several chains (AVAX, ZKSYNC) is a network only where it is the form's own, or configured. A network that contradicts the code: hidden.
 * - A token with another contract than the table's, or the configured one, is not offered, and its words name nothing. A row without a
 *   contract, and that of a coin of a chain, are not compared.
 * - By its contract it is this asset, whatever its words, and these stay a word for it here; not by an issuer alone. If they name another
 *   asset of the table on that network, the row is neither.
 * - Another name (`also`) counts where nothing says otherwise: no contract but the table's (of the coin of a chain: but the zero address),
 *   no other asset that has or had the name there. A coin with other names and without a contract is none by a row with a contract.
 */
import { ownerlessKind } from '../../domain/address/ownerless.ts'
import { isAddress } from '../../domain/address/rule.ts'
import { type Asset, fold, isCurrentName, type Spelling, sameName } from '../../domain/asset.ts'
import { printable } from '../../domain/printable.ts'
import type { Currency } from '../../domain/swap.ts'
import type { AssetName, AssetNaming } from './asset-naming.ts'

/** What a row says of itself against the table: its code on another network, its name with another contract, or its contract with another name. */
export type RowContradiction = 'network' | 'contract' | 'name'

export interface Match {
  readonly asset?: Asset | undefined
  /** `also`: by another name of its coin. `contract`: under a word that the table does not have. Absent: by its words. */
  readonly by?: 'also' | 'contract'
  readonly contradicted?: RowContradiction | undefined
  /** Contradicted: the assets that the row would be by its words. */
  readonly otherThan?: readonly Asset[]
  /** Several assets that its words may mean. */
  readonly several?: readonly Asset[]
}

const none: Match = {}

/** A row of a form that lists networks, in either manner of naming assets. */
export function matchRow(row: Currency, naming: AssetNaming): Match {
  const { network, contract } = row
  const { named, elsewhere } = naming.byCode
    ? namedByCode(row, naming)
    : { named: naming.assetsNamed(nameIn(row)), elsewhere: false }
  const owners = network !== undefined && contract ? naming.assetsWithContract(network, contract) : []
  if (named.length > 0) return judgeNamed(named, owners, row, naming)
  const [owner, ...others] = owners
  if (owner && elsewhere) return { contradicted: 'network', otherThan: owners }
  if (owner) return judgeOwner(owner, others, row, naming)
  const also = naming.assetsAlsoNamed(nameIn(row))
  if (also.length === 0) return elsewhere ? { contradicted: 'network' } : none
  const [asset, ...rest] = also.filter(
    (one) =>
      isWithoutContract(one, contract, naming) || (naming.contractOf(one) !== undefined && naming.hasContract(one, contract)),
  )
  if (!asset) return otherToken(also, naming)
  return rest.length > 0 ? { several: [asset, ...rest] } : { asset, by: 'also' }
}

function nameIn({ code, coin, network }: Currency): AssetName {
  return { ...(code !== undefined && { code }), ...(coin !== undefined && { coin }), network }
}

/** `elsewhere`: the code is that of an asset on another network. */
function namedByCode({ code = '', network }: Currency, naming: AssetNaming) {
  const { table, assetsNamed, isOnNetwork } = naming
  const own = table.byCode(code)
  const named = [...new Set([...assetsNamed({ code }), ...(own && isCurrentName(own, { code }) ? [own] : [])])]
  if (network === undefined) return { named, elsewhere: false }
  const there = named.filter((asset) => isOnNetwork(asset, network))
  if (there.length > 0) return { named: there, elsewhere: false }
  const coin = table.coin(code)
  const byCoin = coin?.assets.find((asset) => sameName(asset.coin, code) && isOnNetwork(asset, network))
  return { named: byCoin ? [byCoin] : [], elsewhere: named.length > 0 }
}

/** A row whose contract is that of another asset on the network is neither. */
function judgeNamed(named: readonly Asset[], owners: readonly Asset[], { contract }: Currency, naming: AssetNaming): Match {
  const fitting = named.filter((asset) => naming.hasContract(asset, contract) && !isTokenBesideCoin(asset, contract, naming))
  const isOthers = owners.length > 0 && !owners.some((owner) => fitting.includes(owner))
  if (isOthers) return { contradicted: 'name', otherThan: named }
  const [asset, ...others] = fitting
  if (!asset) return otherToken(named, naming)
  // Of forms that name an asset by code the first meaning counts: the operator's.
  return others.length > 0 && !naming.byCode ? { several: fitting } : { asset }
}

/** Of assets that are off no row is listed: another contract under their word contradicts nothing. */
function otherToken(named: readonly Asset[], { nameFor }: AssetNaming): Match {
  return named.some(nameFor) ? { contradicted: 'contract', otherThan: named } : { asset: named[0] }
}

/** A coin of a chain that was renamed shares its names with tokens there: a row with a contract of the network is one of them. */
function isTokenBesideCoin(asset: Asset, contract: string | undefined, naming: AssetNaming): boolean {
  const { also, address } = asset
  if (also === undefined || naming.contractOf(asset) !== undefined || isWithoutContract(asset, contract, naming)) return false
  return Boolean(contract && address && isAddress(contract, address))
}

/** Some lists have the zero address as the contract of a chain's coin. */
function isWithoutContract(asset: Asset, contract: string | undefined, { contractOf }: AssetNaming): boolean {
  if (!contract) return true
  const format = asset.address?.format
  const isZero = /^0x0+$/i.test(contract) || (format !== undefined && ownerlessKind(contract, format) === 'zero')
  return isZero && contractOf(asset) === undefined
}

/** The contract is the identity, unless the word is that of another asset there. */
function judgeOwner(owner: Asset, others: readonly Asset[], row: Currency, naming: AssetNaming): Match {
  const { code, coin = code ?? '', network = '' } = row
  const namesakes = naming.namesakesOn(coin, network).filter((asset) => asset !== owner && !others.includes(asset))
  if (namesakes.length > 0) return { contradicted: 'name', otherThan: namesakes }
  return others.length > 0 ? { several: [owner, ...others] } : { asset: owner, by: isNamedSo(owner, coin) ? 'also' : 'contract' }
}

function isNamedSo({ also = [] }: Asset, name: string): boolean {
  return also.some((other) => sameName(other.code, name) || sameName(other.coin, name))
}

// Several rows that are one asset: the operator's line decides, then the form's own word, else none of them is offered.

interface Candidate {
  readonly asset?: Asset
  readonly by?: Match['by']
  /** In the provider's words. */
  readonly words: AssetName
}

/** The row that stands for an asset; undefined if nothing says which. Rows with one word are one. */
export function chosenRow<Row extends Candidate>(asset: Asset, rows: readonly Row[], naming: AssetNaming): Row | undefined {
  const distinct = [...new Map(rows.toReversed().map((row) => [wordsOf(row.words), row])).values()].toReversed()
  const [first, ...others] = distinct
  const line = naming.configuredNameFor(asset)
  if (others.length === 0) return line && first?.by === 'contract' && wordsOf(first.words) !== wordsOf(line) ? undefined : first
  const own = line ?? (distinct.some(({ by }) => by === 'also') ? undefined : naming.nameFor(asset))
  return own && distinct.find(({ words }) => wordsOf(words) === wordsOf(own))
}

/** What a request would name the row by. */
export function wordsOf({ code, coin = '', network = '' }: AssetName): string {
  return code === undefined ? `${fold(coin)}\n${fold(network)}` : fold(code)
}

const maxWords = 5

/** Of assets that are listed several times and not offered: a line each for the operator, to be read behind the provider's name. */
export function unclearLines(unclear: ReadonlyMap<Asset, readonly AssetName[]>): readonly string[] {
  return [...unclear].map(([asset, words]) => unclearLine(asset, words))
}

export function unclearLine({ code, coin, network }: Spelling & Pick<Asset, 'network'>, words: readonly AssetName[]): string {
  const listed = words.slice(0, maxWords).map(wordsIn).join(', ') + (words.length > maxWords ? ' …' : '')
  const line = `{ ${code}: ${settingOf(words[0] ?? {})} }`
  return printable(
    `lists ${code} (${coin} on ${network}) as ${listed}, and does not offer it: write assets: ${line}, or another of these`,
  )
}

/** As an operator writes it in `providers.<name>.assets`. */
function settingOf({ code, coin = '', network = '' }: AssetName): string {
  return code ?? `{ coin: ${coin}, network: ${network} }`
}

/** For a person. */
export function wordsIn({ code, coin, network }: AssetName): string {
  return `${code ?? coin ?? ''}${network === undefined ? '' : ` on ${network}`}`
}

/** Converts `assets.yaml` into an asset table (docs/contract.md §9). */

import { z } from 'zod'
import { formatNames } from '../domain/address/formats.ts'
import { checksums, type MemoRule, memoFormatNames, memoFormats } from '../domain/address/rule.ts'
import { compareAmounts } from '../domain/amount.ts'
import { type Asset, AssetTable, type Coin, fold } from '../domain/asset.ts'
import type { Tree } from './document.ts'
import { type Faults, knownKeys, type Path, publicName, toMapping } from './faults.ts'
import { amount, choice, flag, integer, keys, list, name, oneOrMore, optional, pattern, required, setting } from './value-types.ts'

type CoinSettings = AssetSettings[number]

/** A name and its path in the file. */
type Named = readonly [path: Path, name: string | undefined]

/** What is known of a coin with faults. */
interface KnownCoin {
  readonly coin?: string | undefined
  readonly networks: readonly Partial<Unset<CoinSettings['networks'][number]>>[]
}

/**
 * Takes members out of the rows that this version does not know: a newer version may have written the table. Returns a warning for each
 * name.
 */
export function takeUnknownMembers(tree: Tree): readonly string[] {
  const rows = toList(tree).map(toMapping)
  const unknown = [
    ...takeOthers(rows, coin.shape),
    ...takeOthers(
      rows.flatMap(({ networks }) => toList(networks).map(toMapping)),
      network.shape,
      'networks.',
    ),
  ]
  const counts = Map.groupBy(unknown, (name) => name)
  return [...counts].map(([name, { length }]) => {
    const where = length === 1 ? 'a row of the table has' : `${length} rows of the table have`
    return `assets: ${where} ${name}, which this version does not know: it is ignored`
  })
}

/** `depositMin: 1,5` in a flow mapping has the member `5`: that is no newer version's. */
const isMember = /^[a-z][A-Za-z]*$/

function takeOthers(rows: readonly Record<string, Tree>[], known: object, before = ''): readonly string[] {
  return rows.flatMap((row) => {
    const others = Object.keys(row).filter((name) => isMember.test(name) && !Object.hasOwn(known, name))
    for (const name of others) delete row[name]
    return others.map((name) => before + publicName(name))
  })
}

type Unset<T> = { readonly [Key in keyof T]: T[Key] | undefined }

/** What is known of a tree with these faults. */
export function knownCoins(tree: Tree, faults: Faults): readonly KnownCoin[] {
  return toList(tree).map((row, at) => {
    const { coin } = knownKeys({ coin: name }, row, faults.under(at))
    const networks = toList(toMapping(row).networks).map((one, index) =>
      knownKeys(network.shape, one, faults.under(at, 'networks', index)),
    )
    return { coin, networks }
  })
}

function toList(tree: Tree | undefined): readonly Tree[] {
  return Array.isArray(tree) ? tree : []
}

/** Adds a fault for each ambiguous name. */
export function checkCoins(coins: readonly KnownCoin[], faults: Faults): void {
  rejectDuplicates(
    coins.map(({ coin }, at): Named => [[at, 'coin'], coin]),
    faults,
  )
  rejectDuplicates(
    coins.flatMap(({ networks }, at) => networks.map(({ code }, index): Named => [[at, 'networks', index, 'code'], code])),
    faults,
  )
  for (const [at, { networks }] of coins.entries()) checkNetworks(networks, faults.under(at, 'networks'))
}

/** Of coins without faults. */
export function toAssetTable(coins: AssetSettings): AssetTable {
  return new AssetTable(coins.map(toCoin))
}

function checkNetworks(networks: KnownCoin['networks'], faults: Faults): void {
  rejectDuplicates(
    networks.flatMap(({ network, aliases = [] }, at): Named[] => [
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
    if (name === undefined) continue
    if (taken.has(fold(name))) faults.add(path, 'is given twice')
    taken.add(fold(name))
  }
}

const addressRule = keys({
  format: choice(formatNames).optional(),
  pattern: pattern.optional(),
  checksum: oneOrMore(choice(checksums), 'must be base58check, bech32 or eip55, or a list of these').default([]),
}).refine(({ format, pattern: own }) => format !== undefined || own !== undefined, { path: ['pattern'], error: 'is missing' })

/** Not a union: it would hide the error of a pattern. */
const memoRule = z.unknown().transform((tree, context): MemoRule => {
  if (tree === 'none') return tree
  const { data, error } = memoFormatOrPattern.safeParse(tree)
  for (const issue of error?.issues ?? []) context.issues.push({ ...issue, input: tree } as never)
  return (data?.format === undefined ? data?.pattern : memoFormats[data.format]) ?? z.NEVER
})

const memoFormatOrPattern = z
  .strictObject(
    { format: choice(memoFormatNames).optional(), pattern: pattern.optional() },
    'must be { format }, { pattern } or none',
  )
  .refine(({ format, pattern: own }) => (format === undefined) !== (own === undefined), 'must have a format or a pattern')

const network = keys({
  network: required(name, 'Name of the network'),
  code: required(name, 'The name of the coin on this network in Form A; unique in the table'),
  default: setting(flag, false, 'The network of the coin if a request names none; at most one per coin'),
  home: setting(flag, false, "The coin's own chain, as Ethereum is for ETH; at most one per coin"),
  aliases: setting(list(name), [], 'Other accepted names of the network'),
  decimals: optional(integer(0, 30), 'Decimal places of an amount on the network'),
  contract: optional(
    name,
    '[What makes a token this token](assets.md#tokens-are-known-by-contract). A row of a list with another contract is not offered. None for a coin of a chain',
  ),
  depositMin: optional(amount, 'Minimum deposit, if the provider returns none'),
  depositMax: optional(amount, 'Maximum deposit, if the provider returns none'),
  address: optional(
    addressRule,
    'What its addresses are: `{ format }`, or `{ pattern, checksum }` ([how to write it](addresses.md#for-operators-the-asset-table))',
  ),
  memo: optional(memoRule, 'What its memos or tags are: `{ format }` or `{ pattern }`, or `none` if the network has none'),
})

const coin = keys({
  coin: required(name, 'Ticker of the coin'),
  name: required(name, 'Its full name'),
  networks: required(list(network).min(1, 'must have a network'), 'The networks of the coin.'),
})

/** The file of the asset table. */
export const assetsSchema = list(coin)

type AssetSettings = z.output<typeof assetsSchema>

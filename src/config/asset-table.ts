/** Converts `assets.yaml` into an asset table (docs/contract-operators.md §9). */

import { z } from 'zod'
import { formatNames } from '../domain/address/formats.ts'
import { checksums, type MemoRule, memoFormatNames, memoFormats } from '../domain/address/rule.ts'
import { compareAmounts } from '../domain/amount.ts'
import { type Asset, AssetTable, type Coin, fold, networkNames, type Spelling } from '../domain/asset.ts'
import type { Tree } from './document.ts'
import { type Faults, knownKeys, type Path, publicName, toMapping } from './faults.ts'
import {
  amount,
  choice,
  flag,
  integer,
  keys,
  list,
  name,
  oneOrMore,
  optional,
  pattern,
  required,
  setting,
  text,
  toPattern,
} from './value-types.ts'

type CoinSettings = AssetSettings[number]

/** A name and its path in the file. */
type Named = readonly [path: Path, name: string | undefined]

/** What is known of a coin with faults. */
interface KnownCoin {
  readonly coin?: string | undefined
  readonly also?: readonly string[] | undefined
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
    const { coin, also } = knownKeys({ coin: name, also: setting(list(name), [], '') }, row, faults.under(at))
    const networks = toList(toMapping(row).networks).map((one, index) =>
      knownKeys(network.shape, one, faults.under(at, 'networks', index)),
    )
    return { coin, also, networks }
  })
}

function toList(tree: Tree | undefined): readonly Tree[] {
  return Array.isArray(tree) ? tree : []
}

/** Adds a fault for each ambiguous name. Returns a warning for each coin that may be one by another name. */
export function checkCoins(coins: readonly KnownCoin[], faults: Faults): readonly string[] {
  rejectDuplicates(
    coins.map(({ coin }, at): Named => [[at, 'coin'], coin]),
    faults,
  )
  rejectDuplicates(
    coins.flatMap(({ networks }, at) => networks.map(({ code }, index): Named => [[at, 'networks', index, 'code'], code])),
    faults,
  )
  for (const [at, { networks }] of coins.entries()) checkNetworks(networks, faults.under(at, 'networks'))
  checkOtherNames(coins, faults)
  rejectSecondNames(coins, faults)
  return possibleSecondNames(coins)
}

/** Of coins without faults. */
export function toAssetTable(coins: AssetSettings): AssetTable {
  const codes = new Set(coins.flatMap(({ coin, networks }) => [coin, ...networks.map(({ code }) => code)]).map(fold))
  return new AssetTable(
    coins.map((coin) => toCoin(coin, codes)),
    toPattern,
  )
}

/** A name of two coins on one network would mean either. */
function checkOtherNames(coins: readonly KnownCoin[], faults: Faults): void {
  const named = coins.flatMap(({ coin, also = [], networks }, at) => [
    ...(coin === undefined ? [] : [{ name: coin, at, path: [at, 'coin'], networks: networkNamesOf(networks) }]),
    ...also.map((name, index) => ({ name, at, path: [at, 'also', index], networks: networkNamesOf(networks) })),
  ])
  for (const same of Map.groupBy(named, ({ name }) => fold(name)).values()) {
    for (const [index, one] of same.entries()) {
      const before = same.slice(0, index)
      if (before.some(({ at }) => at === one.at)) faults.add(one.path, 'is given twice')
      const other = before.find(({ at, networks }) => at !== one.at && !networks.isDisjointFrom(one.networks))
      if (!other || (one.path[1] === 'coin' && other.path[1] === 'coin')) continue
      const [renamed, second] = one.path[1] === 'also' ? [one, other] : [other, one]
      const [now, before_] = [coins[renamed.at]?.coin ?? '', coins[second.at]?.coin ?? '']
      faults.add(
        one.path,
        `is the name of two coins on one network: a coin that was renamed is one coin, with \`also: [${renamed.name}]\` at ${now}; take ${second.name === before_ ? `the coin ${before_}` : `it from ${before_}`} out`,
      )
    }
  }
}

/** Names that the coin of one chain has had, the present one last: by the chains' announcements. */
const renamedCoins: readonly (readonly string[])[] = [
  ['TON', 'GRAM'],
  ['MATIC', 'POL'],
  ['KLAY', 'KAIA'],
  ['CGLD', 'CELO'],
  ['XRB', 'NANO', 'XNO'],
]

/** The chain's coin, written a second time on its network, without a contract, under a name that it is known to have had. */
function rejectSecondNames(coins: readonly KnownCoin[], faults: Faults): void {
  const named = coins.map(({ coin = '', also = [], networks }, at) => ({
    ...{ coin, at, also: also.map(fold) },
    homes: networkNamesOf(networks.filter(({ home }) => home === true)),
    contractless: networkNamesOf(networks.filter(({ contract }) => contract === undefined)),
  }))
  for (const names of renamedCoins) {
    const [first, ...others] = named.filter(({ coin }) => names.includes(fold(coin)))
    for (const other of others) {
      if (!first || fold(first.coin) === fold(other.coin)) continue
      if (first.homes.isDisjointFrom(other.contractless) && other.homes.isDisjointFrom(first.contractless)) continue
      // Said already, as a name of two coins.
      if (first.also.includes(fold(other.coin)) || other.also.includes(fold(first.coin))) continue
      const [before, now] = [first, other].toSorted((a, b) => names.indexOf(fold(a.coin)) - names.indexOf(fold(b.coin)))
      faults.add([other.at, 'coin'], secondName(other.coin, first.coin, before?.coin, now?.coin))
    }
  }
}

function secondName(second: string, coin: string, before = coin, now = second): string {
  return `has no contract on the network of ${coin}: if it is another name of ${coin}, write one coin, \`coin: ${now}\` with \`also: [${before}]\`, and take ${before} out; if it is a token, write its \`contract\``
}

/** On the network of a chain's coin, without a contract, and with its decimals and rules: it may be that coin, or a token. */
function possibleSecondNames(coins: readonly KnownCoin[]): readonly string[] {
  const rows = coins.flatMap(({ coin = '', networks }) => {
    const isOfChain = networks.some(({ home }) => home === true)
    return networks.map((row) => ({ coin, isOfChain, row, names: networkNamesOf([row]) }))
  })
  const contractless = Map.groupBy(
    rows
      .filter(({ isOfChain, row }) => !isOfChain && row.contract === undefined)
      .flatMap((each) => [...each.names].map((name) => ({ ...each, name }))),
    ({ name }) => name,
  )
  return rows
    .filter(({ row }) => row.home)
    .flatMap(({ coin, row, names }) => {
      const alike = [...names].flatMap((name) => contractless.get(name) ?? [])
      const [second, ...others] = new Map(alike.map((each) => [each.row, each])).values()
      // Of a table that leaves out the contracts of tokens, this says nothing.
      if (!second || others.length > 0 || fold(second.coin) === fold(coin)) return []
      if (second.row.decimals === undefined || !areSameRules(second.row, row)) return []
      return [`assets: ${second.coin} ${secondName(second.coin, coin)}`]
    })
}

function areSameRules(one: KnownCoin['networks'][number], other: KnownCoin['networks'][number]): boolean {
  const rulesOf = ({ decimals, address, memo }: KnownCoin['networks'][number]): string =>
    JSON.stringify([decimals, address?.format, address?.pattern?.source, typeof memo === 'object' ? memo.source : memo])
  return rulesOf(one) === rulesOf(other)
}

function networkNamesOf(networks: KnownCoin['networks']): ReadonlySet<string> {
  return new Set(networks.flatMap(({ network = '', aliases = [] }) => networkNames({ network, aliases })))
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

/** `taken`: codes, and names of coins, in use. */
function toCoin({ coin, also, name, networks }: CoinSettings, taken: ReadonlySet<string>): Coin {
  const assets = networks.map(
    ({
      default: isMarkedDefault,
      home: isHome,
      offered,
      decimals,
      digits,
      contract,
      depositMin,
      depositMax,
      address,
      memo,
      change,
      ...names
    }): Asset => {
      const isDefault = isMarkedDefault || networks.length === 1
      const others = otherSpellings({ coin, code: names.code }, also, taken)
      const state = {
        ...(others.length > 0 && { also: others }),
        ...(!offered && { isOffered: false as const }),
        ...(change && { change }),
      }
      const limits = { ...(depositMin !== undefined && { depositMin }), ...(depositMax !== undefined && { depositMax }) }
      const rules = { ...(address && { address }), ...(memo && { memo }) }
      const amounts = { ...(decimals !== undefined && { decimals }), ...(digits !== undefined && { digits }), ...limits }
      const marks = { isDefault, ...(isHome && { isHome }), ...(contract && { contract }) }
      return { ...names, coin, name, ...marks, ...amounts, ...rules, ...state }
    },
  )
  return { coin, name, assets: assets.toSorted((a, b) => Number(b.isDefault) - Number(a.isDefault)) }
}

/** By each other name of the coin: a code that begins with a name of its coin begins with any of them, as far as that means nothing else. */
function otherSpellings({ coin, code }: Spelling, also: readonly string[], taken: ReadonlySet<string>): readonly Spelling[] {
  if (also.length === 0) return []
  const names = [coin, ...also]
  const inCode = (name: string): string => name.replaceAll(/[^A-Za-z0-9]/g, '')
  const [start] = names
    .map(inCode)
    .filter((name) => name !== '' && fold(code).startsWith(fold(name)))
    .toSorted((a, b) => b.length - a.length)
  const codeBy = (name: string): string => {
    const other = start === undefined ? code : inCode(name) + code.slice(start.length)
    const meansElse = taken.has(fold(other)) && !names.some((own) => fold(own) === fold(other))
    return meansElse ? code : other
  }
  const all = names.map((name) => ({ coin: name, code: codeBy(name) }))
  return all.filter((one) => fold(one.coin) !== fold(coin) || fold(one.code) !== fold(code))
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

const change = keys({
  on: text.refine((day) => /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day)), 'must be a day like 2026-12-31'),
  what: name,
})

const network = keys({
  network: required(name, 'Its name'),
  code: required(name, 'Name of the coin on it in Form A; unique in the table'),
  default: setting(flag, false, 'Used if a request names none; at most one per coin'),
  offered: setting(flag, true, 'False: the network [stops](assets.md#end-a-coin-or-a-network)'),
  home: setting(flag, false, "The coin's own chain, as Ethereum for ETH; at most one"),
  aliases: setting(list(name), [], 'Other accepted names'),
  decimals: optional(integer(0, 30), 'Decimal places of an amount'),
  digits: optional(integer(1, 30), 'Significant digits of an amount: 16 for an issued token of the XRP Ledger'),
  contract: optional(
    name,
    "[What makes a token this token](assets.md#tokens-are-known-by-contract): a list's row with another one is not offered. None for a coin of a chain",
  ),
  depositMin: optional(amount, 'Minimum deposit, if the provider has none'),
  depositMax: optional(amount, 'Maximum deposit, if the provider has none'),
  address: optional(
    addressRule,
    'Addresses: `{ format }`, or `{ pattern, checksum }` ([how](addresses.md#for-operators-the-asset-table))',
  ),
  memo: optional(memoRule, 'Memos or tags: `{ format }`, `{ pattern }`, or `none`'),
  change: optional(change, 'What changes, and when: `{ on: 2026-12-31, what }`. Only a warning, from 30 days before'),
})

const coin = keys({
  coin: required(name, 'Its ticker'),
  also: setting(list(name), [], '[Other and old names](assets.md#a-coin-has-all-its-names)'),
  name: required(name, 'Full name'),
  networks: required(list(network).min(1, 'must have a network'), 'The networks of the coin.'),
})

/** The file of the asset table. */
export const assetsSchema = list(coin)

type AssetSettings = z.output<typeof assetsSchema>

/**
 * What holds on a network (docs/contract.md §3.5, §3.6): for an asset of the table, and for a coin that the table lacks on a network that it
 * has. A create stores the rules for its deposit (none, where the table has none). Today's table has the network's own addresses and tokens, and
 * the rules for what comes new.
 */
import { type OwnerlessKind, ownerlessKind } from '../../domain/address/ownerless.ts'
import { type DepositRules, type DepositRuleTexts, depositRulesOf, depositRuleTexts } from '../../domain/address/rule.ts'
import { issuerOf, sameAddress } from '../../domain/address/same-address.ts'
import { type Amount, lastPlaceOf, roundDown } from '../../domain/amount.ts'
import { type Asset, type AssetTable, isOnNetwork } from '../../domain/asset.ts'
import type { Pair, SentWords } from '../../domain/swap.ts'
import { type AssetNaming, assetIn, assetNameOf, from, type Side } from './asset-naming.ts'

export type NetworkRules = Pick<Asset, 'coin' | 'network' | 'aliases' | 'address' | 'memo' | 'decimals' | 'digits' | 'contract'>

/** Undefined if the table knows nothing of the network. */
export function rulesOf(pair: Pair, side: Side, { table, chainOf }: AssetNaming): NetworkRules | undefined {
  const asset = assetIn(pair, side, table)
  if (asset) return asset
  const { code, coin = '', network } = assetNameOf(pair, side)
  const chain = chainOf(code ?? coin, network)
  return chain === undefined ? undefined : rulesOfNetwork(table.on(chain))
}

/** For a deposit. That no coin of the table has a memo on the network says nothing of a deposit in a coin that it lacks. */
function depositRulesOfToday(pair: Pair, naming: AssetNaming): NetworkRules | undefined {
  const rules = rulesOf(pair, from, naming)
  if (rules?.memo !== 'none' || assetIn(pair, from, naming.table)) return rules
  const { memo: _, ...others } = rules
  return others
}

/** What a create stores of the table, so that an edit is for new swaps alone. Empty: the table has no rule for its deposit. */
export function depositTextsOf(pair: Pair, naming: AssetNaming): DepositRuleTexts {
  return depositRuleTexts(depositRulesOfToday(pair, naming) ?? {})
}

/** By the table of then; undefined where the ledger does not have it, or another version has written it. */
export function depositRulesOfThen(sent: SentWords | undefined, { table }: Pick<AssetNaming, 'table'>): DepositRules | undefined {
  return sent?.deposit && depositRulesOf(sent.deposit, table.patternOf)
}

/**
 * For the deposit of a create that has sent these: by the table of then, with what is known of the network's own addresses and tokens today.
 * What had no rule then (`{}`) has none; where the table of then is not known, today's counts.
 */
export function depositRules(pair: Pair, sent: SentWords | undefined, naming: AssetNaming): NetworkRules | undefined {
  const today = depositRulesOfToday(pair, naming)
  const then = depositRulesOfThen(sent, naming)
  if (!then) return today
  const { coin = 'this coin', network = pair.networkFrom ?? '', aliases = [] } = today ?? {}
  return { coin, network, aliases, ...then, ...(sent?.contractFrom !== undefined && { contract: sent.contractFrom }) }
}

/** By the words of the table alone. */
export function rulesInTable(pair: Pair, side: Side, table: AssetTable): NetworkRules | undefined {
  const asset = assetIn(pair, side, table)
  const network = pair[side.network]
  if (asset || !network) return asset
  return rulesOfNetwork(table.coins.flatMap(({ assets }) => assets.filter((each) => isOnNetwork(each, network))))
}

/** What all coins there have. That one of them needs no memo says nothing of another one. */
function rulesOfNetwork(assets: readonly Asset[]): NetworkRules | undefined {
  const [first] = assets
  if (!first) return undefined
  const { network, aliases } = first
  const address = assets.find((asset) => asset.address !== undefined)?.address
  const memos = assets.map(({ memo }) => memo)
  const memo =
    memos.find((rule) => rule !== undefined && rule !== 'none') ?? (memos.every((rule) => rule === 'none') ? 'none' : undefined)
  const digits = assets.find((asset) => asset.digits !== undefined)?.digits
  return {
    ...{ coin: 'this coin', network, aliases },
    ...(address && { address }),
    ...(memo && { memo }),
    ...(digits !== undefined && { digits }),
  }
}

/** The last decimal place that an amount can have on the network; undefined if it has no more than that. */
export function lastPlaceBelow(
  amount: Amount,
  { decimals, digits }: Pick<NetworkRules, 'decimals' | 'digits'>,
): number | undefined {
  const place = Math.min(
    decimals ?? Number.POSITIVE_INFINITY,
    digits === undefined ? Number.POSITIVE_INFINITY : lastPlaceOf(amount, digits),
  )
  return Number.isFinite(place) && roundDown(amount, place) !== undefined ? place : undefined
}

/** Why nobody can pay out from an address of the network, in words; undefined if it may be a wallet. */
export function ownerlessComplaint(address: string, rules: NetworkRules, table: AssetTable): string | undefined {
  const { network, aliases, contract = '' } = rules
  const token = table.tokenAt(address, network)
  if (token) return `it is the contract of ${token.coin} on the network ${network}, which pays nothing out`
  const issuer = issuerOf(contract)
  if (issuer !== undefined && sameAddress(address, issuer))
    return `it is the issuer of ${rules.coin} on the network ${network}: what is sent to it is burned`
  const format = rules.address?.format
  const kind = format && ownerlessKind(address, format, [network, ...aliases])
  return kind && ownerless[kind](network)
}

const ownerless: Readonly<Record<OwnerlessKind, (network: string) => string>> = {
  zero: (network) => `it is the zero address of the network ${network}, which nobody owns: what is sent to it is burned`,
  system: (network) => `it is a system address of the network ${network}, which pays nothing out`,
  burn: (network) => `it is a burn address of the network ${network}: what is sent to it is lost`,
  keyless: (network) => `it is the address of a key on the network ${network} that cannot exist: what is sent to it is lost`,
  rollup: (network) => `it is a rollup of the network ${network}, which holds no coins`,
}

/**
 * Whether what a provider reports is the swap that is known here (docs/contract.md §10). One table of fields, and one policy for each
 * use: the response of a create against its request, a row of a list against a request, a report against what is stored. Assets are
 * compared by the provider's own words first, by the table with its aliases second, and as texts last: a name that configuration may
 * change is no identity.
 */
import { hasTwoMemos, memoOf, sameAddress, sameContract } from '../domain/address/same-address.ts'
import { type Amount, isZero, mayBeShortened, plainAmount } from '../domain/amount.ts'
import { type Asset, type AssetTable, isOnNetwork, sameName } from '../domain/asset.ts'
import { instantsOf } from '../domain/instant.ts'
import type { Discrepancy } from '../domain/observation.ts'
import type { Status } from '../domain/status.ts'
import {
  type Contracts,
  isMoneySeen,
  type NewTransaction,
  type Pair,
  requestedAmountOf,
  type SentWords,
  type Transaction,
} from '../domain/swap.ts'
import {
  type AssetName,
  type AssetNaming,
  assetNameOf,
  from,
  isRepeated,
  nameFields,
  type Side,
  to,
} from './assets/asset-naming.ts'
import type { CachedCurrencyList } from './assets/currency-list.ts'
import { wordsOf } from './assets/provider-rows.ts'
import { assetFromResponse, contractsOf, otherTokens } from './assets/translate-assets.ts'

// The fields

type Field =
  | 'withdrawalAddress'
  | 'refundAddress'
  | 'depositAddress'
  | 'withdrawalExtraId'
  | 'refundExtraId'
  | 'depositExtraId'
  | 'rateType'

type Swap = { readonly [Name in keyof Transaction]?: Transaction[Name] | undefined }

/** What a field says; `other` is the swap that it is compared with. */
type ValueOf = (swap: Swap, other: Swap) => string | undefined

const fields: Readonly<Record<Field, { readonly of: ValueOf; readonly isSame: typeof sameName }>> = {
  withdrawalAddress: { of: ({ withdrawalAddress }) => withdrawalAddress, isSame: sameAddress },
  refundAddress: { of: ({ refundAddress }) => refundAddress, isSame: sameAddress },
  depositAddress: { of: ({ depositAddress }) => depositAddress, isSame: sameAddress },
  withdrawalExtraId: memoOfPlace('withdrawal'),
  refundExtraId: memoOfPlace('refund'),
  depositExtraId: memoOfPlace('deposit'),
  rateType: { of: ({ rateType }) => rateType, isSame: isEqual },
}

type Place = 'withdrawal' | 'refund' | 'deposit'

const places: Partial<Record<Field, Place>> = {
  withdrawalExtraId: 'withdrawal',
  refundExtraId: 'refund',
  depositExtraId: 'deposit',
}

/** A memo counts as given wherever it stands: beside its address or in it. One without an address stands beside the other swap's. */
function memoOfPlace(place: Place): { readonly of: ValueOf; readonly isSame: typeof sameName } {
  const of: ValueOf = (swap, other) => {
    const [address, extraId] = [swap[`${place}Address`], swap[`${place}ExtraId`]]
    return extraId ? memoOf(address ?? other[`${place}Address`], extraId) : memoOf(address, undefined)
  }
  return { of, isSame: isEqual }
}

/** The memos of a report that contradict the one in their address, but for that of the deposit. */
export function contradictoryMemos(reported: Swap): readonly Term[] {
  return terms.filter((term) => holdsTwoMemos(term, reported))
}

function holdsTwoMemos(field: Field, swap: Swap): boolean {
  const place = places[field]
  return place !== undefined && hasTwoMemos({ address: swap[`${place}Address`], extraId: swap[`${place}ExtraId`] })
}

type Relation = 'same' | 'other' | 'onlyKnown' | 'onlyReported' | 'silent'

function relate(field: Field, known: Swap, reported: Swap): Relation {
  const { of, isSame } = fields[field]
  if (holdsTwoMemos(field, reported)) return 'other'
  const [one, other] = [of(known, reported), of(reported, known)]
  if (!one) return other ? 'onlyReported' : 'silent'
  if (!other) return 'onlyKnown'
  return isSame(one, other) ? 'same' : 'other'
}

function isEqual(one: string, other: string): boolean {
  return one === other
}

// The assets

/** Compares what both name; `silent` if that is not even a code or a coin. */
function compareWords(one: AssetName, other: AssetName): 'same' | 'other' | 'silent' {
  const named = nameFields.filter((field) => one[field] && other[field])
  if (named.some((field) => !sameName(one[field] ?? '', other[field] ?? ''))) return 'other'
  return named.includes('code') || named.includes('coin') ? 'same' : 'silent'
}

/** By the provider's own words. */
function compareOwnWords(side: Side, sent: Pair | undefined, reported: Swap): ReturnType<typeof compareWords> {
  return compareWords(assetNameOf(sent ?? {}, side), assetNameOf(reported.ownAssets ?? {}, side))
}

/**
 * Whether a report names a coin of the table on a network that it does not have here, or an asset by words that the provider's list has for
 * another token. The words may be the table's for another asset.
 */
function isOfOthers(side: Side, { ownAssets = {}, ...reported }: Swap): boolean {
  return Boolean(ownAssets[side.network] || ownAssets[side.code]) && !reported[side.code]
}

// An asset at a provider, at another time or under another tag of its account

export interface AssetAtProvider {
  /** Tag. */
  readonly provider: string
  /** With the table's names, of then or of now. */
  readonly asset: AssetName
  /** With the provider's own words. */
  readonly sent: AssetName
}

/** Whether both, at providers of one account, are the same asset. */
export function isSameAsset(one: AssetAtProvider, other: AssetAtProvider, table: AssetTable): boolean {
  if (one.provider === other.provider && areSameWords(one.sent, other.sent)) return true
  const [asset, otherAsset] = [assetOf(one.asset, table), assetOf(other.asset, table)]
  return asset || otherAsset ? asset === otherAsset : areSameWords(one.asset, other.asset)
}

function areSameWords(one: AssetName, other: AssetName): boolean {
  return nameFields.every((field) => sameName(one[field] ?? '', other[field] ?? ''))
}

// The response of a create against its request

/** Terms of a request: all but assets and amount. */
const terms = ['withdrawalAddress', 'refundAddress', 'withdrawalExtraId', 'refundExtraId', 'rateType'] as const
type Term = (typeof terms)[number]

/** The terms that the report contradicts: another value, or one that was not requested. A term that is not reported is no contradiction. */
export function contradictedTerms(requested: Swap, reported: Swap): readonly Term[] {
  return terms.filter((term) => ['other', 'onlyReported'].includes(relate(term, requested, reported)))
}

/** The requested terms that are not reported. */
function missingTerms(requested: Swap, reported: Swap): readonly Term[] {
  return terms.filter((term) => relate(term, requested, reported) === 'onlyKnown')
}

/** The requested memos that the reported terms do not contain. */
export function unconfirmedMemos(requested: Swap, reported: Swap): readonly Term[] {
  return missingTerms(requested, reported).filter((term) => term === 'withdrawalExtraId' || term === 'refundExtraId')
}

/**
 * The sides on which a response names another asset than was requested. Both have the provider's words; `pair` has the table's. What is
 * another token in the provider's list is one in its response, too.
 */
export function otherSides(
  requested: Pair,
  reported: Pair,
  { naming, last }: Pick<CachedCurrencyList, 'naming' | 'last'>,
  pair: Pair = {},
): readonly Side[] {
  return [from, to].filter((side) => {
    const assetName = assetNameOf(reported, side)
    if (isRepeated(assetNameOf(requested, side), assetName)) return false
    return last()?.wordsOfOthers.has(wordsOf(assetName)) || !isNameOf(assetName, assetNameOf(pair, side), naming)
  })
}

function isNameOf(reported: AssetName, expected: AssetName, naming: AssetNaming): boolean {
  const resolved = assetFromResponse(reported, naming)
  if (resolved === undefined) return false
  // A network that is none of the coin's here.
  if (expected.code !== undefined && reported.network !== undefined && resolved.code === undefined) return false
  return nameFields.every((field) => {
    const [name, other] = [expected[field], resolved[field]]
    return name === undefined || other === undefined || sameName(name, other)
  })
}

// A row of a list, or a get, against the request of a create

/** The readable fields of a list row or a get. Assets have the table's names. */
export type ReportedTransaction = Partial<Transaction>

/** How the reports of a provider are read. */
export interface ReportReading {
  readonly naming: AssetNaming
  /** Of its times without a zone: `providers.<name>.timezone` (default: UTC). */
  readonly timezone?: string | undefined
  /** By how much its clock is ahead of this machine's; default: not at all. It only widens the time of a match. */
  readonly clockSkewMs?: (() => number) | undefined
  /** Since when its lists show the references of creates; default: they have shown none. Milliseconds since 1970, on its clock. */
  readonly referencesSince?: number | undefined
}

/** A create whose transaction is looked for. */
export interface SoughtCreate {
  /** The id of its intent. */
  readonly intent?: string | undefined
  /** With the table's names of then. */
  readonly requested: NewTransaction
  /** The provider's own words for its assets, as they were sent. Absent in rows of older versions. */
  readonly sent?: SentWords | undefined
  readonly attemptedAt: number
}

/** Names of fields of the request. */
export interface Comparison {
  readonly contradicted: readonly string[]
  /** Contradicted only in spelling or in the last digits of an amount. */
  readonly alike: readonly string[]
  /** Requested, but not reported. */
  readonly missing: readonly string[]
}

/** A transaction can match a create if it was created within this time before or after its `attemptedAt`. */
export const createdBeforeMs = 120_000
export const createdAfterMs = 600_000
/** By how much more, if the provider's clock is off. */
export const maxSkewMs = 15 * 60_000
/** By how much the time of a transaction may be wrong because it was read in another zone than it was written in. */
export const zoneErrorMs = 14 * 3_600_000

/**
 * `match`: all requested fields are confirmed. `incomplete`: none is contradicted, but some are not confirmed. `possible`: no match,
 * but no proof that the create made nothing either: it differs at most in its time, in the spelling of an address, or in the last digits of
 * the amount, or in a name of its asset or its network that the table does not know.
 */
export type Verdict = 'match' | 'incomplete' | 'possible' | 'other'

/**
 * Compares several reports of one transaction with a create. Each may confirm fields that another lacks; none may contradict. One with
 * the create's reference is its transaction, even if other fields contradict; one with another reference is not.
 */
export function compareCreate(reports: readonly ReportedTransaction[], create: SoughtCreate, reading: ReportReading): Verdict {
  const { contradicted, alike, missing } = compareAll(reports, create, reading.naming)
  if (contradicted.includes('reference')) return 'other'
  if (reports.some((reported) => hasReferenceOf(create, reported)))
    return missing.length > 0 && contradicted.length === 0 ? 'incomplete' : 'match'
  if (lacksReference(reports, create, reading)) return 'other'
  const times = reports.map(({ createdAt }) => compareTime(createdAt, create.attemptedAt, reading))
  const isOther = contradicted.some((field) => !mayBeRenamed(field, reports, create, reading.naming))
  if (isOther || times.includes('before')) return 'other'
  if (contradicted.length > 0 || alike.length > 0 || times.includes('elsewhere')) return 'possible'
  return missing.length === 0 && times.includes('around') ? 'match' : 'incomplete'
}

/** Whether the reports contradict only the name of an asset, by one that the table does not know, or by that of another token there: the provider may have renamed it. */
function mayBeRenamed(
  field: string,
  reports: readonly ReportedTransaction[],
  { requested, sent }: SoughtCreate,
  naming: AssetNaming,
): boolean {
  const side = [from, to].find(({ code, coin, network }) => [code, coin, network].some((name) => name === field))
  if (!side) return false
  const before = { names: requested, sent }
  return reports.every((reported) => {
    const [contradicted] = compareAsset(side, reported, requested, sent, naming).contradicted
    if (contradicted === undefined || isTokenOf(before, side, reported, naming.table)) return true
    return contradicted === side.network
      ? isNetworkUnknown(side, reported, naming) || isOnNetworkOf(before, side, reported)
      : isNameUnknown(side, reported, naming) && isOnNetworkOf(before, side, reported)
  })
}

function isNameUnknown(side: Side, reported: Swap, { table }: AssetNaming): boolean {
  const { code = '', coin = '' } = assetNameOf(reported, side)
  return !table.byCode(code) && !table.coin(coin)
}

/** By a word of the provider that neither the table nor its form has for any network. */
function isNetworkUnknown(side: Side, reported: Swap, { table, chainOf }: AssetNaming): boolean {
  if (!isOfOthers(side, reported)) return false
  const chain = chainOf(reported[side.coin] ?? '', reported.ownAssets?.[side.network])
  return table.on(chain ?? '').length === 0
}

/** The assets of a swap as its create had them. */
interface NamedAssets {
  readonly names: Pair
  readonly sent: (Pair & Contracts) | undefined
}

/** Whether a report names no other network: in the provider's words, or in the table's where one of these is not known. */
function isOnNetworkOf({ names, sent }: NamedAssets, { network }: Side, reported: Swap): boolean {
  const own = [sent?.[network], reported.ownAssets?.[network]]
  const [before, now] = own.every(Boolean) ? own : [names[network], reported[network]]
  return !before || !now || sameName(before, now)
}

/** Whether a report is of the token that was sent: by the contract in it, or by that of the asset that it names. */
function isTokenOf(before: NamedAssets, side: Side, reported: Swap, table: AssetTable): boolean {
  const field = side === from ? 'contractFrom' : 'contractTo'
  const own = before.sent?.[field]
  const contract = reported.ownAssets?.[field] || assetOf(assetNameOf(reported, side), table)?.contract
  return Boolean(own && contract && sameContract(own, contract)) && isOnNetworkOf(before, side, reported)
}

type ComparedCreate = Pick<SoughtCreate, 'intent' | 'requested' | 'sent'>

/** Undefined if none was sent: the provider takes none, or the create is of an older version. */
function referenceOf({ intent, sent }: ComparedCreate): string | undefined {
  return sent?.hasReference ? intent : undefined
}

/** Whether the provider reports that the transaction is this create's. */
export function hasReferenceOf(create: ComparedCreate, { reference }: ReportedTransaction): boolean {
  return reference !== undefined && sameName(reference, referenceOf(create) ?? '')
}

/** Whether the transaction would have a reference if it were this create's. The provider may have begun to keep them in between. */
function lacksReference(
  reports: readonly ReportedTransaction[],
  create: ComparedCreate,
  { timezone, referencesSince = Number.POSITIVE_INFINITY }: ReportReading,
): boolean {
  if (referenceOf(create) === undefined) return false
  const instants = reports.flatMap(({ createdAt }) => (createdAt === undefined ? [] : instantsOf(createdAt, timezone)))
  return instants.length > 0 && instants.every((instant) => Number(instant / 1_000_000n) >= referencesSince)
}

/** The fields that any report contradicts, and those that no report confirms. */
export function compareAll(reports: readonly ReportedTransaction[], create: ComparedCreate, naming: AssetNaming): Comparison {
  const comparisons = reports.map((reported) => compareReport(reported, create, naming))
  const [{ missing } = { missing: [] }, ...others] = comparisons
  return {
    contradicted: [...new Set(comparisons.flatMap(({ contradicted }) => contradicted))],
    alike: [...new Set(comparisons.flatMap(({ alike }) => alike))],
    missing: missing.filter((field) => others.every((other) => other.missing.includes(field))),
  }
}

/** Whether a report that contradicts nothing names the field of the request. `missing`: of its comparison. */
export function isConfirmed(field: string, requested: NewTransaction, missing: readonly string[]): boolean {
  const side = [from, to].find(({ code, coin, network }) => [code, coin, network].some((name) => name === field))
  if (side) return !missing.includes(side.coin) && (field !== side.network || !missing.includes(side.network))
  return requested[field as keyof NewTransaction] !== undefined && !missing.includes(field)
}

/** Whether `other` contradicts the create only where `report`, of the same transaction, confirms it: one of them is wrong. */
export function isDisputed(
  report: ReportedTransaction,
  other: ReportedTransaction,
  create: ComparedCreate,
  naming: AssetNaming,
): boolean {
  const { contradicted } = compareReport(other, create, naming)
  const { missing } = compareReport(report, create, naming)
  return contradicted.length > 0 && contradicted.every((field) => isConfirmed(field, create.requested, missing))
}

type ComparedNames = Pick<AssetNaming, 'table' | 'byCode'>

function compareReport(reported: ReportedTransaction, create: ComparedCreate, naming: ComparedNames): Comparison {
  const { requested, sent } = create
  const isOtherReference = Boolean(reported.reference) && referenceOf(create) !== undefined && !hasReferenceOf(create, reported)
  const assets = [from, to].map((side) => compareAsset(side, reported, requested, sent, naming))
  const different = contradictedTerms(requested, reported)
  const spelled = different.filter((term) => {
    const { of } = fields[term]
    return isSpelledAlike(of(requested, reported), of(reported, requested)) || isOneOfTwoMemos(term, requested, reported)
  })
  const field = requested.amountOut === undefined ? 'amountIn' : 'amountOut'
  const requestedAmount = requestedAmountOf(requested)
  // Some providers write 0 while they do not know the amount.
  const amount = reported[field] && !isZero(reported[field]) ? reported[field] : undefined
  const isOtherAmount = amount !== undefined && plainAmount(amount) !== plainAmount(requestedAmount)
  const isAlike = amount !== undefined && mayBeShortened(amount, requestedAmount)
  return {
    contradicted: [
      ...(isOtherReference ? ['reference'] : []),
      ...assets.flatMap(({ contradicted }) => contradicted),
      ...(isOtherAmount && !isAlike ? [field] : []),
      ...different.filter((term) => !spelled.includes(term)),
    ],
    alike: [...(isOtherAmount && isAlike ? [field] : []), ...spelled],
    missing: [
      ...assets.flatMap(({ missing }) => missing),
      ...(amount === undefined ? [field] : []),
      ...missingTerms(requested, reported),
    ],
  }
}

/**
 * Whether an order may be what this request would make, or made once: nothing that both name differs, but for spellings and the last
 * digits of the amount. Once it was paid, its amount is what was deposited, and says nothing. `requested`: in the words of a client or of the
 * table.
 */
export function mayBeOrderOf(reported: ReportedTransaction, requested: NewTransaction, table: AssetTable): boolean {
  return orderContradictions(reported, requested, table).length === 0
}

/** The names of what differs. */
export function orderContradictions(
  reported: ReportedTransaction,
  requested: NewTransaction,
  table: AssetTable,
): readonly string[] {
  const { contradicted } = compareReport(reported, { requested }, { table, byCode: false })
  return contradicted.filter((field) => !(isPaid(reported) && (field === 'amountIn' || field === 'amountOut')))
}

const unpaid: readonly (Status | undefined)[] = [undefined, 'wait', 'overdue']

function isPaid(reported: ReportedTransaction): boolean {
  return isMoneySeen(reported) || !unpaid.includes(reported.status)
}

/** Amounts that may be one have the same size, or the next one. Undefined if the amount is not known. */
export function amountSizeOf(amount: Amount | undefined): number | undefined {
  const value = Number(amount)
  return value > 0 ? Math.round(Math.log(value) / Math.log(1.1)) : undefined
}

/**
 * The contracts of a report that are not those which the assets of the create had when it was sent, or have now if it is of an older
 * version. No row is excluded by them: its provider may have taken another token.
 */
export function otherTokensThanSent({ ownAssets = {} }: ReportedTransaction, create: ComparedCreate, naming: AssetNaming) {
  return otherTokens(ownAssets, create.sent ?? contractsOf(create.requested, naming))
}

/** Whether the memo is one of two that contradict each other: no other create is known to have them. */
function isOneOfTwoMemos(field: Field, requested: Swap, reported: Swap): boolean {
  const place = places[field]
  if (place === undefined || !holdsTwoMemos(field, reported)) return false
  const held = memoOf(reported[`${place}Address`], undefined)
  return held === fields[field].of(requested, reported)
}

/** Whether two addresses differ only in case, or in what stands before them: another prefix of their network. */
function isSpelledAlike(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && bareText(one) === bareText(other)
}

function bareText(address: string): string {
  const start = Math.max(address.lastIndexOf(':'), address.lastIndexOf('_')) + 1
  return address
    .slice(start)
    .toLowerCase()
    .replace(/^(?:0x|xdc)/, '')
}

function compareAsset(
  side: Side,
  reported: ReportedTransaction,
  requested: NewTransaction,
  sent: Pair | undefined,
  naming: ComparedNames,
): Omit<Comparison, 'alike'> {
  const own = compareOwnWords(side, sent, reported)
  if (own === 'other' && isOfOthers(side, reported)) {
    const isSameCoin = sameName(reported[side.coin] ?? '', requested[side.coin] ?? '')
    return { contradicted: [isSameCoin ? side.network : side.coin], missing: [] }
  }
  if (own !== 'same') return compareNames(assetNameOf(reported, side), assetNameOf(requested, side), side, naming)
  const [before, now] = [assetNameOf(sent ?? {}, side), assetNameOf(reported.ownAssets ?? {}, side)]
  const isComplete =
    (before.network && now.network) || (naming.byCode && now.code) || isOnlyOne(assetNameOf(requested, side), naming)
  return { contradicted: [], missing: isComplete ? [] : [side.network] }
}

function compareNames(reported: AssetName, requested: AssetName, side: Side, naming: ComparedNames): Omit<Comparison, 'alike'> {
  const { table, byCode } = naming
  const isSame = (field: keyof typeof side): boolean =>
    Boolean(reported[field] && requested[field] && sameName(reported[field], requested[field]))
  // A code that only the provider's list can resolve proves nothing if that list is unavailable or no longer has it.
  const isUnexplained = isSame('coin') && reported.code !== undefined && table.byCode(reported.code) === undefined
  const compared = isUnexplained ? nameFields.filter((field) => field !== 'code') : nameFields
  const other = compared.find((field) => reported[field] && requested[field] && !isSame(field))
  if (other) {
    const contradicted = isSame('coin') ? side.network : side[other]
    return { contradicted: isSameInTable(reported, requested, table) ? [] : [contradicted], missing: [] }
  }
  if (!isSame('code') && !isSame('coin')) return { contradicted: [], missing: [side.coin] }
  const isComplete = isOnlyOne(requested, naming) || isSame('network') || (byCode && isSame('code'))
  return { contradicted: [], missing: isComplete ? [] : [side.network] }
}

/** Whether the coin has no other network in the table. A code implies its network. */
function isOnlyOne({ coin, network }: AssetName, { table }: ComparedNames): boolean {
  const [only, ...others] = table.coin(coin ?? '')?.assets ?? []
  return only !== undefined && others.length === 0 && (!network || isOnNetwork(only, network))
}

/** The zone error excuses a transaction that seems older than its create; one that is older in every zone did not come from it. */
function compareTime(
  createdAt: string | undefined,
  attemptedAt: number,
  { timezone, clockSkewMs = () => 0 }: Omit<ReportReading, 'naming'>,
): 'around' | 'elsewhere' | 'before' | 'unknown' {
  // Of an hour that there is twice, either reading may be near.
  const instants = createdAt === undefined ? [] : instantsOf(createdAt, timezone)
  if (instants.length === 0) return 'unknown'
  const skewMs = clockSkewMs()
  if (instants.some((instant) => isCreatedAround(instant, attemptedAt, skewMs))) return 'around'
  // Read as UTC: the configured zone may be wrong too.
  const differences = instantsOf(createdAt ?? '').map((instant) => Number(instant / 1_000_000n) - attemptedAt)
  return differences.every((difference) => difference < -zoneErrorMs) ? 'before' : 'elsewhere'
}

/** Whether a transaction of this instant may be of a create that was attempted then. `skewMs`: by how much the provider's clock is ahead. */
export function isCreatedAround(instant: bigint, attemptedAt: number, skewMs = 0): boolean {
  const difference = Number(instant - BigInt(Math.round(attemptedAt)) * 1_000_000n) / 1_000_000
  return difference >= Math.min(0, skewMs) - createdBeforeMs && difference <= Math.max(0, skewMs) + createdAfterMs
}

// A report against what is stored

export interface Discrepancies {
  /** The report cannot be about this transaction: all of it is rejected. */
  readonly rejected: readonly Discrepancy[]
  /** Unusual, but accepted. */
  readonly accepted: readonly Discrepancy[]
}

/** A transaction of the ledger. `sent`: the provider's own words for its assets, as they were sent. */
export interface StoredSwap {
  readonly transaction: Transaction
  readonly sent?: (Pair & Contracts) | undefined
}

const rejected = ['withdrawalAddress', 'withdrawalExtraId', 'depositAddress', 'depositExtraId'] as const
const accepted = ['refundAddress', 'refundExtraId', 'rateType'] as const

/**
 * Compares stored and reported fields. A field that is absent on either side is no difference, except a withdrawal memo that was not
 * requested: it sends the funds to another recipient. For a transaction that the operator bound without reading it, the memo is known only
 * after the first read. Without a table, assets are compared as texts.
 */
export function discrepanciesOf(stored: StoredSwap, reported: Transaction, table?: AssetTable): Discrepancies {
  const { transaction } = stored
  const wasRead = Boolean(transaction.depositAddress) || fields.withdrawalExtraId.of(transaction, {}) !== undefined
  const differs = (field: Field): boolean => {
    const relation = relate(field, transaction, reported)
    return relation === 'other' || (field === 'withdrawalExtraId' && relation === 'onlyReported' && wasRead)
  }
  const assets = [from, to].filter((side) => isOtherAsset(stored, reported, side, table))
  return {
    rejected: [...assets.map(({ coin }) => coin), ...rejected.filter(differs)],
    accepted: accepted.filter(differs),
  }
}

function isOtherAsset(
  { transaction, sent }: StoredSwap,
  reported: Transaction,
  side: Side,
  table: AssetTable | undefined,
): boolean {
  const own = compareOwnWords(side, sent, reported)
  if (own === 'same') return false
  const isToken = table !== undefined && isTokenOf({ names: transaction, sent }, side, reported, table)
  if (own === 'other' && isOfOthers(side, reported)) return !isToken
  const [before, now] = [assetNameOf(transaction, side), assetNameOf(reported, side)]
  const [asset, other] = [table && assetOf(before, table), table && assetOf(now, table)]
  if (asset && other) return asset !== other
  if (isToken) return false
  const pairs = [[before.coin, now.coin] as const, [before.network, now.network] as const]
  const comparable = pairs.filter(([a, b]) => a && b)
  return (before.coin && now.coin ? comparable : [[before.code, now.code] as const, ...comparable]).some(
    ([a, b]) => a && b && !sameName(a, b),
  )
}

function isSameInTable(one: AssetName, other: AssetName, table: AssetTable): boolean {
  const asset = assetOf(one, table)
  return asset !== undefined && asset === assetOf(other, table)
}

function assetOf({ code, coin, network }: AssetName, table: AssetTable): Asset | undefined {
  return coin && network ? table.find(coin, network) : code ? table.byCode(code) : undefined
}

/**
 * Whether a transaction was read before a create was sent, and is another one: it had progressed, or receives elsewhere. Sequences are
 * those of the requests.
 */
export function wasThereBefore(seen: SequencedSwap, created: SequencedSwap): boolean {
  if ((seen.sequence ?? 0) >= (created.sequence ?? 0)) return false
  const { status } = seen.transaction
  return (status !== undefined && status !== 'wait') || isOtherPlace(seen.transaction, created.transaction)
}

/** Whether both receive at one place: equal addresses, and no other memo. */
export function isSameDeposit(one: Swap, other: Swap): boolean {
  return relate('depositAddress', one, other) === 'same' && relate('depositExtraId', one, other) !== 'other'
}

interface SequencedSwap {
  readonly transaction: Swap
  readonly sequence?: number | null | undefined
}

/** A known deposit address, and not this one: also if the create has none. */
function isOtherPlace(seen: Swap, created: Swap): boolean {
  return Boolean(seen.depositAddress) && relate('depositAddress', created, seen) !== 'same'
}

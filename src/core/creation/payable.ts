/**
 * Whether a swap may become payable: asked before every write of a create's result, whoever says what the result is (docs/contract-operators.md §10.3).
 * That no other create has the id, and no other open swap the deposit address, the ledger holds in the transaction of that write. A swap whose
 * get has other words than its create sent becomes payable only once a list is known.
 */
import { isMemo, type MemoRule } from '../../domain/address/rule.ts'
import { hasTwoMemos, memoOf, takesNoMemo } from '../../domain/address/same-address.ts'
import { type Amount, compareAmounts, isPositive, isSameButForRounding, isZero } from '../../domain/amount.ts'
import { type JudgedKind, type JudgementKind, judgementKinds } from '../../domain/observation.ts'
import type { Context, ServiceResponse } from '../../domain/service.ts'
import type { NewTransaction, Pair, SentWords, Transaction } from '../../domain/swap.ts'
import type { AssetNaming } from '../assets/asset-naming.ts'
import type { CachedCurrencyList } from '../assets/currency-list.ts'
import { isPayable, sharedDeposits } from '../assets/deposits.ts'
import { depositRules, depositRulesOfThen } from '../assets/network-rules.ts'
import type { BindingQuote } from '../ports/ledger.ts'
import type { ConfiguredProvider, JudgePolicies } from '../provider-scope.ts'
import { isWorseOffer, quotedAmountOf } from '../quotes/offers.ts'
import { compareAll, contradictoryMemos, otherTokensThanSent, type SoughtCreate, unconfirmedMemos } from '../same-swap.ts'

/** What the create asked for. */
export interface JudgedCreate {
  /** Amount, rate type and addresses as they were sent. */
  readonly requested: NewTransaction
  /** Its assets, in the table's names. */
  readonly pair: Pair
  /** What it sent, if that was before: its deposit is judged by the table of then. Absent: by today's. */
  readonly sent?: SentWords | undefined
  /** The quote that binds it; undefined: no price was known. */
  readonly quote?: BindingQuote | undefined
}

/** What the provider says of the swap. */
export interface JudgedReport {
  readonly transaction: Transaction
  /** What of it contradicts the request, by `same-swap.ts`. */
  readonly contradicted: readonly Contradiction[]
  /** Fields that the gateway derived: they say nothing. */
  readonly derived?: readonly string[]
  /**
   * Whether it is a get or a row of a list. What it confirms of the request was asked before; it may have no deposit address yet, and today's
   * rule for memos does not count: the table may be a later one.
   */
  readonly isFound?: boolean
  /** Whether it may be silent about what will be received: then no price is known. */
  readonly mayLackPrice?: boolean
}

/** A get of the transaction that a person has bound to the create, or wants to bind. */
export function reportOfGet(
  { body, report: { contradicted: inDetails = [] } = {}, derived = [] }: ServiceResponse<'getTransaction'>,
  create: Pick<SoughtCreate, 'intent' | 'requested' | 'sent'>,
  naming: AssetNaming,
  mayLackPrice: boolean,
): JudgedReport {
  const { contradicted } = compareAll([body], create, naming)
  const differing = [...contradicted, ...otherTokensThanSent(body, create, naming), ...inDetails]
  return { transaction: body, contradicted: differing.map(contradictionIn), derived, isFound: true, mayLackPrice }
}

/** Something that the provider says and that was not requested, or cannot be. */
export interface Contradiction {
  readonly field: string
  /** Undefined, and `quote`: no setting of `judge` accepts it. */
  readonly kind: JudgedKind | undefined
}

export interface Payability {
  /** For what the swap may not become payable; empty: it may. */
  readonly refused: readonly Contradiction[]
  /** What is wrong, and only counted. */
  readonly counted: readonly Contradiction[]
  /** Whether it is the price alone that is refused: that tells no swap of another create. */
  readonly isPriceAlone: boolean
  /** Whether an amount says nothing, or is rounded. */
  readonly isTolerated: boolean
  /** With the requested amount in the place of one that says nothing, and without an amount received that is not known. */
  readonly transaction: Transaction
}

export type MayBecomePayable = (create: JudgedCreate, report: JudgedReport, context: Context) => Promise<Payability>

type Rules = Pick<ConfiguredProvider, 'judge' | 'addresses' | 'depositMemo' | 'extraIds'>

/** For swaps at one provider. What its operator's settings accept is no contradiction. */
export function mayBecomePayable(
  { judge: policies, addresses, depositMemo, extraIds }: Rules,
  currencyList: CachedCurrencyList,
): MayBecomePayable {
  const { naming } = currencyList
  const shared = sharedDeposits(depositMemo, currencyList)
  return async ({ requested, pair, sent, quote }, report, context) => {
    const { transaction, contradicted, derived = [], isFound = false, mayLackPrice = false } = report
    const { depositAddress } = transaction
    const rules = depositRules(pair, sent, naming)
    const amounts = judgeAmounts(transaction, requested, { quote, derived, mayLackPrice })
    const isSilent = isFound && !depositAddress
    const isSafe =
      isSilent || isPayable(transaction, requested, rules, { checksAddresses: addresses === 'checked', table: naming.table })
    const isWithMemo =
      isSilent ||
      isDepositMemo(
        transaction,
        isFound && !depositRulesOfThen(sent, naming) ? undefined : rules?.memo,
        await shared.isShared(pair, context, depositAddress, sent),
      )
    const isOpen = contradicted.length === 0
    const findings: readonly Contradiction[] = [
      ...contradicted,
      ...contradictoryMemos(transaction).map(always),
      ...(hasTwoDepositMemos(transaction) ? [always('depositExtraId')] : []),
      ...(isOpen && !isFound && extraIds !== 'unconfirmed' ? unconfirmedMemos(requested, transaction) : []).map(always),
      ...(isSafe ? [] : [unsafe]),
      ...(isWithMemo ? [] : [{ field: 'depositExtraId', kind: 'depositMemo' } as const]),
      ...findingsOf(amounts, { requested, quote }),
    ]
    const { refused, counted } = divide(findings, policies)
    return {
      refused,
      counted,
      isPriceAlone:
        refused.length > 0 &&
        refused.every(({ field, kind }) => field === priceFieldOf(requested) && (kind === 'amount' || kind === 'quote')),
      isTolerated: amounts.isTolerated,
      transaction: amounts.transaction,
    }
  }
}

/** A deposit address that cannot be one, or that another open swap has. */
export const unsafe = { field: 'depositAddress', kind: 'depositAddress' } as const satisfies Contradiction

/** The names of what is wrong, each once. */
export function fieldsOf(contradictions: readonly Contradiction[]): readonly string[] {
  return [...new Set(contradictions.map(({ field }) => field))]
}

function always(field: string): Contradiction {
  return { field, kind: undefined }
}

function divide(findings: readonly Contradiction[], policies: JudgePolicies): Pick<Payability, 'refused' | 'counted'> {
  const isRefused = ({ kind }: Contradiction): boolean => kind === undefined || kind === 'quote' || policies[kind] === 'refuse'
  return { refused: findings.filter(isRefused), counted: findings.filter((finding) => !isRefused(finding)) }
}

/** Whether a report could be compared with the price that binds its create. */
export function isPriceKnown({ requested, quote }: Omit<JudgedCreate, 'pair'>, report: Transaction): boolean {
  return quote !== undefined && quotedAmountOf(report, requested) !== undefined
}

const kinds: Readonly<Record<string, JudgementKind>> = {
  contractFrom: 'contract',
  contractTo: 'contract',
  networkFrom: 'network',
  networkTo: 'network',
  amountIn: 'amount',
  amountOut: 'amount',
  depositAddress: 'depositAddress',
  depositExtraId: 'depositMemo',
}

/** A field of a report that contradicts the request, or what a stored mismatch differs in. */
export function contradictionIn(field: string): Contradiction {
  return { field, kind: kinds[field] }
}

/** Of a response that was judged before, and refused for these fields: what the settings of today still refuse. */
export function stillRefused(
  { requested, quote }: Omit<JudgedCreate, 'pair'>,
  { transaction, fields }: { readonly transaction: Transaction; readonly fields: readonly string[] },
  policies: JudgePolicies,
): readonly string[] {
  const amounts = judgeAmounts(transaction, requested, { quote, derived: [], mayLackPrice: true })
  const ofAmounts = findingsOf(amounts, { requested, quote }).filter(({ field }) => fields.includes(field))
  const ofMemos = hasTwoDepositMemos(transaction) ? [always('depositExtraId')] : []
  return fieldsOf(divide([...fields.map(contradictionIn), ...ofAmounts, ...ofMemos], policies).refused)
}

/** The kinds of what is only counted. */
export function kindsOf(contradictions: readonly Contradiction[]): readonly JudgementKind[] {
  return judgementKinds.filter((kind) => contradictions.some((each) => each.kind === kind))
}

// The deposit

/** Nobody can tell to which of them to pay. */
function hasTwoDepositMemos({ depositAddress, depositExtraId }: Transaction): boolean {
  return hasTwoMemos({ address: depositAddress, extraId: depositExtraId })
}

/** The network's rule in both directions: a memo that it cannot have, and one that is missing. */
function isDepositMemo({ depositAddress, depositExtraId }: Transaction, rule: MemoRule | undefined, isNeeded: boolean): boolean {
  const inAddress = memoOf(depositAddress, undefined)
  const memo = memoOf(depositAddress, depositExtraId)
  if (memo === undefined) return !isNeeded
  if (inAddress !== undefined) return true
  if (depositAddress && takesNoMemo(depositAddress)) return false
  return !rule || isMemo(memo, rule)
}

// The amounts

interface AmountFacts extends Pick<JudgedCreate, 'quote'> {
  readonly derived: readonly string[]
  readonly mayLackPrice: boolean
}

interface JudgedAmounts extends Pick<Payability, 'isTolerated' | 'transaction'> {
  readonly fields: readonly ('amountIn' | 'amountOut')[]
  /** Whether it is worse than the quote that binds, by more than rounding. */
  readonly isWorse: boolean
  /** Whether what must be sent is negative or nothing. */
  readonly isUnpayable: boolean
}

/** The field of what is promised for the requested amount. */
export function priceFieldOf({ amountOut }: NewTransaction): 'amountIn' | 'amountOut' {
  return amountOut === undefined ? 'amountOut' : 'amountIn'
}

function findingsOf(
  { fields, isWorse, isUnpayable }: JudgedAmounts,
  { requested, quote }: Omit<JudgedCreate, 'pair'>,
): readonly Contradiction[] {
  return [
    ...fields.map((field) => ({ field, kind: 'amount' as const })),
    ...(isWorse
      ? [{ field: priceFieldOf(requested), kind: quote?.source === 'winner' ? ('quote' as const) : ('amount' as const) }]
      : []),
    ...(isUnpayable ? [always('amountIn')] : []), // nobody knows what to pay
  ]
}

function judgeAmounts(transaction: Transaction, requested: NewTransaction, facts: AmountFacts): JudgedAmounts {
  return requested.amountOut === undefined
    ? judgeBySent(transaction, requested, facts)
    : judgeByReceived(transaction, requested, facts)
}

function judgeBySent(
  transaction: Transaction,
  requested: Extract<NewTransaction, { readonly amountIn: Amount }>,
  { quote, derived, mayLackPrice }: AmountFacts,
): JudgedAmounts {
  const { amountIn, amountOut } = transaction
  const isFixed = requested.rateType === 'fixed'
  const isSilent = isZero(amountIn) || derived.includes('amountIn')
  const isOtherIn = !isSilent && !isSameButForRounding(amountIn, requested.amountIn)
  const isReceived = amountOut !== undefined && isPositive(amountOut)
  const isNegative = amountOut !== undefined && !isReceived && !isZero(amountOut)
  const isUnknown = isFixed && !isReceived && !mayLackPrice
  const isWorse = isFixed && isReceived && quote !== undefined && isWorseOffer(amountOut, quote.amountOut, requested)
  const sent = isPositive(amountIn) ? amountIn : requested.amountIn
  return {
    fields: [...(isOtherIn ? ['amountIn' as const] : []), ...(isNegative || isUnknown ? ['amountOut' as const] : [])],
    isWorse,
    isUnpayable: !isPositive(sent),
    isTolerated: isSilent || !isReceived || compareAmounts(amountIn, requested.amountIn) !== 0,
    transaction: { ...transaction, amountIn: sent, amountOut: isReceived ? amountOut : undefined },
  }
}

/** What must be sent is the provider's word alone: without it there is nothing that could be paid. */
function judgeByReceived(
  transaction: Transaction,
  requested: Extract<NewTransaction, { readonly amountOut: Amount }>,
  { quote }: AmountFacts,
): JudgedAmounts {
  const { amountIn, amountOut } = transaction
  const isSilent = amountOut === undefined || isZero(amountOut)
  const isOtherOut = !isSilent && !isSameButForRounding(amountOut, requested.amountOut)
  const isSameValue = !isSilent && compareAmounts(amountOut, requested.amountOut) === 0
  const isFixed = requested.rateType === 'fixed'
  const isWorse = isFixed && quote !== undefined && isWorseOffer(amountIn, quote.amountIn, requested)
  const received = isSilent || !isPositive(amountOut) || isSameValue ? requested.amountOut : amountOut
  return {
    fields: [...(isPositive(amountIn) ? [] : ['amountIn' as const]), ...(isOtherOut ? ['amountOut' as const] : [])],
    isWorse,
    isUnpayable: !isPositive(amountIn),
    isTolerated: !isSameValue,
    transaction: { ...transaction, amountOut: received },
  }
}

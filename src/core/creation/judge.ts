/**
 * Judges what a provider says of its own in the response to a create: the deposit address, its memo, the amounts
 * (docs/contract.md §3.5, §3.6, §10.3). What contradicts the request was compared before.
 */
import { isMemo } from '../../domain/address/rule.ts'
import { memoOf } from '../../domain/address/same-address.ts'
import { type Amount, compareAmounts, isPositive, isSameButForRounding, isZero } from '../../domain/amount.ts'
import { type Asset, fold, sameName } from '../../domain/asset.ts'
import { Fault } from '../../domain/fault.ts'
import { type JudgedKind, type JudgementKind, judgedKinds, judgementKinds } from '../../domain/observation.ts'
import type { Context } from '../../domain/service.ts'
import { isFinal } from '../../domain/status.ts'
import type { NewTransaction, Pair, Transaction } from '../../domain/swap.ts'
import { type AssetNaming, assetIn, assetNameOf, from, type Side, to } from '../assets/asset-naming.ts'
import { isPayable, sharedDeposits } from '../assets/deposits.ts'
import { assetFromResponse, contractsOf, otherTokens } from '../assets/translate-assets.ts'
import { type Layer, mapResponses } from '../layer.ts'
import type { JudgedAsset } from '../mismatch-streaks.ts'
import type { JudgePolicies, ProviderScope } from '../provider-scope.ts'
import { amountsOf, deviationFrom, isWorseOffer, quotedAmountOf } from '../quotes/offers.ts'
import type { RecentQuotes } from '../quotes/quote-cache.ts'
import { contradictedTerms, otherSides, unconfirmedMemos } from '../same-swap.ts'
import type { ClaimedDeposit, JudgeCreate, VerifiedCreate, VerifyCreate } from './creation.ts'
import type { OtherDeposits } from './other-deposits.ts'
import { swappedAsset } from './suspensions.ts'

interface Finding {
  readonly field: string
  /** Undefined: always refused. */
  readonly kind: JudgedKind | undefined
}

/**
 * Adds the fields that cannot be right to `contradicted`, and takes those out that are only counted. Runs where asset names are the
 * provider's.
 */
export function judgeCreate(scope: ProviderScope, quotes: RecentQuotes, otherDeposits: OtherDeposits): JudgeCreate {
  const { tag: provider, configured, currencyList, observe } = scope
  const { naming } = currencyList
  const policies = configured.judge
  const checksAddresses = configured.addresses === 'checked'
  const shared = sharedDeposits(configured.depositMemo, currencyList)
  return async (verified, request, context) => {
    const { pair = {} } = context
    const asset = assetIn(pair, from, naming.table)
    const rules = asset ?? rulesOfNetwork(pair, naming)
    const created = withPlainStatus(verified, scope)
    const newest = context.firmQuote ? context.quotedAmount : ((await quotes.newest(request, context)) ?? context.quotedAmount)
    const own = created.quotedAmount ?? (context.firmQuote && context.quotedAmount)
    noteQuote(provider, request, { own: created.quotedAmount, newest }, context)
    const amounts = judgeAmounts(created, request, { own, newest }, scope)
    const contradicted = created.contradicted.map((field) => ({ field, kind: kindOf(field, created.body, pair, naming) }))
    const others: readonly Finding[] = [
      ...(isDepositMemo(created.body, rules, await shared.isShared(pair, context, created.body.depositAddress))
        ? []
        : [{ field: 'depositExtraId', kind: 'depositMemo' } as const]),
      ...amounts.fields.map((field) => ({ field, kind: 'amount' as const })),
      ...(own === undefined && isBelowWorst(quotedAmountOf(created.body, request), request, context)
        ? [{ field: request.amountOut === undefined ? 'amountOut' : 'amountIn', kind: 'quote' as const }]
        : []),
      ...(isPositive(amounts.body.amountIn) ? [] : [{ field: 'amountIn', kind: undefined }]), // nobody knows what to pay
    ]
    const isRefused = ({ kind }: Finding): boolean => kind === undefined || kind === 'quote' || policies[kind] === 'refuse'
    const isTaken = (claim: 'own' | 'underWay'): Promise<boolean> => otherDeposits.have(created.body, provider, context, claim)
    const isPossible = isPayable(created.body, request, rules, checksAddresses)
    const claim = isPossible ? await otherDeposits.claim(created.body, provider) : undefined
    // What is stored as the result anyway is judged in the same step: a look before it is one more wait for the ledger.
    const isJudgedLater = claim === 'own' && isRefused(unsafe) && ![...contradicted, ...others].some(isRefused)
    const isSafe = isJudgedLater || (claim !== undefined && claim !== 'anothers' && !(await isTaken(claim)))
    const findings = [...contradicted, ...(isSafe ? [] : [unsafe]), ...others]
    const count = (kind: JudgedKind, isFound: boolean): void => {
      const passed = kind === 'amount' && amounts.isTolerated ? 'tolerated' : 'passed'
      const outcome = !isFound ? passed : isRefused({ field: '', kind }) ? 'refused' : 'counted'
      observe({ what: 'judgement', provider, kind, outcome, network: asset?.network })
    }
    for (const kind of judgedKinds) {
      const isFound = findings.some((finding) => finding.kind === kind)
      if (kind !== unsafe.kind || !isJudgedLater) count(kind, isFound)
    }
    const refused = findings.filter(isRefused)
    const judged = judgedAssets(refused, request, pair, scope)
    const deposit: ClaimedDeposit = {
      claim: { since: otherDeposits.since, judgedIfTaken: judgedAssets([unsafe], request, pair, scope) },
      isTaken: () => isTaken('own'),
      observe: (isFound) => count(unsafe.kind, isFound),
    }
    return {
      ...created,
      body: amounts.body,
      contradicted: [...new Set(refused.map(({ field }) => field))],
      judged,
      ...(isJudgedLater && { deposit }),
    }
  }
}

const unsafe = { field: 'depositAddress', kind: 'depositAddress' } as const satisfies Finding

/** The one by which the create was routed is noted before it is sent. */
function noteQuote(
  provider: string,
  request: NewTransaction,
  { own, newest }: { readonly own: Amount | undefined; readonly newest: Amount | undefined },
  { timeline, quotedAmount }: Context,
): void {
  const quoted = own ?? (quotedAmount === undefined ? newest : undefined)
  if (quoted === undefined) return
  const { rateType } = request
  timeline?.add({ event: 'quoted', provider, source: own ? 'own' : 'newest', rateType, ...amountsOf(request, quoted) })
}

type NetworkRules = Pick<Asset, 'address' | 'memo'>

/** Of a coin that the table lacks, on a network that it has: what all coins there have. That one of them needs no memo says nothing. */
function rulesOfNetwork(pair: Pair, { table, chainOf }: AssetNaming): NetworkRules | undefined {
  const { code, coin = '', network } = assetNameOf(pair, from)
  const chain = chainOf(code ?? coin, network)
  const there = table.coins.flatMap(({ assets }) => assets.filter((asset) => fold(asset.network) === chain))
  const address = there.find((asset) => asset.address !== undefined)?.address
  const memo = there.find((asset) => asset.memo !== undefined && asset.memo !== 'none')?.memo
  return address || memo ? { ...(address && { address }), ...(memo && { memo }) } : undefined
}

/** Both assets, each with the kinds that were refused for it. */
function judgedAssets(
  refused: readonly Finding[],
  request: NewTransaction,
  pair: Pair,
  { tag: provider, accountTags: tags, currencyList }: ProviderScope,
): readonly JudgedAsset[] {
  const { table } = currencyList.naming
  return [from, to].map((side) => {
    const own = refused.filter(({ field }) => receivedFields.has(field) === (side === to))
    return {
      ...swappedAsset(side, { request, pair, provider, table }),
      network: assetIn(pair, side, table)?.network,
      tags,
      refused: judgementKinds.filter((kind) => own.some((finding) => finding.kind === kind)),
    }
  })
}

/** What else is refused is about the asset that is deposited. */
const receivedFields: ReadonlySet<string> = new Set(['coinTo', 'contractTo'])

/** The network's rule in both directions: a memo that it cannot have, and one that is missing. */
function isDepositMemo(
  { depositAddress, depositExtraId }: Transaction,
  rules: NetworkRules | undefined,
  isNeeded: boolean,
): boolean {
  const inAddress = memoOf(depositAddress, undefined)
  const memo = memoOf(depositAddress, depositExtraId)
  if (memo === undefined) return !isNeeded
  if (inAddress !== undefined && memo !== inAddress) return false
  return inAddress !== undefined || !rules?.memo || isMemo(memo, rules.memo)
}

interface JudgedAmounts {
  readonly fields: readonly ('amountIn' | 'amountOut')[]
  /** Whether an amount says nothing, or is rounded. */
  readonly isTolerated: boolean
  /** With the requested amount in the place of one that says nothing, and without an amount received that is not known. */
  readonly body: Transaction
}

interface QuotedAmounts {
  /** Of the quote that the provider keeps for this create: what the create must not be worse than at a fixed rate. */
  readonly own: Amount | undefined
  readonly newest: Amount | undefined
}

function judgeAmounts(
  created: VerifiedCreate,
  request: NewTransaction,
  quotes: QuotedAmounts,
  scope: ProviderScope,
): JudgedAmounts {
  return request.amountOut === undefined
    ? judgeBySent(created, request, quotes, scope)
    : judgeByReceived(created, request, quotes, scope)
}

function judgeBySent(
  { body, derived = [] }: VerifiedCreate,
  request: Extract<NewTransaction, { readonly amountIn: Amount }>,
  { own, newest }: QuotedAmounts,
  scope: ProviderScope,
): JudgedAmounts {
  const { amountIn, amountOut } = body
  const isFixed = request.rateType === 'fixed'
  const isSilent = isZero(amountIn) || derived.includes('amountIn')
  const isOtherIn = !isSilent && !isSameButForRounding(amountIn, request.amountIn)
  const isReceived = amountOut !== undefined && isPositive(amountOut)
  const isNegative = amountOut !== undefined && !isReceived && !isZero(amountOut)
  const isLess = isFixed && isReceived && own !== undefined && isWorseOffer(amountOut, own, request)
  const isOtherOut = isNegative || isLess || (isFixed && !isReceived) || isWorseThanQuote(body, request, newest, scope)
  return {
    fields: [...(isOtherIn ? ['amountIn' as const] : []), ...(isOtherOut ? ['amountOut' as const] : [])],
    isTolerated: isSilent || !isReceived || compareAmounts(amountIn, request.amountIn) !== 0,
    body: {
      ...body,
      amountIn: isPositive(amountIn) ? amountIn : request.amountIn,
      amountOut: isReceived ? amountOut : undefined,
    },
  }
}

/** What must be sent is the provider's word alone: without it there is nothing that could be paid. */
function judgeByReceived(
  { body }: VerifiedCreate,
  request: Extract<NewTransaction, { readonly amountOut: Amount }>,
  { own, newest }: QuotedAmounts,
  scope: ProviderScope,
): JudgedAmounts {
  const { amountIn, amountOut } = body
  const isSilent = amountOut === undefined || isZero(amountOut)
  const isOtherOut = !isSilent && !isSameButForRounding(amountOut, request.amountOut)
  const isSameValue = !isSilent && compareAmounts(amountOut, request.amountOut) === 0
  const isMore = request.rateType === 'fixed' && own !== undefined && isWorseOffer(amountIn, own, request)
  const isOtherIn = !isPositive(amountIn) || isMore || isWorseThanQuote(body, request, newest, scope)
  return {
    fields: [...(isOtherIn ? ['amountIn' as const] : []), ...(isOtherOut ? ['amountOut' as const] : [])],
    isTolerated: !isSameValue,
    body: { ...body, amountOut: isSilent || !isPositive(amountOut) || isSameValue ? request.amountOut : amountOut },
  }
}

/** At a fixed rate only: nothing else has a worst amount. */
export function isBelowWorst(offer: Amount | undefined, request: NewTransaction, { worstAmount }: Context): boolean {
  return offer !== undefined && worstAmount !== undefined && isWorseOffer(offer, worstAmount, request)
}

/** Counts how far the create is from the newest quote. True only where a create that is much worse is refused. */
function isWorseThanQuote(body: Transaction, request: NewTransaction, newest: Amount | undefined, scope: ProviderScope): boolean {
  const { tag: provider, routing, observe } = scope
  const { maxDeviation, refuseDeviation } = routing
  const offer = quotedAmountOf(body, request)
  if (newest === undefined || offer === undefined || !isPositive(offer)) return false
  const deviation = deviationFrom(newest, offer, request)
  if (deviation === undefined) return false
  observe({ what: 'quoteDeviation', provider, deviation })
  if (maxDeviation === 0 || deviation >= -maxDeviation) return false
  observe({ what: 'create', provider, outcome: 'belowQuote' })
  return refuseDeviation
}

/** A swap that was just created cannot have ended: a final status is believed when a get repeats it. */
function withPlainStatus(verified: VerifiedCreate, { tag: provider, observe }: ProviderScope): VerifiedCreate {
  const { status } = verified.body
  if (status !== 'overdue' && !isFinal(status ?? null)) return verified
  observe({ what: 'create', provider, outcome: 'finalAtOnce' })
  return { ...verified, body: { ...verified.body, status: 'wait' } }
}

const kinds: Readonly<Record<string, JudgementKind>> = {
  contractFrom: 'contract',
  contractTo: 'contract',
  networkFrom: 'network',
  networkTo: 'network',
  amountIn: 'amount',
  amountOut: 'amount',
  depositExtraId: 'depositMemo',
}

interface JudgedFields {
  /** Fields for which nobody gets the transaction. */
  readonly refused: readonly string[]
  /** The kinds of what is only counted. */
  readonly counted: readonly JudgementKind[]
}

/** Judges what a transaction that was looked for contradicts. */
export function judgeFound(contradicted: readonly string[], policies: JudgePolicies): JudgedFields {
  const counted = judgementKinds.filter((kind) => policies[kind] === 'count' && contradicted.some((field) => kinds[field] === kind))
  return { refused: contradicted.filter((field) => !counted.some((kind) => kinds[field] === kind)), counted }
}

function kindOf(field: string, reported: Transaction, pair: Pair, naming: AssetNaming): JudgementKind | undefined {
  const side = [from, to].find(({ coin }) => coin === field)
  return side ? networkKind(side, reported, pair, naming) : kinds[field]
}

/** `network` if the provider names the requested coin on another network; undefined for another coin. */
function networkKind(side: Side, reported: Transaction, pair: Pair, naming: AssetNaming): 'network' | undefined {
  const expected = assetNameOf(pair, side)
  const resolved = assetFromResponse(assetNameOf(reported, side), naming)
  const isSameCoin = expected.coin !== undefined && resolved?.coin !== undefined && sameName(expected.coin, resolved.coin)
  return isSameCoin && resolved.network !== expected.network ? 'network' : undefined
}

// Verifies that a provider's response is about its request (docs/contract.md §10.3).

/**
 * Finds the fields in which the response of a create contradicts its request, with a memo that it must repeat and does not; `status` if
 * the swap has failed at once. Both have the provider's asset names.
 */
export function verifyResponse({ currencyList, configured }: ProviderScope): VerifyCreate {
  const { naming } = currencyList
  const mustConfirmMemos = configured.extraIds !== 'unconfirmed'
  return (response, request, context) => {
    const { body, contradicted: inDetails = [] } = response
    const contradicted = [...new Set([...inDetails, ...contradictionsOf(request, body, naming, context)])]
    const unconfirmed = mustConfirmMemos && contradicted.length === 0 ? unconfirmedMemos(request, body) : []
    const failed = contradicted.length === 0 && hasFailed(body) ? ['status'] : []
    return { ...response, contradicted: [...contradicted, ...unconfirmed, ...failed] }
  }
}

/** The fields in which a report of a create contradicts its request. Both have the provider's asset names. */
export function contradictionsOf(
  requested: NewTransaction,
  reported: Transaction,
  naming: AssetNaming,
  { pair }: Pick<Context, 'pair'>,
): readonly string[] {
  const sides = otherSides(requested, reported, naming, pair)
  const others = otherTokens(reported, contractsOf(pair ?? {}, naming))
  return [...sides.map(({ coin }) => coin), ...others, ...contradictedTerms(requested, reported)]
}

/** Throws `unreadable` for a quote for another pair. Runs where asset names are the provider's. */
export function verifyQuote({ currencyList }: ProviderScope): Layer {
  const { naming } = currencyList
  return mapResponses({
    getRate: (response, request, { pair }) => {
      const { body, provider } = response
      if (!isOtherPair(request, body, naming, pair)) return response
      const message = 'The provider returned a quote for another pair; please try again later.'
      throw new Fault('unreadable', message, { ...(provider !== undefined && { provider }) })
    },
  })
}

/** Whether the response names other assets than were requested, which are `pair` in the names of the table. */
export function isOtherPair(requested: Pair, reported: Pair, naming: AssetNaming, pair?: Pair): boolean {
  return otherSides(requested, reported, naming, pair).length > 0
}

/** Whether the provider says that the swap has failed. */
export function hasFailed({ attention }: Transaction): boolean {
  return attention === 'failed'
}

/**
 * Judges the response to a create (docs/contract.md §3.5, §3.6, docs/contract-operators.md §10.3): `payable.ts` says whether the swap may become payable; here that is
 * counted, compared with the newest quotes, and said of the assets. What contradicts the request was compared before.
 */
import type { Amount } from '../../domain/amount.ts'
import { isPositive } from '../../domain/amount.ts'
import { sameName } from '../../domain/asset.ts'
import { promisedAmounts } from '../../domain/call-options.ts'
import { valueIn } from '../../domain/context-values.ts'
import { Fault } from '../../domain/fault.ts'
import { type JudgedKind, judgedKinds, judgementKinds } from '../../domain/observation.ts'
import type { Context } from '../../domain/service.ts'
import { isFinal } from '../../domain/status.ts'
import type { NewTransaction, Pair, Transaction } from '../../domain/swap.ts'
import { type AssetNaming, assetIn, assetNameOf, from, type Side, to } from '../assets/asset-naming.ts'
import type { CachedCurrencyList } from '../assets/currency-list.ts'
import { assetFromResponse, contractsOf, otherTokens } from '../assets/translate-assets.ts'
import { type Layer, mapResponses } from '../layer.ts'
import type { JudgedAsset } from '../mismatch-streaks.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { usedFirmQuote } from '../quotes/firm-quotes.ts'
import { amountsOf, deviationFrom, quotedAmountOf } from '../quotes/offers.ts'
import type { RecentQuotes } from '../quotes/quote-cache.ts'
import { contradictedTerms, otherSides } from '../same-swap.ts'
import type { CreateResponse, JudgeCreate, VerifyCreate } from './creation.ts'
import { bindingQuoteOf } from './intent.ts'
import type { OtherDeposits } from './other-deposits.ts'
import { type Contradiction, contradictionIn, fieldsOf, mayBecomePayable, priceFieldOf, unsafe } from './payable.ts'
import { swappedAsset } from './suspensions.ts'

/**
 * Adds the fields that cannot be right to `contradicted`, and takes those out that are only counted. Runs where asset names are the
 * provider's.
 */
export function judgeCreate(scope: ProviderScope, quotes: RecentQuotes, otherDeposits: OtherDeposits): JudgeCreate {
  const { tag: provider, configured, currencyList, observe } = scope
  const { naming } = currencyList
  const policies = configured.judge
  const judge = mayBecomePayable(configured, currencyList)
  return async (verified, request, context) => {
    const { pair = {} } = context
    const response = withPlainStatus(verified.response, scope)
    const { body, derived = [], report: { quotedAmount } = {} } = response
    const promised = valueIn(context, promisedAmounts).quotedAmount
    const newest = valueIn(context, usedFirmQuote) ? promised : ((await quotes.newest(request, context)) ?? promised)
    noteQuote(provider, request, { own: quotedAmount, newest }, context)
    const contradicted = [
      ...verified.contradicted.map((field) => ({ field, kind: kindOf(field, body, pair, naming) })),
      ...(isWorseThanQuote(body, request, newest, scope) ? [contradictionIn(priceFieldOf(request))] : []),
    ]
    const quote = bindingQuoteOf(request, context, quotedAmount === undefined ? undefined : { quotedAmount })
    const payability = await judge({ requested: request, pair, quote }, { transaction: body, contradicted, derived }, context)
    const { refused, counted, isTolerated, transaction } = payability
    const findings = [...refused, ...counted]
    const network = assetIn(pair, from, naming.table)?.network
    const count = (kind: JudgedKind, isFound: boolean): void => {
      const passed = kind === 'amount' && isTolerated ? 'tolerated' : 'passed'
      const outcome = !isFound ? passed : kind === 'quote' || policies[kind] === 'refuse' ? 'refused' : 'counted'
      observe({ what: 'judgement', provider, kind, outcome, network })
    }
    // Whether another swap has the deposit address the ledger says, when it stores the result.
    const isStored = refused.length === 0 && !findings.some(({ kind }) => kind === unsafe.kind)
    for (const kind of judgedKinds) {
      const isFound = findings.some((finding) => finding.kind === kind)
      if (kind !== unsafe.kind || !isStored) count(kind, isFound)
    }
    return {
      ...verified,
      response: { ...response, body: transaction },
      contradicted: fieldsOf(refused),
      judged: judgedAssets(refused, request, pair, scope),
      deposit: {
        isRefused: policies[unsafe.kind] === 'refuse',
        judgedIfTaken: judgedAssets([unsafe], request, pair, scope),
        claimAfter: () => otherDeposits.claimAfter(transaction, context),
        observe: (isFound) => {
          if (isStored) count(unsafe.kind, isFound)
        },
      },
    }
  }
}

/** The one by which the create was routed is noted before it is sent. */
function noteQuote(
  provider: string,
  request: NewTransaction,
  { own, newest }: { readonly own: Amount | undefined; readonly newest: Amount | undefined },
  context: Context,
): void {
  const { timeline } = context
  const quoted = own ?? (valueIn(context, promisedAmounts).quotedAmount === undefined ? newest : undefined)
  if (quoted === undefined) return
  const { rateType } = request
  timeline?.add({ event: 'quoted', provider, source: own ? 'own' : 'newest', rateType, ...amountsOf(request, quoted) })
}

/** Both assets, each with the kinds that were refused for it. */
function judgedAssets(
  refused: readonly Contradiction[],
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
function withPlainStatus(response: CreateResponse, { tag: provider, observe }: ProviderScope): CreateResponse {
  const { status } = response.body
  if (status !== 'overdue' && !isFinal(status ?? null)) return response
  observe({ what: 'create', provider, outcome: 'finalAtOnce' })
  return { ...response, body: { ...response.body, status: 'wait' } }
}

function kindOf(field: string, reported: Transaction, pair: Pair, naming: AssetNaming): JudgedKind | undefined {
  const side = [from, to].find(({ coin }) => coin === field)
  return side ? networkKind(side, reported, pair, naming) : contradictionIn(field).kind
}

/** `network` if the provider names the requested coin on another network; undefined for another coin. */
function networkKind(side: Side, reported: Transaction, pair: Pair, naming: AssetNaming): 'network' | undefined {
  const expected = assetNameOf(pair, side)
  const resolved = assetFromResponse(assetNameOf(reported, side), naming)
  const isSameCoin = expected.coin !== undefined && resolved?.coin !== undefined && sameName(expected.coin, resolved.coin)
  return isSameCoin && resolved.code !== expected.code ? 'network' : undefined
}

// Verifies that a provider's response is about its request (docs/contract-operators.md §10.3).

/**
 * Finds the fields in which the response of a create contradicts its request; `status` if the swap has failed at once. Both have the
 * provider's asset names.
 */
export function verifyResponse({ currencyList }: ProviderScope): VerifyCreate {
  return (sent, request, context) => {
    const { body, report: { contradicted: inDetails = [] } = {} } = sent.response
    const contradicted = [...new Set([...inDetails, ...contradictionsOf(request, body, currencyList, context)])]
    return { ...sent, contradicted: contradicted.length === 0 && hasFailed(body) ? ['status'] : contradicted }
  }
}

/** The fields in which a report of a create contradicts its request. Both have the provider's asset names. */
export function contradictionsOf(
  requested: NewTransaction,
  reported: Transaction,
  currencyList: CachedCurrencyList,
  { pair }: Pick<Context, 'pair'>,
): readonly string[] {
  const sides = otherSides(requested, reported, currencyList, pair)
  const others = otherTokens(reported, contractsOf(pair ?? {}, currencyList.naming))
  return [...sides.map(({ coin }) => coin), ...others, ...contradictedTerms(requested, reported)]
}

/** Throws `unreadable` for a quote for another pair. Runs where asset names are the provider's. */
export function verifyQuote({ currencyList }: ProviderScope): Layer {
  return mapResponses({
    getRate: (response, request, { pair }) => {
      const { body, provider } = response
      if (!isOtherPair(request, body, currencyList, pair)) return response
      const message = 'The provider returned a quote for another pair; please try again later.'
      throw new Fault('unreadable', message, { ...(provider !== undefined && { provider }) })
    },
  })
}

/** Whether the response names other assets than were requested, which are `pair` in the names of the table. */
export function isOtherPair(requested: Pair, reported: Pair, currencyList: CachedCurrencyList, pair?: Pair): boolean {
  return otherSides(requested, reported, currencyList, pair).length > 0
}

/** Whether the provider says that the swap has failed. */
export function hasFailed({ attention }: Transaction): boolean {
  return attention === 'failed'
}

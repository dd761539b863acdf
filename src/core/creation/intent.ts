import type { Amount } from '../../domain/amount.ts'
import { beforeSend, promisedAmounts } from '../../domain/call-options.ts'
import { ContextKey, valueIn, withValue } from '../../domain/context-values.ts'
import { Fault, priceMoved, QuoteNotHeld, quoteExpired, standardFault, TooManyOpenCreates } from '../../domain/fault.ts'
import { millisecondsOf } from '../../domain/instant.ts'
import type { Context, IdempotencyKey } from '../../domain/service.ts'
import type { NewTransaction, Rate } from '../../domain/swap.ts'
import type { Timeline } from '../../domain/timeline.ts'
import { pickAssetFields } from '../assets/asset-naming.ts'
import { depositTextsOf } from '../assets/network-rules.ts'
import { askedPair, contractsOf } from '../assets/translate-assets.ts'
import type { BindingQuote, Intent } from '../ports/ledger.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { usedFirmQuote } from '../quotes/firm-quotes.ts'
import { amountsOf, deviationFrom, isWorseOffer, quotedAmountOf } from '../quotes/offers.ts'
import { claimInTime, firstCheckMs, marginMs, maxLedgerWaitMs } from '../sent-once.ts'
import { classifyOutcome, type SendCreate, unknownReasonOf } from './creation.ts'

/** Of a create with an `Idempotency-Key`: the key, and the milliseconds that were waited for the ledger's look for it. */
export const freeKey = new ContextKey<{ readonly idempotencyKey: IdempotencyKey; readonly waitedMs: number } | undefined>(undefined)

/**
 * Stores the intent of a create in the ledger before it is sent (docs/contract.md §10); while it gets a quote of its own, only its key is stored. An intent without effect is
 * dropped, and looked for where the refusal may not be the provider's; one with an unknown outcome stays for reconciliation. A refusal that the
 * ledger cannot note reaches the client all the same; the key is free once it is noted. Throws `inProgress` if the key is in use, `quoteExpired`
 * if the firm quote is.
 */
export function intent(scope: ProviderScope): SendCreate {
  const { ledger, tag: provider, clock, intentIdOf, hasList, quotedFirst, destination, currencyList, observe, pendingKeys } = scope
  const { configured } = scope
  const { naming } = currencyList
  const { journal, timelines } = scope
  const sendsReference = scope.capabilities.requestFields.createTransaction.has('reference')
  return async (request, context, next) => {
    const { caller, pair, span, requestId } = context
    const { idempotencyKey, waitedMs = 0 } = valueIn(context, freeKey) ?? {}
    if (caller.identity === undefined) throw new Fault('internal', 'A create has no identity.')
    const id = sendsReference ? intentIdOf(caller.identity) : crypto.randomUUID()
    const attemptedAt = clock()
    const { quoteId, ...terms } = request
    const requested = { ...terms, ...(valueIn(context, askedPair) ?? pair) }
    const deadline = attemptedAt + Math.ceil(context.deadline - performance.now())
    const isQuoting = quotedFirst.has(request.rateType) && quoteId === undefined
    const traceparent = span?.trace.root?.traceparent
    let isAwaited = true
    const entry: Intent = {
      id,
      owner: caller.identity,
      provider,
      requested,
      sent: {
        ...pickAssetFields(request),
        ...contractsOf(pair ?? requested, naming),
        deposit: depositTextsOf(pair ?? requested, naming),
        ...(sendsReference && { hasReference: true }),
      },
      destination,
      idempotencyKey,
      firmQuote: valueIn(context, usedFirmQuote)?.id,
      quote: bindingQuoteOf(request, context),
      requestId,
      keyId: caller.keyId,
      attemptedAt,
      deadline,
      isQuoting,
      nextCheckAt: deadline + marginMs,
      traceparent,
    }
    const isBegun = await claimInTime(
      journal.begin(entry, () => isAwaited),
      maxLedgerWaitMs - waitedMs,
      () => journal.drop(id),
    )
      .catch((reason) => {
        if (reason instanceof QuoteNotHeld) throw quoteExpired()
        throw reason instanceof TooManyOpenCreates ? tooManyOpen() : reason
      })
      .finally(() => {
        isAwaited = false
      })
    if (!isBegun) throw inProgress()
    if (context.timeline) noteIntent(context.timeline, id, provider, request, valueIn(context, promisedAmounts).quotedAmount)
    const keepOwnQuote = async (own: Rate): Promise<void> => {
      const quotedAmount = quotedAmountOf(own, request)
      refuseWorseQuote(quotedAmount, request, context, scope)
      const until = millisecondsOf(own.quoteValidUntil ?? '', configured.timezone)
      const quote = quotedAmount && bindingQuoteOf(request, context, { quotedAmount, until })
      if (!(await ledger.markQuoted(id, quote))) throw standardFault('unavailable', { retryAfter: 1, effect: 'refused' })
    }
    try {
      const sending = isQuoting ? withValue(context, beforeSend, keepOwnQuote) : context
      const referenced = sendsReference ? { ...request, reference: id } : request
      const response = await classifyOutcome(next.call('createTransaction', referenced, sending))
      span?.setAttributes({ 'swapgate.outcome': 'done' })
      return { intent: id, response }
    } catch (reason) {
      const fault = Fault.from(reason)
      span?.setAttributes({ 'swapgate.outcome': fault.effect === 'maybe' ? 'unknown' : 'refused' })
      // If the ledger fails here, the intent is checked at its `nextCheckAt`, as after a crash.
      if (fault.effect === 'maybe') {
        observe({ what: 'create', provider, outcome: 'unknown' })
        if (context.timeline) timelines.add({ intent: id }, context.timeline.take())
        pendingKeys?.keep(caller)
        await journal.markUnknown(id, clock() + firstCheckMs, unknownReasonOf(fault)).catch(() => {})
      } else {
        const needsCheck = fault.refusal === 'foreign' && hasList()
        if (needsCheck) pendingKeys?.keep(caller)
        await journal.drop(id, needsCheck ? clock() + firstCheckMs : undefined).catch(() => {})
      }
      throw fault
    }
  }
}

/** `own`: one for this create alone. Undefined if no quote binds it: at a floating rate none does. */
export function bindingQuoteOf(
  request: NewTransaction,
  context: Pick<Context, 'values'>,
  own?: { readonly quotedAmount: Amount; readonly until?: number | undefined },
): BindingQuote | undefined {
  const firmQuote = valueIn(context, usedFirmQuote)
  const { quotedAmount, worstAmount } = valueIn(context, promisedAmounts)
  const quoted = own?.quotedAmount ?? (firmQuote ? quotedAmount : worstAmount)
  if (request.rateType !== 'fixed' || quoted === undefined) return undefined
  const source = own ? 'own' : firmQuote ? 'firm' : 'winner'
  const until = own ? own.until : firmQuote?.validUntil
  return { source, ...amountsOf(request, quoted), ...(until !== undefined && { until }) }
}

/** Throws `unavailable`: nothing is sent, and another provider may take it. `own`: what its own quote gives. */
function refuseWorseQuote(
  own: Amount | undefined,
  request: NewTransaction,
  context: Context,
  { tag: provider, observe }: ProviderScope,
): void {
  const { quotedAmount, worstAmount } = valueIn(context, promisedAmounts)
  if (own === undefined || worstAmount === undefined || !isWorseOffer(own, worstAmount, request)) return
  observe({ what: 'judgement', provider, kind: 'quote', outcome: 'refused', network: undefined })
  observe({ what: 'create', provider, outcome: 'belowQuote' })
  const deviation = quotedAmount && deviationFrom(quotedAmount, own, request)
  if (deviation !== undefined) observe({ what: 'quoteDeviation', provider, deviation })
  throw priceMoved()
}

function noteIntent(
  timeline: Timeline,
  intent: string,
  provider: string,
  request: NewTransaction,
  quotedAmount: Amount | undefined,
): void {
  timeline.intent = intent
  if (quotedAmount === undefined) return
  const { rateType } = request
  timeline.add({ event: 'quoted', provider, source: 'choice', rateType, ...amountsOf(request, quotedAmount) })
}

const tooManyOpenRetryAfter = 60

/** 503, or another provider: this one gets no further create of this account before some of its creates have an outcome. */
function tooManyOpen(): Fault {
  const message = 'Too many of your transactions have no known outcome; please try again later.'
  return new Fault('unavailable', message, { retryAfter: tooManyOpenRetryAfter, effect: 'nothingSent' })
}

const runningRetryAfter = 2

/** 409: a request with this key has no known outcome yet. */
export function inProgress(retryAfter = runningRetryAfter): Fault {
  const message = 'A request with this Idempotency-Key has no known outcome yet; please ask again later with the same key.'
  return new Fault('inProgress', message, { effect: 'refused', retryAfter })
}

/** Failover: the first provider of the list that accepts a quote or a create gets it (docs/contract-operators.md §12). */
import type { AssetTable } from '../../domain/asset.ts'
import type { PromisedAmounts } from '../../domain/call-options.ts'
import { promisedAmounts } from '../../domain/call-options.ts'
import { withValue } from '../../domain/context-values.ts'
import { Fault, faultTable } from '../../domain/fault.ts'
import type { Context, Request, ServiceResponse, SwapService } from '../../domain/service.ts'
import type { NewTransaction, RateQuery } from '../../domain/swap.ts'
import { limitDeadline } from '../layer.ts'
import { deviationFrom, quotedAmountOf, worstAmountOf } from '../quotes/offers.ts'
import { competes, firstWinner, quoteKeyOf, quoteKeysOf, quoteQueryOf, type Winner, type WinnerStore } from './winners.ts'

/** A provider that may get a request. */
export interface Candidate {
  /** The provider's tag. */
  readonly tag: string
  readonly service: SwapService
}

export type FailoverOp = 'getRate' | 'createTransaction'

export interface FailoverResult<O extends FailoverOp> {
  readonly tag: string
  readonly response: ServiceResponse<O>
}

/** The provider that gets the request now. */
export interface Turn {
  readonly candidate: Candidate
  readonly context: Context
}

/** Who gets the request after `refused`; undefined if nobody may. `onlyIfAsGood`: only one whose offer is not much less. */
type NextTurn = (refused: Candidate, onlyIfAsGood: boolean) => Promise<Turn | undefined>

/** Calls the candidates in order. `others` lets one of them take a create that another one has turned away; absent: none does. */
export function callWithFailover<O extends FailoverOp>(
  op: O,
  request: Request<O>,
  context: Context,
  candidates: readonly Candidate[],
  listOrder: readonly Candidate[] = candidates,
  others?: Pick<OtherProviders, 'offerOf'>,
): Promise<FailoverResult<O>> {
  return callInTurn(op, request, turnOf(op, candidates, 0, context), listOrder, async (refused, onlyIfAsGood) => {
    for (let at = candidates.indexOf(refused) + 1; at < candidates.length; at++) {
      const turn = turnOf(op, candidates, at, context)
      if (!onlyIfAsGood) return turn
      const offer = await others?.offerOf(turn.candidate, request as NewTransaction, context)
      if (offer) return { ...turn, context: withValue(context, promisedAmounts, offer) }
    }
    return undefined
  })
}

/** A slow quote must leave time for the next provider. */
function turnOf(op: FailoverOp, candidates: readonly Candidate[], at: number, context: Context): Turn {
  const isLast = at === candidates.length - 1
  const limited = op === 'getRate' && !isLast ? limitDeadline(context, (context.deadline - performance.now()) / 2) : context
  return { candidate: candidates[at] as Candidate, context: limited }
}

/**
 * Calls one provider after the other until one responds. If none does, it throws the `Fault` of the first that offers the pair, or
 * of the first in `listOrder` if none offers it. Of several `unavailable` faults it throws the one with the smallest `retryAfter`.
 */
export async function callInTurn<O extends FailoverOp>(
  op: O,
  request: Request<O>,
  first: Turn,
  listOrder: readonly Candidate[],
  nextTurn: NextTurn,
): Promise<FailoverResult<O>> {
  let turn = first
  let refusal: Refusal | undefined
  let isTurnedAway = false
  for (;;) {
    const { candidate, context } = turn
    try {
      return { tag: candidate.tag, response: await candidate.service.call(op, request, context) }
    } catch (reason) {
      const fault = Fault.from(reason)
      const mayTake = whoMayTake(op, fault)
      if (mayTake === 'nobody') throw fault
      isTurnedAway ||= mayTake === 'whoIsAsGood'
      const { reason: word, unavailableCause: because } = fault
      context.timeline?.add({ event: 'passed_over', provider: candidate.tag, reason: word, ...(because && { because }) })
      const latest = { fault, position: listOrder.indexOf(candidate) }
      if (!refusal || isMoreUseful(latest, refusal)) refusal = latest
      const next = await nextTurn(candidate, isTurnedAway)
      if (!next) throw refusal.fault
      turn = next
    }
  }
}

/**
 * Which other provider may get a request that ended with this fault. A create goes on only if no byte of it can have reached this
 * provider, or if this provider has certainly turned it away. `effect` and the cause are of who threw the fault: of a provider's response
 * `edges/provider-error.ts`, before it was sent the layer that held it back. A request with a chosen provider has no next one.
 */
function whoMayTake(op: FailoverOp, fault: Fault): 'anybody' | 'whoIsAsGood' | 'nobody' {
  if (fault.refusal === 'forEveryProvider') return 'nobody'
  // No line below may weaken this: it may have made a swap.
  if (op === 'createTransaction' && fault.effect === 'maybe') return 'nobody'
  if (isNotOffered(fault)) return 'anybody'
  const { failover } = faultTable[fault.kind]
  if (op === 'getRate') return failover === 'never' ? 'nobody' : 'anybody'
  if (isNotHere(fault)) return 'whoIsAsGood'
  return failover === 'ifUnsent' && fault.effect === 'nothingSent' ? 'anybody' : 'nobody'
}

/** A provider's 429, or its form's word for a pair that it does not take: nothing was created, and another provider may be able to. */
function isNotHere({ kind, provider, reason, unavailableCause }: Fault): boolean {
  if (provider === undefined) return false
  return unavailableCause === 'limited' || (kind === 'invalid' && reason === 'not_offered')
}

interface Refusal {
  readonly fault: Fault
  /** The position in the configured list. */
  readonly position: number
}

/** Whether `next` is more useful to the client than the current one. */
function isMoreUseful(next: Refusal, { fault, position }: Refusal): boolean {
  const difference = rankOf(next.fault) - rankOf(fault)
  if (difference !== 0) return difference > 0
  return isNotOffered(fault) ? next.position < position : isSooner(next.fault, fault)
}

function isSooner(fault: Fault, { kind, retryAfter }: Fault): boolean {
  return fault.kind === 'unavailable' && kind === 'unavailable' && (fault.retryAfter ?? 1) < (retryAfter ?? 1)
}

/** A fault of a provider that offers the pair outranks one of a provider that does not. */
export function rankOf(fault: Fault): number {
  if (!isNotOffered(fault)) return 2
  return fault.reason === 'address_invalid' || fault.reason === 'memo_invalid' ? 1 : 0
}

/** A rejection by the gateway itself: the asset or the extra id was refused before anything was sent. */
function isNotOffered({ kind, provider }: Fault): boolean {
  return kind === 'invalid' && provider === undefined
}

// Whether a create that its provider does not take goes to another one (docs/contract-operators.md §12).

interface OtherProvidersOptions {
  readonly winners: WinnerStore
  readonly table: AssetTable
  /** `routing.maxDeviation` (default: 0.1); 0: any quote will do. */
  readonly maxDeviation: number
}

/** Largest share of the remaining time that is spent on the quote of the next provider. */
const quoteShare = 0.5

export class OtherProviders {
  private readonly options: OtherProvidersOptions

  constructor(options: OtherProvidersOptions) {
    this.options = options
  }

  /** Keeps the caller's last quote. */
  noteQuote(query: RateQuery, { caller }: Context, quote: Winner): Promise<void> {
    return this.options.winners.save(quoteKeyOf(caller, query, this.options.table), quote)
  }

  /**
   * What the client is promised with the candidate's own quote of the request. Undefined if that is much less than the last one of the
   * caller, or there is none. Without a last one it is not asked.
   */
  async offerOf({ service }: Candidate, request: NewTransaction, context: Context): Promise<PromisedAmounts | undefined> {
    const { winners, table, maxDeviation } = this.options
    const last = maxDeviation === 0 ? undefined : await firstWinner(winners, quoteKeysOf(context.caller, request, table))
    if (last?.quotedAmount === undefined) return {}
    const limited = limitDeadline(context, quoteShare * (context.deadline - performance.now()))
    const query = quoteQueryOf(request)
    const own = await service.call('getRate', query, limited).catch(() => undefined)
    if (!own || !competes(own.body, query)) return undefined
    const quotedAmount = quotedAmountOf(own.body, query)
    const deviation = quotedAmount && deviationFrom(last.quotedAmount, quotedAmount, query)
    if (deviation === undefined || deviation < -maxDeviation) return undefined
    return { quotedAmount, worstAmount: worstAmountOf(last.quotedAmount, maxDeviation, request) }
  }
}

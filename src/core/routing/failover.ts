/** Failover: the first provider of the list that accepts a quote or a create gets it (docs/contract.md §12). */
import { type Amount, deviationOf } from '../../domain/amount.ts'
import type { AssetTable } from '../../domain/asset.ts'
import { Fault, faultTable } from '../../domain/fault.ts'
import type { Context, Request, ServiceResponse, SwapService } from '../../domain/service.ts'
import type { NewTransaction, RateQuery } from '../../domain/swap.ts'
import { limitDeadline } from '../layer.ts'
import { firstWinner, quoteKeyOf, quoteKeysOf, quoteQueryOf, type Winner, type WinnerStore } from './winners.ts'

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

/** That a provider may take a create that another one has turned away. */
interface NextOffer {
  /** The amount received in its own quote for this create, if one was requested. */
  readonly quotedAmountOut?: Amount | undefined
}

interface FailoverOptions {
  readonly listOrder?: readonly Candidate[]
  /** Of a provider that may get a create which another one has turned away (`isNotHere`), else undefined. Without it, none gets it. */
  readonly offerOf?: (candidate: Candidate) => Promise<NextOffer | undefined>
}

/**
 * Calls the candidates in order until one responds. If none does, it throws the `Fault` of the first that offers the pair, or of
 * the first in `listOrder` if none offers it. Of several `unavailable` faults it throws the one with the smallest `retryAfter`.
 */
export async function callWithFailover<O extends FailoverOp>(
  candidates: readonly Candidate[],
  op: O,
  request: Request<O>,
  context: Context,
  { listOrder = candidates, offerOf }: FailoverOptions = {},
): Promise<FailoverResult<O>> {
  let refusal: Refusal | undefined
  let isTurnedAway = false
  for (const [at, candidate] of candidates.entries()) {
    const { tag, service } = candidate
    const isLast = at === candidates.length - 1
    const offer = isTurnedAway ? await offerOf?.(candidate) : {}
    if (!offer) continue
    const limited = op === 'getRate' && !isLast ? withHalfDeadline(context) : context
    try {
      return { tag, response: await service.call(op, request, isTurnedAway ? { ...limited, ...offer } : limited) }
    } catch (reason) {
      const fault = Fault.from(reason)
      const isElsewhere = offerOf !== undefined && op === 'createTransaction' && isNotHere(fault)
      if (!isElsewhere && !failsOver(op, fault)) throw fault
      isTurnedAway ||= isElsewhere
      const next = { fault, position: listOrder.indexOf(candidate) }
      if (!refusal || isMoreUseful(next, refusal)) refusal = next
    }
  }
  throw refusal?.fault
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

/** A slow quote must leave time for the next provider. */
function withHalfDeadline(context: Context): Context {
  return limitDeadline(context, (context.deadline - performance.now()) / 2)
}

/** Whether the next provider may be called. For a create only if no byte of it can have reached this one; else `isNotHere` decides. */
export function failsOver(op: FailoverOp, fault: Fault): boolean {
  if (fault.isForEveryProvider) return false
  if (isNotOffered(fault)) return true
  const { failover } = faultTable[fault.kind]
  if (op === 'getRate') return failover !== 'never'
  return failover === 'ifUnsent' && fault.effect === 'nothingSent'
}

/** A provider's 429, or its form's word for a pair that it does not take: nothing was created, and another provider may be able to. */
export function isNotHere({ kind, provider, effect, reason, unavailableCause }: Fault): boolean {
  if (provider === undefined || effect === 'maybe') return false
  return unavailableCause === 'limited' || (kind === 'invalid' && reason === 'not_offered')
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

// Whether a create that its provider does not take goes to another one (docs/contract.md §12).

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
   * Undefined if the candidate's own quote of the request is much less than the last one of the caller, or there is none. Without a
   * last one it is not asked.
   */
  async offerOf({ service }: Candidate, request: NewTransaction, context: Context): Promise<NextOffer | undefined> {
    const { winners, table, maxDeviation } = this.options
    const last = maxDeviation === 0 ? undefined : await firstWinner(winners, quoteKeysOf(context.caller, request, table))
    if (last?.amountOut === undefined) return {}
    const limited = limitDeadline(context, quoteShare * (context.deadline - performance.now()))
    const own = await service.call('getRate', quoteQueryOf(request), limited).catch(() => undefined)
    const quotedAmountOut = own?.body.amountOut
    const deviation = quotedAmountOut && deviationOf(quotedAmountOut, last.amountOut)
    return deviation !== undefined && deviation >= -maxDeviation ? { quotedAmountOut } : undefined
  }
}

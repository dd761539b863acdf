/**
 * What happens to a create and its swap, for the person who asks why (docs/operating.md). It is stored as JSON: an event and its members
 * keep their meaning. It has no address, no key and no text of a provider.
 */
import type { Amount } from './amount.ts'
import type { Attention, Status } from './status.ts'
import type { RateType } from './swap.ts'
import type { SwapAction } from './swap-action.ts'

/** Words of closed lists are those of the log. Providers are tags. */
export type TimelineFact =
  /** Which provider gets the create. `omitted`: who was not asked, and why. */
  | {
      readonly event: 'routed'
      readonly provider: string
      readonly strategy: RoutingName
      readonly because: RoutingReason
      readonly omitted: readonly { readonly provider: string; readonly because: OmissionReason }[]
    }
  /** A quote that was asked for to choose the provider: what it gives for the requested amount. */
  | {
      readonly event: 'compared'
      readonly provider: string
      readonly amountIn?: Amount
      readonly amountOut?: Amount
      readonly reason?: string
    }
  /** The provider has not taken the create, and the next one may. */
  | { readonly event: 'passed_over'; readonly provider: string; readonly reason: string; readonly because?: string }
  /** What the create is compared with. `own`: a quote for it alone; `choice`: the one by which it was routed; `newest`: of the last minute. */
  | {
      readonly event: 'quoted'
      readonly provider: string
      readonly source: 'own' | 'choice' | 'newest'
      readonly rateType: RateType | undefined
      readonly amountIn: Amount
      readonly amountOut: Amount
      readonly rate: Amount | undefined
    }
  | CallFact
  /** Of the create. `found`: by a search. `fields`: in which the response contradicts the request. */
  | {
      readonly event: 'outcome'
      readonly outcome: 'done' | 'found' | 'unknown' | 'mismatch'
      readonly status?: Status | undefined
      readonly fields?: readonly string[]
    }
  /** A search for it in the provider's list. `candidates`: how many it may be. `price`: what was found was compared with none. `cause`: why it failed. */
  | {
      readonly event: 'search'
      readonly outcome: string
      readonly candidates: number
      readonly price?: 'unknown'
      readonly calls: readonly Omit<CallFact, 'event'>[]
      readonly cause?: string
    }
  /** A change that a get or a list has seen; null is a status that is not mapped. */
  | {
      readonly event: 'status'
      readonly from: Status | null
      readonly to: Status | null
      readonly attention: Attention | null
    }
  /** Something was done about it. `found`: a look has shown that it was carried out; `not_done`: that it was not. */
  | {
      readonly event: 'action'
      readonly action: SwapAction
      readonly outcome: 'done' | 'refused' | 'unknown' | 'found' | 'not_done'
    }
  | FailedReadsFact
  /** A person has decided. `decision`: as in the audit log. */
  | { readonly event: 'person'; readonly actor: string; readonly action: string; readonly decision?: unknown }

export interface CallFact {
  readonly event: 'call'
  readonly provider: string
  readonly operation: string
  /** Absent if there was no response. */
  readonly status?: number
  readonly outcome: string
  readonly cause?: string
  readonly milliseconds: number
}

/** Reads of a swap that failed, one after the other; a swap has one such event, and `at` is the last of them. */
interface FailedReadsFact {
  readonly event: 'reads_failed'
  /** The first of them, in milliseconds since 1970. */
  readonly since: number
  /** Of how many the provider was asked. */
  readonly tries: number
  /** Of the last one, as of a call; `held_back`: the provider was not asked; `not_found`; `contradicted`. */
  readonly outcome: string
  /** Why there was no connection or no response that can be read, or what held it back. */
  readonly cause?: string
  /** What its owner gets. */
  readonly owner: 'last_known' | 'error'
}

export type FailedReadsEvent = FailedReadsFact & { readonly at: number }

/** Both as one; what failed before `readAt`, when the swap was last read, is over. */
export function joinedReads(before: FailedReadsEvent | undefined, later: FailedReadsEvent, readAt: number): FailedReadsEvent {
  const since = later.since > readAt ? later.since : later.at
  if (!before || before.since <= readAt) return { ...later, since }
  const last = before.at > later.at ? before : later
  return { ...last, since: Math.min(before.since, since), tries: before.tries + later.tries }
}

type OmissionReason = 'draining' | 'off' | 'weight_0' | 'failing_quotes'

export type RoutingName = 'priority' | 'weighted' | 'best'

/**
 * `picked`: by the caller; `quoted`: it had quoted the same request; `best_quote`: it quotes the highest amount now; `weight`: the
 * caller's by weight; `order`: the first of the list.
 */
export type RoutingReason = 'picked' | 'quoted' | 'best_quote' | 'weight' | 'order'

/** `at`: milliseconds since 1970. */
export type TimelineEvent = TimelineFact & { readonly at: number }

/** A create that is retried all over has no more. */
const maxEvents = 50

/** Of one create, from its request until its outcome is stored. */
export class Timeline {
  /** The id of the create in the ledger, once it is stored; of several, the last one. */
  intent: string | undefined
  private events: TimelineEvent[] = []

  add(fact: TimelineFact): void {
    if (this.events.length < maxEvents) this.events.push({ at: Date.now(), ...fact })
  }

  /** Once. */
  take(): readonly TimelineEvent[] {
    const { events } = this
    this.events = []
    return events
  }

  get calls(): readonly Omit<CallFact, 'event'>[] {
    return this.events.flatMap((fact) => {
      if (fact.event !== 'call') return []
      const { event: _, ...call } = fact
      return call
    })
  }
}

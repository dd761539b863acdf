/** What is asked of a call to a provider beside its request, by layers far from those that do it. */
import type { Amount } from './amount.ts'
import { ContextKey } from './context-values.ts'
import type { Rate } from './swap.ts'

/** What the client of a create was promised for the requested amount. */
export interface PromisedAmounts {
  /** By the quote for which the create was given to its provider. */
  readonly quotedAmount?: Amount | undefined
  /** At worst, by the quote that the client saw (`worstAmountOf`). */
  readonly worstAmount?: Amount | undefined
}

export const promisedAmounts = new ContextKey<PromisedAmounts>({})

/** Must resolve before a create is sent, with its own quote. */
export const beforeSend = new ContextKey<((quote: Rate) => Promise<void>) | undefined>(undefined)

/** The client's address for a provider that needs it: public, without port and zone. The gateway's own calls have none. */
export const forwardedAddress = new ContextKey<string | undefined>(undefined)

/** Whether only `minAmount` and `maxAmount` of a quote are needed. */
export const needsAmountRangeOnly = new ContextKey(false)

/** Whether unreadable rows of a list are returned separately (`Page.unreadable`). */
export const acceptsUnreadableRows = new ContextKey(false)

/** How often the same call was sent before. */
export const resends = new ContextKey(0)

/**
 * Which part of the provider's budget a call may use. `reserve`: only that of the gateway's own reads; `unrequested`: nobody waits for it,
 * and beyond the reserve it leaves half to clients.
 */
export const budgetPart = new ContextKey<'whole' | 'unrequested' | 'reserve'>('whole')

/** A client prefers to wait for the outcome of its create (`Prefer: wait`). */
export interface PreferredWait {
  readonly seconds: number
  /** False once the client is gone, or the process stops. */
  readonly mayWait: () => boolean
  /** Set if it has waited. */
  isApplied: boolean
}

export const preferredWait = new ContextKey<PreferredWait | undefined>(undefined)

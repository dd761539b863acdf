/** What can be done about a swap that does not go on by itself, where its provider offers it (docs/contract.md §3.11). */

import type { Attention, Status } from './status.ts'

export const swapActions = ['refundTransaction', 'continueTransaction', 'setRefundAddress'] as const

export type SwapAction = (typeof swapActions)[number]

/** As clients read it: the last part of the action's path. */
export const capabilities = ['refund', 'continue', 'refund-address'] as const

export type Capability = (typeof capabilities)[number]

export const capabilityOf: Readonly<Record<SwapAction, Capability>> = {
  refundTransaction: 'refund',
  continueTransaction: 'continue',
  setRefundAddress: 'refund-address',
}

/** Of one swap there is at most one action of each kind, for good: a refund and a continuation exclude each other. */
export type ActionKind = 'decision' | 'refundAddress'

export function kindOfAction(action: SwapAction): ActionKind {
  return action === 'setRefundAddress' ? 'refundAddress' : 'decision'
}

/** What the provider gets of it: its own id of the swap, and where the deposit goes back to. */
export interface SwapActionRequest {
  readonly id: string
  readonly refundAddress?: string | undefined
  readonly refundExtraId?: string | undefined
}

/** When a provider offers an action. */
export interface ActionOffer {
  /** The attention of the swap, else its status. */
  readonly offeredIn: readonly (Status | Attention)[]
  /** Whether the provider's own `hasActions` decides, where it says it. */
  readonly isReported: boolean
  /** Whether it takes the address to which the deposit goes back. */
  readonly takesAddress: boolean
}

/** What can be done about a swap now (docs/contract.md §3.11). */
import { withDefault } from '../../domain/async.ts'
import { isFinal } from '../../domain/status.ts'
import type { Transaction } from '../../domain/swap.ts'
import {
  type ActionOffer,
  type Capability,
  capabilityOf,
  kindOfAction,
  type SwapAction,
  swapActions,
} from '../../domain/swap-action.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { ProviderScope } from '../provider-scope.ts'
import type { StoredSwapAction, SwapActionStore } from '../swap-actions.ts'

export type Offers = ReadonlyMap<SwapAction, ActionOffer>

/** Whether the provider offers the action for a swap in this state, whatever was done about it before. */
export function isOffered(action: SwapAction, offers: Offers, transaction: Transaction): boolean {
  const offer = offers.get(action)
  const { status, attention, hasActions, refundAddress } = transaction
  if (!offer || isFinal(status)) return false
  if (action === 'setRefundAddress' && refundAddress !== undefined) return false
  if (offer.isReported && hasActions !== undefined) return hasActions
  const state = attention ?? status
  return state !== undefined && offer.offeredIn.includes(state)
}

/** Those that are offered, without what was done about the swap before. */
export function capabilitiesOf(
  transaction: Transaction,
  offers: Offers,
  known: readonly StoredSwapAction[] = [],
): readonly Capability[] {
  const left = swapActions.filter(
    (action) => isOffered(action, offers, transaction) && known.every(({ kind }) => kind !== kindOfAction(action)),
  )
  return left.map((action) => capabilityOf[action])
}

/** A get does not wait longer for the ledger: then it says nothing of what can be done. */
const maxWaitMs = 500

/** Adds to a get what can be done about the swap. */
export function showCapabilities({ tag, state, offers, usesGatewayKey }: ProviderScope, store: SwapActionStore): Layer {
  return onOperations({
    async getTransaction(request, context, next) {
      const response = await next.call('getTransaction', request, context)
      if (!usesGatewayKey || offers.size === 0 || state === 'off' || response.doubt === 'contradicted') return response
      if (capabilitiesOf(response.body, offers).length === 0) return response
      const known = await withDefault(store.readActions(tag, request.id), maxWaitMs, undefined)
      const capabilities = known ? capabilitiesOf(response.body, offers, known) : []
      return capabilities.length === 0 ? response : { ...response, body: { ...response.body, capabilities } }
    },
  })
}

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
import type { StoredSwapAction, SwapActionStore } from '../ports/swap-actions.ts'
import type { ProviderScope } from '../provider-scope.ts'

export type Offers = ReadonlyMap<SwapAction, ActionOffer>

/**
 * The provider's call for an action. Where a refund takes no address, and the provider waits for one to send the deposit back to, the setting
 * of the address is the refund.
 */
export function callOf(action: SwapAction, offers: Offers, { hasActions, refundAddress }: Transaction): SwapAction {
  const awaitsAddress = hasActions === true && refundAddress === undefined && offers.has('setRefundAddress')
  return action === 'refundTransaction' && awaitsAddress && !offers.get(action)?.takesAddress ? 'setRefundAddress' : action
}

/** Whether the provider offers the action for a swap in this state, whatever was done about it before. */
export function isOffered(action: SwapAction, offers: Offers, transaction: Transaction): boolean {
  const offer = offers.get(action)
  const { status, attention, hasActions, refundAddress } = transaction
  if (!offer || isFinal(status)) return false
  if (action === 'setRefundAddress' && refundAddress !== undefined) return false
  if (callOf(action, offers, transaction) !== action) return true
  if (offer.isReported && hasActions !== undefined) return hasActions
  const state = attention ?? status
  return state !== undefined && offer.offeredIn.includes(state)
}

/** What can be done about it now, by what the ledger knows beside the provider's report. */
export async function capabilitiesNow(
  { tag, offers }: Pick<ProviderScope, 'tag' | 'offers'>,
  transaction: Transaction,
  store: SwapActionStore,
): Promise<readonly Capability[]> {
  const capabilities = capabilitiesOf(transaction, offers, await store.readActions(tag, transaction.id))
  if (!capabilities.includes('refund-address')) return capabilities
  // The address of the create is never changed, also where the provider reports none.
  const { refundAddress } = await store.readCreatedWith(tag, transaction.id)
  return refundAddress === undefined ? capabilities : capabilities.filter((capability) => capability !== 'refund-address')
}

/** Those that are offered, without what was done about the swap before. */
function capabilitiesOf(transaction: Transaction, offers: Offers, known: readonly StoredSwapAction[] = []): readonly Capability[] {
  const left = swapActions.filter((action) => {
    const setsAddress = callOf(action, offers, transaction) === 'setRefundAddress'
    const isTaken = known.some(({ kind, refundAddress }) => kind === kindOfAction(action) || (setsAddress && refundAddress))
    return isOffered(action, offers, transaction) && !isTaken
  })
  return left.map((action) => capabilityOf[action])
}

/** A get does not wait longer for the ledger: then it says nothing of what can be done. */
const maxWaitMs = 500

/** Adds to a get what can be done about the swap. */
export function showCapabilities(scope: ProviderScope, store: SwapActionStore): Layer {
  const { state, offers, usesGatewayKey } = scope
  return onOperations({
    async getTransaction(request, context, next) {
      const response = await next.call('getTransaction', request, context)
      if (!usesGatewayKey || offers.size === 0 || state === 'off' || response.doubt === 'contradicted') return response
      if (capabilitiesOf(response.body, offers).length === 0) return response
      const capabilities = await withDefault(capabilitiesNow(scope, response.body, store), maxWaitMs, [])
      return capabilities.length === 0 ? response : { ...response, body: { ...response.body, capabilities } }
    },
  })
}

/**
 * Looks for actions of which nobody knows whether they were carried out (docs/contract.md §3.11). None is ever sent again. It was done if the
 * provider reports the address, a refund, a swap that is not held any more, or (cancel) an expired order; not if the swap ends otherwise.
 */
import { isSamePaymentAddress } from '../../domain/address/same-address.ts'
import { eachAlone } from '../../domain/async.ts'
import { withValue } from '../../domain/context-values.ts'
import { gatewayContext } from '../../domain/service.ts'
import { isFinal } from '../../domain/status.ts'
import type { Transaction } from '../../domain/swap.ts'
import { sentWords } from '../assets/translate-assets.ts'
import type { StoredSwapAction } from '../ports/swap-actions.ts'
import { refreshEntry } from '../transactions/ownership.ts'
import type { ActingProvider, ActionParts } from './act.ts'
import type { Offers } from './capabilities.ts'
import { refundOf } from './refund-address.ts'

/** From one look to the next; then hourly. */
const delaysMs = [30_000, 120_000, 600_000]
const hourMs = 3_600_000
const maxActions = 50

/**
 * Looks for those that are due, one after the other at each provider; no provider waits for another. `windowMs`: after this time only a
 * person can find out. `busy`: providers at which an earlier call still looks.
 */
export async function lookForActions(windowMs: number, busy: Set<string>, parts: ActionParts): Promise<void> {
  const { store, clock } = parts
  const due = Map.groupBy(await store.dueActions(clock(), maxActions, [...busy]), ({ provider }) => provider)
  await eachAlone(busy, due, (actions) => lookAt(actions, windowMs, parts))
}

async function lookAt(actions: readonly StoredSwapAction[], windowMs: number, parts: ActionParts): Promise<void> {
  const { store, providers, clock } = parts
  for (const action of actions) {
    const isOver = clock() - action.claimedAt >= windowMs
    const nextCheckAt = isOver ? undefined : clock() + (delaysMs[Math.max(0, action.checkCount - 1)] ?? hourMs)
    const provider = providers.get(action.provider)
    const isTaken = await store.scheduleNextActionCheck(action, nextCheckAt)
    if (isTaken && provider && provider.scope.state !== 'off') await look(action, provider, parts)
  }
}

/** What cannot be read now is looked for again. */
async function look(action: StoredSwapAction, provider: ActingProvider, parts: ActionParts): Promise<void> {
  const { store, ledger, observe } = parts
  const { scope, reported } = provider
  const { id, owner, provider: tag } = action
  const entry = await ledger.find(owner, tag, id)
  if (!entry) return
  const reading = reported.call('getTransaction', { id }, withValue(gatewayContext(scope.capabilities), sentWords, entry.sent))
  const refreshed = await refreshEntry(entry, reading, scope).catch(() => undefined)
  if (!refreshed || refreshed.isRejected) return
  const isDone = isCarriedOut(action, refreshed.record.transaction, scope.offers)
  if (isDone === undefined) return
  await (isDone ? store.markActionDone(action) : store.dropAction(action))
  observe({ what: 'action', provider: tag, action: action.action, outcome: isDone ? 'found' : 'notDone' })
  const fact = { event: 'action', action: action.action, outcome: isDone ? 'found' : 'not_done' } as const
  scope.timelines.add({ provider: tag, id }, [{ at: Date.now(), ...fact }])
}

/** Undefined as long as the provider's report does not show it: silence, and a state that another cause may have, prove nothing. */
export function isCarriedOut(action: StoredSwapAction, transaction: Transaction, offers: Offers): boolean | undefined {
  const { status, attention } = transaction
  if (isBySettingAddress(action, offers)) {
    if (isRefundAddress(action, transaction) || status === 'refunded') return true
    return isFinal(status) || transaction.refundAddress !== undefined ? false : undefined
  }
  if (isFinal(status)) return (status === 'refunded') === (action.action === 'refundTransaction')
  if (action.action === 'continueTransaction') return isGoingOn(transaction) ? true : undefined
  const isCancelled = isCancellation(offers)
  if (!isCancelled || attention !== undefined || status === undefined || status === 'wait') return undefined
  // The deposit has come first.
  return status === 'overdue'
}

/** Its provider sends the deposit back once it has the address. A refund that is a call of its own has no address where that takes none. */
function isBySettingAddress({ action, refundAddress }: StoredSwapAction, offers: Offers): boolean {
  return action === 'setRefundAddress' || (refundAddress !== undefined && offers.get(action)?.takesAddress === false)
}

function isRefundAddress(action: StoredSwapAction, transaction: Transaction): boolean {
  return transaction.refundAddress !== undefined && isSamePaymentAddress(refundOf(transaction), refundOf(action))
}

/** Nothing holds it any more. */
function isGoingOn({ status, attention, hasActions }: Transaction): boolean {
  return attention === undefined && hasActions !== true && status !== undefined && status !== 'wait' && status !== 'overdue'
}

/** Whether a refund ends a swap that has no deposit yet. */
function isCancellation(offers: Offers): boolean {
  return offers.get('refundTransaction')?.offeredIn.every((state) => state === 'wait') ?? false
}

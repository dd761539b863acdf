/** What was decided about a swap before, and whether it leaves room for another action. */
import { isSamePaymentAddress } from '../../domain/address/same-address.ts'
import { Fault } from '../../domain/fault.ts'
import { kindOfAction, type SwapAction, type SwapActionRequest } from '../../domain/swap-action.ts'
import type { StoredSwapAction, SwapActionStore } from '../ports/swap-actions.ts'
import { conflict, needsPerson } from './faults.ts'
import { type ActedOn, addressIsKept, refundAddressOf, refundOf } from './refund-address.ts'

/** Throws for an earlier action that leaves no room for this one. `done`: it was this one. A stored one: a person replaces it. */
export async function earlierAction(
  action: SwapAction,
  request: SwapActionRequest,
  { isForced }: { readonly isForced: boolean },
  entry: ActedOn,
  store: SwapActionStore,
): Promise<'done' | StoredSwapAction | undefined> {
  const { provider, transaction } = entry
  const known = await store.readActions(provider, transaction.id)
  const earlier = known.find(({ kind }) => kind === kindOfAction(action))
  if (!earlier) return earlierAddress(request, { isForced }, known)
  if (isForced && mayBeReplaced(earlier)) return earlier
  const wentTo = refundOf(earlier.refundAddress === undefined ? refundAddressOf(entry) : earlier)
  const isSame =
    earlier.action === action && (request.refundAddress === undefined || isSamePaymentAddress(wentTo, refundOf(request)))
  if (!isSame) throw conflict('Another decision was made about this swap before.')
  if (earlier.state === 'done') return 'done'
  throw inProgress(earlier)
}

/** Throws for an address after an action of the other kind has brought one, unless that was the same and is done. A stored one: as above. */
function earlierAddress(
  request: SwapActionRequest,
  { isForced }: { readonly isForced: boolean },
  known: readonly StoredSwapAction[],
): StoredSwapAction | undefined {
  const other = known.find(({ refundAddress }) => refundAddress !== undefined)
  if (!other || request.refundAddress === undefined) return undefined
  if (isForced && mayBeReplaced(other)) return other
  if (!isSamePaymentAddress(refundOf(other), refundOf(request))) throw addressIsKept()
  if (other.state === 'sent') throw inProgress(other)
  return undefined
}

/** A person knows that it was not carried out. */
function mayBeReplaced(earlier: StoredSwapAction): boolean {
  return earlier.state === 'sent' && !mayBeRunning(earlier)
}

/** Whether the process that claimed it may still send it, or wait for its response. */
function mayBeRunning({ checkCount, nextCheckAt = 0 }: Pick<StoredSwapAction, 'checkCount' | 'nextCheckAt'>): boolean {
  return checkCount === 0 && nextCheckAt > Date.now()
}

export function inProgress(earlier: Pick<StoredSwapAction, 'checkCount' | 'nextCheckAt'>): Fault {
  const { nextCheckAt } = earlier
  if (nextCheckAt === undefined)
    return needsPerson('What became of this action is found out by a person; please ask your operator, or ask again later.')
  const retryAfter = Math.min(3_600, Math.max(1, Math.ceil((nextCheckAt - Date.now()) / 1_000) + 1))
  const message = 'This action has no known outcome yet; please ask again later.'
  return new Fault('inProgress', message, { effect: 'refused', retryAfter, canForce: !mayBeRunning(earlier) })
}

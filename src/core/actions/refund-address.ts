/** Where the deposit of a swap goes back to (docs/contract.md §3.11): what its create said, or an address that an action brings, once. */
import { isSamePaymentAddress, paymentAddressKey } from '../../domain/address/same-address.ts'
import { Fault } from '../../domain/fault.ts'
import type { Transaction } from '../../domain/swap.ts'
import type { SwapAction, SwapActionRequest } from '../../domain/swap-action.ts'
import { checkRefundAddress, type RefundAddress } from '../assets/check-request.ts'
import { mayGetDeposit } from '../open-deposits.ts'
import type { LedgerEntry } from '../ports/ledger.ts'
import type { ProviderScope } from '../provider-scope.ts'
import type { Offers } from './capabilities.ts'

/** A swap that is acted on. `createdWith`: the refund address of its create. */
export interface ActedOn extends LedgerEntry {
  readonly createdWith: RefundAddress
}

/** Where its deposit goes back to: as its create said, whatever the provider reports. */
export function refundAddressOf({ transaction, createdWith }: ActedOn): RefundAddress {
  const { refundAddress, refundExtraId } = createdWith.refundAddress === undefined ? transaction : createdWith
  return { refundAddress, refundExtraId }
}

/** The address that goes up with an action, by its `call`. Throws a `Fault` where it needs one, and for another one than the swap has: that is never replaced. */
export function addressOf(
  action: SwapAction,
  call: SwapAction,
  request: SwapActionRequest,
  entry: ActedOn,
  offers: Offers,
): RefundAddress {
  const { refundAddress, refundExtraId } = request
  if (refundExtraId !== undefined && refundAddress === undefined)
    throw new Fault('invalid', 'it stands beside an address', {
      field: 'refundExtraId',
      reason: 'memo_invalid',
      effect: 'nothingSent',
    })
  const own = refundAddressOf(entry)
  const known = refundOf(own)
  if (known.address !== undefined) {
    const isOther = refundAddress !== undefined && !isSamePaymentAddress(refundOf(request), known)
    if (isOther || action === 'setRefundAddress') throw addressIsKept()
  }
  if (!offers.get(call)?.takesAddress) return {}
  const address = known.address === undefined ? { refundAddress, refundExtraId } : own
  if (address.refundAddress === undefined)
    throw new Fault('invalid', 'it is missing: this swap has no refund address', {
      field: 'refundAddress',
      reason: 'parameter_invalid',
      effect: 'nothingSent',
    })
  const { refundAddress: to, refundExtraId: memo } = address
  return { refundAddress: to, ...(memo !== undefined && { refundExtraId: memo }) }
}

export function addressIsKept(): Fault {
  return new Fault('conflict', 'This swap has a refund address, which is never changed.', { effect: 'refused' })
}

/** For comparison. */
export function refundOf({ refundAddress, refundExtraId }: RefundAddress) {
  return { address: refundAddress, extraId: refundExtraId }
}

/** Throws a `Fault` for an address that a create could not have, and for one to which somebody pays for a swap. */
export async function judgeAddress(request: SwapActionRequest, transaction: Transaction, scope: ProviderScope): Promise<void> {
  checkRefundAddress(request, transaction, scope)
  const refund = refundOf(request)
  const { depositAddress, depositExtraId } = transaction
  const holder = await scope.ledger.depositHolder(paymentAddressKey(refund))
  const others = holder && mayGetDeposit(holder) ? [holder.entry.transaction] : []
  const deposits = [{ depositAddress, depositExtraId }, ...others]
  const isDeposit = deposits.some((deposit) =>
    isSamePaymentAddress({ address: deposit.depositAddress, extraId: deposit.depositExtraId }, refund),
  )
  if (!isDeposit) return
  throw new Fault('invalid', 'it is the deposit address of a swap', {
    field: 'refundAddress',
    reason: 'address_invalid',
    effect: 'nothingSent',
  })
}

/** The audit log has no full address. */
export function auditOf({ refundAddress }: RefundAddress): object {
  if (refundAddress === undefined) return {}
  const isShort = refundAddress.length <= 12
  return { refundAddress: isShort ? `${refundAddress.slice(0, 2)}…` : `${refundAddress.slice(0, 6)}…${refundAddress.slice(-4)}` }
}

/**
 * A deposit address of another open swap: nobody could tell whose deposit arrives there (docs/contract.md §3.6). The ledger gives each to one
 * swap at a time; here is decided whether that one gives it up, when another create comes.
 */
import { isSamePaymentAddress, type PaymentAddress, paymentAddressKey } from '../../domain/address/same-address.ts'
import { DepositInUse } from '../../domain/fault.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import type { Transaction } from '../../domain/swap.ts'
import { limitDeadline } from '../layer.ts'
import { isOver, mayGetDeposit } from '../open-deposits.ts'
import type { DepositClaim, DepositHolder, Ledger } from '../ports/ledger.ts'

/** Reads a transaction at the provider with this tag; undefined if that is not possible for this owner. */
export type ReaderOf = (provider: string, owner: string, context: Context) => SwapService | undefined

export class OtherDeposits {
  private readonly ledger: Pick<Ledger, 'depositHolder'>
  private readonly readerOf: ReaderOf

  constructor(ledger: Pick<Ledger, 'depositHolder'>, readerOf: ReaderOf) {
    this.ledger = ledger
    this.readerOf = readerOf
  }

  /**
   * How a swap takes the deposit address that another one has. Undefined if that one may still get a deposit there: it is read once more
   * before, where there is a `context` to read it in.
   */
  async claimAfter(created: Transaction, context?: Context): Promise<DepositClaim | undefined> {
    const deposit = depositOf(created)
    const holder = await this.ledger.depositHolder(paymentAddressKey(deposit))
    if (!holder) return {}
    const { provider, transaction } = holder.entry
    if (!isSamePaymentAddress(depositOf(transaction), deposit)) return { isShared: true } // their key alone is one
    const isOpen = mayGetDeposit(holder) && !(context && (await this.isOverNow(holder, context)))
    return isOpen ? undefined : { givenUpBy: { provider, id: transaction.id } }
  }

  private async isOverNow(holder: DepositHolder, context: Context): Promise<boolean> {
    const { owner, provider, transaction } = holder.entry
    const { id } = transaction
    const half = limitDeadline(context, (context.deadline - performance.now()) / 2)
    const read = this.readerOf(provider, owner, context)?.call('getTransaction', { id }, { ...half, isGatewayCall: true })
    const response = await read?.catch(() => undefined)
    return response?.body.id === id && isOver(response.body, holder.now)
  }
}

/**
 * Stores a result that takes its deposit address. `depositTaken`, without a change: another swap has it, and does not give it up by what
 * `claimAfter` says.
 */
export async function takingDeposit<T>(
  store: (deposit: DepositClaim) => Promise<T>,
  claimAfter: () => Promise<DepositClaim | undefined>,
): Promise<T | 'depositTaken'> {
  try {
    return await store({})
  } catch (reason) {
    if (!(reason instanceof DepositInUse)) throw reason
  }
  // Where it cannot be looked up, the other one keeps it.
  const claim = await claimAfter().catch(() => ({}))
  if (!claim) return 'depositTaken'
  return await store(claim).catch((reason) => {
    // A third one was faster.
    if (reason instanceof DepositInUse) return 'depositTaken' as const
    throw reason
  })
}

function depositOf({ depositAddress, depositExtraId }: Transaction): PaymentAddress {
  return { address: depositAddress, extraId: depositExtraId }
}

/** A deposit address of another open swap: nobody could tell whose deposit arrives there (docs/contract.md §3.6). */

import { isSamePaymentAddress, type PaymentAddress, paymentAddressKey } from '../../domain/address/same-address.ts'
import { withDefault } from '../../domain/async.ts'
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import { isFinal, type Status } from '../../domain/status.ts'
import { formatTransactionId, type Transaction } from '../../domain/swap.ts'
import type { Clock, SteadyClock } from '../clock.ts'
import { limitDeadline } from '../layer.ts'
import type { Ledger, LedgerEntry } from '../ledger.ts'

/** Reads a transaction at the provider with this tag; undefined if that is not possible for this owner. */
export type ReaderOf = (provider: string, owner: string, context: Context) => SwapService | undefined

const maxAgeMs = 7 * 86_400_000
/** How long after its provider's own expiry a swap may still get a deposit. */
const lateDepositMs = 86_400_000
/** The longest wait for the ledger. */
const maxReadMs = 250
/** How long a result may take into the ledger. */
const justGivenMs = 10_000

interface Given {
  /** With the tag. */
  readonly id: string
  readonly at: number
}

/** The deposit addresses of open swaps at all providers. */
export class OtherDeposits {
  private readonly ledger: Pick<Ledger, 'openDeposits'>
  private readonly readerOf: ReaderOf
  private readonly clock: Clock
  private readonly steadyClock: SteadyClock
  /** Who got an address with its memo a moment ago: creates that the ledger may not have yet. */
  private readonly justGiven = new BoundedMap<Given>({ share: cacheShares.transactions, maxEntries: 10_000 })

  constructor(ledger: Pick<Ledger, 'openDeposits'>, readerOf: ReaderOf, clock: Clock, steadyClock: SteadyClock) {
    this.ledger = ledger
    this.readerOf = readerOf
    this.clock = clock
    this.steadyClock = steadyClock
  }

  /**
   * Whether another swap of the ledger, that is younger than 7 days and may still get a deposit, has this address with this memo: one
   * that has neither ended nor become overdue, and is not a day past its provider's own expiry. Such a swap is read once more before.
   * False if the ledger does not reply soon. `provider`: tag of the one that created it.
   */
  async have(created: Transaction, provider: string, context: Context): Promise<boolean> {
    const { id } = created
    const deposit = depositOf(created)
    const key = paymentAddressKey(deposit)
    if (!this.give(key, formatTransactionId(provider, id))) return true
    // Without the ledger's reply the result goes first: an outcome that is known is not made unknown.
    const open = await withDefault(this.ledger.openDeposits(key, this.clock() - maxAgeMs), maxReadMs, [])
    for (const entry of open) {
      const { transaction } = entry
      const isOther = entry.provider !== provider || transaction.id !== id
      if (isOther && isSamePaymentAddress(depositOf(transaction), deposit) && (await this.mayGetDeposit(entry, context)))
        return true
    }
    return false
  }

  /** False if another create got it a moment ago. */
  private give(deposit: string, id: string): boolean {
    const now = this.steadyClock()
    const last = this.justGiven.get(deposit)
    if (last !== undefined && last.id !== id && now - last.at < justGivenMs) return false
    this.justGiven.set(deposit, { id, at: now })
    return true
  }

  private async mayGetDeposit(entry: LedgerEntry, context: Context): Promise<boolean> {
    const { id } = entry.transaction
    if (this.isOver(entry.transaction)) return false
    const half = limitDeadline(context, (context.deadline - performance.now()) / 2)
    const reader = this.readerOf(entry.provider, entry.owner, context)
    const read = reader?.call('getTransaction', { id }, { ...half, isGatewayCall: true })
    const response = await read?.catch(() => undefined)
    return response?.body.id !== id || !this.isOver(response.body)
  }

  private isOver({ status, validUntil }: Transaction): boolean {
    return hasEnded(status) || (validUntil !== undefined && this.clock() - Date.parse(validUntil) >= lateDepositMs)
  }
}

function depositOf({ depositAddress, depositExtraId }: Transaction): PaymentAddress {
  return { address: depositAddress, extraId: depositExtraId }
}

function hasEnded(status: Status | undefined): boolean {
  return status === 'overdue' || isFinal(status)
}

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
/** Looks for a result that is on the way into the ledger, and the pause before each. */
const maxLooks = 10
const pauseMs = 50

/** `underWay`: another process has just given the address away, and the result is on the way into the ledger. */
type Claim = 'own' | 'anothers' | 'underWay'

interface Given {
  /** With the tag. */
  readonly id: string
  readonly at: number
}

/** Counts for all processes: the limiter of `access/limits.ts`. */
interface SharedCounts {
  readonly consume: (bucket: string, limit: number, windowSeconds: number) => Promise<{ readonly isOver: boolean }>
}

/** The deposit addresses of open swaps at all providers. */
export class OtherDeposits {
  private readonly ledger: Pick<Ledger, 'openDeposits'>
  private readonly counts: SharedCounts
  private readonly readerOf: ReaderOf
  private readonly clock: Clock
  private readonly steadyClock: SteadyClock
  /** Who got an address with its memo a moment ago: creates of this process that the ledger may not have yet. */
  private readonly justGiven = new BoundedMap<Given>({ share: cacheShares.transactions, maxEntries: 10_000 })

  constructor(
    ledger: Pick<Ledger, 'openDeposits'>,
    counts: SharedCounts,
    readerOf: ReaderOf,
    clock: Clock,
    steadyClock: SteadyClock,
  ) {
    this.ledger = ledger
    this.counts = counts
    this.readerOf = readerOf
    this.clock = clock
    this.steadyClock = steadyClock
  }

  /** Notes that the swap gets the address; what is known of it without the ledger. `provider`: tag of the one that created it. */
  async claim(created: Transaction, provider: string): Promise<Claim> {
    const key = paymentAddressKey(depositOf(created))
    const given = this.give(key, formatTransactionId(provider, created.id))
    if (given === 'toAnother') return 'anothers'
    return given === 'before' || (await this.isFirst(key)) ? 'own' : 'underWay'
  }

  /** Swaps that were made earlier do not count. */
  get since(): number {
    return this.clock() - maxAgeMs
  }

  /**
   * Whether another swap of the ledger, that is younger than 7 days and may still get a deposit, has this address with this memo: one
   * that has neither ended nor become overdue, and is not a day past its provider's own expiry. Such a swap is read once more before.
   * False if the ledger does not reply soon.
   */
  async have(
    created: Transaction,
    provider: string,
    context: Context,
    claim: Exclude<Claim, 'anothers'> = 'own',
  ): Promise<boolean> {
    const { id } = created
    const deposit = depositOf(created)
    const key = paymentAddressKey(deposit)
    const seen = new Set<string>()
    for (let looks = 1; ; looks++) {
      // Without the ledger's reply the result goes first: an outcome that is known is not made unknown.
      const open = await withDefault(this.ledger.openDeposits(key, this.since), maxReadMs, undefined)
      for (const entry of open ?? []) {
        const { transaction } = entry
        const isOther = entry.provider !== provider || transaction.id !== id
        const name = formatTransactionId(entry.provider, transaction.id)
        if (!isOther || seen.has(name)) continue
        seen.add(name)
        if (isSamePaymentAddress(depositOf(transaction), deposit) && (await this.mayGetDeposit(entry, context))) return true
      }
      if (!open || looks > maxLooks || claim === 'own') return false
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  private give(deposit: string, id: string): 'now' | 'before' | 'toAnother' {
    const now = this.steadyClock()
    const last = this.justGiven.get(deposit)
    const isRecent = last !== undefined && now - last.at < justGivenMs
    if (isRecent && last.id !== id) return 'toAnother'
    this.justGiven.set(deposit, { id, at: now })
    return isRecent ? 'before' : 'now'
  }

  /** Of all processes, in the last seconds. */
  private async isFirst(deposit: string): Promise<boolean> {
    const counting = this.counts.consume(`deposit:${encodeURIComponent(deposit)}`, 1, justGivenMs / 1_000)
    return !(await withDefault(counting, maxReadMs, undefined))?.isOver
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

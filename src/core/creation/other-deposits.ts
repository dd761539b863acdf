/** A deposit address of another open swap: nobody could tell whose deposit arrives there (docs/contract.md §3.6). */

import { isSamePlace, type Place, placeKey } from '../../domain/address/same-address.ts'
import { withDefault } from '../../domain/async.ts'
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import { isFinal, type Status } from '../../domain/status.ts'
import { formatTransactionId, type Transaction } from '../../domain/swap.ts'
import type { Clock } from '../clock.ts'
import { limitDeadline } from '../layer.ts'
import type { Ledger, LedgerEntry } from '../ledger.ts'

export interface OtherDepositsOptions {
  /** Tag of the provider. */
  readonly provider: string
  readonly ledger: Pick<Ledger, 'openDeposits'>
  /** Reads a transaction at the provider with this tag; undefined if that is not possible for this owner. */
  readonly readerOf: (provider: string, owner: string, context: Context) => SwapService | undefined
  readonly clock: Clock
  /** Creates that the ledger may not have yet. Shared by all providers of this process. */
  readonly justGiven: JustGivenDeposits
}

const maxAgeMs = 7 * 86_400_000
/** How long after its provider's own expiry a swap may still get a deposit. */
const lateDepositMs = 86_400_000
/** The longest wait for the ledger. */
const maxReadMs = 250
/** How long a result may take into the ledger. */
const justGivenMs = 10_000

/** The deposit addresses of creates that have just been judged: who got each of them, by address and memo. */
export class JustGivenDeposits {
  private readonly clock: Clock
  private readonly given = new BoundedMap<{ readonly id: string; readonly at: number }>({
    share: cacheShares.transactions,
    maxEntries: 10_000,
  })

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** False if another create got it a moment ago. `id`: with the tag. */
  give(deposit: string, id: string): boolean {
    const now = this.clock()
    const last = this.given.get(deposit)
    if (last !== undefined && last.id !== id && now - last.at < justGivenMs) return false
    this.given.set(deposit, { id, at: now })
    return true
  }
}

/**
 * Whether another swap of the ledger, that is younger than 7 days and may still get a deposit, has this address with this memo: one
 * that has neither ended nor become overdue, and is not a day past its provider's own expiry. Such a swap is read once more before.
 * False if the ledger does not reply soon.
 */
export function otherDeposits({ provider, ledger, readerOf, clock, justGiven }: OtherDepositsOptions) {
  const isOver = ({ status, validUntil }: Transaction): boolean =>
    hasEnded(status) || (validUntil !== undefined && clock() - Date.parse(validUntil) >= lateDepositMs)
  const mayGetDeposit = async (entry: LedgerEntry, context: Context): Promise<boolean> => {
    const { id } = entry.transaction
    if (isOver(entry.transaction)) return false
    const half = limitDeadline(context, (context.deadline - performance.now()) / 2)
    const read = readerOf(entry.provider, entry.owner, context)?.call('getTransaction', { id }, { ...half, isGatewayCall: true })
    const response = await read?.catch(() => undefined)
    return response?.body.id !== id || !isOver(response.body)
  }
  return async (created: Transaction, context: Context): Promise<boolean> => {
    const { id } = created
    const place = depositOf(created)
    const key = placeKey(place)
    if (!justGiven.give(key, formatTransactionId(provider, id))) return true
    // Without the ledger's reply the result goes first: an outcome that is known is not made unknown.
    const open = await withDefault(ledger.openDeposits(key, clock() - maxAgeMs), maxReadMs, [])
    for (const entry of open) {
      const { transaction } = entry
      const isOther = entry.provider !== provider || transaction.id !== id
      if (isOther && isSamePlace(depositOf(transaction), place) && (await mayGetDeposit(entry, context))) return true
    }
    return false
  }
}

function depositOf({ depositAddress, depositExtraId }: Transaction): Place {
  return { address: depositAddress, extraId: depositExtraId }
}

function hasEnded(status: Status | undefined): boolean {
  return status === 'overdue' || isFinal(status)
}

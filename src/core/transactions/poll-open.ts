/**
 * The gateway's own reads of transactions without client reads (docs/contract.md §12): of what is open at a draining provider, so that
 * draining ends, and of what any provider does not find any more.
 */
import { Fault, isHeldBack } from '../../domain/fault.ts'
import { type Capabilities, gatewayContext, type SwapService } from '../../domain/service.ts'
import type { SteadyClock } from '../clock.ts'
import type { LedgerEntry } from '../ledger.ts'
import { isMissingForNow, type OwnershipOptions, refreshEntry } from './ownership.ts'

export interface OpenPollOptions extends Omit<OwnershipOptions, 'isOff'> {
  /** Reads a transaction as the provider reports it. */
  readonly service: SwapService
  readonly capabilities: Capabilities
  readonly steadyClock: SteadyClock
  /** Whether another configuration is in force, by which the provider may be off. */
  readonly isRetired: () => boolean
}

/** Shortest pauses between two reads of a transaction, over all processes. */
const openPauseMs = 600_000
const lostPauseMs = 3_600_000
/** Shortest pause between two passes that look for lost transactions. */
const lostIntervalMs = 60_000
/** Transactions per claim. They are read one after the other, oldest first. */
const maxClaimed = 8
/** Longest pass. The next pass continues there. */
const maxPassMs = 1_000

/** Returns a function that reads the due transactions. It stops early, and delays the next pass, if the provider or its budget rejects reads. */
export function openPoll(options: OpenPollOptions): () => Promise<void> {
  return poll(options, 0, () => options.ledger.claimOpen(options.provider, maxClaimed, openPauseMs))
}

/** The same for transactions that the provider does not find any more. */
export function lostPoll(options: OpenPollOptions): () => Promise<void> {
  const { ledger, provider, clock } = options
  return poll(options, lostIntervalMs, () => ledger.claimLost(provider, maxClaimed, openPauseMs, clock() - lostPauseMs))
}

function poll(options: OpenPollOptions, intervalMs: number, claim: () => Promise<readonly LedgerEntry[]>): () => Promise<void> {
  const { ledger, provider, clock, steadyClock, isRetired } = options
  let pausedUntil = Number.NEGATIVE_INFINITY
  const readAll = async (entries: readonly LedgerEntry[]): Promise<boolean> => {
    for (const [at, entry] of entries.entries()) {
      if (isMissingForNow(entry, clock())) continue
      const waitMs = isRetired() ? 0 : await read(entry, options)
      if (waitMs === undefined) continue
      pausedUntil = Math.max(pausedUntil, steadyClock() + waitMs)
      const unchecked = entries.slice(at).map(({ transaction }) => transaction.id)
      await ledger.releaseOpen(provider, unchecked)
      return false
    }
    return entries.length === maxClaimed
  }
  return async () => {
    const startedAt = steadyClock()
    if (startedAt < pausedUntil) return
    pausedUntil = startedAt + intervalMs
    let hasMore = true
    while (hasMore && steadyClock() - startedAt < maxPassMs) hasMore = await readAll(await claim())
  }
}

/** Undefined if a request was sent, with any result. Otherwise nothing was sent, and it returns the milliseconds until a retry. */
async function read(entry: LedgerEntry, options: OpenPollOptions): Promise<number | undefined> {
  const { service, capabilities, sequences } = options
  const context = { ...gatewayContext(capabilities), isReservedOnly: true }
  sequences.observe(entry.sequence)
  try {
    await refreshEntry(entry, service.call('getTransaction', { id: entry.transaction.id }, context), options)
    return undefined
  } catch (reason) {
    const fault = Fault.from(reason)
    return isHeldBack(fault) ? (fault.retryAfter ?? 1) * 1000 : undefined
  }
}

/**
 * The gateway's own reads of transactions without client reads (docs/contract-operators.md §12): of what is open at a draining provider, so that
 * draining ends, and of what any provider does not find any more.
 */
import { budgetPart } from '../../domain/call-options.ts'
import { withValue } from '../../domain/context-values.ts'
import { Fault, isHeldBack } from '../../domain/fault.ts'
import { gatewayContext, type SwapService } from '../../domain/service.ts'
import { sentWords } from '../assets/translate-assets.ts'
import type { LedgerEntry } from '../ports/ledger.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { isMissingForNow, refreshEntry } from './ownership.ts'

/** Shortest pauses between two reads of a transaction, over all processes. */
const openPauseMs = 600_000
const lostPauseMs = 3_600_000
/** Shortest pause between two passes that look for lost transactions. */
const lostIntervalMs = 60_000
/** Transactions per lease. They are read one after the other, oldest first. */
const maxLeased = 8
/** Longest pass. The next pass continues there. */
const maxPassMs = 1_000

type Poll = () => Promise<void>

/**
 * Returns a function that reads the due transactions from `service`, as the provider reports them. It stops early, and delays the next
 * pass, if the provider or its budget rejects reads. `retired`: another configuration is in force, by which the provider may be off.
 */
export function openPoll(scope: ProviderScope, service: SwapService, retired: AbortSignal): Poll {
  const lease = (): ReturnType<Lease> => scope.ledger.leaseOpen(scope.tag, maxLeased, openPauseMs)
  return poll(scope, lease, 0, (entry) => (retired.aborted ? 0 : read(entry, service, scope)))
}

/** The same for transactions that the provider does not find any more. */
export function lostPoll(scope: ProviderScope, service: SwapService, retired: AbortSignal): Poll {
  const { ledger, tag, clock } = scope
  const lease = (): ReturnType<Lease> => ledger.leaseLost(tag, maxLeased, openPauseMs, clock() - lostPauseMs)
  return poll(scope, lease, lostIntervalMs, (entry) => (retired.aborted ? 0 : read(entry, service, scope)))
}

type Lease = () => Promise<readonly LedgerEntry[]>
type Read = (entry: LedgerEntry) => number | Promise<number | undefined>

function poll({ ledger, tag, clock, steadyClock }: ProviderScope, lease: Lease, intervalMs: number, readOne: Read): Poll {
  let pausedUntil = Number.NEGATIVE_INFINITY
  const readAll = async (entries: readonly LedgerEntry[]): Promise<boolean> => {
    for (const [at, entry] of entries.entries()) {
      if (isMissingForNow(entry, clock())) continue
      const waitMs = await readOne(entry)
      if (waitMs === undefined) continue
      pausedUntil = Math.max(pausedUntil, steadyClock() + waitMs)
      const unchecked = entries.slice(at).map(({ transaction }) => transaction.id)
      await ledger.releaseOpen(tag, unchecked)
      return false
    }
    return entries.length === maxLeased
  }
  return async () => {
    const startedAt = steadyClock()
    if (startedAt < pausedUntil) return
    pausedUntil = startedAt + intervalMs
    let hasMore = true
    while (hasMore && steadyClock() - startedAt < maxPassMs) hasMore = await readAll(await lease())
  }
}

/** Undefined if a request was sent, with any result. Otherwise nothing was sent, and it returns the milliseconds until a retry. */
async function read(entry: LedgerEntry, service: SwapService, scope: ProviderScope): Promise<number | undefined> {
  const own = withValue(gatewayContext(scope.capabilities), budgetPart, 'reserve')
  const context = withValue(own, sentWords, entry.sent)
  scope.sequences.observe(entry.sequence)
  try {
    await refreshEntry(entry, service.call('getTransaction', { id: entry.transaction.id }, context), scope)
    return undefined
  } catch (reason) {
    const fault = Fault.from(reason)
    return isHeldBack(fault) ? (fault.retryAfter ?? 1) * 1000 : undefined
  }
}

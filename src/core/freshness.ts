import { BoundedMap, cacheShares } from '../domain/bounded-map.ts'
import { isFinal } from '../domain/status.ts'
import { formatTransactionId } from '../domain/swap.ts'
import type { Clock } from './clock.ts'
import type { LedgerEntry } from './ports/ledger.ts'

interface FreshnessOptions {
  /** How long a read counts as fresh: `ledger.refreshAfter` (default: 5 seconds). */
  readonly refreshMs: number
  readonly clock: Clock
  /** A monotonic clock, in milliseconds since 1970 as of the start of the process. */
  readonly steadyClock: () => number
}

const hourMs = 3_600_000
const dayMs = 86_400_000

/** A bound on memory. A dropped entry is judged by its stored times. */
const maxEntries = 10_000

interface LocalRead {
  /** The stored value. */
  readonly fetchedAt: number
  /** On the monotonic clock. */
  readonly at: number
}

/** The age of ledger entries. A change of the wall clock never makes an entry fresh. */
export class Freshness {
  private readonly localReads = new BoundedMap<LocalRead>({ share: cacheShares.transactions, maxEntries })
  /** When a final transaction was last read for its payout, on the monotonic clock. */
  private readonly payoutReads = new BoundedMap<number>({ share: cacheShares.transactions, maxEntries })
  private readonly options: FreshnessOptions

  constructor(options: FreshnessOptions) {
    this.options = options
  }

  /** Records a read by this process. */
  recordRead(provider: string, id: string, fetchedAt: number): void {
    this.localReads.set(formatTransactionId(provider, id), { fetchedAt, at: this.options.steadyClock() })
  }

  /** Records a read of a final transaction before it is sent: it may fail. */
  recordPayoutRead({ provider, transaction }: LedgerEntry): void {
    this.payoutReads.set(formatTransactionId(provider, transaction.id), this.options.steadyClock())
  }

  /** Whether the entry must be refreshed before it is returned. An entry that is known only from its create is never fresh. */
  needsRefresh(entry: LedgerEntry): boolean {
    const { transaction, fetchedAt } = entry
    if (isFinal(transaction.status)) return this.needsPayoutRead(entry)
    return fetchedAt === undefined || this.agesMsOf(entry, fetchedAt).some((age) => age < 0 || age >= this.options.refreshMs)
  }

  /** Whether a get has read it within this time. */
  wasReadWithin(entry: LedgerEntry, ms: number): boolean {
    return entry.fetchedAt !== undefined && this.agesMsOf(entry, entry.fetchedAt).every((age) => age >= 0 && age < ms)
  }

  /** For a day after the read that found it final: first as if it were open, then once an hour. */
  private needsPayoutRead(entry: LedgerEntry): boolean {
    const { provider, transaction, payoutMissingSince: since, fetchedAt, settledAt } = entry
    if (since === undefined || fetchedAt === undefined || settledAt !== undefined) return false
    const { clock, steadyClock, refreshMs } = this.options
    const lastRead = this.payoutReads.get(formatTransactionId(provider, transaction.id))
    if (clock() - since >= dayMs || (lastRead !== undefined && steadyClock() - lastRead < hourMs)) return false
    const pauseMs = fetchedAt === since ? refreshMs : hourMs
    return this.agesMsOf(entry, fetchedAt).some((age) => age < 0 || age >= pauseMs)
  }

  /** Seconds since the provider's last report. */
  ageSeconds(entry: LedgerEntry): number {
    return Math.max(0, ...this.agesMsOf(entry, entry.reportedAt)) / 1_000
  }

  /** A read by another process has an age on each of two clocks, and is fresh only if both ages are. */
  private agesMsOf({ provider, transaction }: LedgerEntry, at: number): readonly number[] {
    const { clock, steadyClock } = this.options
    const localRead = this.localReads.get(formatTransactionId(provider, transaction.id))
    return localRead?.fetchedAt === at ? [steadyClock() - localRead.at] : [clock() - at, steadyClock() - at]
  }
}

/** The age of the oldest stale row in seconds; undefined if none is stale. */
export function oldestOf(rows: readonly { readonly staleSeconds?: number | undefined }[]): number | undefined {
  const ages = rows.flatMap(({ staleSeconds }) => (staleSeconds === undefined ? [] : [staleSeconds]))
  return ages.length === 0 ? undefined : Math.max(...ages)
}

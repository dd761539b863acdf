import { isFinal } from '../../../domain/swap/status.ts'
import { BoundedMap } from '../../bounded-map.ts'
import type { Clock } from '../../clock.ts'
import type { LedgerEntry } from '../../ledger.ts'

export interface FreshnessOptions {
  readonly refreshMs: number
  readonly clock: Clock
  /** Milliseconds since 1970 when the process began, and never set since. */
  readonly steadyClock: () => number
}

/** A bound on memory; what falls out is judged by its times. */
const maxEntries = 10_000

interface LocalRead {
  /** As it is kept. */
  readonly fetchedAt: number
  /** On the steady clock. */
  readonly at: number
}

/** How old what the ledger knows is. A wall clock that is set makes nothing fresh. */
export class Freshness {
  private readonly localReads = new BoundedMap<LocalRead>({ maxEntries: maxEntries })
  private readonly options: FreshnessOptions

  constructor(options: FreshnessOptions) {
    this.options = options
  }

  /** This process has just read it. */
  recordRead(provider: string, id: string, fetchedAt: number): void {
    this.localReads.set(keyOf(provider, id), { fetchedAt, at: this.options.steadyClock() })
  }

  /** Whether the provider is to be asked before the entry is shown: what only its create told is never fresh. */
  needsRefresh(entry: LedgerEntry): boolean {
    const { transaction, fetchedAt } = entry
    if (isFinal(transaction.status)) return false
    return fetchedAt === undefined || this.agesMsOf(entry, fetchedAt).some((age) => age < 0 || age >= this.options.refreshMs)
  }

  /** Since the provider last told of it. */
  ageSeconds(entry: LedgerEntry): number {
    return Math.max(0, ...this.agesMsOf(entry, entry.reportedAt)) / 1_000
  }

  /** Of another process's reading two clocks tell the age, and it is fresh only where both say so. */
  private agesMsOf({ provider, transaction }: LedgerEntry, at: number): readonly number[] {
    const { clock, steadyClock } = this.options
    const localRead = this.localReads.get(keyOf(provider, transaction.id))
    return localRead?.fetchedAt === at ? [steadyClock() - localRead.at] : [clock() - at, steadyClock() - at]
  }
}

function keyOf(provider: string, id: string): string {
  return `${provider}~${id}`
}

/** Of rows of which some are stale, the age of the oldest, in seconds. */
export function oldestOf(rows: readonly { readonly staleSeconds?: number | undefined }[]): number | undefined {
  const ages = rows.flatMap(({ staleSeconds }) => (staleSeconds === undefined ? [] : [staleSeconds]))
  return ages.length === 0 ? undefined : Math.max(...ages)
}

import { isFinal } from '../domain/status.ts'
import { BoundedMap } from './bounded-map.ts'
import type { Clock } from './intent.ts'
import type { Entry } from './ledger.ts'

export interface FreshnessOptions {
  readonly refreshMs: number
  readonly clock: Clock
  /** Milliseconds since 1970 when the process began, and never set since. */
  readonly steadyClock: () => number
}

/** A bound on memory; what falls out is judged by its times. */
const maxReadings = 10_000

interface OwnReading {
  /** As it is kept. */
  readonly readAt: number
  /** On the steady clock. */
  readonly at: number
}

/** How old what the ledger knows is. A wall clock that is set makes nothing fresh. */
export class Freshness {
  private readonly own = new BoundedMap<OwnReading>({ maxEntries: maxReadings })
  private readonly options: FreshnessOptions

  constructor(options: FreshnessOptions) {
    this.options = options
  }

  /** This process has just read it. */
  note(provider: string, id: string, readAt: number): void {
    this.own.set(keyOf(provider, id), { readAt, at: this.options.steadyClock() })
  }

  /** Whether the provider is to be asked before the entry is shown: what only its create told is never fresh. */
  isDue(entry: Entry): boolean {
    const { transaction, readAt } = entry
    if (isFinal(transaction.status)) return false
    return readAt === undefined || this.agesOf(entry, readAt).some((age) => age < 0 || age >= this.options.refreshMs)
  }

  /** Since the provider last told of it. */
  secondsSince(entry: Entry): number {
    return Math.max(0, ...this.agesOf(entry, entry.seenAt)) / 1_000
  }

  /** Of another process's reading two clocks tell the age, and it is fresh only where both say so. */
  private agesOf({ provider, transaction }: Entry, at: number): readonly number[] {
    const { clock, steadyClock } = this.options
    const reading = this.own.get(keyOf(provider, transaction.id))
    return reading?.readAt === at ? [steadyClock() - reading.at] : [clock() - at, steadyClock() - at]
  }
}

function keyOf(provider: string, id: string): string {
  return `${provider}~${id}`
}

/** Of rows of which some are stale, the age of the oldest, in seconds. */
export function oldestOf(rows: readonly { readonly stale?: number | undefined }[]): number | undefined {
  const ages = rows.flatMap(({ stale }) => (stale === undefined ? [] : [stale]))
  return ages.length === 0 ? undefined : Math.max(...ages)
}

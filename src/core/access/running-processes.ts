/** Among how many processes limits and budgets are divided while the shared store is lost (docs/limits.md). */

/** How many processes were seen at the same time, and until when. */
interface Sighting {
  readonly count: number
  until: number
}

interface RunningProcessesOptions {
  /** `replicas` of the configuration, in processes. */
  readonly configured: number
  /** On the same clock: when the store was lost. */
  readonly lostAt: () => number
  readonly clock: () => number
  /** Whether seeing no gateway but this one proves nothing: others may have a ledger of their own. */
  readonly mayMissOthers?: { readonly ownProcesses: number }
}

/** Within this time after its first figures all others have counted a process: they look every 5 s. */
const countedAfterMs = 8_000

/**
 * What the figures in the ledger say. Their sum of shares is at most one limit: a process that leaves keeps its share until the windows
 * in which it may have used it are over; one that the others have not counted yet takes its share of the configured number.
 */
export class RunningProcesses {
  private readonly options: RunningProcessesOptions
  /** The newest last, each larger than those after it. */
  private readonly sightings: Sighting[] = []
  private countedFrom = Number.POSITIVE_INFINITY

  constructor(options: RunningProcessesOptions) {
    this.options = options
  }

  /** The ledger has figures of so many processes, this one's among them. */
  see(count: number): void {
    const now = this.options.clock()
    if (this.sightings.length === 0) this.countedFrom = now + countedAfterMs
    while ((this.sightings.at(-1)?.count ?? Number.POSITIVE_INFINITY) <= count) this.sightings.pop()
    this.sightings.push({ count, until: now })
  }

  /** For a limit whose window has this length. Before the ledger was ever read: as configured. */
  among(windowMs: number): number {
    const { configured, lostAt, clock, mayMissOthers } = this.options
    const now = clock()
    const from = Math.max(now - windowMs, lostAt()) - countedAfterMs
    const largest = this.sightings.find(({ until }) => until >= from) ?? this.sightings.at(-1)
    if (!largest || (mayMissOthers && largest.count <= mayMissOthers.ownProcesses)) return Math.max(configured, largest?.count ?? 1)
    const isCounted = lostAt() >= this.countedFrom || now >= this.countedFrom + windowMs
    return isCounted ? largest.count : Math.max(configured, largest.count)
  }
}

/** Places of streams over all processes with one Redis (`limits.streams`). */
import { forEachConcurrently } from '../../domain/async.ts'
import type { StoreOutage } from './store-outage.ts'

/** Places that end by themselves unless they are renewed: those of a process that was killed, too. Throws if the store does not respond. */
export interface StreamLeases {
  /** False if the identity has `max` leases already. */
  readonly take: (identity: string, lease: string, max: number) => Promise<boolean>
  /** Also of leases that the store has lost, and above any limit. */
  readonly renew: (identity: string, leases: readonly string[]) => Promise<void>
  readonly release: (identity: string, lease: string) => Promise<void>
}

/** A client whose gateway was killed finds its places taken for that long. */
export const streamLeaseMs = 15_000
const renewalMs = 5_000
const renewalsAtOnce = 10
/** In one call: it is one script. */
const maxRenewed = 100

export class SharedStreamPlaces {
  private readonly leases: StreamLeases
  private readonly outage: StoreOutage
  /** Of this process, by identity. */
  private readonly taken = new Map<string, Set<string>>()
  private readonly process = crypto.randomUUID()
  private count = 0
  private timer: NodeJS.Timeout | undefined
  private isStopped = false

  constructor(leases: StreamLeases, outage: StoreOutage) {
    this.leases = leases
    this.outage = outage
    outage.beforeRecovery(() => this.renew())
    this.scheduleRenewal()
  }

  /** Returns a function that gives the place back; undefined: the identity has none left. While the store is lost each one has a place. */
  async take(identity: string, max: number): Promise<(() => void) | undefined> {
    const lease = `${this.process}:${++this.count}`
    if (!(await this.ask(() => this.leases.take(identity, lease, max), true))) return undefined
    const taken = this.taken.getOrInsertComputed(identity, () => new Set())
    taken.add(lease)
    return () => {
      if (!taken.delete(lease)) return
      if (taken.size === 0 && this.taken.get(identity) === taken) this.taken.delete(identity)
      void this.ask(() => this.leases.release(identity, lease), undefined)
    }
  }

  stop(): void {
    this.isStopped = true
    clearTimeout(this.timer)
  }

  private async ask<Reply>(question: () => Promise<Reply>, otherwise: Reply): Promise<Reply> {
    if (this.outage.state === 'local') return otherwise
    try {
      return await question()
    } catch {
      this.outage.begin()
      return otherwise
    }
  }

  private scheduleRenewal(): void {
    if (this.isStopped) return
    this.timer = setTimeout(async () => {
      await this.ask(() => this.renew(), undefined)
      this.scheduleRenewal()
    }, renewalMs).unref()
  }

  private renew(): Promise<void> {
    return forEachConcurrently(renewalsAtOnce, [...this.taken], async ([identity, leases]) => {
      const all = [...leases]
      for (let at = 0; at < all.length; at += maxRenewed) {
        const some = all.slice(at, at + maxRenewed).filter((lease) => leases.has(lease))
        await this.leases.renew(identity, some)
      }
    })
  }
}

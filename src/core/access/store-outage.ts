/** Whether this replica can reach the store that all replicas share. */

import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import type { Observer, StoreState } from '../../domain/observation.ts'
import { type VerifiedKeys, verifiedKeyLifetimeMs } from './verified-keys.ts'

/** An outage that is about to end. */
interface Recovery {
  /** On the clock of `performance.now()`. */
  readonly lostAt: number
  /** Whether the store may have lost its data. */
  readonly isEmptied: boolean
}

/** Milliseconds between two checks of a lost store. */
const checkIntervalMs = 250
/** Milliseconds within which every other replica notices too: one check, one new connection, and a margin. */
const recoveryMs = 1_500

/**
 * A circuit breaker for the shared store. One failure opens it: requests no longer use the store, so none waits for it, and
 * only a background timer checks it. `dataId` rejects while the store is lost and returns another number after the store
 * was emptied.
 */
export class StoreOutage {
  private current: StoreState = 'shared'
  private lostAt = Number.NEGATIVE_INFINITY
  private knownDataId: number | undefined
  private timer: NodeJS.Timeout | undefined
  private isStopped = false
  private readonly listeners: ((recovery: Recovery) => Promise<void>)[] = []
  private readonly dataId: () => Promise<number>
  private readonly observe: Observer

  constructor(dataId: () => Promise<number>, observe: Observer) {
    this.dataId = dataId
    this.observe = observe
  }

  get state(): StoreState {
    return this.current
  }

  /** On the clock of `performance.now()`. */
  get since(): number {
    return this.lostAt
  }

  /** Makes the first check. */
  async start(): Promise<void> {
    try {
      this.knownDataId = await this.dataId()
    } catch {
      this.begin()
    }
  }

  /** Starts an outage: a command failed or the connection closed. */
  begin(): void {
    if (this.current === 'local' || this.isStopped) return
    this.lostAt = performance.now()
    this.setState('local')
    this.scheduleCheck()
  }

  /** `listener` runs before the store is used again. If it rejects, the outage continues. */
  beforeRecovery(listener: (recovery: Recovery) => Promise<void>): void {
    this.listeners.push(listener)
  }

  stop(): void {
    this.isStopped = true
    clearTimeout(this.timer)
  }

  private setState(state: StoreState): void {
    this.current = state
    this.observe({ what: 'limitStore', state })
  }

  private scheduleCheck(): void {
    this.schedule(checkIntervalMs, () => void this.check().catch(() => this.scheduleCheck()))
  }

  private async check(): Promise<void> {
    const dataId = await this.dataId()
    const recovery = { lostAt: this.lostAt, isEmptied: dataId !== this.knownDataId }
    for (const listener of this.listeners) await listener(recovery)
    this.knownDataId = dataId
    this.setState('recovering')
    this.schedule(recoveryMs, () => this.setState('shared'))
  }

  private schedule(delayMs: number, work: () => void): void {
    clearTimeout(this.timer)
    if (this.isStopped) return
    this.timer = setTimeout(work, delayMs).unref()
  }
}

/** Verified keys that all replicas share. Both methods throw if the store does not respond. */
export interface SharedVerifiedKeys {
  /** Milliseconds for which the identity remains verified; 0 if it is not. */
  readonly remainingMs: (identity: string) => Promise<number>
  readonly add: (identity: string, lifetimeMs: number) => Promise<void>
}

interface CachedKey {
  expiresAt: number
  /** When the store must be updated again. */
  renewAt: number
}

/** The store is updated at most once in this share of the lifetime. */
const renewalShare = 1 / 60
/** A bound on memory: a dropped key is read from the store again. */
const maxCachedKeys = 100_000

const verified = Promise.resolve(true)
const unverified = Promise.resolve(false)
const recorded = Promise.resolve()

/**
 * A key expires `lifetimeMs` after its last verification. The store is read only for keys that this process has not cached.
 * While the store is lost, only cached keys are verified.
 */
export function sharedVerifiedKeys(
  shared: SharedVerifiedKeys,
  outage: StoreOutage,
  lifetimeMs = verifiedKeyLifetimeMs,
): VerifiedKeys {
  const cache = new BoundedMap<CachedKey>({ share: cacheShares.keys, maxEntries: maxCachedKeys })
  const store = (identity: string, expiresAt: number, renewAt: number): void => {
    const existing = cache.get(identity)
    // Changed in place: a map that is rewritten with every request leaves garbage tables behind.
    if (existing) Object.assign(existing, { expiresAt, renewAt })
    else cache.set(identity, { expiresAt, renewAt })
  }
  const checkStore = async (identity: string): Promise<boolean> => {
    const remainingMs = await shared.remainingMs(identity).catch(() => outage.begin())
    if (remainingMs) store(identity, performance.now() + remainingMs, 0)
    return Boolean(remainingMs)
  }
  const addToStore = (identity: string): Promise<void> =>
    shared.add(identity, lifetimeMs).catch(() => {
      outage.begin()
      const entry = cache.get(identity)
      if (entry) entry.renewAt = 0
    })
  return {
    has(identity) {
      const expiresAt = cache.get(identity)?.expiresAt ?? 0
      if (performance.now() < expiresAt) return verified
      return outage.state === 'local' ? unverified : checkStore(identity)
    },
    add(identity) {
      const now = performance.now()
      if (now < (cache.get(identity)?.renewAt ?? 0)) return recorded
      const isLost = outage.state === 'local'
      store(identity, now + lifetimeMs, isLost ? 0 : now + lifetimeMs * renewalShare)
      return isLost ? recorded : addToStore(identity)
    },
  }
}

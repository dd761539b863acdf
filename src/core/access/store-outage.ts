/** Whether this replica can reach the store that all replicas share. */

import type { Observer, StoreState } from '../../domain/observation.ts'

/** An outage that is about to end. */
export interface Recovery {
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
 * only a background timer checks it. `generation` rejects while the store is lost and returns another number after the store
 * was emptied.
 */
export class StoreOutage {
  private current: StoreState = 'shared'
  private lostAt = Number.NEGATIVE_INFINITY
  private knownGeneration: number | undefined
  private timer: NodeJS.Timeout | undefined
  private isStopped = false
  private readonly listeners: ((recovery: Recovery) => Promise<void>)[] = []
  private readonly generation: () => Promise<number>
  private readonly observe: Observer

  constructor(generation: () => Promise<number>, observe: Observer) {
    this.generation = generation
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
      this.knownGeneration = await this.generation()
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
    const generation = await this.generation()
    const recovery = { lostAt: this.lostAt, isEmptied: generation !== this.knownGeneration }
    for (const listener of this.listeners) await listener(recovery)
    this.knownGeneration = generation
    this.setState('recovering')
    this.schedule(recoveryMs, () => this.setState('shared'))
  }

  private schedule(delayMs: number, work: () => void): void {
    clearTimeout(this.timer)
    if (this.isStopped) return
    this.timer = setTimeout(work, delayMs).unref()
  }
}

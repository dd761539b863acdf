/** Whether the store that replicas share is lost to this one. */
import type { Observer, StoreState } from '../../domain/telemetry/observation.ts'

export interface Recovery {
  /** On the clock of `performance.now()`. */
  readonly lostAt: number
  /** Whether what was in the store may be gone. */
  readonly isEmptied: boolean
}

/** Milliseconds from one look at a lost store to the next. */
const checkIntervalMs = 250
/** Milliseconds in which every other replica notices, too: a look, a new connection, and time to spare. */
const recoveryMs = 1_500

/**
 * One failure is enough: from then on nobody asks the store, so nobody waits for it, and only the background looks whether it
 * is there again. `generation` fails while it is not, and tells another number once it was emptied.
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

  /** Looks for the first time. */
  async start(): Promise<void> {
    try {
      this.knownGeneration = await this.generation()
    } catch {
      this.begin()
    }
  }

  /** The store did not do what it was asked, or hung up. */
  begin(): void {
    if (this.current === 'local' || this.isStopped) return
    this.lostAt = performance.now()
    this.setState('local')
    this.scheduleCheck()
  }

  /** Comes before anybody relies on the store again; where it fails, the outage goes on. */
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

/** A balancer in front of several gateways: it checks whether each is ready, and sends to those that are. */
import { setTimeout as wait } from 'node:timers/promises'

export interface Target {
  readonly url: string
  readonly adminUrl: string
}

/** Milliseconds. */
const interval = 50

export class Balancer<T extends Target> {
  private readonly ready = new Map<T, boolean>()
  private turns = 0
  private isOver = false

  /** Checked from now on; the first request may come when it has been ready once. */
  async add(target: T): Promise<void> {
    await this.look(target)
    void this.watch(target)
  }

  remove(target: T): void {
    this.ready.delete(target)
  }

  isReady(target: T): boolean {
    return this.ready.get(target) ?? false
  }

  /** The next one that is ready. Throws where none is. */
  get url(): string {
    const ready = [...this.ready].filter(([, isReady]) => isReady)
    const next = ready[this.turns++ % ready.length]
    if (!next) throw new Error('no gateway is ready')
    return next[0].url
  }

  end(): void {
    this.isOver = true
  }

  private async watch(target: T): Promise<void> {
    while (!this.isOver && this.ready.has(target)) {
      await this.look(target)
      await wait(interval)
    }
  }

  private async look(target: T): Promise<void> {
    const isReady = await fetch(`${target.adminUrl}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    this.ready.set(target, isReady)
  }
}

/** node:timers: calls back after each period without activity, until it is stopped. */
export class IdleTimer {
  private readonly timer: NodeJS.Timeout

  constructor(durationMs: number, onIdle: () => unknown) {
    this.timer = setTimeout(() => {
      this.timer.refresh()
      onIdle()
    }, durationMs)
  }

  /** Starts the period again. */
  refresh(): void {
    this.timer.refresh()
  }

  stop(): void {
    clearTimeout(this.timer)
  }
}

/** node:timers: calls back whenever nothing has happened for so long, until it is stopped. */
export class IdleTimer {
  private readonly timer: NodeJS.Timeout

  constructor(durationMs: number, onIdle: () => unknown) {
    this.timer = setTimeout(() => {
      this.timer.refresh()
      onIdle()
    }, durationMs)
  }

  /** Something has happened. */
  refresh(): void {
    this.timer.refresh()
  }

  stop(): void {
    clearTimeout(this.timer)
  }
}

/** Timeouts for replies of Redis. */

/** Milliseconds. */
const tickMs = 40
const ticks = 5
/** A memory limit: the maximum number of pending calls. */
const maxPending = 10_000

/** The minimum timeout: the first tick may be almost over when a call starts. */
export const minReplyTimeoutMs = tickMs * (ticks - 1)

export interface ReplyState {
  /** Whether the caller no longer waits. */
  isOver: boolean
}

interface PendingReply extends ReplyState {
  readonly until: number
  readonly giveUp: () => void
}

/**
 * Waits 160 to 200 ms, and longer only if this process was paused. Time is counted in ticks, and a pause counts as one tick, so
 * that replies which arrived during the pause are read before a call times out.
 */
export class ReplyTimeouts {
  private now = 0
  private waiting = 0
  private timer: NodeJS.Timeout | undefined
  /** In order of their start. */
  private readonly entries: PendingReply[] = []

  /** Rejects if the reply does not arrive in time. */
  wait<T>(send: (waiting: ReplyState) => Promise<T>): Promise<T> {
    if (this.waiting >= maxPending) return Promise.reject(new Error('Too much is waiting for Redis.'))
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const giveUp = (): void => reject(new Error('Redis does not answer.'))
    const entry = { isOver: false, until: this.now + ticks, giveUp }
    this.entries.push(entry)
    this.waiting++
    this.timer ??= setInterval(() => this.pass(), tickMs)
    send(entry)
      .then(resolve, reject)
      .finally(() => {
        if (!entry.isOver) this.waiting--
        entry.isOver = true
      })
    return promise
  }

  private pass(): void {
    this.now++
    const waiting = this.entries.findIndex(({ until }) => until > this.now)
    for (const entry of this.entries.splice(0, waiting < 0 ? this.entries.length : waiting)) {
      if (entry.isOver) continue
      entry.isOver = true
      this.waiting--
      entry.giveUp()
    }
    if (this.entries.length > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }
}

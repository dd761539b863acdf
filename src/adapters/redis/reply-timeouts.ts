/** How long an answer of Redis is waited for. */

/** Milliseconds. */
const tickMs = 40
const ticks = 5
/** A bound on memory: more calls than this do not wait at the same time. */
const maxPending = 10_000

/** Milliseconds that everybody waits at least: the first tick may be half over when he begins. */
export const minReplyTimeoutMs = tickMs * (ticks - 1)

export interface ReplyState {
  /** Whether nobody waits any more. */
  isOver: boolean
}

interface PendingReply extends ReplyState {
  readonly until: number
  readonly giveUp: () => void
}

/**
 * Waits for 160 to 200 ms, and longer only where this process itself stood still: time is counted in ticks, of which a pause takes one,
 * so that what came meanwhile is read before anybody gives up.
 */
export class ReplyTimeouts {
  private now = 0
  private waiting = 0
  private timer: NodeJS.Timeout | undefined
  /** In the order in which they began. */
  private readonly entries: PendingReply[] = []

  /** Rejects where the answer does not come in time. */
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

/** Calls of scripts with a deadline: when a frozen Redis continues, it runs all pending calls, also those that have timed out. */

interface ScriptReply<T> {
  /** The clock of Redis in milliseconds. */
  readonly now?: number | undefined
  /** Missing: the script ran after its deadline and did nothing. */
  readonly value?: T | undefined
}

/** Sets the deadlines of the scripts on one connection. */
export class ScriptDeadlines {
  private readonly clock = new RedisClock()
  private readonly replyTimeouts = new ReplyTimeouts()

  /** Sends a script with a deadline on the clock of Redis. Throws after at most 200 ms without a reply; the script has no effect later. */
  run<T>(send: (deadlineMs: number) => Promise<ScriptReply<T>>): Promise<T> {
    return this.replyTimeouts.wait(async (replyState) => {
      for (;;) {
        const { now, value } = await send(this.clock.deadlineAfter(minReplyTimeoutMs))
        if (now !== undefined) this.clock.update(now)
        if (value !== undefined) return value
        if (replyState.isOver) throw new Error('The script ran too late.')
        // The clock of Redis was changed: the script was in time, but did nothing.
      }
    })
  }
}

/** Estimates the clock of Redis from its replies. Does not depend on this machine's wall clock. */
class RedisClock {
  private offset = Number.NEGATIVE_INFINITY

  /** Takes the time of a reply just received. It was sent a little earlier, so the largest difference is the best estimate. */
  update(now: number): void {
    this.offset = Math.max(this.offset, now - performance.now())
  }

  /** The time of Redis in `milliseconds` from now; 0 before the first reply. */
  deadlineAfter(milliseconds: number): number {
    return this.offset === Number.NEGATIVE_INFINITY ? 0 : Math.ceil(performance.now() + this.offset + milliseconds)
  }
}

// Timeouts for replies of Redis.

/** Milliseconds. */
const tickMs = 40
const ticks = 5
/** The minimum timeout: the first tick may be almost over when a call starts. */
const minReplyTimeoutMs = tickMs * (ticks - 1)

interface ReplyState {
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
  private timer: NodeJS.Timeout | undefined
  /** In order of their start. */
  private readonly entries: PendingReply[] = []

  /** Rejects if the reply does not arrive in time. */
  wait<T>(send: (waiting: ReplyState) => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const giveUp = (): void => reject(new Error('Redis does not answer.'))
    const entry = { isOver: false, until: this.now + ticks, giveUp }
    this.entries.push(entry)
    this.timer ??= setInterval(() => this.pass(), tickMs)
    send(entry)
      .then(resolve, reject)
      .finally(() => {
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
      entry.giveUp()
    }
    if (this.entries.length > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }
}

/** Scripts with a deadline: when a frozen Redis continues, it runs all pending scripts, also those that have timed out. */
import { minReplyTimeoutMs, ReplyTimeouts } from './reply-timeouts.ts'

/** Begins a script: sets `now`, the clock of Redis in milliseconds, and `isLate`. The last argument is the deadline on that clock, 0 for none. */
export const readDeadline = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local latest = tonumber(ARGV[#ARGV])
local isLate = latest > 0 and now > latest
`

/** Adds `now` and a deadline to a script that returns a list. The reply begins with `now`. After the deadline it has only `now`, and the script does nothing. */
export function withScriptDeadline(lua: string): string {
  return `${readDeadline}
if isLate then return {now} end
local function act()
${lua}
end
local reply = act()
table.insert(reply, 1, now)
return reply
`
}

export interface ScriptReply<T> {
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

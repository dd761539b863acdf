/** Scripts with a deadline: when a frozen Redis continues, it runs all pending scripts, also those that have timed out. */

/**
 * Adds `now`, the clock of Redis in milliseconds, to the script, and a last argument: the deadline on that clock, 0 for none.
 * The reply begins with `now`. After the deadline the script does nothing, and the reply has only `now`.
 */
export function withScriptDeadline(lua: string): string {
  return `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local latest = tonumber(ARGV[#ARGV])
if latest > 0 and now > latest then return {now} end
local function act()
${lua}
end
local reply = act()
table.insert(reply, 1, now)
return reply
`
}

/** Estimates the clock of Redis from its replies. Does not depend on this machine's wall clock. */
export class RedisClock {
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

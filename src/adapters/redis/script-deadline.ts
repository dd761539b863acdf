/** Scripts that do nothing once nobody waits for them: a frozen Redis carries out all that it was sent when it thaws. */

/**
 * The script with the clock of Redis as `now`, in milliseconds. Its last argument is the latest moment on that clock, 0: none.
 * The reply begins with `now`; where that was too late, nothing follows and nothing was done.
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

/** Guesses the clock of Redis from its replies; a clock of this machine that is set anew does not disturb it. */
export class RedisClock {
  private offset = Number.NEGATIVE_INFINITY

  /** A reply that was just received says so. It was sent a little earlier, so the greatest difference is the best guess. */
  update(now: number): void {
    this.offset = Math.max(this.offset, now - performance.now())
  }

  /** The moment so many milliseconds from now; 0 where nothing was heard yet. */
  deadlineAfter(milliseconds: number): number {
    return this.offset === Number.NEGATIVE_INFINITY ? 0 : Math.ceil(performance.now() + this.offset + milliseconds)
  }
}

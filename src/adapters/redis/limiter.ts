/** rate-limiter-flexible: fixed windows as in memory, counted in Redis. */
import { RateLimiterRedis } from 'rate-limiter-flexible'
import type { Charge, SharedLimiter } from '../../core/access/limits.ts'
import type { Connection } from './index.ts'
import { readDeadline } from './script-deadline.ts'

/** The library's script with a deadline. ARGV: points, the window in seconds, the library's own limit, the deadline. After the deadline: -1 and the clock of Redis. */
const consumeLua = `${readDeadline}
if isLate then return {-1, now} end
redis.call('SET', KEYS[1], 0, 'EX', ARGV[2], 'NX')
if redis.call('PTTL', KEYS[1]) == -1 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
return {redis.call('INCRBY', KEYS[1], ARGV[1]), redis.call('PTTL', KEYS[1])}`

/** The same window, but counts only admitted requests. ARGV: the limit, and the window in milliseconds. */
const chargeAdmittedLua = `
redis.call('SET', KEYS[1], 0, 'PX', ARGV[2], 'NX')
if redis.call('PTTL', KEYS[1]) == -1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
local isOver = tonumber(redis.call('GET', KEYS[1])) >= tonumber(ARGV[1])
local points = isOver and tonumber(ARGV[1]) or redis.call('INCR', KEYS[1])
return {isOver and 1 or 0, points, redis.call('PTTL', KEYS[1])}`

interface Consumed {
  readonly points: number
  readonly remainingMs: number
}

/** Limits shared by all processes with the same Redis. Windows follow its clock. Throws if Redis does not respond. */
export function redisLimiter({
  prefix,
  client,
  deadlines,
  script,
}: Pick<Connection, 'prefix' | 'client' | 'deadlines' | 'script'>): SharedLimiter {
  const keyPrefix = `${prefix}:limit`
  const limiter = new RateLimiterRedis({
    storeClient: client,
    customIncrTtlLuaScript: consumeLua,
    keyPrefix,
    points: Number.MAX_SAFE_INTEGER, // Never reached: the caller applies the limit, and every request is counted.
    duration: 0,
  })
  const consume = (key: string, points: number, windowSeconds: number): Promise<Consumed> =>
    deadlines.run(async (deadlineMs) => {
      // The library passes `duration` to the script as its last argument. The window is `customDuration`.
      limiter.duration = deadlineMs
      const { consumedPoints, msBeforeNext } = await limiter.consume(key, points, { customDuration: windowSeconds })
      return consumedPoints < 0 ? { now: msBeforeNext } : { value: { points: consumedPoints, remainingMs: msBeforeNext } }
    })
  const chargeAdmitted = script(chargeAdmittedLua, 1)
  return {
    async charge(bucket, limit, windowSeconds, counting) {
      const key = `${windowSeconds}:${bucket}`
      if (counting === 'admitted') {
        const [isOver, points, ms] = await chargeAdmitted([`${keyPrefix}:${key}`], [String(limit), String(windowSeconds * 1000)])
        return chargeOf(isOver === 1, points, ms, limit)
      }
      const { points, remainingMs } = await consume(key, 1, windowSeconds)
      return chargeOf(points > limit, points, remainingMs, limit)
    },
    add: async (bucket, points, windowSeconds, remainingSeconds) =>
      (await consume(`${windowSeconds}:${bucket}`, points, remainingSeconds)).points,
  }
}

function chargeOf(isOver: boolean, points = 0, remainingMs = 0, limit: number): Charge {
  return { isOver, remaining: Math.max(0, limit - points), resetSeconds: Math.ceil(remainingMs / 1000) }
}

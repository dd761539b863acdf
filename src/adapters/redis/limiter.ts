/** Limits in Redis: the same fixed windows as in memory, as scripts. A script that Redis runs too late must count nothing. */
import type { SharedLimiter } from '../../core/access/limit-fallback.ts'
import type { Charge } from '../../core/access/limits.ts'
import type { Connection } from './index.ts'

/** KEYS[1]: the count of the window. ARGV[1]: milliseconds of a window that begins now. */
const openWindow = `
redis.call('SET', KEYS[1], 0, 'PX', ARGV[1], 'NX')
if redis.call('PTTL', KEYS[1]) == -1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end`

/** ARGV[2]: points. */
const countAll = `${openWindow}
return {redis.call('INCRBY', KEYS[1], ARGV[2]), redis.call('PTTL', KEYS[1])}`

/** Counts one request if it is admitted. ARGV[2]: the limit. A sum over the limit means that it is not. */
const countAdmitted = `${openWindow}
local limit = tonumber(ARGV[2])
local points = tonumber(redis.call('GET', KEYS[1]))
if points >= limit then points = limit + 1 else points = redis.call('INCR', KEYS[1]) end
return {points, redis.call('PTTL', KEYS[1])}`

/** Limits for all processes with the same Redis, by its clock. Throws if Redis does not respond. */
export function redisLimiter(connection: Pick<Connection, 'script'>): SharedLimiter {
  const addPoints = connection.script(countAll, 1)
  const addAdmitted = connection.script(countAdmitted, 1)
  return {
    async charge(bucket, limit, windowSeconds, counting) {
      const keys = [keyOf(bucket, windowSeconds)]
      const windowMs = String(windowSeconds * 1000)
      const reply = await (counting === 'admitted'
        ? addAdmitted(keys, [windowMs, String(limit)])
        : addPoints(keys, [windowMs, '1']))
      return chargeOf(reply, limit)
    },
    async add(bucket, points, windowSeconds, remainingSeconds) {
      const [sum = 0] = await addPoints([keyOf(bucket, windowSeconds)], [String(remainingSeconds * 1000), String(points)])
      return sum
    },
  }
}

function keyOf(bucket: string, windowSeconds: number): string {
  return `swapgate:limit:${windowSeconds}:${bucket}`
}

function chargeOf([points = 0, remainingMs = 0]: readonly number[], limit: number): Charge {
  return { isOver: points > limit, remaining: Math.max(0, limit - points), resetSeconds: Math.ceil(remainingMs / 1000) }
}

/** rate-limiter-flexible: fixed windows as in memory, counted in Redis. */
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible'
import type { SharedLimiter } from '../../core/access/limit-fallback.ts'
import type { Charge } from '../../core/access/limits.ts'
import type { Connection, Script } from './index.ts'

/** The same window, but counts only admitted requests; a window that has lost its end gets a new one, as in the library. ARGV: the limit, and the window in milliseconds. */
const chargeAdmitted = `
redis.call('SET', KEYS[1], 0, 'PX', ARGV[2], 'NX')
if redis.call('PTTL', KEYS[1]) == -1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
local isOver = tonumber(redis.call('GET', KEYS[1])) >= tonumber(ARGV[1])
local points = isOver and tonumber(ARGV[1]) or redis.call('INCR', KEYS[1])
return {isOver and 1 or 0, points, redis.call('PTTL', KEYS[1])}`

/** Limits shared by all processes with the same Redis. Windows follow its clock. Throws if Redis does not respond. */
export function redisLimiter(connection: Pick<Connection, 'script'>): SharedLimiter {
  const limiters = new Map<number, RateLimiterRedis>()
  const limiterFor = (window: number): RateLimiterRedis => {
    const known = limiters.get(window)
    if (known) return known
    const limiter = new RateLimiterRedis({
      storeClient: createStoreClient(connection),
      keyPrefix: prefixOf(window),
      points: Number.MAX_SAFE_INTEGER,
      duration: window,
    })
    limiters.set(window, limiter)
    return limiter
  }
  const chargeScript = connection.script(chargeAdmitted, 1)
  const chargeIfAdmitted = async (bucket: string, limit: number, window: number): Promise<Charge> => {
    const [isOver, points = 0, remainingMs = 0] = await chargeScript(
      [`${prefixOf(window)}:${bucket}`],
      [String(limit), String(window * 1000)],
    )
    return { isOver: isOver === 1, remaining: Math.max(0, limit - points), resetSeconds: Math.ceil(remainingMs / 1000) }
  }
  // The library's own limit is never reached: the caller applies the limit, and every request is counted.
  return {
    charge: (bucket, limit, window, counting) =>
      counting === 'admitted'
        ? chargeIfAdmitted(bucket, limit, window)
        : limiterFor(window)
            .consume(bucket)
            .then((state) => chargeOf(state, limit)),
    add: (bucket, points, window, remainingMs) =>
      limiterFor(window)
        .consume(bucket, points, { customDuration: remainingMs })
        .then(({ consumedPoints }) => consumedPoints),
  }
}

function prefixOf(window: number): string {
  return `swapgate:limit:${window}`
}

function chargeOf({ consumedPoints, msBeforeNext }: RateLimiterRes, limit: number): Charge {
  return {
    isOver: consumedPoints > limit,
    remaining: Math.max(0, limit - consumedPoints),
    resetSeconds: Math.ceil(msBeforeNext / 1000),
  }
}

/** The library's interface of a Redis client: it defines a script and calls it by name. */
function createStoreClient(connection: Pick<Connection, 'script'>) {
  let script: Script | undefined
  return {
    defineCommand(_: string, { lua, numberOfKeys }: { readonly lua: string; readonly numberOfKeys: number }) {
      script = connection.script(lua, numberOfKeys)
    },
    rlflxIncr: ([key = '', ...args]: readonly string[]) => script?.([key], args),
  }
}

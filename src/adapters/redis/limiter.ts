/** rate-limiter-flexible: the same fixed windows as in memory, counted by its script in Redis. */
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible'
import type { SharedLimiter } from '../../core/fallback.ts'
import type { Connection, Script } from '../redis.ts'

/** Limits of all processes that use the same Redis, whose clock the windows follow. Throws where it does not answer. */
export function redisLimiter(connection: Pick<Connection, 'script'>): SharedLimiter {
  const limiters = new Map<number, RateLimiterRedis>()
  const limiterFor = (window: number): RateLimiterRedis => {
    const known = limiters.get(window)
    if (known) return known
    const limiter = new RateLimiterRedis({
      storeClient: storeOn(connection),
      keyPrefix: `swapgate:limit:${window}`,
      points: Number.MAX_SAFE_INTEGER,
      duration: window,
    })
    limiters.set(window, limiter)
    return limiter
  }
  // It rejects beyond its points, which are out of reach: the limit is the caller's, and every request is counted.
  return {
    charge: (bucket, limit, window) =>
      limiterFor(window)
        .consume(bucket)
        .then((state) => chargeOf(state, limit)),
    add: (bucket, points, window, rest) =>
      limiterFor(window)
        .consume(bucket, points, { customDuration: rest })
        .then(({ consumedPoints }) => consumedPoints),
  }
}

function chargeOf({ consumedPoints, msBeforeNext }: RateLimiterRes, limit: number) {
  return {
    isOver: consumedPoints > limit,
    remaining: Math.max(0, limit - consumedPoints),
    reset: Math.ceil(msBeforeNext / 1000),
  }
}

/** What the library asks of a client: it defines its script, and then calls it by its name. */
function storeOn(connection: Pick<Connection, 'script'>) {
  let script: Script | undefined
  return {
    defineCommand(_: string, { lua, numberOfKeys }: { readonly lua: string; readonly numberOfKeys: number }) {
      script = connection.script(lua, numberOfKeys)
    },
    rlflxIncr: ([key = '', ...args]: readonly string[]) => script?.([key], args),
  }
}

/** rate-limiter-flexible: fixed windows as in memory, counted in Redis. */
import { RateLimiterRedis } from 'rate-limiter-flexible'
import type { Charge, SharedLimiter } from '../../core/access/limits.ts'
import type { SharedVerifiedKeys } from '../../core/access/store-outage.ts'
import type { Budgets } from '../../core/resilience/budget-limit.ts'
import type { WinnerStore } from '../../core/routing/winners.ts'
import { toAmount } from '../../domain/amount.ts'
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

// Budgets in Redis: the rule of `core/resilience/memory-budgets.ts` as scripts. The keys of a bucket share a slot.

/** KEYS[1]: the grants, sorted by time. ARGV[1]: the limit. */
const prepare = `
local minute, limit = 60000, tonumber(ARGV[1])
local past = '(' .. string.format('%.0f', now - minute)
local function live(grants)
  redis.call('ZREMRANGEBYSCORE', grants, '-inf', past)
  return redis.call('ZCARD', grants)
end
local function grant(grants, name)
  redis.call('ZADD', grants, now, name)
  redis.call('PEXPIRE', grants, minute + 1000)
end
local function refuse(free)
  local oldest = tonumber(redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]) or now
  return {0, math.max(0, free), math.max(1, math.ceil((oldest + minute + 1 - now) / 1000))}
end
local used = live(KEYS[1])
local free, name = limit - used, string.format('%.0f-%d', now, used)
`

const aloneScript = `${prepare}
if free <= 0 then return refuse(free) end
grant(KEYS[1], name)
return {1, free - 1, 0}`

/** KEYS[2]: the grants of the consumer. KEYS[3]: the consumers, sorted by the second of their last call. ARGV[2]: the consumer. */
const sharedScript = `${prepare}
local maxConsumers, maxRemoved = 100000, 16
local second = math.floor(now / 1000)
local over = second - 60
for _, consumer in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', over, 'LIMIT', 0, maxRemoved)) do
  redis.call('ZREM', KEYS[3], consumer)
end
if redis.call('ZCARD', KEYS[3]) < maxConsumers then
  redis.call('ZADD', KEYS[3], second, ARGV[2])
  redis.call('PEXPIRE', KEYS[3], minute + 1000)
end
local consumers = redis.call('ZCOUNT', KEYS[3], '(' .. over, '+inf')
local left = 0
if live(KEYS[2]) >= limit / math.max(consumers, 2) then
  if consumers >= 2 then left = math.ceil(limit / 5)
  elseif limit >= 10 then left = math.floor(limit / 5) end
end
if free <= left then return refuse(free) end
grant(KEYS[1], name)
grant(KEYS[2], name)
return {1, free - 1, 0}`

/** Throws if Redis does not respond. */
export function redisBudgets(connection: Pick<Connection, 'prefix' | 'script'>): Budgets {
  const reserveAlone = connection.script(aloneScript, 1)
  const reserveShared = connection.script(sharedScript, 3)
  return {
    async reserve(bucket, limit, consumer) {
      // The part in braces decides the slot. Encoding removes braces from the bucket's name.
      const key = `${connection.prefix}:budget:{${encodeURIComponent(bucket)}}`
      const grants = `${key}:grants`
      const [granted, remaining = 0, retryAfter = 0] =
        consumer === undefined
          ? await reserveAlone([grants], [String(limit)])
          : await reserveShared([grants, `${grants}:${consumer}`, `${key}:askers`], [String(limit), consumer])
      return { isGranted: granted === 1, remaining, retryAfter }
    },
  }
}

// Verified keys that all processes share: a key of Redis for each, with the same expiry.

const findKeyLua = `return {redis.call('PTTL', KEYS[1])}`
const addKeyLua = `
redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
return {1}`

/** All methods throw if Redis does not respond. `name` is a part of the keys in Redis. */
export function redisVerifiedKeys(
  connection: Pick<Connection, 'prefix' | 'script'>,
  name: 'verified' | 'refused',
): SharedVerifiedKeys {
  const [findScript, addScript] = [connection.script(findKeyLua, 1), connection.script(addKeyLua, 1)]
  const keyOf = (identity: string): string => `${connection.prefix}:${name}:${identity}`
  return {
    remainingMs: async (identity) => Math.max(0, (await findScript([keyOf(identity)], []))[0] ?? 0),
    add: async (identity, lifetime) => void (await addScript([keyOf(identity)], [String(lifetime)])),
  }
}

// Winners of quotes that all replicas share: a key of Redis for each, with the same expiry.

// A reply of a script is a list of integers: the bytes of `tag amount`, none where there is no winner.
const findWinnerLua = `
local winner = redis.call('GET', KEYS[1])
if not winner then return {0} end
return {string.byte(winner, 1, -1)}`
const saveWinnerLua = `
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {1}`

/** Both methods throw if Redis does not respond. */
export function redisWinners(connection: Pick<Connection, 'prefix' | 'script'>, lifetimeMs: number): WinnerStore {
  const [find, save] = [connection.script(findWinnerLua, 1), connection.script(saveWinnerLua, 1)]
  const keyOf = (key: string): string => `${connection.prefix}:winner:${key}`
  return {
    async find(key) {
      const bytes = await find([keyOf(key)], [])
      if (!bytes[0]) return undefined
      const [tag = '', amount = ''] = String.fromCharCode(...bytes).split(' ')
      return { tag, amountOut: toAmount(amount) }
    },
    save: async (key, { tag, amountOut }) => void (await save([keyOf(key)], [`${tag} ${amountOut ?? ''}`, String(lifetimeMs)])),
  }
}

/** Limits, budgets, verified keys, winners and places of streams that all processes with the same Redis share. Everything throws if Redis does not respond. */
import { RateLimiterRes } from 'rate-limiter-flexible'
import RateLimiterStore from 'rate-limiter-flexible/lib/RateLimiterStoreAbstract.js'
import type { LimitState, SharedLimiter } from '../../core/access/limits.ts'
import type { SharedVerifiedKeys } from '../../core/access/store-outage.ts'
import type { StreamLeases } from '../../core/access/stream-places.ts'
import type { Budgets } from '../../core/resilience/budget-limit.ts'
import type { WinnerStore } from '../../core/routing/winners.ts'
import { toAmount } from '../../domain/amount.ts'
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import type { Connection } from './index.ts'
import type { Script } from './script-batch.ts'

// Limits: fixed windows as in memory. They end on the clock of Redis.

/** ARGV: points, the window in milliseconds, and the limit: what is beyond it is not counted. Without one all points are. */
const consumeLua = `
local sum, left = call('INCRBY', KEYS[1], ARGV[1]), call('PTTL', KEYS[1])
if left < 0 then
  call('PEXPIRE', KEYS[1], ARGV[2])
  left = tonumber(ARGV[2])
end
if ARGV[3] and sum > tonumber(ARGV[3]) then call('DECRBY', KEYS[1], ARGV[1]) end
return {sum, left}`

/**
 * rate-limiter-flexible with a store of our own, as its README describes it: its limiter for Redis sends each command alone, and without
 * a deadline. Its `inMemoryBlockOnConsumed` is not used: it ends on the wall clock, has no bound, and searches all of it for each new key.
 */
class ScriptedLimiter extends RateLimiterStore {
  private readonly script: Script

  constructor(script: Script, keyPrefix: string, points: number) {
    super({ storeClient: script, keyPrefix, points, duration: 1 })
    this.script = script
  }

  _upsert(key: string, points: number, windowMs: number) {
    return this.script([key], [String(points), String(windowMs), String(this.points)])
  }

  _getRateLimiterRes(_key: string, points: number, [consumed = 0, remainingMs = 0]: readonly number[]): RateLimiterRes {
    return new RateLimiterRes(Math.max(0, this.points - consumed), remainingMs, consumed, consumed === points)
  }
}

/** A window that has counted as many as the limit, and so refuses at this limit and at each lower one until it is over. */
interface Spent {
  readonly limit: number
  /** What was left of it. The difference of two times may be a little larger by rounding. */
  readonly leftMs: number
  /** On the clock of `performance.now()`. */
  readonly until: number
}

/** Bounds on memory: for a dropped one Redis is asked again. */
const [maxSpent, spentLifetimeMs] = [100_000, 60_000]

export function redisLimiter({ prefix, script }: Pick<Connection, 'prefix' | 'script'>): SharedLimiter {
  const consumeScript = script(consumeLua, 1)
  const limiters = new Map<number, ScriptedLimiter>()
  const limiterOf = (limit: number): ScriptedLimiter =>
    limiters.getOrInsertComputed(limit, () => new ScriptedLimiter(consumeScript, `${prefix}:limit`, limit))
  const spentWindows = new BoundedMap<Spent>({ share: cacheShares.limits, maxEntries: maxSpent, lifetimeMs: spentLifetimeMs })
  const consumeInRedis = async (key: string, limit: number, windowSeconds: number): Promise<LimitState> => {
    const result = await limiterOf(limit).consume(key, 1, { customDuration: windowSeconds }).catch(refusalOf)
    const { consumedPoints, remainingPoints: remaining, msBeforeNext } = result
    const now = performance.now()
    if (remaining === 0) spentWindows.set(key, { limit, leftMs: msBeforeNext, until: now + msBeforeNext }, now)
    return { isOver: consumedPoints > limit, remaining, resetSeconds: secondsOf(msBeforeNext) }
  }
  return {
    consume(bucket, limit, windowSeconds) {
      const key = `${windowSeconds}:${bucket}`
      const now = performance.now()
      const spent = spentWindows.get(key, now)
      if (!spent || spent.limit < limit || spent.until <= now) return consumeInRedis(key, limit, windowSeconds)
      return Promise.resolve({ isOver: true, remaining: 0, resetSeconds: secondsOf(Math.min(spent.until - now, spent.leftMs)) })
    },
    async add(bucket, points, windowSeconds, remainingSeconds) {
      const [sum = 0] = await consumeScript(
        [`${prefix}:limit:${windowSeconds}:${bucket}`],
        [String(points), String(remainingSeconds * 1000)],
      )
      return sum
    },
  }
}

const secondsOf = (milliseconds: number): number => Math.ceil(milliseconds / 1000)

/** The library throws what is over its limit, too. */
function refusalOf(reason: unknown): RateLimiterRes {
  if (reason instanceof RateLimiterRes) return reason
  throw reason
}

// Budgets in Redis: the rule of `adapters/memory.ts` as scripts. The keys of a bucket share a slot.

/** KEYS[1]: the grants, sorted by time. ARGV[1]: the limit. */
const prepare = `
local minute, limit = 60000, tonumber(ARGV[1])
local past = '(' .. string.format('%.0f', now - minute)
local function live(grants)
  call('ZREMRANGEBYSCORE', grants, '-inf', past)
  return call('ZCARD', grants)
end
local function grant(grants, name)
  call('ZADD', grants, now, name)
  call('PEXPIRE', grants, minute + 1000)
end
local function refuse(free)
  local oldest = tonumber(call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]) or now
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
for _, consumer in ipairs(call('ZRANGEBYSCORE', KEYS[3], '-inf', over, 'LIMIT', 0, maxRemoved)) do
  call('ZREM', KEYS[3], consumer)
end
if call('ZCARD', KEYS[3]) < maxConsumers then
  call('ZADD', KEYS[3], second, ARGV[2])
  call('PEXPIRE', KEYS[3], minute + 1000)
end
local consumers = call('ZCOUNT', KEYS[3], '(' .. over, '+inf')
local left = 0
if live(KEYS[2]) >= limit / math.max(consumers, 2) then
  if consumers >= 2 then left = math.ceil(limit / 5)
  elseif limit >= 10 then left = math.floor(limit / 5) end
end
if free <= left then return refuse(free) end
grant(KEYS[1], name)
grant(KEYS[2], name)
return {1, free - 1, 0}`

export function redisBudgets(connection: Pick<Connection, 'prefix' | 'script'>): Budgets {
  const reserveAlone = connection.script(aloneScript, 1)
  const reserveShared = connection.script(sharedScript, 3)
  return {
    reserve(bucket, limit, consumer) {
      // The part in braces decides the slot: the bucket's name must have none.
      const key = `${connection.prefix}:budget:{${bucket.replaceAll(/[%{}]/g, encodeURIComponent)}}`
      const grants = `${key}:grants`
      return (
        consumer === undefined
          ? reserveAlone([grants], [String(limit)])
          : reserveShared([grants, `${grants}:${consumer}`, `${key}:askers`], [String(limit), consumer])
      ).then(([granted, remaining = 0, retryAfter = 0]) => ({ isGranted: granted === 1, remaining, retryAfter }))
    },
  }
}

// Verified keys that all processes share: a key of Redis for each, with the same expiry.

const findKeyLua = `return {call('PTTL', KEYS[1])}`
const addKeyLua = `
call('SET', KEYS[1], 1, 'PX', ARGV[1])
return {1}`

/** `name` is a part of the keys in Redis. */
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

// A reply of a script is a list of integers: the bytes of `tag amount settings`, none where there is no winner.
const findWinnerLua = `
local winner = call('GET', KEYS[1])
if not winner then return {0} end
return {string.byte(winner, 1, -1)}`
const saveWinnerLua = `
call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {1}`

export function redisWinners(connection: Pick<Connection, 'prefix' | 'script'>, lifetimeMs: number): WinnerStore {
  const [find, save] = [connection.script(findWinnerLua, 1), connection.script(saveWinnerLua, 1)]
  const keyOf = (key: string): string => `${connection.prefix}:winner:${key}`
  return {
    async find(key) {
      const bytes = await find([keyOf(key)], [])
      if (!bytes[0]) return undefined
      const [tag = '', amount = '', settings] = String.fromCharCode(...bytes).split(' ')
      return { tag, quotedAmount: toAmount(amount), ...(settings !== undefined && { settings }) }
    },
    save: async (key, { tag, quotedAmount = '', settings }) =>
      void (await save(
        [keyOf(key)],
        [[tag, quotedAmount, ...(settings === undefined ? [] : [settings])].join(' '), String(lifetimeMs)],
      )),
  }
}

// Places of streams: of an identity one sorted set of leases, by when each ends on the clock of Redis.

/** ARGV[1]: how long a lease lasts. What ends later than a new one is of a clock that was set back. */
const leaseLua = `
local ends = now + tonumber(ARGV[1])
call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
call('ZREMRANGEBYSCORE', KEYS[1], '(' .. string.format('%.0f', ends), '+inf')
local function lease(name)
  call('ZADD', KEYS[1], string.format('%.0f', ends), name)
  call('PEXPIRE', KEYS[1], ARGV[1])
end
`

const takeLeaseLua = `${leaseLua}
if call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return {0} end
lease(ARGV[2])
return {1}`

const renewLeasesLua = `${leaseLua}
for at = 2, #ARGV do lease(ARGV[at]) end
return {1}`

const releaseLeaseLua = `return {call('ZREM', KEYS[1], ARGV[1])}`

export function redisStreamLeases({ prefix, script }: Pick<Connection, 'prefix' | 'script'>, leaseMs: number): StreamLeases {
  const [take, renew, release] = [script(takeLeaseLua, 1), script(renewLeasesLua, 1), script(releaseLeaseLua, 1)]
  const keysOf = (identity: string): readonly string[] => [`${prefix}:streams:${identity}`]
  return {
    take: async (identity, lease, max) =>
      (await take(keysOf(identity), [String(leaseMs), lease, String(Math.min(max, Number.MAX_SAFE_INTEGER))]))[0] === 1,
    renew: async (identity, leases) => void (await renew(keysOf(identity), [String(leaseMs), ...leases])),
    release: async (identity, lease) => void (await release(keysOf(identity), [lease])),
  }
}

/** Budgets in Redis: the rule of `core/resilience/memory-budgets.ts` as scripts. The keys of a bucket share a slot. */
import type { Budgets } from '../../core/resilience/budget-limit.ts'
import type { Connection } from './index.ts'

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

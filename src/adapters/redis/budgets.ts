/** Budgets in Redis: the rule of `core/allotment.ts` as one script, on two keys of one slot for each bucket. */
import type { Budgets } from '../../core/budget.ts'
import type { Connection } from '../redis.ts'

/** KEYS: the grants by time, and what is known of each caller. ARGV: the limit, the caller. */
const reservation = `
local minute, memory, mostCallersPerCall = 60000, 300000, 4
local limit, name = tonumber(ARGV[1]), ARGV[2]

local function read(text)
  local numbers = {}
  for number in string.gmatch(text, '%S+') do numbers[#numbers + 1] = tonumber(number) end
  local caller = {held = numbers[1], asked = numbers[2], before = numbers[3], since = numbers[4], refused = numbers[5]}
  local minutes = math.floor((now - caller.since) / minute)
  if minutes > 0 then
    caller.before = minutes == 1 and caller.asked or 0
    caller.asked = 0
    caller.since = caller.since + minutes * minute
  end
  return caller
end

local function write(who, caller)
  local text = string.format('%d %d %d %.0f %.0f', caller.held, caller.asked, caller.before, caller.since, caller.refused)
  redis.call('HSET', KEYS[2], who, text)
end

local callers, count = {}, 0
local flat = redis.call('HGETALL', KEYS[2])
for at = 1, #flat, 2 do
  callers[flat[at]] = read(flat[at + 1])
  count = count + 1
end

local past = '(' .. string.format('%.0f', now - minute)
for _, grant in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', past)) do
  local who = string.match(grant, '^%S+ (.*)$')
  if callers[who] then
    callers[who].held = callers[who].held - 1
    write(who, callers[who])
  end
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', past)
for who, caller in pairs(callers) do
  if caller.held == 0 and caller.asked + caller.before == 0 then
    redis.call('HDEL', KEYS[2], who)
    callers[who] = nil
    count = count - 1
  end
end

local own = callers[name]
local isKnown = own ~= nil or count < mostCallersPerCall * limit
own = own or {held = 0, asked = 0, before = 0, since = now, refused = -1}

local function keptForOthers()
  local contenders, kept = 1, 0
  local function isWaiting(caller) return caller.refused >= 0 and now - caller.refused <= memory end
  for who, caller in pairs(callers) do
    if who ~= name and (caller.held > 0 or isWaiting(caller)) then contenders = contenders + 1 end
  end
  local share = math.max(1, math.floor(limit / contenders))
  if own.held < share then return 0 end
  for who, caller in pairs(callers) do
    if who ~= name and isWaiting(caller) then
      kept = kept + math.max(0, math.min(share, math.max(caller.asked, caller.before)) - caller.held)
    end
  end
  return kept
end

local used = redis.call('ZCARD', KEYS[1])
local free = limit - used
local isGranted = free > 0 and (own.held == 0 or free > keptForOthers())
own.asked = math.min(own.asked + 1, limit)
local reply
if isGranted then
  redis.call('ZADD', KEYS[1], now, string.format('%.0f-%d', now, used) .. ' ' .. name)
  own.held = own.held + 1
  reply = {1, free - 1, 0}
else
  own.refused = now
  local oldest = tonumber(redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]) or now
  reply = {0, 0, math.max(1, math.ceil((oldest + minute + 1 - now) / 1000))}
end
if isKnown then write(name, own) end
redis.call('PEXPIRE', KEYS[1], minute + memory)
redis.call('PEXPIRE', KEYS[2], minute + memory)
return reply`

/** Throws where Redis does not answer. */
export function redisBudgets(connection: Pick<Connection, 'script'>): Budgets {
  const reserving = connection.script(reservation, 2)
  return {
    async reserve(bucket, limit, caller) {
      // In braces stands what decides about the slot; encoded it holds none itself.
      const key = `swapgate:budget:{${encodeURIComponent(bucket)}}`
      const reply = await reserving([`${key}:grants`, `${key}:callers`], [String(limit), caller])
      const [granted, remaining = 0, retryAfter = 0] = reply
      return { isGranted: granted === 1, remaining, retryAfter }
    },
  }
}

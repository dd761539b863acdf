/** docs/contract-operators.md §8: budgets towards providers, in memory and in Redis by the same rule. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memoryBudgets } from '../../src/adapters/memory.ts'
import { redisBudgets } from '../../src/adapters/redis/stores.ts'
import type { Budgets } from '../../src/core/resilience/budget-limit.ts'
import { RedisServer } from '../support/redis.ts'

let redis: RedisServer
let now = 1_700_000_000_000

beforeAll(async () => {
  redis = await RedisServer.start()
})
afterAll(() => redis[Symbol.asyncDispose]())

/** The real script in a real Redis, on the clock of the test. */
function withClock(lua: string, numberOfKeys: number) {
  const body = `local now, call = tonumber(ARGV[#ARGV]), redis.call\n${lua}`
  return async (keys: readonly string[], args: readonly string[]): Promise<readonly number[]> => {
    const reply = await redis.command('EVAL', body, String(numberOfKeys), ...keys, ...args, String(now))
    return [...reply.matchAll(/^:(-?\d+)/gm)].map(([, digits]) => Number(digits))
  }
}

const stores: readonly (readonly [string, () => Budgets])[] = [
  ['in memory', () => memoryBudgets(() => now)],
  ['in Redis', () => redisBudgets({ prefix: 'swapgate', script: withClock })],
]

let buckets = 0

/** Calls at times in milliseconds; each with its caller. Returns which were granted. */
async function play(budgets: Budgets, limit: number, calls: readonly (readonly [at: number, caller: string])[]) {
  const bucket = `alpha:quotes:${buckets++}`
  const start = now
  const granted: [number, string][] = []
  for (const [at, caller] of calls) {
    now = start + at
    if ((await budgets.reserve(bucket, limit, caller)).isGranted) granted.push([at, caller])
  }
  now += 1_000_000
  return granted
}

/** Each caller calls at its interval (milliseconds), from its own start on. */
function allCallers(until: number, callers: Readonly<Record<string, { readonly every: number; readonly from: number }>>) {
  const calls = Object.entries(callers).flatMap(([caller, { every, from }]) =>
    Array.from({ length: Math.ceil((until - from) / every) }, (_, at): [number, string] => [from + at * every, caller]),
  )
  return calls.sort(([a], [b]) => a - b)
}

function counted(granted: readonly (readonly [number, string])[], from: number, to: number, caller: string): number {
  return granted.filter(([at, name]) => at >= from && at < to && name === caller).length
}

function maxInAnyMinute(granted: readonly (readonly [number, string])[]): number {
  return Math.max(...granted.map(([from]) => granted.filter(([at]) => at >= from && at - from <= 60_000).length))
}

describe.each(stores)('%s', (_, make) => {
  it('R14: no window of 60 seconds has more calls than the limit', async () => {
    const granted = await play(make(), 5, allCallers(200_000, { a: { every: 1_700, from: 0 }, b: { every: 2_300, from: 30_000 } }))
    expect(maxInAnyMinute(granted)).toBe(5)
  })

  it('a lone caller leaves a fifth to the next one, minute by minute', async () => {
    const granted = await play(make(), 10, allCallers(240_000, { lone: { every: 1_000, from: 0 } }))
    expect(granted).toHaveLength(32)
  })

  it('returns what remains, and when one may be granted again', async () => {
    const budgets = make()
    const bucket = `test:${buckets++}`
    expect(await budgets.reserve(bucket, 2, 'a')).toEqual({ isGranted: true, remaining: 1, retryAfter: 0 })
    now += 10_500
    expect(await budgets.reserve(bucket, 2, 'b')).toEqual({ isGranted: true, remaining: 0, retryAfter: 0 })
    expect(await budgets.reserve(bucket, 2, 'a')).toEqual({ isGranted: false, remaining: 0, retryAfter: 50 })
    now += 49_501
    expect((await budgets.reserve(bucket, 2, 'a')).isGranted).toBe(true)
  })

  it('R11: buckets and callers do not get into each other, whatever is in their names', async () => {
    const budgets = make()
    const names = ['a', 'a}', '{a}', 'a:grants', 'a\n', 'a b', '%7D', '']
    for (const name of names) {
      expect((await budgets.reserve(`injected:${name}`, 1, 'x')).isGranted, JSON.stringify(name)).toBe(true)
      expect((await budgets.reserve(`injected:${name}`, 1, 'x')).isGranted, JSON.stringify(name)).toBe(false)
    }
    now += 1_000_000
    for (const caller of names) expect((await budgets.reserve('callers', names.length, caller)).isGranted).toBe(true)
  })

  it('R16: one caller cannot use up the budget for the others, at the default numbers', async () => {
    const flood = Array.from({ length: 60 }, (_, at): [number, string] => [at, 'greedy'])
    const others = Array.from({ length: 10 }, (_, at): [number, string] => [100 + at, `other ${at}`])
    const granted = await play(make(), 54, [...flood, ...others])
    expect(counted(granted, 0, 1_000, 'greedy')).toBe(44)
    for (const [at, name] of others) expect(counted(granted, at, at + 1, name), name).toBe(1)
  })

  it('R16: many requests under one name are one caller, and the other gets the last fifth', async () => {
    const manyConsumers = Array.from({ length: 300 }, (_, at): [number, string] => [at * 100, 'anonymous'])
    const victim = Array.from({ length: 11 }, (_, at): [number, string] => [40_000 + at, 'victim'])
    const granted = await play(make(), 54, [...manyConsumers, ...victim])
    expect(counted(granted, 40_000, 41_000, 'victim')).toBeGreaterThanOrEqual(10)
  })

  it('R14: a greedy caller leaves to a modest one the last fifth, in every minute', async () => {
    const callers = { greedy: { every: 250, from: 0 }, modest: { every: 15_000, from: 1_000 } }
    const granted = await play(make(), 20, allCallers(420_000, callers))
    expect(maxInAnyMinute(granted)).toBeLessThanOrEqual(20)
    expect(counted(granted, 0, 420_000, 'modest')).toBe(28)
    expect(counted(granted, 0, 420_000, 'greedy')).toBeGreaterThanOrEqual(7 * 12)
  })

  it('R14: nine modest callers beside a greedy one each get their call', async () => {
    const modest = Array.from({ length: 9 }, (_, at) => [`modest ${at}`, { every: 60_500, from: 1_000 * at + 500 }] as const)
    const calls = allCallers(360_000, { greedy: { every: 400, from: 0 }, ...Object.fromEntries(modest) })
    const granted = await play(make(), 50, calls)
    expect(maxInAnyMinute(granted)).toBeLessThanOrEqual(50)
    for (const [name] of modest) expect(counted(granted, 0, 360_000, name), name).toBe(6)
  })

  it('a bucket without callers is granted to the last call', async () => {
    const budgets = make()
    const bucket = `unshared:${buckets++}`
    const calls: boolean[] = []
    for (let call = 0; call < 12; call++) calls.push((await budgets.reserve(bucket, 10)).isGranted)
    expect(calls.filter(Boolean)).toHaveLength(10)
    expect(await budgets.reserve(bucket, 10)).toEqual({ isGranted: false, remaining: 0, retryAfter: 61 })
  })
})

it('both decide alike, call by call', async () => {
  const [memory, shared] = stores.map(([, make]) => make()) as [Budgets, Budgets]
  let seed = 7
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const bucket = `alike:${buckets++}`
  for (let at = 0; at < 1_500; at++) {
    now += random(3_000)
    const caller = random(9) ? `asker ${random(random(2) ? 2 : 7)}` : undefined
    expect(await shared.reserve(bucket, 12, caller), `call ${at}`).toEqual(await memory.reserve(bucket, 12, caller))
  }
})

it('R17: a decision costs Redis the same for 10 and for 5,000 callers', async () => {
  const budgets = redisBudgets({ prefix: 'swapgate', script: withClock })
  const microseconds = async (): Promise<number> => {
    const stats = await redis.command('INFO', 'commandstats')
    return Number(/cmdstat_eval:calls=\d+,usec=(\d+)/.exec(stats)?.[1] ?? 0)
  }
  const costOf = async (callers: number): Promise<number> => {
    const bucket = `cost:${callers}`
    const play = async (calls: number): Promise<void> => {
      for (let call = 0; call < calls; call++) {
        now += 5
        await budgets.reserve(bucket, 60, `asker ${call % callers}`)
      }
    }
    await play(callers)
    const before = await microseconds()
    await play(500)
    return ((await microseconds()) - before) / 500
  }
  const [few, many] = [await costOf(10), await costOf(5_000)]
  expect(many, `${few} and ${many} microseconds`).toBeLessThan(Math.max(5 * few, 2_000))
})

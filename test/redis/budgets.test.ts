/** Contract §8: budgets towards providers, in memory and in Redis by the same rule. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { redisBudgets } from '../../src/adapters/redis/budgets.ts'
import { memoryBudgets } from '../../src/core/allotment.ts'
import type { Budgets } from '../../src/core/budget.ts'
import { RedisServer } from '../support/redis.ts'

let redis: RedisServer
let now = 1_700_000_000_000

beforeAll(async () => {
  redis = await RedisServer.start()
})
afterAll(() => redis[Symbol.asyncDispose]())

/** The real script in a real Redis, on the clock of the test. */
function withClock(lua: string, numberOfKeys: number) {
  const body = `local now = tonumber(ARGV[#ARGV])\n${lua}`
  return async (keys: readonly string[], args: readonly string[]): Promise<readonly number[]> => {
    const reply = await redis.command('EVAL', body, String(numberOfKeys), ...keys, ...args, String(now))
    return [...reply.matchAll(/^:(-?\d+)/gm)].map(([, digits]) => Number(digits))
  }
}

const stores: readonly (readonly [string, () => Budgets])[] = [
  ['in memory', () => memoryBudgets(() => now)],
  ['in Redis', () => redisBudgets({ script: withClock })],
]

let buckets = 0

/** Calls at moments in milliseconds; each with its caller. Tells which were granted. */
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

/** Everybody calls every so many milliseconds, from his own beginning on. */
function everyone(until: number, callers: Readonly<Record<string, { readonly every: number; readonly from: number }>>) {
  const calls = Object.entries(callers).flatMap(([caller, { every, from }]) =>
    Array.from({ length: Math.ceil((until - from) / every) }, (_, at): [number, string] => [from + at * every, caller]),
  )
  return calls.sort(([a], [b]) => a - b)
}

function counted(granted: readonly (readonly [number, string])[], from: number, to: number, caller: string): number {
  return granted.filter(([at, name]) => at >= from && at < to && name === caller).length
}

function mostInAnyMinute(granted: readonly (readonly [number, string])[]): number {
  return Math.max(...granted.map(([from]) => granted.filter(([at]) => at >= from && at - from <= 60_000).length))
}

describe.each(stores)('%s', (_, make) => {
  it('R14: no 60 seconds see more than the limit, wherever they begin', async () => {
    const granted = await play(make(), 5, everyone(200_000, { a: { every: 1_700, from: 0 }, b: { every: 2_300, from: 30_000 } }))
    expect(mostInAnyMinute(granted)).toBe(5)
  })

  it('a lone caller gets every call that is free', async () => {
    const granted = await play(make(), 6, everyone(240_000, { lone: { every: 1_000, from: 0 } }))
    expect(granted).toHaveLength(24)
  })

  it('tells what remains, and when one may be granted again', async () => {
    const budgets = make()
    const bucket = `told:${buckets++}`
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

  it('R14: a greedy caller leaves to a modest one what he asks', async () => {
    const callers = { greedy: { every: 250, from: 0 }, modest: { every: 6_000, from: 20_000 } }
    const granted = await play(make(), 20, everyone(420_000, callers))
    expect(mostInAnyMinute(granted)).toBe(20)
    // He asks ten times a minute, which is his share; the first minutes are the greedy one's, who was there before.
    for (let minute = 2; minute < 7; minute++) {
      const [from, to] = [minute * 60_000, (minute + 1) * 60_000]
      expect(counted(granted, from, to, 'modest'), `in minute ${minute}`).toBeGreaterThanOrEqual(9)
      expect(counted(granted, from, to, 'greedy'), `in minute ${minute}`).toBeLessThanOrEqual(11)
    }
  })

  it('R14: nine modest callers beside a greedy one each get their share', async () => {
    const modest = Array.from({ length: 9 }, (_, at) => [`modest ${at}`, { every: 13_000, from: 1_000 * at + 5_000 }] as const)
    const calls = everyone(360_000, { greedy: { every: 400, from: 0 }, ...Object.fromEntries(modest) })
    const granted = await play(make(), 50, calls)
    expect(mostInAnyMinute(granted)).toBe(50)
    for (const [name] of modest) expect(counted(granted, 120_000, 360_000, name), name).toBeGreaterThanOrEqual(15)
    expect(counted(granted, 120_000, 360_000, 'greedy')).toBeLessThanOrEqual(36)
  })

  it('what is kept for one who stays away is free again after two minutes', async () => {
    const calls = everyone(480_000, { greedy: { every: 500, from: 0 } })
    const granted = await play(
      make(),
      10,
      [...calls, [30_000, 'gone'] as [number, string]].sort(([a], [b]) => a - b),
    )
    expect(counted(granted, 180_000, 480_000, 'greedy')).toBeGreaterThanOrEqual(49)
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
    const caller = `caller ${random(random(2) ? 2 : 7)}`
    expect(await shared.reserve(bucket, 12, caller), `call ${at}`).toEqual(await memory.reserve(bucket, 12, caller))
  }
})

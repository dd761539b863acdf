/** docs/contract.md §7: limits that all replicas share. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { RedisServer } from '../support/redis.ts'
import { type Replica, startReplica } from './replica.ts'

let redis: RedisServer
let replicas: readonly Replica[]

beforeAll(async () => {
  redis = await RedisServer.start()
  replicas = await Promise.all(Array.from({ length: 4 }, () => startReplica(redis.url, 4)))
})
afterAll(async () => {
  for (const { close } of replicas) close()
  await redis[Symbol.asyncDispose]()
})
afterEach(() => void vi.restoreAllMocks())

const at = (index: number): Replica => replicas[index] as Replica

it('R22: refused requests are not counted among the admitted ones, over all replicas', async () => {
  const consume = (call: number, limit: number) => at(call % 4).limiter.consume('r22', limit, 60)
  const states = await Promise.all(Array.from({ length: 200 }, (_, call) => consume(call, 20)))
  expect(states.filter(({ isOver }) => !isOver)).toHaveLength(20)
  expect(await consume(0, 100)).toEqual({ isOver: false, remaining: 79, resetSeconds: 60 })
  expect(await at(1).limiter.consume('r22', 100, 60)).toMatchObject({ isOver: false, remaining: 78 })
})

it('R22: an address of which a key was refused is known to every replica, for a minute', async () => {
  at(0).refusedAddresses.add('2001:db8:1:2::3')
  await expect.poll(() => at(1).refusedAddresses.has('2001:db8:1:2::4')).toBe(true)
  expect(await at(2).refusedAddresses.has('2001:db8:1:3::4')).toBe(false)
  expect(Number((await redis.command('PTTL', 'swapgate:refused:2001:db8:1:2')).slice(1))).toBeLessThanOrEqual(60_000)
})

it('R14: of 200 calls at once over four replicas exactly the budget is granted', async () => {
  const calls = Array.from({ length: 200 }, (_, call) => at(call % 4).budgets.reserve('r14', 30, `asker ${call % 3}`))
  expect((await Promise.all(calls)).filter(({ isGranted }) => isGranted)).toHaveLength(30)
})

it('R13: what remains falls by one with each request, and the window does not begin anew', async () => {
  for (let call = 1; call <= 5; call++) {
    const { remaining, resetSeconds: reset } = await at(call % 4).limiter.consume('r13', 4, 60)
    expect(remaining).toBe(Math.max(0, 4 - call))
    expect(reset).toBeGreaterThan(50)
    expect(reset).toBeLessThanOrEqual(60)
  }
})

it('R3: after the window, which Redis keeps, the next request is admitted', async () => {
  await at(0).limiter.consume('r3', 1, 1)
  const { isOver, resetSeconds: reset } = await at(1).limiter.consume('r3', 1, 1)
  const refusedAt = performance.now()
  expect([isOver, reset]).toEqual([true, 1])
  // A timer of a busy loop is early, and Redis keeps a key to the end of its last millisecond.
  while (performance.now() - refusedAt < reset * 1000 + 2) await delay(10)
  expect((await at(2).limiter.consume('r3', 1, 1)).isOver).toBe(false)
})

it('R11: buckets do not get into each other, whatever is in their names', async () => {
  const names = ['a', 'a:b', 'a\nb', 'a\r\nDEL a', '{a}', '{a}b', '}', '*', '', 'swapgate:limit:60:a', '\0']
  for (const name of names) expect((await at(0).limiter.consume(`r11:${name}`, 1, 60)).isOver, JSON.stringify(name)).toBe(false)
  expect((await at(0).limiter.consume('r11:a', 1, 61)).isOver).toBe(false)
  for (const name of names) expect((await at(1).limiter.consume(`r11:${name}`, 1, 60)).isOver, JSON.stringify(name)).toBe(true)
})

it.each([3_600_000, -3_600_000])('R15: a jump of the clock here by %i ms changes nothing', async (jump) => {
  const bucket = `r15:${jump}`
  await at(0).limiter.consume(bucket, 3, 60)
  const now = Date.now
  vi.spyOn(Date, 'now').mockImplementation(() => now() + jump)
  const { isOver, remaining, resetSeconds: reset } = await at(0).limiter.consume(bucket, 3, 60)
  expect([isOver, remaining]).toEqual([false, 1])
  expect(reset).toBeGreaterThan(50)
  expect(reset).toBeLessThanOrEqual(60)
  expect((await at(1).limiter.consume(bucket, 3, 60)).remaining).toBe(0)
  expect((await at(1).limiter.consume(bucket, 3, 60)).isOver).toBe(true)
})

it('R15: a jump of the clock of Redis costs one more round trip, and counts nothing twice', async () => {
  const replica = await startReplica(redis.url, 4)
  await replica.limiter.consume('r15', 4, 60)
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() - 3_600_000) // For this process, Redis is an hour ahead.
  expect((await replica.limiter.consume('r15', 4, 60)).remaining).toBe(2)
  expect((await replica.limiter.consume('r15', 4, 60)).remaining).toBe(1)
  expect(replica.observations).toEqual([])
  replica.close()
})

it('takes one round trip for each call', async () => {
  const calls = async (): Promise<number> => {
    const stats = await redis.command('INFO', 'commandstats')
    return [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce((sum, [, count]) => sum + Number(count), 0)
  }
  const before = await calls()
  for (let call = 0; call < 10; call++) await at(0).limiter.consume('trips', 60, 60)
  expect((await calls()) - before).toBe(10)
})

it('a key that one replica verified is verified for the others, and looked up once', async () => {
  expect(await at(0).verifiedKeys.has('digest')).toBe(false)
  await at(0).verifiedKeys.add('digest')
  expect(await at(1).verifiedKeys.has('digest')).toBe(true)
  expect(await redis.command('PTTL', 'swapgate:verified:digest')).toMatch(/^:3[56]\d{5}\r/)
  await redis.command('DEL', 'swapgate:verified:digest')
  expect(await at(1).verifiedKeys.has('digest')).toBe(true)
  expect(await at(2).verifiedKeys.has('digest')).toBe(false)
})

it.each(['SCRIPT FLUSH', 'FLUSHALL'])('R7: %s costs no response', async (command) => {
  await redis.command(...command.split(' '))
  const states = await Promise.all(replicas.map(({ limiter }) => limiter.consume(`r7:${command}`, 3, 60)))
  expect(states.map(({ remaining }) => remaining).sort()).toEqual([0, 0, 1, 2])
  expect(replicas.flatMap(({ observations }) => observations)).toEqual([])
})

it('R10: a window without an end gets one', async () => {
  for (const replica of [0, 1]) await at(replica).limiter.consume('r10', 2, 60)
  expect(await redis.command('PERSIST', 'swapgate:limit:60:r10')).toBe(':1\r\n')
  expect(await at(2).limiter.consume('r10', 2, 60)).toEqual({ isOver: true, remaining: 0, resetSeconds: 60 })
})

it('gateways with another prefix share nothing', async () => {
  const other = await startReplica(redis.url, 4, 'swapgate-staging')
  for (const { limiter, verifiedKeys, budgets } of [at(0), other]) {
    expect(await limiter.consume('apart', 5, 60)).toMatchObject({ remaining: 4 })
    expect(await limiter.consume('apart-2', 5, 60)).toMatchObject({ remaining: 4 })
    expect(await budgets.reserve('apart', 1, undefined)).toMatchObject({ isGranted: true })
    expect(await verifiedKeys.has('apart')).toBe(false)
    await verifiedKeys.add('apart')
  }
  other.close()
  const keys = (await redis.command('KEYS', '*')).split('\r\n').filter((line) => line.startsWith('swapgate'))
  expect(keys).toContain('swapgate-staging:data-id')
  expect(keys.filter((key) => key.includes('apart') && key.startsWith('swapgate:'))).toHaveLength(4)
})

it('R10: whatever is kept for a limit, a key or a budget ends', async () => {
  await at(0).limiter.consume('r10', 3, 60)
  await at(0).verifiedKeys.add('r10')
  await at(0).budgets.reserve('r10', 3, 'a')
  const keys = (await redis.command('KEYS', '*')).split('\r\n').filter((line) => line.startsWith('swapgate:'))
  expect(keys.filter((key) => key.endsWith('r10') || key.includes('{r10}'))).toHaveLength(5)
  for (const key of keys.filter((name) => name !== 'swapgate:data-id')) {
    expect(await redis.command('PTTL', key), key).toMatch(/^:\d+\r/)
  }
})

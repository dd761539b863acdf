/** What one turn of the event loop asks of Redis is one call; what is known to be past its limit asks nothing. */
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { type Connection, openRedis } from '../../src/adapters/redis/index.ts'
import { redisLimiter } from '../../src/adapters/redis/stores.ts'
import { freshLookup } from '../../src/process/name-lookup.ts'
import { RedisServer } from '../support/redis.ts'
import { type Replica, startReplica } from './replica.ts'

let redis: RedisServer
let replica: Replica
let connection: Connection

beforeAll(async () => {
  redis = await RedisServer.start()
  replica = await startReplica(redis.url, 1)
  connection = await openRedis(redis.url, 'swapgate', freshLookup)
})
afterAll(async () => {
  replica.close()
  connection.close()
  await redis[Symbol.asyncDispose]()
})
afterEach(() => void vi.restoreAllMocks())

/** Calls of scripts that Redis had meanwhile. */
async function callsOf(work: () => Promise<unknown>): Promise<number> {
  const calls = async (): Promise<number> => {
    const stats = await redis.command('INFO', 'commandstats')
    return [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce((sum, [, count]) => sum + Number(count), 0)
  }
  const before = await calls()
  await work()
  return (await calls()) - before
}

it('limits, budgets and keys of one turn are one call', async () => {
  const { limiter, budgets, verifiedKeys } = replica
  const work = () =>
    Promise.all([
      ...Array.from({ length: 20 }, (_, at) => limiter.consume(`turn:${at}`, 60, 60)),
      ...Array.from({ length: 20 }, (_, at) => budgets.reserve(`turn:${at}`, 60, 'a')),
      limiter.consume('turn', 60, 60),
      verifiedKeys.has('turn'),
    ])
  expect(await callsOf(work)).toBe(1)
})

it('a turn of very many is a few calls, and each gets its own reply', async () => {
  const consumeAll = () => Promise.all(Array.from({ length: 450 }, (_, at) => replica.limiter.consume('many', at + 1, 60)))
  expect(await callsOf(async () => expect((await consumeAll()).filter(({ isOver }) => isOver)).toEqual([]))).toBe(5)
})

it('of two callers in one turn one gets the last point', async () => {
  await replica.limiter.consume('last', 2, 60)
  const states = await Promise.all([1, 2].map(() => replica.limiter.consume('last', 2, 60)))
  expect(states.map(({ isOver, remaining }) => [isOver, remaining])).toEqual([
    [false, 0],
    [true, 0],
  ])
})

it('what fails fails alone', async () => {
  await redis.command('RPUSH', 'swapgate:limit:60:broken', 'a list')
  const limiter = redisLimiter(connection)
  const [before, broken, after] = await Promise.allSettled(['good', 'broken', 'good'].map((name) => limiter.consume(name, 60, 60)))
  expect([before, after]).toMatchObject([{ value: { remaining: 59 } }, { value: { remaining: 58 } }])
  expect(broken).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining('WRONGTYPE') } })
})

it('a script that fails before it calls a command fails alone, too, and names none', async () => {
  const limiter = redisLimiter(connection)
  const [failing, refused] = [
    connection.script('return {ARGV[1] + 1}', 1),
    connection.script("return {redis.call('NONE', KEYS[1])}", 1),
  ]
  const [before, ...failures] = await Promise.allSettled([
    limiter.consume('calls', 60, 60),
    failing(['x'], ['a']),
    refused(['x'], []),
  ])
  expect(before).toMatchObject({ value: { remaining: 59 } })
  expect(failures).toMatchObject([
    { reason: { message: expect.stringMatching(/arithmetic.* \(\?\)$/) } },
    { reason: { message: expect.stringMatching(/Unknown Redis command.* \(\?\)$/) } },
  ])
})

it('no more than ten thousand wait', async () => {
  const limiter = redisLimiter(connection)
  const states = await Promise.allSettled(Array.from({ length: 10_100 }, (_, at) => limiter.consume(`crowd:${at}`, 60, 60)))
  // On a busy machine Redis takes longer for some than they wait.
  const refused = states.filter((state) => state.status === 'rejected' && String(state.reason).includes('Too much is waiting'))
  expect(refused).toHaveLength(100)
})

it('a client past its limit costs no call until its window ends, whatever the clock of this process does', async () => {
  for (let call = 0; call < 3; call++) await replica.limiter.consume('spent', 3, 60)
  const now = Date.now
  vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000)
  const refused = async () => {
    const { isOver, remaining, resetSeconds } = await replica.limiter.consume('spent', 3, 60)
    expect([isOver, remaining]).toEqual([true, 0])
    expect(resetSeconds).toBeGreaterThan(50)
    expect(resetSeconds).toBeLessThanOrEqual(60)
  }
  expect(await callsOf(refused)).toBe(0)
  vi.mocked(Date.now).mockImplementation(() => now() - 3_600_000)
  expect(await callsOf(refused)).toBe(0)
  const steady = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => steady() + 60_001)
  expect(await callsOf(() => replica.limiter.consume('spent', 3, 60))).toBeGreaterThan(0)
})

it('a limit that is raised is asked for again; at a lower one the window is past it, too', async () => {
  for (let call = 0; call < 4; call++) await replica.limiter.consume('raised', 3, 60)
  expect((await replica.limiter.consume('raised', 5, 60)).isOver).toBe(false)
  for (const limit of [1, 3]) expect((await replica.limiter.consume('raised', limit, 60)).isOver).toBe(true)
  expect((await replica.limiter.consume('raised', 6, 60)).isOver).toBe(false)
})

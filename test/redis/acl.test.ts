/** docs/limits.md: the smallest ACL. All that uses Redis works with it, and the log names each command that is taken away. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Connection, openRedis } from '../../src/adapters/redis/index.ts'
import { redisBudgets, redisLimiter, redisStreamLeases, redisVerifiedKeys, redisWinners } from '../../src/adapters/redis/stores.ts'
import { winnerLifetimeMs } from '../../src/core/routing/winners.ts'
import { toAmount } from '../../src/domain/amount.ts'
import { freshLookup } from '../../src/process/name-lookup.ts'
import { RedisServer } from '../support/redis.ts'
import { RedisCluster } from '../support/redis-cluster.ts'

const page = readFileSync('docs/limits.md', 'utf8')
const [, user = '', rules = ''] = /^ACL SETUSER (\S+) (.*)$/m.exec(page) ?? []
const words = rules.split(' ')
const commands = words.filter((word) => word.startsWith('+')).map((word) => word.slice(1))

let redis: RedisServer
beforeAll(async () => {
  redis = await RedisServer.start()
})
afterAll(() => redis[Symbol.asyncDispose]())

const withUser = (url: string): string => url.replace('://', `://${user}:password@`)

/** Each with what it says of its troubles. */
async function openAs(url: string, lines: string[]): Promise<Connection> {
  const connection = await openRedis(withUser(url), 'swapgate', freshLookup, ({ cause, message }) =>
    lines.push(`${cause}: ${message}`),
  )
  onTestFinished(() => connection.close())
  return connection
}

/** Each script, in each of its branches. */
async function useAll(connection: Connection): Promise<void> {
  await connection.dataId()
  const limiter = redisLimiter(connection)
  for (let times = 0; times < 3; times++) await limiter.consume(`address ${times % 2}`, 1, 60)
  await limiter.add('address 0', 3, 60, 30)
  const budgets = redisBudgets(connection)
  for (let times = 0; times < 12; times++) {
    await budgets.reserve('alpha:quotes', 10, `caller ${times % 3}`)
    await budgets.reserve('alpha:creates', 10)
  }
  for (const name of ['verified', 'refused'] as const) {
    const keys = redisVerifiedKeys(connection, name)
    await keys.add('one', 60_000)
    expect(await keys.remainingMs('one')).toBeGreaterThan(0)
  }
  const winners = redisWinners(connection, winnerLifetimeMs)
  await winners.save('one', { tag: 'alpha', quotedAmount: toAmount('1.5') })
  expect(await winners.find('one')).toMatchObject({ tag: 'alpha' })
  const leases = redisStreamLeases(connection, 60_000)
  expect([await leases.take('account', 'one', 1), await leases.take('account', 'two', 1)]).toEqual([true, false])
  await leases.renew('account', ['one', 'two'])
  for (const lease of ['one', 'two']) await leases.release('account', lease)
}

test('everything works with it, and Redis refuses nothing', async () => {
  await redis.command('ACL', 'SETUSER', user, ...words)
  await redis.command('ACL', 'LOG', 'RESET')
  const lines: string[] = []
  await useAll(await openAs(redis.url, lines))
  expect(lines).toEqual([])
  expect(await redis.command('ACL', 'LOG')).toBe('*0\r\n')
})

test('with another database it needs SELECT', async () => {
  await redis.command('ACL', 'SETUSER', user, 'reset', ...words, '+select')
  const lines: string[] = []
  await useAll(await openAs(`${redis.url}/3`, lines))
  expect(lines).toEqual([])
})

test.each(commands)('without %s the first check says so', async (command) => {
  await redis.command('ACL', 'SETUSER', user, 'reset', ...words.filter((word) => word !== `+${command}`))
  const lines: string[] = []
  const connection = await openAs(redis.url, lines)
  await connection.dataId().catch(() => {})
  await expect.poll(() => lines).toMatchObject([expect.stringMatching(`^permissions: .* may not run ${command.toUpperCase()};`)])
})

test.each([
  ['zremrangebyscore', 'renew'],
  ['zcard', 'take'],
  ['zadd', 'renew'],
  ['zrem', 'release'],
] as const)(
  'without %s no place of a stream can be had by %s, and all else of the same turn is answered',
  async (command, what) => {
    await redis.command('ACL', 'SETUSER', user, 'reset', ...words.filter((word) => word !== `+${command}`))
    const lines: string[] = []
    const connection = await openAs(redis.url, lines)
    const [limiter, leases] = [redisLimiter(connection), redisStreamLeases(connection, 60_000)]
    const asked = {
      take: leases.take(command, 'one', 1),
      renew: leases.renew(command, ['one']),
      release: leases.release(command, 'one'),
    }
    const others = ['before', 'after'].map((name) => limiter.consume(`${command} ${name}`, 60, 60))
    await Promise.allSettled(Object.values(asked))
    await expect(asked[what]).rejects.toThrow(`can't run this command or subcommand (${command.toUpperCase()})`)
    expect(await Promise.all(others)).toMatchObject([{ remaining: 59 }, { remaining: 59 }])
    expect(lines).toEqual([
      expect.stringMatching(`^permissions: .* may not run ${command.toUpperCase()};.*executing the script can't run`),
    ])
  },
)

test('without the keys of redis.prefix the first check says so', async () => {
  await redis.command('ACL', 'SETUSER', user, 'reset', ...words.map((word) => word.replace('~swapgate', '~other')))
  const lines: string[] = []
  await expect((await openAs(redis.url, lines)).dataId()).rejects.toThrow()
  expect(lines).toMatchObject([expect.stringMatching(/^permissions: .* may not use the keys of redis\.prefix/)])
})

test('in a cluster it needs CLUSTER SLOTS', async () => {
  await using cluster = await RedisCluster.start({ replicas: false })
  const give = (...more: readonly string[]) =>
    Promise.all(cluster.masters.map((node) => node.command('ACL', 'SETUSER', user, 'reset', ...words, ...more)))
  await give()
  const lines: string[] = []
  await openAs(cluster.url, lines)
  await expect.poll(() => lines[0]).toMatch(/^permissions: .* may not run CLUSTER\|SLOTS;/)
  await give('+cluster|slots', '+client|setname')
  for (const node of cluster.masters) await node.command('ACL', 'LOG', 'RESET')
  const later: string[] = []
  await useAll(await openAs(cluster.url, later))
  expect(later).toEqual([])
  for (const node of cluster.masters) expect(await node.command('ACL', 'LOG')).toBe('*0\r\n')
})

test('by sentinels with users it needs two commands of them', async () => {
  await redis.command('ACL', 'SETUSER', user, 'reset', ...words)
  const watcher = 'watcher on >password -@all +sentinel|get-master-addr-by-name'
  await using sentinel = await RedisServer.startSentinel(redis)
  const url = `redis+sentinel://${user}:password@127.0.0.1:${sentinel.port}/group?sentinel=watcher:password`
  const openBy = async (...more: readonly string[]) => {
    await sentinel.command('ACL', 'SETUSER', ...watcher.split(' '), ...more)
    const lines: string[] = []
    const connection = await openRedis(url, 'swapgate', freshLookup, ({ cause, message }) => lines.push(`${cause}: ${message}`))
    onTestFinished(() => connection.close())
    return { connection, lines }
  }
  const { lines } = await openBy()
  await expect.poll(() => lines[0]).toMatch(/^permissions: .* may not run SENTINEL\|SENTINELS;/)
  const allowed = await openBy('+sentinel|sentinels')
  await useAll(allowed.connection)
  expect(allowed.lines).toEqual([])
})

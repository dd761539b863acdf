// Takes long: outages last.
/** R7 and R8: Redis is lost while the gateway runs, in different ways, and comes back. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type LookupFunction, type Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { openRedis } from '../../src/adapters/redis/index.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { RedisServer } from '../support/redis.ts'
import { startReplica, timed } from './replica.ts'

interface Loss {
  readonly name: string
  readonly settings?: readonly string[]
  readonly lose: (redis: RedisServer) => unknown
  readonly mend: (redis: RedisServer) => unknown
  /** Whether Redis is empty afterwards. */
  readonly isEmptied?: boolean
  /** What is told of it. */
  readonly cause?: string
}

const losses: readonly Loss[] = [
  { name: 'frozen (SIGSTOP)', lose: (redis) => redis.freeze(), mend: (redis) => redis.thaw() },
  { name: 'killed', lose: (redis) => redis.kill(), mend: (redis) => redis.start(), isEmptied: true, cause: 'refused' },
  { name: 'killed, with what it had saved', lose: saveAndKill, mend: (redis) => redis.start() },
  {
    name: 'slow (CLIENT PAUSE)',
    lose: (redis) => redis.command('CLIENT', 'PAUSE', '1500', 'ALL'),
    mend: () => {},
  },
  {
    name: 'out of memory (OOM)',
    lose: (redis) => redis.command('CONFIG', 'SET', 'maxmemory', '1'),
    mend: (redis) => redis.command('CONFIG', 'SET', 'maxmemory', '0'),
    cause: 'full',
  },
  {
    name: 'a replica (READONLY)',
    settings: ['--replica-serve-stale-data', 'yes'],
    lose: (redis) => redis.command('REPLICAOF', '127.0.0.1', '1'),
    mend: (redis) => redis.command('REPLICAOF', 'NO', 'ONE'),
    cause: 'read_only',
  },
  {
    name: 'requiring a password (NOAUTH)',
    async lose(redis) {
      await redis.command('CONFIG', 'SET', 'requirepass', 'a-password')
      await redis.commandAs('a-password', 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    },
    mend: (redis) => redis.commandAs('a-password', 'CONFIG', 'SET', 'requirepass', ''),
    cause: 'credentials',
  },
  {
    name: 'loading (LOADING)',
    settings: ['--rdbcompression', 'no', '--loading-process-events-interval-bytes', '1024', '--enable-debug-command', 'yes'],
    async lose(redis) {
      await redis.command('DEBUG', 'POPULATE', '200', 'filler', '2000')
      await saveAndKill(redis)
      await redis.start('--key-load-delay', '20000')
      expect(await redis.command('PING').catch(String)).toContain('LOADING')
    },
    mend: () => {},
  },
]

async function saveAndKill(redis: RedisServer): Promise<void> {
  await redis.command('SAVE')
  await redis.kill()
}

const [limit, window] = [8, 60]

describe.concurrent('R7: the replica counts its part, at once; R8: and is exact when Redis is back', () => {
  it.each(losses)('$name', async ({ settings = [], lose, mend, isEmptied, cause }) => {
    await using redis = await RedisServer.start(...settings)
    const replica = await startReplica(redis.url, 2)
    const consume = () => timed(() => replica.limiter.consume('bucket', limit, window))
    for (let call = 1; call <= 3; call++) expect((await consume()).result.remaining).toBe(limit - call)
    await lose(redis)

    const alone = [await consume(), await consume(), await consume(), await consume(), await consume()]
    expect(alone.map(({ result }) => result.remaining)).toEqual([3, 2, 1, 0, 0])
    expect(alone.map(({ result }) => result.isOver)).toEqual([false, false, false, false, true])
    expect(alone[0]?.tookMs).toBeLessThan(250)
    // Only the first waits: after that no request is sent to Redis.
    for (const { tookMs } of alone.slice(1)) expect(tookMs).toBeLessThan(100)
    for (const { result } of alone) expect(result.resetSeconds).toBeGreaterThan(50)
    expect(replica.observations).toContainEqual({ what: 'limitStore', state: 'local' })
    if (cause !== undefined) {
      const told = expect.objectContaining({ what: 'storeTrouble', store: 'redis', cause })
      await vi.waitFor(() => expect(replica.observations).toContainEqual(told), eventTimeoutMs) // `expect.poll` knows no test among concurrent ones
    }
    expect(await replica.budgets.reserve('budget', limit)).toEqual({ isGranted: true, remaining: 3, retryAfter: 0 })

    await mend(redis)
    await replica.turned('shared')
    const { result } = await consume()
    expect([result.remaining, result.isOver]).toEqual([isEmptied ? limit - 5 : 0, false])
    expect((await consume()).result.isOver).toBe(!isEmptied)
    replica.close()
  })
})

describe('at the start', () => {
  it('D4: opens in little more than a second while Redis is down, and finds it later', async () => {
    await using redis = await RedisServer.start()
    await redis.kill()
    const { tookMs, result: replica } = await timed(() => startReplica(redis.url, 2))
    expect(tookMs).toBeLessThan(2_000)
    expect((await replica.limiter.consume('start', limit, window)).remaining).toBe(3)
    expect((await replica.budgets.reserve('start', 60, 'a')).isGranted).toBe(true)
    await redis.start()
    await replica.turned('shared')
    expect((await replica.limiter.consume('start', limit, window)).remaining).toBe(6)
    replica.close()
  })

  it('a wrong password is a Redis that is lost, and stands in no message', async () => {
    await using redis = await RedisServer.start('--requirepass', 'right')
    const replica = await startReplica(redis.url.replace('//', '//:wrong-canary@'), 2)
    expect((await replica.limiter.consume('bucket', limit, window)).remaining).toBe(3)
    expect(JSON.stringify(replica.observations)).not.toContain('canary')
    replica.close()
    const known = await startReplica(redis.url.replace('//', '//:right@'), 2)
    expect((await known.limiter.consume('bucket', limit, window)).remaining).toBe(7)
    known.close()
  })
})

describe('a name that leads to another machine', () => {
  it('is looked up as the caller wishes, for each new connection', async () => {
    await using redis = await RedisServer.start()
    const names: string[] = []
    const lookup: LookupFunction = (name, _, done) => {
      names.push(name)
      process.nextTick(done, null, [{ address: '127.0.0.1', family: 4 }])
    }
    const connection = await openRedis(`redis://redis.example:${redis.port}`, 'swapgate', lookup)
    expect(await connection.dataId()).toBeGreaterThan(0)
    const lost = new Promise<void>((resolve) => connection.onLoss(resolve))
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await lost
    await vi.waitFor(() => connection.dataId(), { timeout: eventTimeoutMs })
    expect(names).toEqual(['redis.example', 'redis.example'])
    connection.close()
  })

  it('R7: a master that became a replica is left, and its successor is found', async () => {
    await using before = await RedisServer.start()
    await using after = await RedisServer.start()
    let target = before
    const sockets = new Set<Socket>()
    const relay = createServer((socket) => {
      const onward = connect(target.port, '127.0.0.1')
      for (const end of [socket, onward]) sockets.add(end.on('error', () => {}))
      socket.pipe(onward).pipe(socket)
    }).listen(0, '127.0.0.1')
    await once(relay, 'listening')
    const replica = await startReplica(`redis://127.0.0.1:${(relay.address() as AddressInfo).port}`, 2)
    await replica.limiter.consume('bucket', limit, window)
    target = after
    await before.command('REPLICAOF', '127.0.0.1', '1')
    expect((await replica.limiter.consume('bucket', limit, window)).remaining).toBe(3)
    await replica.turned('shared')
    expect((await replica.limiter.consume('bucket', limit, window)).remaining).toBe(6)
    expect(await after.command('EXISTS', 'swapgate:limit:60:bucket')).toBe(':1\r\n')
    replica.close()
    for (const socket of sockets) socket.destroy()
    relay.close()
  })
})

// Takes long: failovers last.
/** Redis Cluster and Sentinel: limits over several nodes, and the loss of one. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RedisServer } from '../support/redis.ts'
import { RedisCluster, until } from '../support/redis-cluster.ts'
import { percentile, type Replica, startReplica, timed } from './replica.ts'

/** Consumes all the time until `isEnough`; each must get a reply, in time, and be admitted. */
async function expectServed({ limiter, budgets }: Replica, isEnough: () => Promise<unknown>): Promise<void> {
  let isOver = false
  const enough = isEnough().finally(() => {
    isOver = true
  })
  const times: number[] = []
  for (let call = 0; !isOver; call++) {
    const { tookMs, result } = await timed(() => limiter.consume(`bucket ${call % 50}`, 100_000, 60))
    expect(result.isOver).toBe(false)
    const reserved = await timed(() => budgets.reserve(`bucket ${call % 50}`, 100_000, 'a'))
    times.push(tookMs, reserved.tookMs)
    await delay(1)
  }
  await enough
  expect(percentile(times, 0.99)).toBeLessThan(250)
}

describe('three nodes', () => {
  let cluster: RedisCluster
  let replicas: readonly Replica[]

  beforeAll(async () => {
    cluster = await RedisCluster.start({ replicas: true })
    replicas = await Promise.all([startReplica(cluster.url, 2), startReplica(cluster.url, 2)])
  }, 60_000)
  afterAll(async () => {
    for (const { close } of replicas ?? []) close()
    await cluster?.[Symbol.asyncDispose]()
  })

  it('R2: exactly the limit of each bucket is admitted, on whichever node it lies', async () => {
    const buckets = Array.from({ length: 20 }, (_, at) => `exact ${at}`)
    const states = await Promise.all(
      buckets.flatMap((bucket) =>
        Array.from({ length: 20 }, async (_, call) => {
          const { isOver } = await (replicas[call % 2] as Replica).limiter.consume(bucket, 7, 60)
          return isOver ? [] : [bucket]
        }),
      ),
    )
    const admitted = states.flat()
    expect(buckets.map((bucket) => admitted.filter((name) => name === bucket).length)).toEqual(buckets.map(() => 7))
    const used = await Promise.all(cluster.masters.map((master) => master.command('DBSIZE')))
    for (const count of used) expect(count).not.toBe(':0\r\n')
  })

  it('budgets, verified keys and places of streams work on every slot, whatever is in their names', async () => {
    const [one, other] = replicas as [Replica, Replica]
    for (const name of ['a', 'b{', '}c', '{d}', 'e{}', 'f:g', 'h\n']) {
      expect(await one.budgets.reserve(name, 1, 'x')).toEqual({ isGranted: true, remaining: 0, retryAfter: 0 })
      expect((await other.budgets.reserve(name, 1, 'x')).isGranted).toBe(false)
      await one.verifiedKeys.add(name)
      expect(await other.verifiedKeys.has(name)).toBe(true)
      const giveBack = await one.streamPlaces.take(name, 1)
      expect(await other.streamPlaces.take(name, 1)).toBe(undefined)
      giveBack?.()
      await until(async () => (await other.streamPlaces.take(name, 1)) !== undefined)
    }
    expect(replicas.flatMap(({ observations }) => observations)).toEqual([])
  })

  it('R7: the failover of a killed node costs no response, and limits are shared again by themselves', async () => {
    const [replica] = replicas as [Replica]
    const buckets = Array.from({ length: 50 }, (_, at) => `bucket ${at}`)
    await expectServed(replica, async () => {
      await delay(100)
      await (cluster.masters[0] as RedisServer).kill()
      await replica.turned('local')
      await replica.turned('shared')
      await delay(500)
    })
    await replica.turned('shared')
    const counts = await Promise.all(buckets.map((bucket) => replica.limiter.consume(bucket, 100_000, 60)))
    for (const { remaining } of counts) expect(remaining).toBeLessThan(99_999)
  }, 40_000)
})

it('R7: the failover of Sentinel costs no response, and limits are shared again by themselves', async () => {
  await using master = await RedisServer.start()
  await using successor = await RedisServer.start('--replicaof', `127.0.0.1 ${master.port}`)
  await using sentinel = await RedisServer.startSentinel(master)
  const replica = await startReplica(`redis+sentinel://localhost:${sentinel.port}/group`, 2)
  await until(() => successor.isFollowing())
  expect((await replica.limiter.consume('before', 5, 60)).remaining).toBe(4)
  await until(async () => (await successor.command('EXISTS', 'swapgate:limit:60:before')) === ':1\r\n')
  await until(async () => (await sentinel.command('INFO', 'sentinel')).includes('slaves=1'))
  await expectServed(replica, async () => {
    await delay(100)
    await master.kill()
    await replica.turned('local')
    await replica.turned('shared')
  })
  expect((await replica.limiter.consume('before', 5, 60)).remaining).toBe(3)
  expect(await successor.command('EXISTS', 'swapgate:limit:60:before')).toBe(':1\r\n')
  replica.close()
}, 40_000)

it('sentinels with a password of their own get it, and Redis its own', async () => {
  await using master = await RedisServer.start('--requirepass', 'of-redis')
  const users = ['user default on nopass -@all +ping', 'user watcher on >of-sentinel allchannels +@all']
  await using sentinel = await RedisServer.startSentinel(master, 'sentinel auth-pass group of-redis', ...users)
  const place = `:of-redis@127.0.0.1:${sentinel.port}/group`
  for (const [credentials, state] of [
    ['?sentinel=watcher:of-sentinel', 'shared'],
    ['?sentinel=watcher:wrong', 'local'],
    ['', 'local'],
  ]) {
    const replica = await startReplica(`redis+sentinel://${place}${credentials}`, 5)
    const { remaining } = await replica.limiter.consume('bucket', 10, 60)
    expect([credentials, remaining]).toEqual([credentials, state === 'shared' ? 9 : 1])
    replica.close()
  }
}, 40_000)

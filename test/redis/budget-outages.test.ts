// Takes long: outages last.
/** docs/contract-operators.md §8: losing Redis stops no quote and no create, as long as the part of this process is not used up. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { RedisServer } from '../support/redis.ts'
import { type Replica, startReplica, timed } from './replica.ts'

const rateLimit = { quotes: 60, create: 30, read: 120 }

interface Rig extends AsyncDisposable {
  readonly redis: RedisServer
  readonly replica: Replica
  readonly managed: Managed
  /** An uncached quote and a create, both of which must pass, the decision in time. */
  readonly pass: () => Promise<void>
}

async function start({ isAbsent = false } = {}): Promise<Rig> {
  const redis = await RedisServer.start()
  if (isAbsent) await redis.kill()
  const replica = await startReplica(redis.url, 2)
  const managed = await startManaged({
    providers: { alpha: { rateLimit } },
    budgets: replica.budgets,
    sections: { cache: { currencies: 600, rate: 0, staleFor: 0 } },
  })
  const key = await managed.issue()
  const client = managed.client('A')
  let amount = 0
  const quote = () => client.get(`/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=${++amount}`, { key })
  const create = () => client.post('/transactions', orderIn('A'), { key })
  return {
    redis,
    replica,
    managed,
    async pass() {
      for (const [sendRequest, expected] of [
        [quote, 200],
        [create, 201],
      ] as const) {
        const { tookMs, result } = await timed(sendRequest)
        expect(result.status, result.text).toBe(expected)
        expect(tookMs).toBeLessThan(500)
      }
    },
    async [Symbol.asyncDispose]() {
      await managed.close()
      replica.close()
      await redis[Symbol.asyncDispose]()
    },
  }
}

it('R19: Redis frozen: quotes and creates go on, and go on when it thaws', async () => {
  await using rig = await start()
  await rig.pass()
  rig.redis.freeze()
  for (let call = 0; call < 4; call++) {
    await rig.pass()
    await delay(200)
  }
  rig.redis.thaw()
  await rig.replica.turned('shared')
  await rig.pass()
})

it('R19: Redis killed and back empty: quotes and creates go on throughout', async () => {
  await using rig = await start()
  await rig.pass()
  await rig.redis.kill()
  for (let call = 0; call < 3; call++) await rig.pass()
  await rig.redis.start()
  for (let call = 0; call < 3; call++) await rig.pass()
  await rig.replica.turned('shared')
  for (let call = 0; call < 3; call++) await rig.pass()
})

it('R19: started without Redis: quotes and creates go on at once', async () => {
  await using rig = await start({ isAbsent: true })
  for (let call = 0; call < 3; call++) await rig.pass()
  await rig.redis.start()
  await rig.replica.turned('shared')
  await rig.pass()
})

const grants = async ({ budgets }: Replica): Promise<number> => {
  let granted = 0
  while ((await budgets.reserve('budget', 20)).isGranted) granted++
  return granted
}

it('R20: a process alone notices that Redis came back empty', async () => {
  await using redis = await RedisServer.start()
  const replica = await startReplica(redis.url, 2)
  const before = await grants(replica)
  await redis.kill()
  const during = await grants(replica)
  await redis.start()
  await replica.turned('shared')
  expect([before, during, await grants(replica)]).toEqual([20, 10, 0])
  replica.close()
})

it('R20: an idle process also notices that Redis was lost, and does not rely on an empty one', async () => {
  await using redis = await RedisServer.start()
  const replicas = [await startReplica(redis.url, 2), await startReplica(redis.url, 2)] as const
  const before = await grants(replicas[0])
  await redis.kill()
  await replicas[1].turned('local')
  const during = await grants(replicas[0])
  await redis.start()
  for (const replica of replicas) await replica.turned('shared')
  const after = (await grants(replicas[1])) + (await grants(replicas[0]))
  expect([before, during, after]).toEqual([20, 10, 10])
  for (const { close } of replicas) close()
})

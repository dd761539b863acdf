/** docs/contract.md §7: over a loss and a recovery inside one window at most twice the limit is admitted, however hard clients try. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { RedisServer } from '../support/redis.ts'
import { type Replica, startReplica } from './replica.ts'

const [limit, window, count] = [60, 60, 4]

/** All replicas get requests without a pause, until it is stopped. Returns how many were admitted. */
function flood(replicas: readonly Replica[]) {
  let isOn = true
  let admitted = 0
  const sendRequest = async ({ limiter }: Replica): Promise<void> => {
    while (isOn) {
      const states = await Promise.all(Array.from({ length: 5 }, () => limiter.consume('flood', limit, window)))
      admitted += states.filter(({ isOver }) => !isOver).length
      // A client past its limit asks nothing of Redis: others notice that it is lost.
      await limiter.consume('others', 1_000_000, window)
      await delay(2)
    }
  }
  const pending = replicas.map(sendRequest)
  return {
    async until(isEnough: (admitted: number) => boolean): Promise<void> {
      for (const deadline = Date.now() + 10_000; Date.now() < deadline && !isEnough(admitted); ) await delay(5)
    },
    async stop(): Promise<number> {
      isOn = false
      await Promise.all(pending)
      return admitted
    },
  }
}

it.each([
  ['emptied', (redis: RedisServer) => redis.kill(), (redis: RedisServer) => redis.start()],
  ['kept', async (redis: RedisServer) => redis.freeze(), async (redis: RedisServer) => redis.thaw()],
])(
  'R8: down and up inside one window, the counts of Redis %s',
  async (counts, lose, mend) => {
    await using redis = await RedisServer.start()
    const replicas = await Promise.all(Array.from({ length: count }, () => startReplica(redis.url, count)))
    const flooding = flood(replicas)
    await flooding.until((admitted) => admitted >= limit)
    await lose(redis)
    await Promise.all(replicas.map(({ turned }) => turned('local')))
    await flooding.until((admitted) => admitted >= 2 * limit)
    // They notice one after the other that it is back, and each could believe that nothing was admitted yet.
    await mend(redis)
    await Promise.all(replicas.map(({ turned }) => turned('shared')))
    await delay(100)
    expect(await flooding.stop()).toBe(2 * limit)
    for (const { close } of replicas) close()
    const over = replicas.flatMap(({ observations }) => observations).filter(({ what }) => what === 'overAdmission')
    const overAdmitted = over.reduce((sum, observation) => sum + ('count' in observation ? observation.count : 0), 0)
    expect(overAdmitted).toBe(counts === 'kept' ? limit : 0)
  },
  30_000,
)

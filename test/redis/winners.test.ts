/** docs/contract-operators.md §12: the winner of a quote, in memory and in Redis by the same rule. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memoryWinners } from '../../src/adapters/memory.ts'
import { type Connection, openRedis } from '../../src/adapters/redis/index.ts'
import { redisWinners } from '../../src/adapters/redis/stores.ts'
import { type WinnerStore, winnerLifetimeMs } from '../../src/core/routing/winners.ts'
import type { Amount } from '../../src/domain/amount.ts'
import { freshLookup } from '../../src/process/name-lookup.ts'
import { RedisServer } from '../support/redis.ts'

let redis: RedisServer
let connection: Connection
const keys: string[] = []

beforeAll(async () => {
  redis = await RedisServer.start()
  connection = await openRedis(redis.url, 'swapgate', freshLookup)
})
afterAll(async () => {
  connection.close()
  await redis[Symbol.asyncDispose]()
})

/** Each with what makes the time of a winner pass. */
const stores: readonly (readonly [string, () => { readonly store: WinnerStore; readonly expire: () => Promise<void> }])[] = [
  [
    'in memory',
    () => {
      let now = 1_000
      const expire = async (): Promise<void> => {
        now += winnerLifetimeMs
      }
      return { store: memoryWinners(() => now, winnerLifetimeMs), expire }
    },
  ],
  [
    'in Redis',
    () => {
      const prefix = randomUUID()
      const shared = redisWinners(connection, winnerLifetimeMs)
      const keyOf = (key: string): string => `${prefix} ${key}`
      const store: WinnerStore = { find: (key) => shared.find(keyOf(key)), save: (key, winner) => shared.save(keyOf(key), winner) }
      const expire = async (): Promise<void> => {
        for (const key of keys) {
          expect(Number(/\d+/.exec(await redis.command('PTTL', `swapgate:winner:${keyOf(key)}`))?.[0])).toBeLessThanOrEqual(60_000)
          await redis.command('PEXPIRE', `swapgate:winner:${keyOf(key)}`, '0')
        }
      }
      return { store, expire }
    },
  ],
]

describe.each(stores)('a winner %s', (_, open) => {
  it('is found by its own key for a minute, and the later one counts', async () => {
    const { store, expire } = open()
    keys.splice(0, keys.length, 'account one ["BTC","ETH"]')
    const [key = ''] = keys
    expect(await store.find(key)).toBeUndefined()
    await store.save(key, { tag: 'alpha', quotedAmount: '1' as Amount })
    await store.save(key, { tag: 'beta7', quotedAmount: '0.00000100' as Amount })
    expect(await store.find(key)).toEqual({ tag: 'beta7', quotedAmount: '0.00000100' })
    expect(await store.find(`${key} `)).toBeUndefined()
    for (const settings of ['', 'd1,,d2']) {
      await store.save(key, { tag: 'beta7', quotedAmount: '2' as Amount, settings })
      expect(await store.find(key)).toEqual({ tag: 'beta7', quotedAmount: '2', settings })
    }
    await expire()
    expect(await store.find(key)).toBeUndefined()
  })
})

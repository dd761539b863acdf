// Runs alone: it measures response times.
/** Several gateways, each a process of its own, over one Redis. `npm run test:soak` repeats it more often. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { readJournal } from '../checker/provider/journal.ts'
import { type Provider, startProvider } from '../checker/provider.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { client, rateQuery } from '../support/pair.ts'
import { RedisServer } from '../support/redis.ts'
import { until } from '../support/redis-cluster.ts'
import { assets } from '../support/swaps.ts'
import { percentile, timed } from './replica.ts'

const rounds = Number(process.env.SWAPGATE_ROUNDS ?? 2)
const keys = Array.from({ length: rounds }, (_, round) => `key-of-round-${round}`)
const directory = mkdtempSync(join(tmpdir(), 'swapgate-redis-gateways-'))
const journal = join(directory, 'journal')
const limit = 60

let redis: RedisServer
let provider: Provider
let gateways: readonly GatewayProcess[] = []

beforeAll(async () => {
  redis = await RedisServer.start()
  provider = await startProvider({ form: 'A', name: 'alpha', keys, journal })
  const settings = {
    directory,
    mode: 'passthrough',
    providers: { alpha: { form: 'A', url: provider.url } },
    sections: { redis: { url: redis.url }, replicas: 4, limits: { quotes: 100_000, read: limit } },
  } as const
  gateways = await Promise.all(Array.from({ length: 4 }, () => GatewayProcess.start(settings)))
}, 60_000)
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway[Symbol.asyncDispose]()))
  await provider?.[Symbol.asyncDispose]()
  await redis?.[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

const list = (at: number, key: string): Promise<ReceivedResponse> =>
  client('A', (gateways[at % gateways.length] as GatewayProcess).url).get('/transactions', { key })

const received = (): number => readJournal(journal).filter(({ what }) => what === 'received').length

it.each(keys)(
  'R2: of 400 calls at once over four processes exactly the limit is admitted (%s)',
  async (key) => {
    // The others learn from Redis that the key is verified, or most calls would be counted with the few that unverified keys have.
    expect((await list(0, key)).headers.ratelimit).toMatch(/^"read";r=59;/)
    const before = received()
    const responses = await Promise.all(Array.from({ length: 400 }, (_, at) => list(at, key)))
    const admitted = responses.filter(({ status }) => status === 200)
    expect(admitted).toHaveLength(limit - 1)
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(400 - admitted.length)
    expect(new Set(admitted.map(({ headers }) => headers.ratelimit?.toString().match(/r=(\d+)/)?.[1])).size).toBe(limit - 1)
    expect(received() - before).toBe(limit - 1)
  },
  30_000,
)

it('R7: while Redis is frozen, requests get responses in time, and none is refused because of it', async () => {
  const inForm = client('A', (gateways[0] as GatewayProcess).url)
  const request = rateQuery('A', { from: assets.btc, to: assets.eth, amount: '1' })
  const load = async (milliseconds: number): Promise<readonly number[]> => {
    const until = performance.now() + milliseconds
    const times: number[] = []
    const sendRequest = async (): Promise<void> => {
      while (performance.now() < until) {
        const { tookMs, result } = await timed(() => inForm.get(request))
        expect(result.status, result.text).toBe(200)
        times.push(tookMs)
      }
    }
    await Promise.all(Array.from({ length: 8 }, sendRequest))
    return times
  }
  const freeze = async (): Promise<number> => {
    await until(async () => !(await isLocal()))
    await load(300)
    redis.freeze()
    const times = await load(2_000)
    expect(await isLocal()).toBe(true)
    redis.thaw()
    await load(500)
    expect(times.length).toBeGreaterThan(100)
    return percentile(times, 0.99)
  }
  // Other work on the machine makes it slower: the best of three counts.
  let best = await freeze()
  for (let again = 0; again < 2 && best > 250; again++) best = Math.min(best, await freeze())
  expect(best).toBeLessThanOrEqual(250)
}, 60_000)

async function isLocal(): Promise<boolean> {
  return /^swapgate_limits_local 1$/m.test(await (gateways[0] as GatewayProcess).metrics())
}

it('R7: its state is a metric', async () => {
  await until(async () => !(await isLocal()))
  await redis.kill()
  const request = rateQuery('A', { from: assets.btc, to: assets.eth, amount: '1' })
  const response = await client('A', (gateways[0] as GatewayProcess).url).get(request)
  expect(response.status).toBe(200)
  expect(response.headers['ratelimit-policy']).toBe('"quotes";q=100000;w=60')
  expect(Number(/;r=(\d+);/.exec(String(response.headers.ratelimit))?.[1])).toBeLessThan(100_000 / 4)
  expect(await isLocal()).toBe(true)
})

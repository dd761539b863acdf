/** Several gateways, each a process of its own, over one Redis. `npm run test:soak` repeats it more often. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { GatewayProcess } from '../faults/gateway-process.ts'
import { readJournal } from '../faults/provider/journal.ts'
import { type Provider, startProvider } from '../faults/provider.ts'
import type { Answered } from '../support/client.ts'
import { client, rateQuestion } from '../support/pair.ts'
import { RedisServer } from '../support/redis.ts'
import { assets } from '../support/swaps.ts'

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
    sections: { redis: { url: redis.url }, limits: { quotes: 100_000, read: limit, replicas: 4 } },
  } as const
  gateways = await Promise.all(Array.from({ length: 4 }, () => GatewayProcess.start(settings)))
}, 60_000)
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway[Symbol.asyncDispose]()))
  await provider?.[Symbol.asyncDispose]()
  await redis?.[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

const list = (at: number, key: string): Promise<Answered> =>
  client('A', (gateways[at % gateways.length] as GatewayProcess).url).get('/transactions', { key })

const received = (): number => readJournal(journal).filter(({ what }) => what === 'received').length

it.each(keys)(
  'R2: of 400 calls at once over four processes exactly the limit is admitted (%s)',
  async (key) => {
    // The others learn from Redis that the key is proven, or most calls would be charged to the few that unproven keys have.
    expect((await list(0, key)).headers.ratelimit).toMatch(/^"read";r=59;/)
    const before = received()
    const answers = await Promise.all(Array.from({ length: 400 }, (_, at) => list(at, key)))
    const admitted = answers.filter(({ status }) => status === 200)
    expect(admitted).toHaveLength(limit - 1)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(400 - admitted.length)
    expect(new Set(admitted.map(({ headers }) => headers.ratelimit?.toString().match(/r=(\d+)/)?.[1])).size).toBe(limit - 1)
    expect(received() - before).toBe(limit - 1)
  },
  30_000,
)

it('R7: while Redis is frozen, requests are answered in time, and none is refused because of it', async () => {
  const inForm = client('A', (gateways[0] as GatewayProcess).url)
  const question = rateQuestion('A', { from: assets.btc, to: assets.eth, amount: '1' })
  const times: number[] = []
  const statuses = new Set<number>()
  const ask = async (until: number): Promise<void> => {
    while (performance.now() < until) {
      const start = performance.now()
      statuses.add((await inForm.get(question)).status)
      times.push(performance.now() - start)
    }
  }
  const load = async (milliseconds: number): Promise<void> => {
    const until = performance.now() + milliseconds
    await Promise.all(Array.from({ length: 8 }, () => ask(until)))
  }
  await load(300)
  times.length = 0
  redis.freeze()
  await load(2_000)
  redis.thaw()
  await load(500)
  times.sort((a, b) => a - b)
  expect([...statuses]).toEqual([200])
  expect(times.length).toBeGreaterThan(100)
  expect(times[Math.floor(times.length * 0.99)]).toBeLessThan(250)
}, 30_000)

it('R7: its state is a metric', async () => {
  const [gateway] = gateways as [GatewayProcess]
  const isLocal = async (): Promise<boolean> => /^swapgate_limits_local 1$/m.test(await gateway.metrics())
  for (const deadline = Date.now() + 5_000; (await isLocal()) && Date.now() < deadline; await delay(50));
  expect(await isLocal()).toBe(false)
  await redis.kill()
  const question = rateQuestion('A', { from: assets.btc, to: assets.eth, amount: '1' })
  expect((await client('A', gateway.url).get(question)).status).toBe(200)
  expect(await isLocal()).toBe(true)
})

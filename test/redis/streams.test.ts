/** docs/contract.md §18.2: streams of one account at a time, over all processes with one Redis. */
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Gateways, type StartedGateway } from '../process/gateways.ts'
import { type EventSource, openEvents } from '../support/event-source.ts'
import { RedisServer } from '../support/redis.ts'

let redis: RedisServer
let gateways: Gateways
let one: StartedGateway
let other: StartedGateway
let authorization: string
beforeEach(async () => {
  redis = await RedisServer.start()
  const server = { port: 0, workers: 2, shutdownDelay: 0 }
  const limits = { quotes: 1_000, create: 1_000, read: 1_000, streams: 3 }
  gateways = await Gateways.prepare({ server, limits, redis: { url: redis.url }, replicas: 2 })
  ;[one, other] = await Promise.all([gateways.start(), gateways.start()])
  authorization = `Bearer ${(await gateways.customer('acme', 'A')).key}`
}, 60_000)
afterEach(async () => {
  await gateways[Symbol.asyncDispose]()
  await redis[Symbol.asyncDispose]()
})

const open = ({ url }: StartedGateway): Promise<EventSource> => openEvents(`${url}/a/api/v2/events`, { authorization })
const openMany = (count: number, gateway: StartedGateway) => Promise.all(Array.from({ length: count }, () => open(gateway)))
/** The status of one more, which is closed at once. */
const statusOf = async (gateway: StartedGateway): Promise<number> => {
  const stream = await open(gateway)
  stream.close()
  return stream.status
}
const isLocal = async ({ adminUrl }: StartedGateway): Promise<boolean> =>
  /^swapgate_limits_local 1$/m.test(await (await fetch(`${adminUrl}/metrics`)).text())

test('at most limits.streams over all gateways and their workers, and a closed one makes room everywhere', async () => {
  const streams = [...(await openMany(4, one)), ...(await openMany(4, other))]
  const admitted = streams.filter(({ status }) => status === 200)
  expect(admitted).toHaveLength(3)
  const [refused] = streams.filter(({ status }) => status !== 200)
  expect([refused?.status, refused?.headers['x-swap-reason'], refused?.headers['retry-after']]).toEqual([429, 'limited', '5'])
  admitted[0]?.close()
  await expect.poll(() => statusOf(other)).toBe(200)
  await expect.poll(() => statusOf(one)).toBe(200)
})

test('those of a process that was killed end by themselves, those of another stay', { timeout: 60_000 }, async () => {
  await openMany(2, one)
  const [stays] = await openMany(1, other)
  expect(await statusOf(other)).toBe(429)
  const { pid } = one.process.child
  const workers = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  for (const id of [...workers.map(Number), pid ?? 0]) process.kill(id, 'SIGKILL')
  await expect.poll(async () => (await open(other)).status).toBe(200)
  await expect.poll(async () => (await open(other)).status).toBe(200)
  expect(await statusOf(other)).toBe(429)
  expect(stays?.ended()).toBe(undefined)
})

test('without Redis each process counts alone; back again, it knows those that were opened meanwhile', {
  timeout: 60_000,
}, async () => {
  const before = await openMany(3, one)
  await redis.kill()
  await expect.poll(() => isLocal(other)).toBe(true)
  const meanwhile = await openMany(1, other)
  await redis.start()
  await expect.poll(() => isLocal(other)).toBe(false)
  await expect.poll(() => isLocal(one)).toBe(false)
  await expect.poll(() => statusOf(other)).toBe(429)
  expect([...before, ...meanwhile].map((stream) => [stream.status, stream.ended()])).toEqual(
    Array.from({ length: 4 }, () => [200, undefined]),
  )
})

test('a Redis that does not answer refuses none', async () => {
  redis.freeze()
  expect((await open(one)).status).toBe(200)
})

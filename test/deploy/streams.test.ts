/** docs/contract.md §18.2: the stream of an account behind the balancer and on the database of `deploy/compose.yaml`. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { GatewayProcess } from '../checker/gateway-process.ts'
import { type EventSource, openEvents } from '../support/event-source.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { startPostgres } from '../support/postgres.ts'
import { type Site, startSite } from './site.ts'

const open = new AsyncDisposableStack()
let site: Site
beforeAll(async () => {
  const postgres = await startPostgres()
  open.defer(postgres.close)
  site = open.use(await startSite('haproxy', { ofLedger: { url: await postgres.createDatabase() } }))
}, 180_000)
afterAll(() => open.disposeAsync())

const watch = (key: string, lastEventId?: string): Promise<EventSource> =>
  openEvents(`${site.balancer.url}/a/api/v2/events`, {
    authorization: `Bearer ${key}`,
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  })

/** Sent until a gateway takes it. Returns its withdrawal address, by which it is known. */
async function create(key: string): Promise<string> {
  const withdrawalAddress = `0x${crypto.randomUUID()}`
  const body = JSON.stringify({ coinFrom: 'XRP', coinTo: 'USDTERC20', amount: 1, rateType: 'float', withdrawalAddress })
  const headers = { authorization: `Bearer ${key}`, 'idempotency-key': withdrawalAddress }
  const send = () => site.send('/a/api/v2/transactions', { method: 'POST', headers, body })
  await expect.poll(async () => (await send()).status, { timeout: eventTimeoutMs }).toBe(201)
  return withdrawalAddress
}

const addressesOf = (sources: readonly EventSource[]): readonly unknown[] =>
  sources.flatMap(({ events }) =>
    events.map(({ event, data }) => (data as { withdrawalAddress?: string }).withdrawalAddress ?? event),
  )

/** The gateway that has the one stream that is open. */
async function holder(): Promise<GatewayProcess> {
  let found: GatewayProcess | undefined
  const find = async (): Promise<GatewayProcess | undefined> => {
    for (const gateway of site.gateways) if (/^swapgate_streams 1$/m.test(await gateway.metrics())) return gateway
    return undefined
  }
  await expect.poll(async () => (found = await find()), { timeout: eventTimeoutMs }).toBeDefined()
  return found as GatewayProcess
}

test('whoever comes back after a kill -9 of the gateway has each change once, also before the first one', {
  timeout: 180_000,
}, async () => {
  const key = await site.gateways[0].createKey('watched')
  const sources = [await watch(key)]
  await expect.poll(() => sources[0]?.lastEventId()).toBeDefined()
  const made: string[] = []
  for (let round = 0; round < 3; round++) {
    const gateway = await holder()
    await gateway.kill()
    const last = sources.at(-1) as EventSource
    expect(await last.untilEnd()).toBe('cut')
    made.push(await create(key), await create(key))
    const again = await watch(key, last.lastEventId())
    expect(again.status).toBe(200)
    sources.push(again)
    made.push(await create(key))
    await expect.poll(() => addressesOf(sources), { timeout: eventTimeoutMs }).toEqual(made)
    await gateway.start()
  }
  sources.at(-1)?.close()
})

test('a stream lives though nothing happens for two minutes, and then a change is there within 250 ms at the median', {
  timeout: 240_000,
}, async () => {
  const key = await site.gateways[0].createKey('quiet')
  const stream = await watch(key)
  // One at once, then one every 15 s.
  await expect.poll(() => stream.comments.length, { timeout: 150_000, interval: 1_000 }).toBeGreaterThan(8)
  expect(stream.events).toEqual([])
  const delaysMs: number[] = []
  for (let count = 1; count <= 9; count++) {
    await create(key)
    const changedAt = performance.now()
    await stream.received(count)
    delaysMs.push((stream.arrivals[count - 1] ?? Number.POSITIVE_INFINITY) - changedAt)
  }
  const [fastest, median, slowest] = [0, 4, 8].map((at) => delaysMs.toSorted((a, b) => a - b)[at] ?? Number.POSITIVE_INFINITY)
  console.info(
    `ms from the response of a create to its change: ${fastest?.toFixed(0)}, median ${median?.toFixed(0)}, ${slowest?.toFixed(0)}`,
  )
  expect(median).toBeLessThan(250)
  expect(stream.ended()).toBeUndefined()
})

/** docs/contract.md §18.2: streams over two gateway processes on one PostgreSQL. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { type EventSource, openEvents } from '../support/event-source.ts'
import { type ProviderA, startFormA } from '../support/form-a.ts'
import { orderIn } from '../support/managed.ts'
import { client } from '../support/pair.ts'
import { startPostgres } from '../support/postgres.ts'

let open: AsyncDisposableStack
let provider: ProviderA
let one: GatewayProcess
let other: GatewayProcess
let key: string
let id: string
beforeEach(async () => {
  open = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-streams-'))
  open.defer(async () => rmSync(directory, { recursive: true }))
  provider = await startFormA()
  open.defer(provider.close)
  const postgres = await startPostgres()
  open.defer(postgres.close)
  const settings = {
    directory,
    mode: 'managed',
    providers: { alpha: { form: 'A', url: provider.url, key: 'own-key' } },
    sections: { ledger: { url: await postgres.createDatabase(), refreshAfter: 0 }, log: { requests: false } },
  } as const
  ;[one, other] = [open.use(await GatewayProcess.start(settings)), open.use(await GatewayProcess.start(settings))]
  key = await one.createKey('acme')
  id = await create()
}, 60_000)
afterEach(() => open.disposeAsync())

const headers = (): Record<string, string> => ({ authorization: `Bearer ${key}` })
const create = async (): Promise<string> =>
  ((await client('A', one.url).post('/transactions', orderIn('A'), { key })).json as { id: string }).id
const pathsOf = (of: string): readonly string[] => [`/transactions/${of}/events`, '/events']
const watch = (gateway: GatewayProcess, path: string, lastEventId?: string): Promise<EventSource> =>
  openEvents(`${gateway.url}/a/api/v2${path}`, { ...headers(), ...(lastEventId && { 'last-event-id': lastEventId }) })
const idsOf = ({ events }: EventSource): readonly number[] => events.map((event) => Number(event.id))
const statusesOf = ({ events }: EventSource): readonly unknown[] => events.map(({ data }) => (data as { status?: string }).status)
/** The provider reports a new state of every swap, and the gateway reads this one. Returns when it is in the ledger. */
const change = async (gateway: GatewayProcess, status: string): Promise<number> => {
  provider.holdings.swaps = provider.holdings.swaps.map((held) => ({ ...held, status }))
  const found = await client('A', gateway.url).get(`/transactions/${id}`, { key })
  expect([found.status, (found.json as { status: string }).status], found.text).toEqual([200, status])
  return performance.now()
}
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.POSITIVE_INFINITY

test('a row is there within 200 ms in its own process, within 2 s in the other one', { timeout: 90_000 }, async () => {
  const own = await Promise.all(pathsOf(id).map((path) => watch(one, path)))
  const foreign = await Promise.all(pathsOf(id).map((path) => watch(other, path)))
  // Of one swap: its state of now.
  const before = [...own, ...foreign].map((_, at) => (at % 2 === 0 ? 1 : 0))
  await Promise.all([own[0]?.received(1), foreign[0]?.received(1)])
  const changedAt: number[] = []
  for (let number = 0; number < 9; number++) {
    changedAt.push(await change(one, number % 2 === 0 ? 'confirmation' : 'exchanging'))
    for (const [at, stream] of [...own, ...foreign].entries()) await stream.received((before[at] ?? 0) + number + 1)
  }
  const latencies = [...own, ...foreign].map(({ arrivals }, at) =>
    changedAt.map((changed, number) => (arrivals[(before[at] ?? 0) + number] ?? Number.POSITIVE_INFINITY) - changed),
  )
  const shown = latencies.map((each) => `${median(each).toFixed(0)} (${Math.max(...each).toFixed(0)})`)
  console.info(`ms until a row was there, median (most): own process ${shown.slice(0, 2)}, other ${shown.slice(2)}`)
  for (const each of latencies.slice(0, 2)) expect(median(each)).toBeLessThan(200)
  for (const each of latencies.slice(2)) expect(Math.max(...each)).toBeLessThan(2_000)
})

test('after a kill -9 the other gateway goes on: every missed row, in order, once', { timeout: 90_000 }, async () => {
  const streams = await Promise.all(pathsOf(id).map((path) => watch(one, path)))
  await change(one, 'confirmation')
  const last = await Promise.all(streams.map(async (stream, at) => (await stream.received(at === 0 ? 2 : 1)).at(-1)?.id))
  expect(last).toEqual(['2', '2'])
  await one.kill()
  expect(await Promise.all(streams.map((stream) => stream.untilEnd()))).toEqual(['cut', 'cut'])
  const missed = ['exchanging', 'confirmation', 'exchanging', 'overdue', 'confirmation']
  for (const status of missed) await change(other, status)
  const resumed = await Promise.all(pathsOf(id).map((path) => watch(other, path, '2')))
  for (const stream of resumed) await stream.received(missed.length)
  await change(other, 'success')
  for (const stream of resumed) {
    await stream.received(missed.length + 1)
    expect(idsOf(stream)).toEqual([3, 4, 5, 6, 7, 8])
    expect(statusesOf(stream)).toEqual([...missed, 'success'])
  }
  expect(await resumed[0]?.untilEnd()).toBe('whole')
  await one.start()
  const [ofSwap, ofAccount] = await Promise.all(pathsOf(id).map((path) => watch(one, path, '5')))
  expect(await ofSwap?.untilEnd()).toBe('whole')
  await ofAccount?.received(3)
  for (const stream of [ofSwap, ofAccount]) expect(stream && idsOf(stream)).toEqual([6, 7, 8])
  expect((await watch(one, pathsOf(id)[0] ?? '', '8')).status).toBe(204)
})

test('before its first change a stream goes on after a kill -9, too: what changed in between comes once', {
  timeout: 90_000,
}, async () => {
  const stream = await watch(one, '/events')
  await expect.poll(stream.lastEventId).toBe('1')
  await one.kill()
  expect(await stream.untilEnd()).toBe('cut')
  await change(other, 'confirmation')
  const resumed = await watch(other, '/events', stream.lastEventId())
  await resumed.received(1)
  await change(other, 'success')
  await resumed.received(2)
  expect([idsOf(stream), idsOf(resumed)]).toEqual([[], [2, 3]])
  expect(statusesOf(resumed)).toEqual(['confirmation', 'success'])
})

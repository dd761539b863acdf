// Takes longest: thousands of quotes, one after the other.
// Runs with few others: it compares response times.
/** X9: a collector that is down, or never responds, costs no request anything. */
import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { rateQuery } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'
import { Caller } from './collector.ts'
import { type Rig, startRigWith } from './rig.ts'

type ProcessRig = Rig<GatewayProcess>

const startProcessRig = (settings: Parameters<typeof startRigWith>[1]): Promise<ProcessRig> =>
  startRigWith((gateway) => GatewayProcess.start(gateway), settings)

const limits = { quotes: 1_000_000, create: 1, read: 1 }

/** Without traces: what the others are compared with. */
let plain: ProcessRig
beforeAll(async () => {
  plain = await startProcessRig({ telemetry: { endpoint: '' }, sections: { limits } })
})
afterAll(() => plain?.[Symbol.asyncDispose]())

/** Milliseconds that each of so many quotes took, one after the other, at one gateway and the other in turn. */
async function latencies(rigs: readonly ProcessRig[], count: number): Promise<readonly number[][]> {
  const taken: number[][] = rigs.map(() => [])
  for (let n = 0; n < count; n++) {
    for (const [at, rig] of rigs.entries()) taken[at]?.push(await latency(rig, `0.${n + 1}`))
  }
  return taken
}

/** On a machine that is busy with other things a gateway may refuse quotes for a moment. */
async function latency(rig: ProcessRig, amount: string): Promise<number> {
  for (;;) {
    const began = performance.now()
    const quote = rateQuery('A', { from: assets.btc, to: assets.usdtTrx, amount })
    const { status } = await rig.client('A').get(quote, { key: null })
    if (status === 200) return performance.now() - began
    expect(status).toBe(503)
    await wait(100)
  }
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] as number
}

async function figure(gateway: GatewayProcess, name: string): Promise<number> {
  const line = (await gateway.metrics()).split('\n').find((each) => each.startsWith(`${name} `))
  return Number(line?.split(' ').at(-1) ?? 0)
}

const spans = (gateway: GatewayProcess, result: string): Promise<number> =>
  figure(gateway, `swapgate_trace_spans_total{result="${result}"}`)

/** Nothing listens there. */
async function deadUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  const { promise, resolve } = Promise.withResolvers<void>()
  server.once('listening', resolve)
  await promise
  const { port } = server.address() as { port: number }
  server.close()
  return `http://127.0.0.1:${port}`
}

test.each([
  ['dead', undefined],
  ['silent', undefined],
  ['failing', 503],
  ['trickling', 200],
] as const)(
  'X9: with a %s collector responses come as soon as without, waiting spans are bounded, and failures are counted',
  async (kind, status) => {
    const queue = 200
    const endpoint = kind === 'dead' ? { endpoint: await deadUrl() } : {}
    await using traced = await startProcessRig({ telemetry: { ...endpoint, queue, batch: 50 }, sections: { limits } })
    traced.collector.status = status
    traced.collector.isTrickling = kind === 'trickling'
    await latencies([plain, traced], 200)
    const before = await figure(traced.gateway, 'process_resident_memory_bytes')
    const [without, within] = await latencies([plain, traced], 600)
    expect(median(within as number[])).toBeLessThan(1.5 * median(without as number[]) + 1)
    expect(Math.max(...(within as number[]))).toBeLessThan(1_500)
    const grown = (await figure(traced.gateway, 'process_resident_memory_bytes')) - before
    expect(grown).toBeLessThan(60 * 2 ** 20)
    await expect.poll(() => spans(traced.gateway, 'failed'), { timeout: 5_000 }).toBeGreaterThan(0)
    // 800 quotes have 4,000 spans, of which 200 may wait. How many of the others were tried depends on the time of the quotes.
    const [dropped, failed] = [await spans(traced.gateway, 'dropped'), await spans(traced.gateway, 'failed')]
    expect(dropped).toBeGreaterThan(0)
    expect(dropped + failed).toBeGreaterThanOrEqual(3_800)
    expect(await spans(traced.gateway, 'exported')).toBe(0)
    expect(traced.collector.sent.length).toBeLessThan(100)
    const began = performance.now()
    await traced.gateway.stop()
    expect(performance.now() - began).toBeLessThan(4_000)
    const logged = traced.gateway.output
      .trim()
      .split('\n')
      .filter((line) => !line.includes('"event":"request"'))
    expect(logged.length).toBeLessThan(10)
  },
  60_000,
)

test('X9: when the collector is back, whole traces come again', async () => {
  await using rig = await startProcessRig({ telemetry: { queue: 100, batch: 50 }, sections: { limits } })
  rig.collector.status = 503
  await latencies([rig], 100)
  expect(await spans(rig.gateway, 'dropped')).toBeGreaterThan(0)
  rig.collector.status = 200
  await expect.poll(() => latencies([rig], 1).then(() => rig.collector.traces.length), { timeout: 10_000 }).toBeGreaterThan(0)
  const uncounted = async (): Promise<number> => rig.collector.spans.length - (await spans(rig.gateway, 'exported'))
  await expect.poll(uncounted, { timeout: 5_000 }).toBe(0)
  for (const trace of rig.collector.traces) expect(trace.outline()).toHaveLength(trace.spans.length)
}, 30_000)

test('X9: a queue full of sampled traces loses none with a 5xx', async () => {
  await using rig = await startProcessRig({ telemetry: { queue: 100, batch: 50, timeoutMs: 30_000 }, sections: { limits } })
  rig.collector.status = 503
  await latencies([rig], 100)
  expect(await spans(rig.gateway, 'dropped')).toBeGreaterThan(0)
  for (const provider of [rig.alpha, rig.beta])
    provider.reply('rate', { status: 500, json: { error: 'Error', message: 'no', code: 500 } })
  const caller = new Caller()
  const quote = rateQuery('A', { from: assets.btc, to: assets.usdtTrx, amount: '0.5' })
  const { status } = await rig.client('A').get(quote, { key: null, headers: caller.headers })
  expect(status).toBe(502)
  rig.collector.status = 200
  expect((await rig.collector.traceFrom(caller)).root.attributes).toMatchObject({ 'error.type': '502' })
}, 30_000)

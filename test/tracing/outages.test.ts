// Takes longest: thousands of quotes, one after the other.
/** X9: a collector that is down, or never responds, fails no request and holds nothing up. What traces cost: `npm run bench:traces`. */
import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { rateQuery } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'
import { Caller } from './collector.ts'
import { type Rig, startRigWith } from './rig.ts'

type ProcessRig = Rig<GatewayProcess>

const startProcessRig = (settings: Parameters<typeof startRigWith>[1]): Promise<ProcessRig> =>
  startRigWith((gateway) => GatewayProcess.start(gateway), settings)

const limits = { quotes: 1_000_000, create: 1, read: 1 }

/** So many, one after the other. */
async function quotes(rig: ProcessRig, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await quote(rig, `0.${n + 1}`)
}

/** On a machine that is busy with other things a gateway may refuse quotes for a moment. */
async function quote(rig: ProcessRig, amount: string): Promise<void> {
  for (;;) {
    const { status } = await rig.client('A').get(rateQuery('A', { from: assets.btc, to: assets.usdtTrx, amount }), { key: null })
    if (status === 200) return
    expect(status).toBe(503)
    await wait(100)
  }
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
  'X9: with a %s collector all quotes are answered, waiting spans are bounded, failures are counted, and it stops',
  async (kind, status) => {
    const queue = 200
    const endpoint = kind === 'dead' ? { endpoint: await deadUrl() } : {}
    await using traced = await startProcessRig({ telemetry: { ...endpoint, queue, batch: 50 }, sections: { limits } })
    traced.collector.status = status
    traced.collector.isTrickling = kind === 'trickling'
    await quotes(traced, 800)
    // They have 4,000 spans, of which 200 may wait. How many of the others were tried depends on the time of the quotes.
    const [dropped, failed] = [() => spans(traced.gateway, 'dropped'), () => spans(traced.gateway, 'failed')]
    await expect.poll(failed, { timeout: 30_000 }).toBeGreaterThan(0)
    await expect.poll(async () => (await dropped()) + (await failed()), { timeout: 30_000 }).toBeGreaterThanOrEqual(3_800)
    expect(await dropped()).toBeGreaterThan(0)
    expect(await spans(traced.gateway, 'exported')).toBe(0)
    await traced.gateway.stop()
    const logged = traced.gateway.output
      .trim()
      .split('\n')
      .filter((line) => !line.includes('"event":"request"'))
    expect(logged.length).toBeLessThan(10)
  },
  120_000,
)

test('X9: when the collector is back, whole traces come again', async () => {
  await using rig = await startProcessRig({ telemetry: { queue: 100, batch: 50 }, sections: { limits } })
  rig.collector.status = 503
  await quotes(rig, 100)
  expect(await spans(rig.gateway, 'dropped')).toBeGreaterThan(0)
  rig.collector.status = 200
  await expect.poll(() => quotes(rig, 1).then(() => rig.collector.traces.length), { timeout: 30_000 }).toBeGreaterThan(0)
  const uncounted = async (): Promise<number> => rig.collector.spans.length - (await spans(rig.gateway, 'exported'))
  await expect.poll(uncounted, { timeout: 30_000 }).toBe(0)
  for (const trace of rig.collector.traces) expect(trace.outline()).toHaveLength(trace.spans.length)
}, 60_000)

test('X9: a queue full of sampled traces loses none with a 5xx', async () => {
  await using rig = await startProcessRig({ telemetry: { queue: 100, batch: 50, timeoutMs: 30_000 }, sections: { limits } })
  rig.collector.status = 503
  await quotes(rig, 100)
  expect(await spans(rig.gateway, 'dropped')).toBeGreaterThan(0)
  for (const provider of [rig.alpha, rig.beta])
    provider.reply('rate', { status: 500, json: { error: 'Error', message: 'no', code: 500 } })
  const caller = new Caller()
  const quote = rateQuery('A', { from: assets.btc, to: assets.usdtTrx, amount: '0.5' })
  const { status } = await rig.client('A').get(quote, { key: null, headers: caller.headers })
  expect(status).toBe(502)
  rig.collector.status = 200
  expect((await rig.collector.traceFrom(caller)).root.attributes).toMatchObject({ 'error.type': '502' })
}, 60_000)

/**
 * What traces cost: processor time of the gateway for one quote that goes up to a provider, with traces off, with some
 * and all of them kept: the least of the rounds, since whatever else runs on the machine only adds to it.
 */
import { startRig } from '../test/tracing/rig.ts'

const rounds = 7
const quotes = 3_000
const atOnce = 16
const settings = [
  ['off', { endpoint: '' }],
  ['ratio 0', { ratio: 0 }],
  ['ratio 0.01', { ratio: 0.01 }],
  ['ratio 0.1', { ratio: 0.1 }],
  ['ratio 1', { ratio: 1 }],
] as const

await using rigs = new AsyncDisposableStack()
const sections = { limits: { quotes: 10_000_000, create: 1, read: 1 } }
const running = []
for (const [name, telemetry] of settings) {
  running.push({
    name,
    rig: rigs.use(await startRig({ telemetry: { delay: 1_000, ...telemetry }, sections })),
    costs: [] as number[],
  })
}
type Running = (typeof running)[number]

async function cpu({ rig }: Running): Promise<number> {
  const line = (await rig.gateway.metrics()).split('\n').find((each) => each.startsWith('process_cpu_seconds_total '))
  return 1e6 * Number(line?.split(' ').at(-1))
}

let asked = 0
async function ask({ rig }: Running): Promise<void> {
  for (let n = 0; n < quotes / atOnce; n++) {
    await rig.client('A').get(`/rate?coinFrom=BTC&coinTo=ETH&amount=${++asked}`, { key: null })
  }
}

for (let round = 0; round <= rounds; round++) {
  for (const one of running) {
    const before = await cpu(one)
    await Promise.all(Array.from({ length: atOnce }, () => ask(one)))
    // The first round warms up.
    if (round > 0) one.costs.push(((await cpu(one)) - before) / quotes)
    one.rig.alpha.journal.length = 0
    one.rig.collector.sent.length = 0
    one.rig.collector.spans.length = 0
  }
}
const least = (costs: readonly number[]): number => Math.min(...costs)
for (const { name, costs } of running) {
  const more = least(costs) - least(running[0]?.costs ?? [])
  const all = costs.map((each) => each.toFixed(0)).join(' ')
  console.log(`${name.padEnd(11)} ${least(costs).toFixed(1).padStart(6)} µs a quote  ${more.toFixed(1).padStart(6)} more  (${all})`)
}

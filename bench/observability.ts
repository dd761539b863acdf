/**
 * The cost of observability: gateways that count, that count and trace, and that log too, against one that does nothing of
 * it. Get of a transaction, Form A over a Form B provider. All run at once on one core and are loaded in turn, a second each,
 * so that other work of the machine affects all of them; each round has new processes, since two of the same code can
 * differ by a tenth.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './median.ts'
import { authorization, cores, load, path, processorTime, requireWrk, start } from './rig.ts'

const rounds = Number(process.argv[2] ?? 5)
const turns = Number(process.argv[3] ?? 10)
/** Code that few requests need, such as the export of a trace or the end of a connection, is compiled late. */
const warmUps = 30
const upstreamPort = 19_221
const collectorPort = 19_220
/** At least so much of the throughput must be left. */
const minShare = 0.9

interface Variant {
  readonly name: string
  readonly port: number
  /** Sections of the configuration. */
  readonly sections: string
  /** Whether it is judged by `minShare`. */
  readonly isJudged: boolean
}

/** The share of traces that is kept is the standard one. */
const telemetry = `telemetry: { endpoint: "http://127.0.0.1:${collectorPort}" }`

/** The first one is what the others are measured against. */
const variants: readonly [Variant, ...Variant[]] = [
  { name: 'off', port: 19_222, sections: 'telemetry: { metrics: false }\nlog: { requests: false }', isJudged: false },
  { name: 'metrics', port: 19_224, sections: 'log: { requests: false }', isJudged: true },
  { name: 'metrics, traces', port: 19_226, sections: `${telemetry}\nlog: { requests: false }`, isJudged: true },
  { name: 'metrics, traces, log', port: 19_228, sections: telemetry, isJudged: false },
]

function configuration({ port, sections }: Variant, directory: string): string {
  return `
server: { port: ${port} }
admin: { port: ${port + 1} }
ledger: { url: "sqlite:${join(directory, `ledger-${port}.db`)}" }
assets: ${join(import.meta.dirname, '../config/assets.yaml')}
limits: { quotes: 1000000000, create: 1000000000, read: 1000000000 }
providers:
  beta:
    form: B
    url: "http://127.0.0.1:${upstreamPort}/api/v2"
    rateLimit: { quotes: 0, create: 0, read: 0 }
routing: { providers: [beta] }
${sections}
`
}

async function run(variant: Variant, directory: string): Promise<ChildProcess> {
  const file = join(directory, `gateway-${variant.port}.yaml`)
  writeFileSync(file, configuration(variant, directory))
  const program = join(import.meta.dirname, '../src/cli/swapgate.js')
  const log = openSync(join(directory, `log-${variant.port}`), 'w')
  return await start(cores.gateway, [program, 'start', '--config', file], log)
}

async function check({ name, port }: Variant): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization } })
  if (!response.ok) throw new Error(`${name} returned ${response.status}`)
}

/** One gateway of a variant. */
interface Run {
  readonly perSecond: number
  /** Microseconds of the core for a request: what a busy machine changes least. */
  readonly cost: number
}

/** One second under load. */
function measure({ port }: Variant, child: ChildProcess): Run {
  const before = processorTime(child)
  const { perSecond, requests } = load(port, 1)
  return { perSecond, cost: (processorTime(child) - before) / requests }
}

/** A gateway of each variant, and what is usual of its seconds. */
async function round(directory: string): Promise<readonly Run[]> {
  const children: ChildProcess[] = []
  try {
    for (const variant of variants) {
      children.push(await run(variant, directory))
      await check(variant)
    }
    const turn = (): readonly Run[] => variants.map((variant, at) => measure(variant, children[at] as ChildProcess))
    for (let count = 0; count < warmUps; count++) turn()
    const runs = Array.from({ length: turns }, turn)
    return variants.map((_, at) => usual(runs.map((each) => each[at] as Run)))
  } finally {
    for (const child of children) child.kill()
    await Promise.all(children.map((child) => once(child, 'exit')))
  }
}

function usual(runs: readonly Run[]): Run {
  return { perSecond: median(runs.map(({ perSecond }) => perSecond)), cost: median(runs.map(({ cost }) => cost)) }
}

function report(runs: readonly (readonly Run[])[]): void {
  const row = (title: string, figures: readonly string[]): void => console.log(title.padEnd(46) + figures.join(' '))
  for (const [at, { name }] of variants.entries()) {
    const own = runs.map((run) => run[at] as Run)
    row(
      `${name}, requests/s`,
      own.map(({ perSecond }) => perSecond.toFixed(0)),
    )
    row(
      `${name}, µs of the core for each`,
      own.map(({ cost }) => cost.toFixed(1)),
    )
  }
  for (const [at, { name, isJudged }] of variants.entries()) {
    if (at === 0) continue
    const shares = runs.map((run) => (run[0] as Run).cost / (run[at] as Run).cost)
    const wanted = isJudged ? `; at least ${minShare} is wanted` : ''
    const range = `${Math.min(...shares).toFixed(3)} to ${Math.max(...shares).toFixed(3)}`
    console.log(`${name}: ${median(shares).toFixed(3)} of the throughput (${range})${wanted}`)
    if (isJudged && median(shares) < minShare) process.exitCode = 1
  }
}

async function main(): Promise<void> {
  requireWrk()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-bench-'))
  const upstream = await start(cores.load, [join(import.meta.dirname, 'upstream.ts'), String(upstreamPort)])
  const collector = await start(cores.load, [join(import.meta.dirname, 'collector.ts'), String(collectorPort)])
  const figures: (readonly Run[])[] = []
  try {
    for (let count = 0; count < rounds; count++) figures.push(await round(directory))
  } finally {
    upstream.kill()
    collector.kill()
    rmSync(directory, { recursive: true })
  }
  report(figures)
}

await main()

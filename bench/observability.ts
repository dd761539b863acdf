/**
 * What it costs to be watched: gateways that count, that count and trace, and that log too, against one that does nothing of
 * it. Get of a transaction, Form A over a Form B provider; one after the other on one core, a new process each time, since
 * two processes of the same code can differ by a tenth.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './median.ts'
import { authorization, cores, load, path, processorTime, requireWrk, start } from './rig.ts'

const rounds = Number(process.argv[2] ?? 7)
const shortRuns = Number(process.argv[3] ?? 5)
/** What few requests need, such as the telling of a trace, is compiled late. */
const warmUp = 45
const upstreamPort = 19_221
/** At least so much of the throughput must be left. */
const leastShare = 0.9

interface Variant {
  readonly name: string
  readonly port: number
  /** Sections of the configuration. */
  readonly sections: string
  /** Whether it is judged by `leastShare`. */
  readonly isJudged: boolean
}

/** The share of traces that is kept is the standard one. The provider takes whatever is sent to it. */
const collector = `telemetry: { endpoint: "http://127.0.0.1:${upstreamPort}" }`

/** The first one is what the others are measured against. */
const variants: readonly [Variant, ...Variant[]] = [
  { name: 'off', port: 19_222, sections: 'telemetry: { metrics: false }\nlog: { requests: false }', isJudged: false },
  { name: 'metrics', port: 19_224, sections: 'log: { requests: false }', isJudged: true },
  { name: 'metrics, traces', port: 19_226, sections: `${collector}\nlog: { requests: false }`, isJudged: true },
  { name: 'metrics, traces, log', port: 19_228, sections: collector, isJudged: false },
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
    budget: { quotes: 0, create: 0, read: 0 }
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
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization } })
  if (!answer.ok) throw new Error(`${name} answers ${answer.status}`)
}

/** One gateway of a variant. */
interface Run {
  readonly perSecond: number
  /** Microseconds of the core for a request: what a busy machine changes least. */
  readonly cost: number
}

/** The best of some short runs: whatever else the machine does can only make one worse. */
async function measure(variant: Variant, directory: string): Promise<Run> {
  const child = await run(variant, directory)
  try {
    await check(variant)
    load(variant.port, warmUp)
    const runs = Array.from({ length: shortRuns }, () => {
      const before = processorTime(child)
      const { perSecond, requests } = load(variant.port, 1)
      return { perSecond, cost: (processorTime(child) - before) / requests }
    })
    return { perSecond: Math.max(...runs.map(({ perSecond }) => perSecond)), cost: Math.min(...runs.map(({ cost }) => cost)) }
  } finally {
    child.kill()
    await once(child, 'exit')
  }
}

function report(runs: readonly (readonly Run[])[]): void {
  const row = (title: string, figures: readonly string[]): void => console.log(title.padEnd(44) + figures.join(' '))
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
    const wanted = isJudged ? `; at least ${leastShare} is wanted` : ''
    const range = `${Math.min(...shares).toFixed(3)} to ${Math.max(...shares).toFixed(3)}`
    console.log(`${name}: ${median(shares).toFixed(3)} of the throughput (${range})${wanted}`)
    if (isJudged && median(shares) < leastShare) process.exitCode = 1
  }
}

async function main(): Promise<void> {
  requireWrk()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-bench-'))
  const upstream = await start(cores.load, [join(import.meta.dirname, 'upstream.ts'), String(upstreamPort)])
  const figures: Run[][] = []
  try {
    for (let round = 0; round < rounds; round++) {
      const own: Run[] = []
      // Each round begins with another one, so that what the machine does besides befalls all alike.
      const order = variants.map((_, at) => (at + round) % variants.length)
      for (const at of order) own[at] = await measure(variants[at] as Variant, directory)
      figures.push(own)
    }
  } finally {
    upstream.kill()
    rmSync(directory, { recursive: true })
  }
  report(figures)
}

await main()

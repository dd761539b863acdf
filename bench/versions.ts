/**
 * Processor time of a get in another checkout and in this one: Form A over a Form B provider, as in gateway.ts. Several
 * processes of each run at once on one core and are loaded in turn, since two of the same code can differ by a tenth.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { median } from './median.ts'
import { cores, load, processorTime, requireWrk, start } from './rig.ts'

const here = join(import.meta.dirname, '..')
const processes = Number(process.argv[3] ?? 4)
const rounds = Number(process.argv[4] ?? 6)
const seconds = Number(process.argv[5] ?? 2)
const warmUpSeconds = 6
const upstreamPort = 19_261

interface Measured {
  readonly version: 'other' | 'this'
  readonly port: number
  readonly child: ChildProcess
  /** Microseconds of processor time for a get, one for each round. */
  readonly times: number[]
}

const configuration = (checkout: string, port: number, directory: string): string => `
server: { port: ${port} }
admin: { port: ${port + 1} }
ledger: { url: "sqlite:${join(directory, `ledger-${port}.db`)}" }
assets: ${join(checkout, 'config/assets.yaml')}
limits: { quotes: 1000000000, create: 1000000000, read: 1000000000 }
log: { requests: false }
providers:
  beta:
    form: B
    url: "http://127.0.0.1:${upstreamPort}/api/v2"
    budget: { quotes: 0, create: 0, read: 0 }
routing: { providers: [beta] }
`

/** Ends this program if the gateway cannot start. */
async function startGateway(checkout: string, port: number, directory: string): Promise<ChildProcess> {
  const file = join(directory, `${port}.yaml`)
  writeFileSync(file, configuration(checkout, port, directory))
  const args = ['-c', cores.gateway, process.execPath, join(checkout, 'src/cli/swapgate.js'), 'start', '--config', file]
  const child = spawn('taskset', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const isStarted = await Promise.race([once(child.stdout, 'data').then(() => true), once(child, 'exit').then(() => false)])
  if (!isStarted) throw new Error(`the gateway of ${checkout} did not start`)
  return child
}

function measure({ port, child, times }: Measured): void {
  const before = processorTime(child)
  const { requests, failures } = load(port, seconds)
  if (failures) throw new Error(`port ${port}: ${failures}`)
  times.push((processorTime(child) - before) / requests)
}

function report(gateways: readonly Measured[]): void {
  const [other = Number.NaN, own = Number.NaN] = (['other', 'this'] as const).map((version) => {
    const medians = gateways.filter((gateway) => gateway.version === version).map(({ times }) => median(times))
    console.log(`${`${version}, µs`.padEnd(11)}${medians.map((time) => time.toFixed(1)).join(' ')}`)
    return median(medians)
  })
  console.log(
    `median ${other.toFixed(1)} and ${own.toFixed(1)}: ${(own / other).toFixed(2)} of the other's, ${rounds} rounds of ${seconds} s`,
  )
}

async function main(): Promise<void> {
  requireWrk()
  const [, , other] = process.argv
  if (!other) throw new Error('the path of the other checkout is missing')
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-bench-'))
  const children: ChildProcess[] = []
  const gateways: Measured[] = []
  try {
    children.push(await start(cores.load, [join(import.meta.dirname, 'upstream.ts'), String(upstreamPort)]))
    for (let at = 0; at < 2 * processes; at++) {
      // In the order 0 1 1 0: the later processes of a run differ from the earlier ones.
      const version = at % 4 === 0 || at % 4 === 3 ? 'other' : 'this'
      const port = upstreamPort + 1 + 2 * at
      const child = await startGateway(version === 'this' ? here : resolve(other), port, directory)
      children.push(child)
      gateways.push({ version, port, child, times: [] })
    }
    for (const { port } of gateways) load(port, warmUpSeconds)
    for (let round = 0; round < rounds; round++)
      for (const gateway of round % 2 ? gateways.toReversed() : gateways) measure(gateway)
    report(gateways)
  } finally {
    for (const child of children) child.kill()
    rmSync(directory, { recursive: true, force: true })
  }
}

await main()

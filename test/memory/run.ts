/**
 * A gateway in 512 MB under all attacks, in turn and at once, beside a healthy client: `npm run test:memory [minutes] [redis]`. Prints
 * its resident memory; ends with 1 if the process ended, or if the median of the last third is more than 5 % above the second third's.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { median } from '../../bench/median.ts'
import { silentSystem } from '../process/silent-system.ts'
import { residentMemory } from '../process/slow-clients.ts'
import bundle, { bundledProgram } from '../support/bundle.ts'
import { RedisServer } from '../support/redis.ts'
import { silentNames } from './attacks.ts'
import { startLimited } from './limited-process.ts'
import { coinCount, type ProviderPorts } from './providers.ts'

const [minutes = '10', store = 'memory'] = process.argv.slice(2)
const seconds = Number(minutes) * 60
/** The same number in each third, so that the thirds differ in nothing but their time. */
const cycles = 3 * Math.max(2, Math.ceil(Number(minutes) / 15))
const maxRatio = 1.05
const reloadSeconds = 60
/** After this much of the pause the names are answered, so that threads come back and others are taken. */
const silenceSeconds = 20
const healthyIntervalMs = 100

interface Sample {
  readonly second: number
  readonly phase: string
  readonly megabytes: number
}

const directory = mkdtempSync(join(tmpdir(), 'swapgate-memory-'))
const file = join(directory, 'gateway.yaml')
const pipe = join(directory, 'pipe')
const operatorToken = randomBytes(24).toString('hex')
const unlimited = 1_000_000_000

/** `round` is in it, so that each reload has a change. */
function writeConfiguration({ healthy, hostile, losing, lists }: ProviderPorts, redis: string, round: number): void {
  const own = 'key: own-key, timeout: 4, rateLimit: { quotes: 0, create: 0, read: 0 }'
  const at = (port: number): string => `"http://127.0.0.1:${port}/api/v2"`
  const silent = silentNames.map(
    (name) => `${name}: { form: A, ${own}, url: "https://${name}.silent/api/v2", native: [GET /small] }`,
  )
  writeFileSync(
    file,
    `
server: { port: 0, shutdownDelay: 0, trustProxy: 1 }
admin: { port: 0, tokens: { alice: "${operatorToken}" } }
auth: { mode: managed }
ledger: { url: "sqlite:${join(directory, 'ledger.db')}" }
limits: { quotes: ${unlimited + round}, create: ${unlimited}, read: ${unlimited}, unverified: ${unlimited} }
cache: { currencies: 5, rate: 1 }
${redis && `redis: { url: "${redis}" }`}
providers:
  healthy: { form: A, ${own}, url: ${at(healthy)} }
  hostile: { form: A, ${own}, url: ${at(hostile)}, native: [GET /trickle, GET /dump, POST /echo] }
  losing: { form: A, ${own}, url: ${at(losing)} }
  lists: { form: letsexchange, ${own}, url: ${at(lists)}, settings: { affiliateId: x } }
  ${silent.join('\n  ')}
routing: { providers: [healthy, hostile, losing, lists], pick: [healthy, hostile, losing, lists] }
`,
  )
}

function writeAssets(): void {
  const networks = (at: number) => [{ network: `N${at}`, code: `C${at}X` }]
  const coins = Array.from({ length: coinCount }, (_, at) => ({ coin: `C${at}X`, name: `Coin ${at}`, networks: networks(at) }))
  const known = [
    { coin: 'BTC', name: 'Bitcoin', networks: [{ network: 'BTC', code: 'BTC' }] },
    { coin: 'USDT', name: 'Tether', networks: [{ network: 'TRX', code: 'USDTTRC20' }] },
  ]
  writeFileSync(join(directory, 'assets.yaml'), JSON.stringify([...known, ...coins]))
}

function createKey(account: string): string {
  const args = [bundledProgram(), 'keys', 'create', '--name', account, '--json', '--config', file]
  const printed = execFileSync(process.execPath, args, { cwd: directory, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return (JSON.parse(printed) as { readonly key: string }).key
}

async function firstLine(child: ChildProcess): Promise<string> {
  let text = ''
  const read = (chunk: Buffer): void => {
    text += chunk
  }
  child.stdout?.on('data', read)
  while (!text.includes('\n')) await once(child.stdout as NodeJS.ReadableStream, 'data')
  child.stdout?.off('data', read).resume()
  return text.split('\n')[0] ?? ''
}

/** The log is read and forgotten but for its end. */
function keepEnd(child: ChildProcess): () => string {
  let text = ''
  child.stderr?.on('data', (chunk) => {
    text = (text + chunk).slice(-5_000)
  })
  return () => text
}

const agent = new Agent({ keepAlive: true })

interface Healthy {
  readonly statuses: Map<string, number>
  readonly times: number[]
}

/** Quotes, lists of coins, creates and gets of the healthy provider, one each interval. */
async function useAsClient(port: number, key: string, { statuses, times }: Healthy, signal: AbortSignal): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.2' }
  let [number, id] = [0, '']
  const send = async (method: string, path: string, body?: object): Promise<void> => {
    const began = performance.now()
    const { promise, resolve } = Promise.withResolvers<string>()
    const sent = request({ agent, port, host: '127.0.0.1', method, path: `/a/api/v2${path}`, headers }, async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      if (response.statusCode === 201) id = (JSON.parse(text) as { readonly id: string }).id
      const { statusCode, headers } = response
      resolve(Number(statusCode) < 300 ? String(statusCode) : `${method} ${statusCode} ${headers['x-swap-reason']}`)
    })
    sent.on('error', ({ message }) => resolve(message)).end(body && JSON.stringify(body))
    const status = await promise
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    times.push(performance.now() - began)
  }
  while (!signal.aborted) {
    const [amount, place] = [1 + ++number / 1e6, number % 20]
    const order = { coinFrom: 'C3X', coinTo: 'C4X', amount, withdrawalAddress: `withdraw-${number}`, rateType: 'float' }
    if (place === 1) void send('POST', '/transactions', order)
    else if (place === 2) void send('GET', '/currencies?size=5')
    else if (place % 2 === 0 && id !== '') void send('GET', `/transactions/${id}`)
    else void send('GET', `/rate?coinFrom=C3X&coinTo=C4X&amount=${amount}&rateType=float`)
    await wait(healthyIntervalMs)
  }
}

/** Those that wait for a name get a temporary failure. */
function breakSilence(): void {
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK))
  } catch {
    // Nobody waits.
  }
}

function report(samples: readonly Sample[], { statuses, times }: Healthy, exits: number): boolean {
  const megabytes = samples.map((sample) => sample.megabytes)
  const part = (from: number): number => median(megabytes.slice((from * samples.length) / 3, ((from + 1) * samples.length) / 3))
  for (const name of new Set(samples.map(({ phase }) => phase))) {
    const own = samples.filter(({ phase }) => phase === name).map((sample) => sample.megabytes)
    console.log(`${name.padEnd(20)} median ${median(own).toFixed(0)} MB, at most ${Math.max(...own).toFixed(0)} MB`)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): string => `${sorted[Math.floor(share * sorted.length)]?.toFixed(0)} ms`
  const served = ['200', '201']
  const refused = [...statuses].filter(([status]) => !served.includes(status)).reduce((sum, [, count]) => sum + count, 0)
  console.log(
    `healthy client: ${times.length} requests, ${refused} refused, median ${at(0.5)}, p99 ${at(0.99)}`,
    Object.fromEntries(statuses),
  )
  const ratio = part(2) / part(1)
  console.log(`exits: ${exits}`)
  console.log(
    `resident memory, medians of the thirds: ${[0, 1, 2].map((third) => part(third).toFixed(1)).join(', ')} MB; at most ${Math.max(...megabytes).toFixed(0)} MB`,
  )
  console.log(`the last third by the second: ${ratio.toFixed(3)}; at most ${maxRatio} is wanted`)
  return exits === 0 && ratio <= maxRatio
}

async function main(): Promise<void> {
  await using resources = new AsyncDisposableStack()
  const removeBundle = await bundle()
  resources.defer(() => {
    removeBundle?.()
    rmSync(directory, { recursive: true })
  })
  execFileSync('mkfifo', [pipe])
  const redis = store === 'redis' ? resources.use(await RedisServer.start()).url : ''
  const startOwn = (program: string, ...args: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [join(import.meta.dirname, program), ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    resources.defer(() => void child.kill('SIGKILL'))
    return child
  }
  const ports = JSON.parse(await firstLine(startOwn('providers.ts'))) as ProviderPorts
  writeAssets()
  writeConfiguration(ports, redis, 0)
  const [healthyKey, key] = [createKey('acme'), createKey('mallory')]
  const gateway = startLimited([bundledProgram(), 'start', '--config', file], `--import=${silentSystem(pipe)}`, directory)
  const readLog = keepEnd(gateway.child)
  const ended = once(gateway.child, 'exit')
  resources.defer(async () => {
    gateway.child.kill('SIGKILL')
    await ended
    gateway.remove()
  })
  const line = await firstLine(gateway.child)
  const portOf = (name: string): number => Number(new RegExp(`${name} http://[^:]+:(\\d+)`).exec(line)?.[1])
  const [port, adminPort] = [portOf('gateway'), portOf('admin')]
  console.log(`${minutes} minutes, ${cycles} cycles, limits in ${store}; 512 MB by ${gateway.limit}`)

  const stopping = new AbortController()
  const healthy: Healthy = { statuses: new Map(), times: [] }
  void useAsClient(port, healthyKey, healthy, stopping.signal)
  const target = JSON.stringify({ port, adminPort, key, operatorToken })
  const attacker = startOwn('attacker.ts', target, String(seconds), String(cycles))
  const attacked = once(attacker, 'exit')
  let phase = 'none'
  attacker.stdout?.on('data', (chunk) => {
    phase = String(chunk).trim().split('\n').at(-1) ?? phase
  })
  const samples: Sample[] = []
  const began = performance.now()
  for (let second = 1; second <= seconds && gateway.child.exitCode === null && gateway.child.signalCode === null; second++) {
    await wait(began + second * 1_000 - performance.now())
    try {
      samples.push({ second, phase, megabytes: residentMemory(gateway.child.pid as number) })
    } catch {
      continue
    }
    if (second % reloadSeconds === 0) {
      writeConfiguration(ports, redis, second)
      gateway.child.kill('SIGHUP')
      const last = samples.slice(-reloadSeconds).map(({ megabytes }) => megabytes)
      console.log(
        `minute ${second / 60}: median ${median(last).toFixed(0)} MB, at most ${Math.max(...last).toFixed(0)} MB, ${phase}`,
      )
    }
    if (second % silenceSeconds === 0) breakSilence()
  }
  stopping.abort()
  const hasEnded = gateway.child.exitCode !== null || gateway.child.signalCode !== null
  if (hasEnded)
    console.log(`the gateway ended during ${phase}: ${gateway.child.exitCode ?? gateway.child.signalCode}\n${readLog()}`)
  attacker.kill()
  await Promise.race([attacked, wait(10_000)])
  if (!report(samples, healthy, Number(hasEnded))) process.exitCode = 1
  agent.destroy()
}

await main()

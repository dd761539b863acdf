/**
 * swapgate beside what else would do the work: requests a second, and microseconds of the core for a request, which other work of the
 * machine changes less. One core for the gateway under test; wrk, the providers, Redis, PostgreSQL and the collector share the
 * other one. Each case loads its contenders in turn, in the opposite order in every second round.
 */
import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process'
import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { arch, cpus, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startOwnPostgres } from '../test/support/postgres-server.ts'
import { RedisServer } from '../test/support/redis.ts'
import { median } from './median.ts'
import { providers, translating } from './nginx.ts'
import { getPaths, latencyAt } from './open-loop.ts'
import { authorization, childrenOf, cores, load, path, processorTime, requirePrograms, start, startListening } from './rig.ts'

const rounds = Number(process.argv[2] ?? 5)
const seconds = Number(process.argv[3] ?? 3)
/** Only the cases whose name contains it. */
const only = process.argv[4] ?? ''
const warmUpSeconds = 4
const here = import.meta.dirname
const contenders = join(here, '../tools/contenders')
const ports = { providerA: 19_201, providerB: 19_202, creates: 19_203, collector: 19_206 }
let nextPort = 19_210
const directory = mkdtempSync(join(tmpdir(), 'swapgate-bench-'))
const unlimited = '{ quotes: 1000000000, create: 1000000000, read: 1000000000 }'

/** What a gateway has switched on. */
interface Parts {
  readonly redis: boolean
  readonly traces: boolean
  readonly metrics: boolean
  readonly log: boolean
}
const everything: Parts = { redis: true, traces: true, metrics: true, log: false }
const nothing: Parts = { redis: false, traces: false, metrics: false, log: false }

interface Stores {
  readonly redis: RedisServer
  readonly postgresUrl: string
}

/** Of a provider of Form B, unless told otherwise. */
interface GatewayOptions {
  readonly provider?: string
  readonly ledger?: string
  readonly rateCacheSeconds?: number
  readonly workers?: number
}

const providerB = `beta: { form: B, url: "http://127.0.0.1:${ports.providerB}/api/v2", rateLimit: ${unlimited} }`
const providerA = `alpha: { form: A, url: "http://127.0.0.1:${ports.providerA}/api/v2", rateLimit: ${unlimited} }`
const providerOfCreates = `gamma: { form: A, url: "http://127.0.0.1:${ports.creates}/api/v2", rateLimit: ${unlimited} }`

interface Contender {
  readonly name: string
  readonly port: number
  readonly child: ChildProcess
}

async function startSwapgate(name: string, parts: Parts, stores: Stores, options: GatewayOptions = {}): Promise<Contender> {
  const port = nextPort
  nextPort += 2
  const provider = options.provider ?? providerB
  const text = `
server: { port: ${port}, workers: ${options.workers ?? 1} }
admin: { port: ${port + 1} }
ledger: { url: "${options.ledger ?? `sqlite:${join(directory, `${port}.db`)}`}" }
assets: ${join(here, '../config/assets.yaml')}
limits: ${unlimited}
cache: { currencies: 300, rate: ${options.rateCacheSeconds ?? 0} }
log: { requests: ${parts.log} }
telemetry: { metrics: ${parts.metrics}, endpoint: "${parts.traces ? `http://127.0.0.1:${ports.collector}` : ''}", ratio: 0.1 }
${parts.redis ? `redis: { url: "${stores.redis.url}" }` : ''}
providers:
  ${provider}
routing: { providers: [${provider.slice(0, provider.indexOf(':'))}] }
`
  const file = join(directory, `${port}.yaml`)
  writeFileSync(file, text)
  const log = openSync(join(directory, `${port}.log`), 'w')
  const child = await start(cores.gateway, [join(here, '../src/cli/swapgate.js'), 'start', '--config', file], log)
  return { name, port, child }
}

async function startProgram(name: string, file: string, ...args: readonly (string | number)[]): Promise<Contender> {
  const port = nextPort++
  const child = await start(cores.gateway, [join(contenders, file), ...[port, ...args].map(String)])
  return { name, port, child }
}

interface Case {
  readonly name: string
  readonly path: string
  readonly authorization?: string
  readonly connections?: number
  /** A script of wrk. */
  readonly script?: string
  /** Part of a right response of every contender. */
  readonly contains: string
  readonly contenders: readonly Contender[]
  /** Pairs of names, and the ratio of their requests a second that is wanted. */
  readonly wanted: readonly (readonly [string, string, number])[]
}

const names = {
  everything: 'everything on',
  memory: 'limits in memory',
  noTraces: 'without traces',
  noMetrics: 'without metrics',
  log: 'with a log of requests',
  nothing: 'everything off',
  fastGateway: 'fast-gateway, passing bytes',
  fastify: '@fastify/http-proxy, passing bytes',
  rewriting: 'http-proxy-middleware, rewriting',
  lua: 'nginx + Lua, translating',
  packages: 'the same packages',
  node: 'bare node:http',
  workers: 'everything on, two workers',
} as const

const rates = '/a/api/v2/rate?coinFrom=BTC&coinTo=ETH&amount='
const newAmounts = `local sent = 0
request = function()
  sent = sent + 1
  return wrk.format("GET", "${rates}" .. string.format("%.6f", 1 + sent / 1000000))
end`
/** Two swaps in a row never have the same amount. */
const creates = `local sent = 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
request = function()
  sent = sent + 1
  local amount = string.format("%.6f", 1 + (sent % 900000) / 1000000)
  return wrk.format("POST", "/a/api/v2/transactions", nil, '{"coinFrom":"ETH","coinTo":"BTC","amount":' .. amount .. ',"withdrawalAddress":"1BoatSLRHtKNngkdXEeobR76b53LETtpyT"}')
end`

function script(name: string, text: string): string {
  const file = join(directory, `${name}.lua`)
  writeFileSync(file, text)
  return file
}

async function readCases(stores: Stores): Promise<readonly Case[]> {
  const gateways = {
    everything: await startSwapgate(names.everything, everything, stores),
    memory: await startSwapgate(names.memory, { ...everything, redis: false }, stores),
    log: await startSwapgate(names.log, { ...everything, log: true }, stores),
  }
  const fastGateway = await startProgram(names.fastGateway, 'fast-gateway.cjs', ports.providerB)
  const cached = {
    everything: await startSwapgate(names.everything, everything, stores, { rateCacheSeconds: 60 }),
    memory: await startSwapgate(names.memory, { ...everything, redis: false }, stores, { rateCacheSeconds: 60 }),
  }
  const own = [gateways.everything, gateways.memory, gateways.log]
  const luaPort = nextPort++
  const lua = await startListening(cores.gateway, translating(luaPort, ports.providerB), luaPort)
  return [
    {
      name: 'get, A from B',
      path,
      contains: '"coinTo":"USDTTRC20"|"coin_to":"USDT"',
      contenders: [
        ...own,
        await startSwapgate(names.noTraces, { ...everything, traces: false }, stores),
        await startSwapgate(names.noMetrics, { ...everything, metrics: false }, stores),
        await startSwapgate(names.nothing, nothing, stores),
        fastGateway,
        await startProgram(names.fastify, 'fastify-http-proxy.js', ports.providerB),
        await startProgram(names.rewriting, 'rewriting.js', ports.providerB),
        { name: names.lua, port: luaPort, child: lua },
        await startProgram(names.packages, 'same-packages.js', ports.providerB, stores.redis.port, ports.collector),
      ],
      wanted: [
        [names.everything, names.fastGateway, 1],
        [names.memory, names.fastGateway, 1.25],
        [names.everything, names.rewriting, 1.5],
        [names.everything, names.lua, 0.5],
        [names.everything, names.packages, 6],
        [names.everything, names.memory, 0.9],
        [names.log, names.everything, 0.9],
      ],
    },
    {
      name: 'get, B from A',
      path: path.replace('/a/', '/b/').replace('beta', 'alpha'),
      authorization: 'X-API-Key: bench-key',
      contains: '"network_to":"TRX"',
      contenders: [
        await startSwapgate(names.everything, everything, stores, { provider: providerA }),
        await startSwapgate(names.memory, { ...everything, redis: false }, stores, { provider: providerA }),
      ],
      wanted: [],
    },
    {
      name: 'get with two workers',
      path,
      contains: '"coinTo":"USDTTRC20"',
      contenders: [gateways.everything, await startSwapgate(names.workers, everything, stores, { workers: 2 })],
      wanted: [[names.workers, names.everything, 0.87]],
    },
    {
      name: 'rate, each another one',
      path: `${rates}1`,
      script: script('rates', newAmounts),
      contains: '"rate":15.5',
      contenders: [gateways.everything, gateways.memory, fastGateway],
      wanted: [[names.everything, names.fastGateway, 1.5]],
    },
    {
      name: 'rate, cached',
      path: `${rates}1`,
      contains: '"rate":15.5',
      contenders: [cached.everything, cached.memory, await startBare(cached.memory, `${rates}1`)],
      wanted: [
        [names.everything, names.node, 0.4],
        [names.memory, names.node, 0.6],
      ],
    },
    {
      name: 'a page of currencies',
      path: '/a/api/v2/currencies',
      contains: '"Bitcoin"',
      contenders: [cached.everything, cached.memory, await startBare(cached.memory, '/a/api/v2/currencies')],
      wanted: [
        [names.everything, names.node, 0.4],
        [names.memory, names.node, 0.6],
      ],
    },
  ]
}

/** A bare server that returns what the gateway returns. */
async function startBare({ port }: Contender, requestPath: string): Promise<Contender> {
  const response = await fetch(`http://127.0.0.1:${port}${requestPath}`, { headers: { authorization } })
  return await startProgram(names.node, 'node-http.js', await response.text())
}

async function createCases(stores: Stores): Promise<readonly Case[]> {
  const options = { provider: providerOfCreates }
  const sqlite = await startSwapgate('SQLite', everything, stores, options)
  const postgres = await startSwapgate('PostgreSQL', everything, stores, { ...options, ledger: stores.postgresUrl })
  const file = script('creates', creates)
  return [1, 64].map((connections) => ({
    name: `create, ${connections} at a time`,
    path: '/a/api/v2/transactions',
    connections,
    script: file,
    contains: '',
    contenders: [sqlite, postgres],
    wanted: [],
  }))
}

interface Measured {
  readonly perSecond: number
  /** Microseconds of the core for a request. */
  readonly cost: number
}

/** Contenders must do their whole work, or the figures mean nothing. */
async function check({ name, path: requestPath, authorization: header, contains, contenders: all }: Case): Promise<void> {
  const [field = '', value = ''] = (header ?? `authorization: ${authorization}`).split(': ')
  for (const contender of all) {
    const response = await fetch(`http://127.0.0.1:${contender.port}${requestPath}`, { headers: { [field]: value } })
    const text = await response.text()
    const isRight = contains === '' || (response.ok && contains.split('|').some((part) => text.replaceAll(' ', '').includes(part)))
    if (!isRight) throw new Error(`${name}, ${contender.name} returned ${response.status}: ${text}`)
  }
}

/** Requests that failed are named, and are none. */
function measure({ port, child, name }: Contender, { name: caseName, ...options }: Case, duration: number): Measured {
  const before = processorTime(child)
  const { perSecond, requests, failures } = load(port, duration, options)
  if (failures) console.log(`${caseName}, ${name}: ${failures}`)
  return { perSecond, cost: (processorTime(child) - before) / requests }
}

function measureCase(each: Case): ReadonlyMap<string, readonly Measured[]> {
  const measured = new Map<string, Measured[]>(each.contenders.map(({ name }) => [name, []]))
  for (const contender of each.contenders) measure(contender, each, warmUpSeconds)
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? each.contenders : each.contenders.toReversed()
    for (const contender of order) measured.get(contender.name)?.push(measure(contender, each, seconds))
  }
  return measured
}

function report({ name, wanted }: Case, measured: ReadonlyMap<string, readonly Measured[]>): void {
  console.log(`\n${name}`)
  for (const [contender, runs] of measured) {
    const perSecond = runs.map((run) => run.perSecond)
    const cost = median(runs.map((run) => run.cost))
    const raw = perSecond.map((value) => value.toFixed(0)).join(' ')
    console.log(`  ${contender.padEnd(36)}${median(perSecond).toFixed(0).padStart(7)}/s ${cost.toFixed(1).padStart(7)} µs   ${raw}`)
  }
  for (const [one, other, least] of wanted) {
    const ratios = (measured.get(one) ?? []).map((run, at) => run.perSecond / (measured.get(other)?.[at]?.perSecond ?? Number.NaN))
    const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
    const costs = [one, other].map((each) => median((measured.get(each) ?? []).map(({ cost }) => cost)))
    const byCost = (costs[1] ?? Number.NaN) / (costs[0] ?? Number.NaN)
    console.log(
      `  ${one} ÷ ${other}: ${median(ratios).toFixed(2)} (${range}), by time of the core ${byCost.toFixed(2)}; ${least} is wanted`,
    )
  }
}

/** Which part of the work each worker has had. */
function reportShares({ contenders: all }: Case): void {
  const times = childrenOf(all.at(-1)?.child.pid).map((pid) => processorTime({ pid }))
  const sum = times.reduce((total, each) => total + each, 0)
  console.log(`  shares of the workers: ${times.map((time) => `${((100 * time) / sum).toFixed(0)} %`).join(' and ')}`)
}

/** Flushes a second of the disk that has the ledgers. */
function flushesPerSecond(): number {
  const file = openSync(join(directory, 'flushes'), 'w')
  const page = Buffer.alloc(4096)
  const startedAt = performance.now()
  let count = 0
  for (; performance.now() - startedAt < 1_000; count++) {
    writeSync(file, page)
    fdatasyncSync(file)
  }
  closeSync(file)
  return count
}

/** At half of what swapgate can do. */
async function reportLatency(all: readonly Contender[], measured: ReadonlyMap<string, readonly Measured[]>): Promise<void> {
  const perSecond = median((measured.get(names.everything) ?? []).map((run) => run.perSecond)) / 2
  console.log(`\nlatency at ${perSecond.toFixed(0)} requests a second, half of what swapgate can do with everything on`)
  const direct = await latencyAt(ports.providerB, getPaths.provider, perSecond, seconds)
  console.log(`  ${'the provider'.padEnd(36)} p50 ${direct.p50.toFixed(2)} ms, p99 ${direct.p99.toFixed(2)} ms`)
  for (const { name, port } of all.filter(({ name }) => name === names.everything || name === names.fastify)) {
    const { p50, p99 } = await latencyAt(port, getPaths.gateway, perSecond, seconds)
    console.log(`  ${name.padEnd(36)} p50 ${p50.toFixed(2)} ms (${(p50 - direct.p50).toFixed(2)} added), p99 ${p99.toFixed(2)} ms`)
  }
}

function describeMachine(): void {
  const nginx = spawnSync('nginx', ['-v'], { encoding: 'utf8' }).stderr.trim().replace('nginx version: ', '')
  const version = (name: string): string =>
    JSON.parse(readFileSync(join(here, '../tools/package.json'), 'utf8')).devDependencies[name]
  console.log(`${cpus()[0]?.model.trim()}, ${cpus().length} cores, Linux ${release()} ${arch()}, Node ${process.version}`)
  console.log(`${nginx}, fast-gateway ${version('fast-gateway')}, @fastify/http-proxy ${version('@fastify/http-proxy')}`)
}

async function main(): Promise<void> {
  requirePrograms('wrk', 'nginx', 'libnginx-mod-http-lua', 'lua-cjson', 'redis-server', 'postgresql')
  execFileSync('taskset', ['-p', '-c', cores.load, String(process.pid)], { stdio: 'ignore' })
  await using resources = new AsyncDisposableStack()
  resources.defer(() => rmSync(directory, { recursive: true, force: true }))
  const redis = resources.use(await RedisServer.start())
  const postgres = await startOwnPostgres()
  resources.defer(postgres.close)
  const stores = { redis, postgresUrl: postgres.url }
  await startListening(cores.load, providers(ports.providerA, ports.providerB), ports.providerB)
  await start(cores.load, [join(here, 'collector.ts'), String(ports.collector)])
  await start(cores.load, [join(here, 'isolation/provider.ts'), ...[0, 1, 2].map((at) => String(ports.creates + at))])
  describeMachine()
  for (const each of [...(await readCases(stores)), ...(await createCases(stores))].filter(({ name }) => name.includes(only))) {
    await check(each)
    const measured = measureCase(each)
    report(each, measured)
    if (each.name === 'get, A from B') await reportLatency(each.contenders, measured)
    if (each.name.endsWith('two workers')) reportShares(each)
    if (each.name.startsWith('create')) console.log(`  flushes of the disk: ${flushesPerSecond()}/s`)
  }
  process.exit()
}

await main()

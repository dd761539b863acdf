/**
 * A healthy client of a healthy provider beside strangers, providers and stores that fail: the 99th percentile of its responses,
 * against the same load alone. The gateway has 512 MB, a core of its own, PostgreSQL and Redis, and is a new process in each round.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { commandOver } from '../test/support/command.ts'
import { hasPostgresPrograms, type OwnPostgres, startOwnPostgres } from '../test/support/postgres-server.ts'
import { RedisServer } from '../test/support/redis.ts'
import * as attacks from './isolation/attacks.ts'
import { finalAmount } from './isolation/provider.ts'
import { median } from './median.ts'
import { cores, processorTime, start } from './rig.ts'

const rounds = Number(process.argv[2] ?? 5)
const seconds = Number(process.argv[3] ?? 5)
/** Names of states; all unless given. */
const chosen = process.argv.slice(4)
const worst = 2
/** Requests a second, evenly spread. */
const perSecond = { healthy: 300, failing: 50, noisy: 150, listing: 10 }
/** A state is measured when it has lasted for so long. */
const settlingMs = 1_000
const recoveryMs = 30_000
const warmUpMs = 4_000
const halfSent = 5_000
const silentProviders = 40
const tokens = { read: 'token-of-a-reader-0123456789abcdef', money: 'token-of-an-owner-0123456789abcdef' }
const ports = { swapgate: 19_222, admin: 19_223, healthy: 19_224, other: 19_225, lists: 19_226 }

/** What the healthy client does, in turn. */
const operations = ['quote', 'open get', 'quote', 'final get', 'open get', 'create'] as const
type Operation = (typeof operations)[number]

interface Rig {
  readonly redis: RedisServer
  readonly postgres: OwnPostgres
  readonly keys: Readonly<Record<'healthy' | 'stranger', string>>
  readonly replaying: readonly string[]
  readonly streaming: readonly string[]
  /** With a thousand deliveries. */
  readonly webhook: string
  readonly target: attacks.Target
  /** Swaps of the healthy client, and one of the stranger at the other provider. */
  readonly ids: { readonly open: readonly string[]; readonly final: readonly string[]; readonly other: string }
}

interface State {
  readonly name: string
  /** Begins it, and returns what ends it. */
  readonly begin: (rig: Rig) => Promise<() => unknown>
  /** What the contract refuses in this state. */
  readonly refused?: readonly Operation[]
}

const allStates: readonly State[] = [
  { name: 'alone', begin: async () => () => {} },
  { name: 'silent names', begin: silenceNames },
  { name: 'slow provider', begin: (rig) => failing('slow', rig) },
  { name: 'resetting provider', begin: (rig) => failing('resets', rig) },
  { name: 'lying provider', begin: (rig) => failing('lies', rig) },
  { name: 'noisy account', begin: async ({ keys }) => repeat(perSecond.noisy, () => create(keys.stranger)) },
  { name: 'half-sent requests', begin: sendHalves },
  { name: 'replays', begin: ({ target, replaying }) => attacks.replay(target, replaying) },
  { name: '2,000 streams', begin: ({ target, streaming }) => attacks.streamThroughBalancer(target, streaming) },
  { name: 'pipelined metrics', begin: ({ target }) => attacks.pipelineMetrics(target) },
  { name: 'pages of deliveries', begin: ({ target, webhook }) => attacks.readDeliveries(target, webhook, tokens.read) },
  { name: 'hostile lists', begin: ({ keys }) => failingBy('lists', perSecond.listing, () => readList(keys.stranger)) },
  {
    name: 'frozen Redis',
    async begin({ redis }) {
      redis.freeze()
      return () => redis.thaw()
    },
  },
  {
    name: 'frozen PostgreSQL',
    async begin({ postgres }) {
      postgres.freeze()
      return postgres.thaw
    },
    // Neither passes on a key that was looked up more than two seconds ago.
    refused: ['open get', 'final get', 'create'],
  },
]

const unknown = chosen.find((name) => !allStates.some((state) => state.name === name))
if (unknown !== undefined) throw new Error(`no state is called ${unknown}`)
const states = allStates.filter(({ name }) => name === 'alone' || chosen.length === 0 || chosen.includes(name))

const directory = mkdtempSync(join(tmpdir(), 'swapgate-bench-'))
const file = join(directory, 'gateway.yaml')
const pipe = join(directory, 'pipe')
const log = openSync(join(directory, 'log'), 'a')
const here = join(import.meta.dirname, 'isolation')

function configuration(postgres: OwnPostgres, redis: RedisServer): string {
  const unbounded = 'key: k, rateLimit: { quotes: 0, create: 0, read: 0 }'
  const silent = Array.from({ length: silentProviders }, (_, at) => `silent${at}`)
  return `
server: { port: ${ports.swapgate}, shutdownDelay: 0 }
admin: { port: ${ports.admin}, tokens: { reader: { token: ${tokens.read}, roles: [read] }, owner: ${tokens.money} } }
webhooks: { key: "${Buffer.alloc(32, 7).toString('base64')}" }
auth: { mode: managed }
ledger: { url: "${postgres.url}", refreshAfter: 1 }
redis: { url: "${redis.url}" }
assets: ${join(import.meta.dirname, '../config/assets.yaml')}
limits: { quotes: 1000000000, create: 1000000000, read: 1000000000, unverified: 1000000000 }
cache: { currencies: 5, rate: 0 }
log: { requests: false }
providers:
  healthy: { form: A, url: "http://127.0.0.1:${ports.healthy}/api/v2", ${unbounded} }
  other: { form: A, url: "http://127.0.0.1:${ports.other}/api/v2", ${unbounded} }
  lists: { form: letsexchange, url: "http://127.0.0.1:${ports.lists}/api", settings: { affiliateId: x }, ${unbounded} }
${silent.map((name) => `  ${name}: { form: A, url: "https://${name}.silent/api/v2", ${unbounded} }`).join('\n')}
routing: { providers: [healthy, lists], pick: [other, ${silent.join(', ')}] }
`
}

function startGateway(): Promise<ChildProcess> {
  const preload = pathToFileURL(join(here, 'silent-names.js'))
  preload.searchParams.set('pipe', pipe)
  // As in a container with one processor.
  const memory = 'data:text/javascript,process.constrainedMemory=()=>536870912'
  const options = ['--single-threaded-gc', '--max-old-space-size=256', '--import', memory, '--import', preload.href]
  const program = join(import.meta.dirname, '../src/cli/swapgate.js')
  return start(cores.gateway, [...options, program, 'start', '--config', file], log)
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill()
  await ended
}

const agent = new Agent({ keepAlive: true })
let sent = 0

interface Answer {
  readonly status: number
  readonly body: string
}

function send(method: string, path: string, key: string, more: Readonly<Record<string, string>> = {}, body = ''): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }), ...more }
  return new Promise((resolve, reject) => {
    request({ agent, method, port: ports.swapgate, path: `/a/api/v2${path}`, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text })).on('error', reject)
    })
      .on('error', reject)
      .end(body)
  })
}

/** Another amount each time, so that no quote is shared. */
const nextAmount = (): number => 1 + (sent++ % 100_000) / 1_000_000

function quote(key: string, provider?: string): Promise<Answer> {
  const pick = provider === undefined ? {} : { 'x-swap-provider': provider }
  return send('GET', `/rate?coinFrom=ETH&coinTo=BTC&amount=${nextAmount()}`, key, pick)
}

function create(key: string, amount = nextAmount(), more: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const withdrawalAddress = '1BoatSLRHtKNngkdXEeobR76b53LETtpyT'
  return send('POST', '/transactions', key, more, JSON.stringify({ coinFrom: 'ETH', coinTo: 'BTC', amount, withdrawalAddress }))
}

const get = (key: string, id: string): Promise<Answer> => send('GET', `/transactions/${id}`, key)
const readList = (key: string): Promise<Answer> => send('GET', `/currencies?size=100&search=${(sent++ % 1_000).toString(36)}`, key)
const oneOf = (ids: readonly string[]): string => ids[sent++ % ids.length] ?? ''

async function created(sending: Promise<Answer>): Promise<string> {
  const { status, body } = await sending
  if (status !== 201) throw new Error(`the create returned ${status}: ${body}`)
  return JSON.parse(body).id
}

/** Whatever the responses take or are, until the function that is returned is called. */
function repeat(times: number, sending: () => Promise<unknown>): () => void {
  const startedAt = performance.now()
  let done = 0
  const timer = setInterval(() => {
    for (; done < ((performance.now() - startedAt) / 1_000) * times; done++) sending().catch(() => {})
  }, 2)
  return () => clearInterval(timer)
}

async function setProviders(state: string): Promise<void> {
  await fetch(`http://127.0.0.1:${ports.other}/state/${state}`)
}

async function failingBy(state: string, times: number, sending: () => Promise<unknown>): Promise<() => Promise<void>> {
  await setProviders(state)
  const end = repeat(times, sending)
  return async () => {
    end()
    await setProviders('well')
  }
}

function failing(state: string, { keys, ids }: Rig): Promise<() => Promise<void>> {
  const { stranger } = keys
  return failingBy(state, perSecond.failing, () => (Math.random() < 0.5 ? quote(stranger, 'other') : get(stranger, ids.other)))
}

let pipeWriter = 0

async function silenceNames({ keys }: Rig): Promise<() => void> {
  closeSync(pipeWriter)
  const end = repeat(perSecond.failing, () => quote(keys.stranger, `silent${sent % silentProviders}`))
  return () => {
    end()
    pipeWriter = openSync(pipe, 'r+')
  }
}

/** From another address: thousands of requests that lack their last byte. */
async function sendHalves(): Promise<() => void> {
  const text = `GET /a/api/v2/rate HTTP/1.1\r\nHost: localhost\r\nX-Filler: ${'a'.repeat(15_800)}\r\n\r`
  const program = join(import.meta.dirname, '../test/process/half-sender.ts')
  const args = [program, String(ports.swapgate), String(halfSent), '127.0.0.2', text]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return () => child.kill('SIGKILL')
}

interface Sample {
  readonly operation: Operation
  readonly ms: number
  readonly isRefused: boolean
}

/** The responses to a healthy client, but for those of the first milliseconds. */
async function load({ keys, ids }: Rig, duration: number, settling = 0): Promise<readonly Sample[]> {
  const { healthy } = keys
  const sendings: Readonly<Record<Operation, () => Promise<Answer>>> = {
    quote: () => quote(healthy),
    'open get': () => get(healthy, oneOf(ids.open)),
    'final get': () => get(healthy, oneOf(ids.final)),
    create: () => create(healthy),
  }
  const sample = async (operation: Operation): Promise<Sample> => {
    const sentAt = performance.now()
    const status = await sendings[operation]().then(
      (answer) => answer.status,
      () => 0,
    )
    return { operation, ms: performance.now() - sentAt, isRefused: status !== 200 && status !== 201 }
  }
  const pending: Promise<Sample>[] = []
  let at = 0
  const end = repeat(perSecond.healthy, () => {
    const sampled = sample(operations[at++ % operations.length] as Operation)
    if (performance.now() - startedAt >= settling) pending.push(sampled)
    return sampled
  })
  const startedAt = performance.now()
  await wait(settling + duration)
  end()
  return Promise.all(pending)
}

/** Until nothing is refused any more because of the state. */
async function recover(rig: Rig, { name }: State): Promise<void> {
  for (const deadline = performance.now() + recoveryMs; performance.now() < deadline; ) {
    const samples = await load(rig, 1_000)
    if (!samples.some(({ isRefused }) => isRefused)) return
  }
  throw new Error(`${name}: requests are still refused ${recoveryMs} ms later`)
}

interface Measured {
  readonly samples: readonly Sample[]
  /** Time that the gateway has had of its core. */
  readonly coreShare: number
}

type Round = ReadonlyMap<State, Measured>

/** In another order each time, so that what the machine does meanwhile falls on all. */
async function measureAll(stores: Omit<Rig, 'ids' | 'webhook'>): Promise<Round> {
  const gateway = await startGateway()
  try {
    const rig = {
      ...stores,
      ids: await createSwaps(stores.keys),
      webhook: await attacks.seedDeliveries(stores.target, 'stranger', tokens.money),
    }
    await load(rig, warmUpMs)
    const round = new Map<State, Measured>()
    for (const state of states.toSorted(() => Math.random() - 0.5)) round.set(state, await measure(state, rig, gateway))
    return round
  } finally {
    await stop(gateway)
  }
}

async function measure(state: State, rig: Rig, gateway: ChildProcess): Promise<Measured> {
  const end = await state.begin(rig)
  const startedAt = performance.now()
  const before = processorTime(gateway)
  const samples = await load(rig, seconds * 1_000, settlingMs).finally(end)
  const coreShare = (processorTime(gateway) - before) / 1_000 / (performance.now() - startedAt)
  await recover(rig, state)
  return { samples, coreShare }
}

async function createSwaps({ healthy, stranger }: Rig['keys']): Promise<Rig['ids']> {
  const open = await Array.fromAsync({ length: 100 }, () => created(create(healthy)))
  const final = await Array.fromAsync({ length: 20 }, () => created(create(healthy, finalAmount)))
  return { open, final, other: await created(create(stranger, nextAmount(), { 'x-swap-provider': 'other' })) }
}

async function keyOf(account: string): Promise<string> {
  return ((await commandOver(file, ['keys', 'create', '--name', account])) as { readonly key: string }).key
}

/** Each has one swap with many rows. */
async function withRows(target: attacks.Target, keys: readonly string[]): Promise<void> {
  const gateway = await startGateway()
  try {
    for (const key of keys) await created(create(key))
    await wait(2_000)
  } finally {
    await stop(gateway)
  }
  await attacks.seedRows(
    target,
    keys.map((_, at) => `replaying-${at}`),
  )
}

async function main(): Promise<void> {
  if (!hasPostgresPrograms) throw new Error('PostgreSQL is needed: apt-get install postgresql')
  execFileSync('taskset', ['-p', '-c', cores.load, String(process.pid)], { stdio: 'ignore' })
  await using resources = new AsyncDisposableStack()
  // Nothing may stay frozen.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resources.disposeAsync().finally(() => process.exit(1)))
  resources.defer(() => rmSync(directory, { recursive: true }))
  execFileSync('mkfifo', [pipe])
  pipeWriter = openSync(pipe, 'r+')
  const postgres = await startOwnPostgres()
  resources.defer(postgres.close)
  const redis = resources.use(await RedisServer.start())
  const places = [ports.healthy, ports.other, ports.lists].map(String)
  const providers = await start(cores.load, [join(here, 'provider.ts'), ...places])
  resources.defer(() => void providers.kill())
  resources.defer(() => agent.destroy())
  writeFileSync(file, configuration(postgres, redis))
  const keys = { healthy: await keyOf('healthy'), stranger: await keyOf('stranger') }
  const replaying = await Array.fromAsync({ length: 5 }, (_, at) => keyOf(`replaying-${at}`))
  const streaming = await Array.fromAsync({ length: 50 }, (_, at) => keyOf(`streaming-${at}`))
  const target = { port: ports.swapgate, adminPort: ports.admin, postgresUrl: postgres.url }
  await withRows(target, replaying)
  const stores = { redis, postgres, keys, replaying, streaming, target }
  const measured: Round[] = []
  for (let round = 0; round < rounds; round++) measured.push(await measureAll(stores))
  report(measured)
}

function p99(samples: readonly Sample[], among: readonly Operation[]): number {
  const times = samples.filter(({ operation }) => among.includes(operation)).map(({ ms }) => ms)
  return times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.99)] ?? Number.NaN
}

function report(rounds: readonly Round[]): void {
  const alone = states[0] as State
  const measuredIn = (state: State) => rounds.map((round) => round.get(state) as Measured)
  for (const state of states) {
    const among = operations.filter((operation) => !state.refused?.includes(operation))
    const measured = measuredIn(state)
    const times = measured.map(({ samples }) => p99(samples, among))
    const share = median(times) / median(measuredIn(alone).map(({ samples }) => p99(samples, among)))
    const refused = measured
      .flatMap(({ samples }) => samples)
      .filter((sample) => sample.isRefused && among.includes(sample.operation))
    const cells = [
      state.name.padEnd(19),
      `p99, ms ${times.map((time) => time.toFixed(1)).join(' ')}`,
      `ratio of medians ${share.toFixed(2)}`,
      `refused ${refused.length}`,
      `core ${median(measured.map(({ coreShare }) => coreShare)).toFixed(2)}`,
    ]
    console.log(cells.join('  '), state.refused ? ` (${new Set(among).values().toArray().join(', ')} only)` : '')
    if (share > worst || refused.length > 0) process.exitCode = 1
  }
  console.log(`${rounds.length} rounds of ${seconds} s; a ratio of at most ${worst} and none refused are wanted`)
}

await main()

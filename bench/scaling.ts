/**
 * What one process and one PostgreSQL carry, and what each request takes of them: time of the core, flushes and writes of the disk. One
 * core for the gateway; PostgreSQL, which flushes, Redis, the provider and the load share the other one. Then the same creates with
 * PostgreSQL some milliseconds away, against the objective of docs/alerts.md. The figures of docs/scaling.md.
 */
import { execFile, execFileSync } from 'node:child_process'
import { chownSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startDistantServer } from '../test/support/distant-server.ts'
import { execute, initialise, startServer, stopServer } from '../test/support/postgres-server.ts'
import { RedisServer } from '../test/support/redis.ts'
import { median } from './median.ts'
import { childrenOf, cores, load, processorTime, requirePrograms, start } from './rig.ts'

const run = promisify(execFile)
/** 0: only the distance. */
const rounds = Number(process.argv[2] ?? 3)
const seconds = Number(process.argv[3] ?? 10)
const here = import.meta.dirname
const program = join(here, '../src/cli/swapgate.js')
const ports = { provider: 19_301, others: [19_302, 19_303], gateway: 19_310, distant: 19_320 }
const unlimited = '{ quotes: 1000000000, create: 1000000000, read: 1000000000 }'
const order = { coinFrom: 'ETH', coinTo: 'BTC', amount: 1, withdrawalAddress: '1BoatSLRHtKNngkdXEeobR76b53LETtpyT' }

/** Not in memory, as those of tests are: their flushes are what is counted. */
const directory = mkdtempSync(join(tmpdir(), 'swapgate-scaling-'))
if (process.getuid?.() === 0) chownSync(directory, 65_534, 65_534)

interface Gateway {
  readonly pid: number | undefined
  readonly port: number
  readonly key: string
}

async function startGateway(port: number, ledger: string, redis: string): Promise<Gateway> {
  const file = join(directory, `${port}.yaml`)
  writeFileSync(
    file,
    `server: { port: ${port} }
admin: { port: ${port + 1} }
auth: { mode: managed }
ledger: { url: "${ledger}" }
redis: { url: "${redis}" }
assets: ${join(here, '../config/assets.yaml')}
limits: ${unlimited}
cache: { rate: 0 }
log: { requests: false }
providers:
  gamma: { form: A, url: "http://127.0.0.1:${ports.provider}/api/v2", key: provider-key-1, rateLimit: ${unlimited} }
routing: { providers: [gamma] }
`,
  )
  const { pid } = await start(cores.gateway, [program, 'start', '--config', file], openSync(join(directory, `${port}.log`), 'w'))
  const command = [program, 'keys', 'create', '--name', 'acme', '--json', '--config', file]
  const { stdout } = await run(process.execPath, command)
  const { key } = JSON.parse(stdout)
  return { pid, port, key }
}

type Headers = Readonly<Record<string, string>>

async function create({ port, key }: Pick<Gateway, 'port' | 'key'>, amount: number, headers: Headers = {}): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/a/api/v2/transactions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...order, amount }),
  })
  if (response.status !== 201) throw new Error(`a create returned ${response.status}: ${await response.text()}`)
  return ((await response.json()) as { readonly id: string }).id
}

const newRates = `local sent = 0
request = function()
  sent = sent + 1
  return wrk.format("GET", "/a/api/v2/rate?coinFrom=BTC&coinTo=ETH&amount=" .. string.format("%.6f", 1 + sent / 1000000))
end`
const newOrders = `local sent = 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
request = function()
  sent = sent + 1
  local amount = string.format("%.6f", 1 + (sent % 900000) / 1000000)
  return wrk.format("POST", "/a/api/v2/transactions", nil, '{"coinFrom":"ETH","coinTo":"BTC","amount":' .. amount .. ',"withdrawalAddress":"${order.withdrawalAddress}"}')
end`

function script(name: string, text: string): string {
  const file = join(directory, `${name}.lua`)
  writeFileSync(file, text)
  return file
}

/** So far. */
interface Spent {
  /** Microseconds of a core. */
  readonly gateway: number
  readonly postgres: number
  readonly redis: number
  readonly flushes: number
  readonly logBytes: number
  readonly diskWrites: number
}

interface Parts {
  readonly gateway: Gateway
  readonly postgresUrl: string
  readonly postgres: { readonly pid?: number | undefined }
  readonly redis: { readonly pid?: number | undefined }
}

async function spent({ gateway, postgresUrl, postgres, redis }: Parts): Promise<Spent> {
  const [log] = await execute(postgresUrl, 'select wal_sync::float8 as flushes, wal_bytes::float8 as bytes from pg_stat_wal')
  return {
    gateway: processorTime(gateway),
    postgres: timeWithEnded(postgres.pid),
    redis: processorTime(redis),
    flushes: log.flushes,
    logBytes: log.bytes,
    diskWrites: diskWrites(),
  }
}

/** Of a process and of those that it has started, also of those that have ended; in microseconds. */
function timeWithEnded(pid: number | undefined): number {
  const ticks = (id: number | undefined, from: number, to: number): number => {
    try {
      const text = readFileSync(`/proc/${id}/stat`, 'utf8')
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      return fields.slice(from, to).reduce((sum, field) => sum + Number(field), 0)
    } catch {
      return 0 // it ends just now
    }
  }
  // utime and stime, and those of the children that were waited for (proc(5)).
  const sum = childrenOf(pid).reduce((total, child) => total + ticks(child, 11, 13), ticks(pid, 11, 15))
  return sum * 10_000
}

async function processOf(redis: RedisServer): Promise<number> {
  return Number(/process_id:(\d+)/.exec(await redis.command('INFO', 'server'))?.[1])
}

/** Of the disk that has the ledger, whoever wrote. */
function diskWrites(): number {
  const { dev } = statSync(directory)
  const rows = readFileSync('/proc/diskstats', 'utf8').split('\n')
  const fields = rows.map((row) => row.trim().split(/\s+/)).find(([major, minor]) => Number(major) * 256 + Number(minor) === dev)
  return Number(fields?.[7])
}

interface Measured extends Spent {
  readonly perSecond: number
}

/** What a request takes. PostgreSQL reports its log some time later. */
async function measure(parts: Parts, options: Parameters<typeof load>[2]): Promise<Measured> {
  const before = await spent(parts)
  const { perSecond, requests, failures } = load(parts.gateway.port, seconds, options)
  await wait(1_500)
  const after = await spent(parts)
  if (failures) console.log(`  ${failures}`)
  const perRequest = Object.entries(after).map(([name, value]) => [name, (value - before[name as keyof Spent]) / requests])
  return { ...(Object.fromEntries(perRequest) as unknown as Spent), perSecond }
}

const columns = [
  ['perSecond', 'a second', 0],
  ['gateway', 'gateway µs', 0],
  ['postgres', 'PostgreSQL µs', 0],
  ['redis', 'Redis µs', 0],
  ['flushes', 'flushes', 2],
  ['diskWrites', 'disk writes', 2],
  ['logBytes', 'bytes of log', 0],
] as const

function print(name: string, cells: readonly string[]): void {
  console.log(name.padEnd(26) + cells.map((cell) => cell.padStart(15)).join(''))
}

/** As autovacuum does each minute: without statistics the first thousands of a new ledger are planned by guesses. */
async function warmUp(parts: Parts, options: Parameters<typeof load>[2]): Promise<void> {
  load(parts.gateway.port, seconds, options)
  await execute(parts.postgresUrl, 'analyze')
}

async function report(name: string, parts: Parts, options: Parameters<typeof load>[2]): Promise<void> {
  await warmUp(parts, options)
  const runs: Measured[] = []
  for (let round = 0; round < rounds; round++) runs.push(await measure(parts, options))
  print(
    name,
    columns.map(([column, , digits]) => median(runs.map((run) => run[column])).toFixed(digits)),
  )
}

/** Creates at a steady pace; which part the gateway took at most 25 ms for. `headersOf`: of each create, by its number. */
async function reportDistance(title: string, gateway: Gateway, headersOf: (n: number) => Headers): Promise<void> {
  const perSecond = 20
  for (let warmUp = 0; warmUp < 50; warmUp++) await create(gateway, 10 + warmUp, headersOf(warmUp))
  const before = await addedSeconds(gateway)
  const creating: Promise<string>[] = []
  for (let sent = 0; sent < perSecond * seconds; sent++) {
    creating.push(create(gateway, 100 + sent, headersOf(50 + sent)))
    await wait(1_000 / perSecond)
  }
  await Promise.all(creating)
  const after = await addedSeconds(gateway)
  const [count, within, sum] = after.map((value, at) => value - (before[at] ?? 0)) as [number, number, number]
  const share = ((100 * within) / count).toFixed(1)
  console.log(
    `${title}: ${count} creates, ${share} % of them with at most 25 ms added, ${((1_000 * sum) / count).toFixed(1)} ms on average; 99 % are wanted`,
  )
}

/** Of creates: how many, how many within 25 ms, and the sum. */
async function addedSeconds({ port }: Gateway): Promise<readonly number[]> {
  const text = await (await fetch(`http://127.0.0.1:${port + 1}/metrics`)).text()
  const value = (start: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(start))
        ?.split(' ')[1] ?? 0,
    )
  const labels = 'operation="create_transaction"'
  return [
    value(`swapgate_added_seconds_count{${labels}}`),
    value(`swapgate_added_seconds_bucket{le="0.025",${labels}}`),
    value(`swapgate_added_seconds_sum{${labels}}`),
  ]
}

async function main(): Promise<void> {
  requirePrograms('wrk', 'redis-server', 'postgresql')
  execFileSync('taskset', ['-p', '-c', cores.load, String(process.pid)], { stdio: 'ignore' })
  await using resources = new AsyncDisposableStack()
  resources.defer(() => rmSync(directory, { recursive: true, force: true }))
  const redis = resources.use(await RedisServer.start())
  const data = join(directory, 'data')
  initialise(directory, data)
  const postgres = await startServer(directory, data, ['fsync=on', 'shared_buffers=512MB', 'max_wal_size=4GB'])
  resources.defer(() => stopServer(postgres))
  await start(cores.load, [join(here, 'isolation/provider.ts'), ...[ports.provider, ...ports.others].map(String)])
  const gateway = await startGateway(ports.gateway, postgres.url, redis.url)
  const parts = { gateway, postgresUrl: postgres.url, postgres: postgres.server, redis: { pid: await processOf(redis) } }
  const authorization = `Authorization: Bearer ${gateway.key}`
  const path = `/a/api/v2/transactions/${await create(gateway, 5)}`
  const creating = { path: '', script: script('creates', newOrders), authorization }
  if (rounds === 0) await warmUp(parts, { ...creating, connections: 64 })
  else {
    print(
      'a request takes',
      columns.map(([, title]) => title),
    )
    await report('create, 64 at a time', parts, { ...creating, connections: 64 })
    await report('create, 1 at a time', parts, { ...creating, connections: 1 })
    await report('get of an open swap', parts, { path, authorization })
    await report('quote, each another one', parts, { path: '', script: script('rates', newRates), authorization })
  }
  for (const milliseconds of [0, 2]) {
    const distant = resources.use(await startDistantServer(postgres.url, milliseconds))
    const far = await startGateway(ports.distant + 2 * milliseconds, distant.url, redis.url)
    const title = `PostgreSQL ${milliseconds} ms away each way`
    await reportDistance(title, far, () => ({}))
    await reportDistance(`${title}, with an Idempotency-Key`, far, (n) => ({ 'idempotency-key': `${milliseconds}-${n}` }))
  }
  const [size] = await execute(
    postgres.url,
    'select (sum(pg_total_relation_size(relid)) / (select count(*) from transactions))::int as bytes from pg_stat_user_tables',
  )
  console.log(`a swap takes ${size.bytes} bytes in the ledger, with its indices`)
  process.exit()
}

await main()

/**
 * Ten times and more of what the gateway can do: 2,000 clients that ask again as soon as they are answered, where 32 fill
 * it. What it still answers in time, how its memory goes, and how soon it is itself again. Needs wrk.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transaction } from './transaction.ts'

const seconds = Number(process.argv[2] ?? 60)
const cores = { gateway: '0', load: '1' }
const ports = { upstream: 19_211, swapgate: 19_212, admin: 19_213 }
const url = `http://127.0.0.1:${ports.swapgate}/a/api/v2/transactions/beta~${transaction.id}`
const few = 32
const many = 2_000

const configuration = (directory: string): string => `
server: { port: ${ports.swapgate} }
admin: { port: ${ports.admin} }
ledger: { url: "sqlite:${join(directory, 'ledger.db')}" }
assets: ${join(import.meta.dirname, '../config/assets.yaml')}
limits: { quotes: 1000000000, create: 1000000000, read: 1000000000 }
log: { requests: false }
providers: { beta: { form: B, url: "http://127.0.0.1:${ports.upstream}/api/v2", budget: { quotes: 0, create: 0, read: 0 } } }
routing: { providers: [beta] }
`

/** Counts answers by status; wrk itself knows only good and bad. */
const counting = `
local threads = {}
function setup(thread) table.insert(threads, thread) end
function init() counts = {} end
function response(status) counts[status] = (counts[status] or 0) + 1 end
function done()
  for _, thread in ipairs(threads) do
    for status, count in pairs(thread:get("counts")) do print("status " .. status .. " " .. count) end
  end
end
`

async function start(core: string, ...args: string[]): Promise<ChildProcess> {
  const child = spawn('taskset', ['-c', core, process.execPath, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout as NodeJS.ReadableStream, 'data')
  return child
}

interface Load {
  readonly goodPerSecond: number
  readonly p99: string
  readonly statuses: string
  readonly lost: string
}

async function load(script: string, connections: number, duration: number): Promise<Load> {
  const args = ['-c', cores.load, 'wrk', '-t1', `-c${connections}`, `-d${duration}s`, '--timeout', '10s', '--latency', '-s', script]
  const wrk = spawn('taskset', [...args, '-H', 'Authorization: Bearer bench-key', url])
  let report = ''
  wrk.stdout.on('data', (chunk) => {
    report += chunk
  })
  await once(wrk, 'close')
  const statuses = [...report.matchAll(/^status (\d+) (\d+)/gm)].map(
    ([, status = '', count = '']) => [status, Number(count)] as const,
  )
  const good = statuses.find(([status]) => status === '200')?.[1] ?? 0
  return {
    goodPerSecond: good / duration,
    p99: /99%\s+(\S+)/.exec(report)?.[1] ?? '?',
    statuses: statuses.map(([status, count]) => `${status}: ${count}`).join(', '),
    lost: /Socket errors:.*/.exec(report)?.[0] ?? 'no socket errors',
  }
}

/** Megabytes. */
function residentMemory(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

async function main(): Promise<void> {
  execFileSync('which', ['wrk'])
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-overload-'))
  const [file, script] = [join(directory, 'gateway.yaml'), join(directory, 'count.lua')]
  writeFileSync(file, configuration(directory))
  writeFileSync(script, counting)
  const here = import.meta.dirname
  const upstream = await start(cores.load, join(here, 'upstream.ts'), String(ports.upstream))
  const gateway = await start(cores.gateway, join(here, '../src/cli/swapgate.js'), 'start', '--config', file)
  try {
    await load(script, few, 10)
    const before = await load(script, few, 10)
    const memory: number[] = []
    const sampling = setInterval(() => memory.push(residentMemory(gateway.pid as number)), 1_000)
    const under = await load(script, many, seconds)
    clearInterval(sampling)
    const after = await load(script, few, 10)
    report(before, under, after, memory)
  } finally {
    gateway.kill()
    upstream.kill()
  }
}

function report(before: Load, under: Load, after: Load, memory: readonly number[]): void {
  const row = (name: string, { goodPerSecond, p99, statuses, lost }: Load): void =>
    console.log(`${name.padEnd(26)}${goodPerSecond.toFixed(0).padStart(7)}/s good  p99 ${p99.padEnd(9)} ${statuses}  ${lost}`)
  row(`before, ${few} clients`, before)
  row(`under, ${many} clients`, under)
  row(`after, ${few} clients`, after)
  const share = under.goodPerSecond / before.goodPerSecond
  const half = memory.slice(Math.floor(memory.length / 2))
  const growth = Math.max(...half) - (half[0] ?? 0)
  console.log(`goodput ${(share * 100).toFixed(0)} % of capacity in ${seconds} s; at least 80 % is wanted`)
  console.log(
    `memory ${memory[0]?.toFixed(0)} MB at first, ${half[0]?.toFixed(0)} MB half-way, ${memory.at(-1)?.toFixed(0)} MB at last`,
  )
  process.exitCode = share >= 0.8 && growth < 50 && !under.statuses.includes('500:') ? 0 : 1
}

await main()

/**
 * Ten times the gateway's capacity and more: 2,000 clients that send again after each response; 32 fill it. Measures the
 * goodput, the memory and the recovery. Needs wrk.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { liveHeap } from './live-heap.ts'
import { authorization, cores, path, processorTime, requireWrk, start } from './rig.ts'

const seconds = Number(process.argv[2] ?? 60)
const ports = { upstream: 19_211, swapgate: 19_212, admin: 19_213, inspector: 19_214 }
const url = `http://127.0.0.1:${ports.swapgate}${path}`
const few = 32
const many = 2_000

const configuration = (directory: string): string => `
server: { port: ${ports.swapgate} }
admin: { port: ${ports.admin} }
ledger: { url: "sqlite:${join(directory, 'ledger.db')}" }
assets: ${join(import.meta.dirname, '../config/assets.yaml')}
limits: { quotes: 1000000000, create: 1000000000, read: 1000000000 }
log: { requests: false }
providers: { beta: { form: B, url: "http://127.0.0.1:${ports.upstream}/api/v2", rateLimit: { quotes: 0, create: 0, read: 0 } } }
routing: { providers: [beta] }
`

interface Load {
  readonly goodPerSecond: number
  readonly refusedPerSecond: number
  /** Microseconds of the gateway's core for a good response. */
  readonly cost: number
  readonly p99: string
  readonly lost: string
}

async function load(gateway: ChildProcess, connections: number, duration: number): Promise<Load> {
  const before = processorTime(gateway)
  const args = ['-c', cores.load, 'wrk', '-t1', `-c${connections}`, `-d${duration}s`, '--timeout', '10s', '--latency']
  const wrk = spawn('taskset', [...args, '-H', `Authorization: ${authorization}`, url])
  let report = ''
  wrk.stdout.on('data', (chunk) => {
    report += chunk
  })
  await once(wrk, 'close')
  const all = Number(/(\d+) requests in/.exec(report)?.[1])
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(report)?.[1] ?? 0)
  return {
    goodPerSecond: (all - refused) / duration,
    refusedPerSecond: refused / duration,
    cost: (processorTime(gateway) - before) / (all - refused),
    p99: /99%\s+(\S+)/.exec(report)?.[1] ?? '?',
    lost: /Socket errors:.*/.exec(report)?.[0] ?? 'no socket errors',
  }
}

/** Megabytes of the process, sampled each second; it grows until V8 collects what is old. */
async function maxResident(pid: number, duration: number): Promise<number> {
  let peak = 0
  for (let second = 1; second < duration; second++) {
    await wait(1_000)
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    peak = Math.max(peak, Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
  }
  return peak
}

/** The gateway's own count of its responses since the start, by status: a load that counted too would be slower. */
async function responseCounts(): Promise<string> {
  const metrics = await (await fetch(`http://127.0.0.1:${ports.admin}/metrics`)).text()
  const counts = new Map<string, number>()
  const line = /^http_server_request_duration_seconds_count\{.*http_response_status_code="(\d+)".*\} (\d+)$/gm
  for (const [, status = '', count] of metrics.matchAll(line)) counts.set(status, (counts.get(status) ?? 0) + Number(count))
  return [...counts].map(([status, count]) => `${status}: ${count}`).join(', ')
}

async function main(): Promise<void> {
  requireWrk()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-overload-'))
  const file = join(directory, 'gateway.yaml')
  writeFileSync(file, configuration(directory))
  const here = import.meta.dirname
  const upstream = await start(cores.load, [join(here, 'upstream.ts'), String(ports.upstream)])
  const program = [`--inspect-port=${ports.inspector}`, join(here, '../src/cli/swapgate.js')]
  const gateway = await start(cores.gateway, [...program, 'start', '--config', file])
  try {
    await load(gateway, few, 10)
    const before = await load(gateway, few, 15)
    const [under, peak] = await Promise.all([load(gateway, many, seconds), maxResident(gateway.pid as number, seconds)])
    const after = await load(gateway, few, 15)
    report(before, under, after, await responseCounts())
    reportMemory(peak, await liveHeap(gateway, ports.inspector))
  } finally {
    gateway.kill()
    upstream.kill()
  }
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}

function report(before: Load, under: Load, after: Load, statuses: string): void {
  const row = (name: string, { goodPerSecond, refusedPerSecond, cost, p99, lost }: Load): void => {
    const figures = `${goodPerSecond.toFixed(0).padStart(7)}/s good ${refusedPerSecond.toFixed(0).padStart(7)}/s refused`
    console.log(`${name.padEnd(22)}${figures} ${cost.toFixed(0).padStart(5)} µs each  p99 ${p99.padEnd(9)} ${lost}`)
  }
  row(`before, ${few} clients`, before)
  row(`under, ${many} clients`, under)
  row(`after, ${few} clients`, after)
  // A shared machine gives the core less at one time than at another, so capacity is what it was before and after.
  const share = under.goodPerSecond / ((before.goodPerSecond + after.goodPerSecond) / 2)
  const shareOfCore = (before.cost + after.cost) / 2 / under.cost
  console.log(
    `goodput ${percent(share)} of capacity in ${seconds} s, ${percent(shareOfCore)} by time of the core; at least 80 % is wanted`,
  )
  console.log(`answered in all: ${statuses}`)
  if (Math.max(share, shareOfCore) < 0.8 || statuses.includes('500:')) process.exitCode = 1
}

/** Megabytes of the process, and of its heap in the end: a million requests that each left fifty bytes would be seen in it. */
function reportMemory(peak: number, live: number): void {
  console.log(`memory ${peak.toFixed(0)} MB at most; heap after a collection in the end ${live.toFixed(1)} MB`)
  if (live > 50) process.exitCode = 1
}

await main()

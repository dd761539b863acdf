/**
 * A healthy provider beside one that is slow, resets or lies: how much the 99th percentile of the healthy one's responses
 * changes, against the same load while both are healthy. The gateway is a process of its own, and a new one in each round.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { median } from './median.ts'
import { transaction } from './transaction.ts'

const rounds = Number(process.argv[2] ?? 5)
const seconds = Number(process.argv[3] ?? 5)
/** Requests a second, evenly spread: to the healthy provider and to the other one. */
const perSecond = { healthy: 1_000, other: 100 }
const cores = { gateway: '0', load: '1' }
const ports = { swapgate: 19_212, admin: 19_213, healthy: 19_214, other: 19_215 }
const headers = { authorization: 'Bearer bench-key', 'content-type': 'application/json' }
const worst = 1.2

const states = ['well', 'slow', 'resets', 'lies'] as const
type State = (typeof states)[number]

const directory = mkdtempSync(join(tmpdir(), 'swapgate-bench-'))

async function start(core: string, ...args: string[]): Promise<ChildProcess> {
  const child = spawn('taskset', ['-c', core, process.execPath, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout as NodeJS.ReadableStream, 'data')
  return child
}

function startGateway(first: 'healthy' | 'other'): Promise<ChildProcess> {
  const unbounded = 'budget: { quotes: 0, create: 0, read: 0 }'
  const file = join(directory, 'gateway.yaml')
  writeFileSync(
    file,
    `
server: { port: ${ports.swapgate}, grace: 0 }
admin: { port: ${ports.admin} }
ledger: { url: "sqlite:${join(directory, 'ledger.db')}" }
assets: ${join(import.meta.dirname, '../config/assets.yaml')}
limits: { quotes: 1000000000, create: 1000000000, read: 1000000000, unproven: 1000000000 }
log: { requests: false }
providers:
  healthy: { form: B, url: "http://127.0.0.1:${ports.healthy}/api/v2", ${unbounded} }
  other: { form: B, url: "http://127.0.0.1:${ports.other}/api/v2", ${unbounded} }
routing: { providers: [${first}] }
`,
  )
  return start(cores.gateway, join(import.meta.dirname, '../src/cli/swapgate.js'), 'start', '--config', file)
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill()
  await once(child, 'exit')
}

const agent = new Agent({ keepAlive: true })

/** Milliseconds until the response, and its status. */
function send(id: string): Promise<{ readonly time: number; readonly status: number }> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const path = `/a/api/v2/transactions/${id}`
    request({ agent, port: ports.swapgate, path, headers }, (response) => {
      response.resume().on('end', () => resolve({ time: performance.now() - began, status: response.statusCode ?? 0 }))
    })
      .on('error', reject)
      .end()
  })
}

/** The 99th percentile of the healthy provider's responses, in milliseconds. */
async function measure(): Promise<number> {
  const times: number[] = []
  const began = performance.now()
  let sent = 0
  const requestHealthy = async (): Promise<void> => {
    const { time, status } = await send(`healthy~${transaction.id}`)
    if (status !== 200) throw new Error(`the healthy provider returned ${status}`)
    times.push(time)
  }
  const pending: Promise<unknown>[] = []
  while (performance.now() - began < seconds * 1000) {
    for (; sent < ((performance.now() - began) / 1000) * perSecond.healthy; sent++) {
      pending.push(requestHealthy())
      if (sent % (perSecond.healthy / perSecond.other) === 0) void send(`other~${transaction.id}`).catch(() => {})
    }
    await wait(2)
  }
  await Promise.all(pending)
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN
}

/** A key may read from a provider outside the routing only what it created there. */
async function createAtOther(): Promise<void> {
  const gateway = await startGateway('other')
  const body = {
    coinFrom: 'BTC',
    coinTo: 'USDTTRC20',
    amount: transaction.amount_in,
    withdrawalAddress: transaction.withdrawal_address,
    refundAddress: transaction.refund_address,
  }
  const url = `http://127.0.0.1:${ports.swapgate}/a/api/v2/transactions`
  const created = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  await stop(gateway)
  if (created.status !== 201) throw new Error(`the create returned ${created.status}: ${await created.text()}`)
}

async function turn(state: State): Promise<void> {
  await fetch(`http://127.0.0.1:${ports.other}/state/${state}`)
}

async function main(): Promise<void> {
  execFileSync('taskset', ['-p', '-c', cores.load, String(process.pid)], { stdio: 'ignore' })
  const provider = join(import.meta.dirname, 'isolation/provider.ts')
  const providers = await start(cores.load, provider, String(ports.healthy), String(ports.other))
  const figures: Record<State, number>[] = []
  try {
    await createAtOther()
    for (let round = 0; round < rounds; round++) figures.push(await measureAll())
  } finally {
    providers.kill()
  }
  report(figures)
  agent.destroy()
}

/** In another order each time, so that what the machine does meanwhile falls on all. */
async function measureAll(): Promise<Record<State, number>> {
  const gateway = await startGateway('healthy')
  await measure() // warm up
  const figure: Partial<Record<State, number>> = {}
  for (const state of states.toSorted(() => Math.random() - 0.5)) {
    await turn(state)
    await measure() // breakers, queues and time-outs of the state before
    figure[state] = await measure()
  }
  await turn('well')
  await stop(gateway)
  return figure as Record<State, number>
}

function report(figures: readonly Record<State, number>[]): void {
  for (const state of states) {
    const times = figures.map((figure) => figure[state])
    const share = median(times) / median(figures.map(({ well }) => well))
    console.log(
      `the other ${state.padEnd(8)} p99, ms ${times.map((time) => time.toFixed(1)).join(' ')}   ratio of medians ${share.toFixed(2)}`,
    )
    if (share > worst) process.exitCode = 1
  }
  console.log(`${rounds} rounds of ${seconds} s; a ratio of at most ${worst} is wanted`)
}

await main()

/**
 * A thousand streams on one process: its memory, descriptors and processor, and how long gets of others take with and without them, while
 * five swaps a second are created. The figures of docs/benchmarks.md.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { type ClientRequest, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Customer } from '../test/checker/customer.ts'
import { Gateways } from '../test/process/gateways.ts'
import { sendRequest } from '../test/support/client.ts'

const streamsPerAccount = 20
const accounts = 50
const getsPerSecond = 100
const measuredMs = 10_000
/** The sources, as they are. */
const program = join(import.meta.dirname, '../src/cli/swapgate.js')

interface Measured {
  readonly megabytes: number
  readonly descriptors: number
  /** Of one core. */
  readonly cpuPercent: number
  readonly medianMs: number
  readonly p99Ms: number
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

async function measure(pid: number, url: string, customer: Customer, gateways: Gateways): Promise<Measured> {
  const made = await customer.create(url, gateways.order())
  const path = `/a/api/v2/transactions/${(made?.json as { id?: string } | undefined)?.id}`
  const headers = { authorization: `Bearer ${customer.key}` }
  const times: number[] = []
  const going: Promise<unknown>[] = []
  const cpuBefore = cpuSeconds(pid)
  for (let sent = 0; sent < (measuredMs / 1_000) * getsPerSecond; sent++) {
    if (sent % (getsPerSecond / 5) === 0) going.push(customer.create(url, gateways.order()))
    const sentAt = performance.now()
    going.push(sendRequest(url, { path, headers }).then(() => times.push(performance.now() - sentAt)))
    await wait(1_000 / getsPerSecond)
  }
  await Promise.all(going)
  const sorted = times.toSorted((one, other) => one - other)
  return {
    megabytes: Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    cpuPercent: Math.round((100 * (cpuSeconds(pid) - cpuBefore)) / (measuredMs / 1_000)),
    medianMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
  }
}

function listen(url: string, key: string): Promise<ClientRequest> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/a/api/v2/events`, { agent: false, headers: { authorization: `Bearer ${key}` } }, (response) => {
      response.resume()
      if (response.statusCode === 200) resolve(sent)
      else reject(new Error(`a stream was ${response.statusCode}`))
    })
    sent.on('error', reject).end()
  })
}

function line(name: string, { megabytes, descriptors, cpuPercent, medianMs, p99Ms }: Measured): string {
  return `${name}: ${megabytes} MB, ${descriptors} descriptors, ${cpuPercent} % of a core; a get: median ${medianMs.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`
}

await using gateways = await Gateways.prepare({ server: { port: 0, connections: 5_000 } })
const { url, process: gateway } = await gateways.start({}, program)
const pid = gateway.child.pid ?? 0
const customers: Customer[] = []
for (let made = 0; made < accounts; made++) customers.push(await gateways.customer(`account-${made}`, 'A'))
const [first] = customers as [Customer]
await measure(pid, url, first, gateways)
const without = await measure(pid, url, first, gateways)
console.log(line('without streams', without))
const streams: ClientRequest[] = []
for (const { key } of customers)
  streams.push(...(await Promise.all(Array.from({ length: streamsPerAccount }, () => listen(url, key)))))
await wait(2_000)
const during = await measure(pid, url, first, gateways)
console.log(line(`with ${streams.length} streams`, during))
console.log(`median × ${(during.medianMs / without.medianMs).toFixed(2)}`)
for (const stream of streams) stream.on('error', () => {}).destroy()

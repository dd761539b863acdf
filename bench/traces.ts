/**
 * What traces cost: processor time for a quote on its way from the client's edge through the layers to the provider's edge and
 * back, without sockets, with traces and without in turn. The least of the rounds, since what else runs only adds to it.
 * Each share of kept traces is measured in a process of its own, which sends to a collector in this one.
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { memoryBudgets } from '../src/adapters/memory.ts'
import { openTracing } from '../src/adapters/tracing.ts'
import { compose } from '../src/core/layer.ts'
import { quoteCache } from '../src/core/quotes/quote-cache.ts'
import { createBreaker } from '../src/core/resilience/breaker.ts'
import { AccountHealth, KeyCheck } from '../src/core/resilience/health-check.ts'
import { resilience } from '../src/core/resilience/resilience.ts'
import { traced } from '../src/core/traced.ts'
import { Confidential } from '../src/domain/confidential.ts'
import type { Tracing } from '../src/domain/trace.ts'
import { connect } from '../src/edges/connect.ts'
import { serve } from '../src/edges/serve.ts'
import { formA } from '../src/forms/a.ts'
import type { Http, HttpRequest } from '../src/wire/http.ts'
import { providerFormOf } from '../src/wire/provider-form.ts'
import { providerScope } from '../test/support/provider-scope.ts'

const shares = [0, 0.01, 0.1, 1]
const rounds = 80
const quotes = 1_000
const atOnce = 20

const observe = (): void => {}
const clock = (): number => performance.now()
const responseBody =
  '{"coinFrom":"BTC","coinTo":"ETH","amount":1,"amountTo":15.123456789012345678,"rate":15.0150,"minAmount":0.001,"maxAmount":1000,"fee":0.00000001,"rateType":"float"}'

function gateway(tracing: Tracing | undefined): Http {
  const http: Http = async () => ({ status: 200, headers: {}, body: responseBody })
  const server = { address: 'alpha.example', port: 443 }
  const names = {
    provider: 'alpha',
    confidential: new Confidential({ keys: [], hosts: [], names: [] }),
    isOtherPair: () => false,
    timeoutMs: 10_000,
    userAgent: 'bench',
    statuses: new Map(),
  }
  const form = providerFormOf(formA)
  const signer = { rsaSha256: () => ({ signature: '', keyId: '' }), hmacSha256: () => '' }
  const edge = connect({
    form,
    http,
    keyOf: () => undefined,
    settingsOf: () => ({}),
    signer,
    secret: '',
    server,
    observe,
    ...names,
  })
  const configured = { rateLimit: { quotes: 1_000_000_000, create: 0, read: 0 } }
  const scope = providerScope({ configured, keyed: form.keyed, cache: { rate: 0 }, clock, random: Math.random, observe })
  const keyCheck = new KeyCheck(scope, new AccountHealth())
  const protecting = resilience(scope, memoryBudgets(clock), keyCheck, createBreaker(scope))
  const service = compose([traced('quoteCache', quoteCache(scope), 'alpha'), ...protecting], edge)
  return serve(formA, service, { gate: async () => ({}), identify: async () => undefined, observe, tracing })
}

let requestCount = 0
async function send(handle: Http): Promise<void> {
  const query = `coinFrom=BTC&coinTo=ETH&amount=${++requestCount}`
  const request: HttpRequest = { method: 'GET', path: '/rate', query, headers: { host: 'bench' }, address: '127.0.0.1' }
  const { status } = await handle(request)
  if (status !== 200) throw new Error(`returned ${status}`)
}

/** Microseconds for a quote. */
async function round(handle: Http): Promise<number> {
  const before = process.cpuUsage()
  for (let n = 0; n < quotes; n += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, () => send(handle)))
    await new Promise(setImmediate)
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / quotes
}

async function measure(share: number, url: string): Promise<void> {
  const options = {
    url,
    queue: 2_048,
    batch: 512,
    delayMs: 1_000,
    timeoutMs: 2_000,
    exportTimeoutMs: 30_000,
    version: '0',
    agent: {},
  }
  const tracing = openTracing({ ...options, ratio: share, observe })
  const [off, on] = [gateway(undefined), gateway(tracing)]
  const costs = { off: [] as number[], on: [] as number[] }
  for (let n = 0; n < rounds; n++) {
    costs.off.push(await round(off))
    costs.on.push(await round(on))
  }
  await tracing.close()
  const [without, within] = [Math.min(...costs.off), Math.min(...costs.on)]
  const figures = [without, within, within - without].map((each) => each.toFixed(1).padStart(6))
  console.log(`share ${String(share).padEnd(4)} without ${figures[0]} µs, with ${figures[1]} µs, more ${figures[2]} µs`)
}

async function run(): Promise<void> {
  const collector = createServer((request, response) => request.resume().on('end', () => response.end())).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  for (const share of shares) {
    const { stdout } = await promisify(execFile)(process.execPath, [import.meta.filename, String(share), endpoint])
    process.stdout.write(stdout)
  }
  collector.close()
  collector.closeAllConnections()
}

const [share, endpoint] = process.argv.slice(2)
if (share !== undefined && endpoint !== undefined) await measure(Number(share), endpoint)
else await run()

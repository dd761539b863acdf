// Takes long: gateways under traffic.
/** docs/contract-operators.md §12, §13: providers come, drain and go by the configuration alone, and no request fails because of it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { commandOver } from '../support/command.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { type ProviderA, startFormA } from '../support/form-a.ts'
import { type ProviderB, startFormB } from '../support/form-b.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { ConfigDirectory } from './swapgate.ts'

let directory: ConfigDirectory
let alpha: ProviderA
let beta: ProviderB
let gateway: InProcessGateway
let file: string

const unlimited = { quotes: 1_000_000, create: 1_000_000, read: 1_000_000, unverified: 1_000_000 }
/** As many as there are clients: creates that began before a reload may still go up. */
const maxInFlight = 6
const rateLimit = { quotes: 0, create: 0, read: 0 }

interface Facts {
  readonly alpha?: object | null
  readonly beta?: object | null
  readonly routing: object
}

function write({ alpha: a = {}, beta: b = {}, routing }: Facts): void {
  const providers = {
    ...(a && { alpha: { form: 'A', url: alpha.url, key: 'provider-key-alpha', rateLimit, ...a } }),
    ...(b && { beta: { form: 'B', url: beta.url, key: 'provider-key-beta', rateLimit, ...b } }),
  }
  const config = {
    server: { port: 0, shutdownDelay: 0 },
    admin: { port: 0 },
    auth: { mode: 'managed' },
    ledger: { url: `sqlite:${join(directory.path, 'ledger.db')}`, refresh: 0.2 },
    cache: { rate: 0 },
    limits: unlimited,
    log: { requests: false },
    providers,
    routing,
  }
  writeFileSync(file, JSON.stringify(config))
}

const only = (name: 'alpha' | 'beta'): object => ({ providers: [name] })
const weighted = (weights: Readonly<Record<string, number>>): object => ({
  strategy: 'weighted',
  providers: Object.keys(weights),
  weights,
})

beforeEach(async () => {
  directory = new ConfigDirectory()
  alpha = await startFormA()
  beta = await startFormB()
  file = directory.write('')
  write({ beta: null, routing: only('alpha') })
  gateway = await InProcessGateway.start(file)
})
afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
  await Promise.all([alpha.close(), beta.close()])
  directory[Symbol.dispose]()
})

let reloads = 0
/** In force when this has ended. */
async function become(facts: Facts): Promise<void> {
  write(facts)
  gateway.reload()
  reloads++
  const applied = (): number => gateway.output.split('the configuration was read again').length - 1
  await vi.waitFor(() => expect(applied()).toBeGreaterThanOrEqual(reloads), { timeout: eventTimeoutMs, interval: 20 })
}

class Client {
  readonly failures: string[] = []
  readonly ids: string[] = []
  rounds = 0
  private readonly headers: Readonly<Record<string, string>>

  constructor(key: string) {
    this.headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  }

  /** A machine that has much else to do sheds load: that is none of what is shown here. */
  async send(method: string, path: string, body?: object): Promise<ReceivedResponse> {
    for (;;) {
      const options = { method, path: `/a/api/v2${path}`, headers: this.headers, ...(body && { body: JSON.stringify(body) }) }
      const response = await sendRequest(gateway.url, options)
      if (response.headers['x-swap-reason'] === 'overloaded') {
        await delay(50) // six that try again at once would keep it overloaded
        continue
      }
      if (response.status >= 300) this.failures.push(`${method} ${path}: ${response.status} ${response.text}`)
      return response
    }
  }

  async round(): Promise<void> {
    await this.send('GET', '/rate?coinFrom=ETH&coinTo=BTC&amount=1')
    await this.send('GET', '/currencies')
    const { json } = await this.send('POST', '/transactions', {
      coinFrom: 'ETH',
      coinTo: 'BTC',
      amount: 1,
      withdrawalAddress: 'bc1q-to',
    })
    this.ids.push((json as { id: string }).id)
    await this.send('GET', `/transactions/${this.ids[Math.floor(Math.random() * this.ids.length)]}`)
    const listed = await this.send('GET', '/transactions?size=1')
    const { total } = (JSON.parse(listed.text) as { pagination: { total: number } }).pagination
    if (total !== this.ids.length) this.failures.push(`${total} of ${this.ids.length} in the list`)
    this.rounds++
  }
}

/** Clients that never pause while `work` is done. */
async function underTraffic(work: (clients: readonly Client[]) => Promise<void>): Promise<readonly Client[]> {
  const clients: Client[] = []
  for (let at = 0; at < maxInFlight; at++) {
    const { key } = (await commandOver(file, ['keys', 'create', '--name', `account-${at}`])) as { key: string }
    clients.push(new Client(key))
  }
  let isOver = false
  const load = clients.map(async (client) => {
    while (!isOver) await client.round()
  })
  await work(clients).finally(() => {
    isOver = true
    return Promise.all(load)
  })
  return clients
}

const creates = (): { alpha: number; beta: number } => ({
  alpha: alpha.received('create').length,
  beta: beta.received('create').length,
})
/** Until both have had some more. */
async function untilBusy(...names: readonly ('alpha' | 'beta')[]): Promise<void> {
  const before = creates()
  await vi.waitFor(() => expect(names.every((name) => creates()[name] > before[name] + 2)).toBe(true), {
    timeout: 20_000,
    interval: 10,
  })
}

/** Until whatever began before has its response. */
async function untilAnswered(clients: readonly Client[]): Promise<void> {
  const before = clients.map(({ rounds }) => rounds)
  const isOver = (): boolean => clients.every(({ rounds }, at) => rounds > (before[at] ?? 0) + 1)
  await vi.waitFor(() => expect(isOver()).toBe(true), { timeout: 20_000, interval: 10 })
}

it('W9: a provider is added, weighed, drained, taken off and routed again, and no request fails', async () => {
  reloads = 0
  const clients = await underTraffic(async (running) => {
    await untilBusy('alpha')
    await become({ routing: weighted({ alpha: 10, beta: 90 }) }) // six accounts, and none at beta once in a million
    await untilBusy('beta')
    await become({ alpha: { state: 'draining' }, routing: weighted({ alpha: 10, beta: 90 }) })
    const drained = creates().alpha
    await untilBusy('beta')
    await become({ alpha: { state: 'off' }, routing: only('beta') })
    await untilAnswered(running)
    expect(creates().alpha - drained).toBeLessThanOrEqual(maxInFlight)
    const silent = alpha.journal.length
    await untilBusy('beta')
    expect(alpha.journal.slice(silent).map(({ operation }) => operation)).toEqual([])
    await become({ routing: only('alpha') })
    await untilBusy('alpha')
  })
  expect(clients.flatMap(({ failures }) => failures)).toEqual([])
  const made = creates()
  expect(clients.flatMap(({ ids }) => ids)).toHaveLength(made.alpha + made.beta)
})

it('W9: one that holds nothing comes and goes for good', async () => {
  reloads = 0
  alpha.holdings.currencies = alpha.holdings.currencies.filter((row) => ['BTC', 'ETH'].includes((row as { code: string }).code))
  const clients = await underTraffic(async () => {
    for (let times = 0; times < 3; times++) {
      await become({ routing: { providers: ['alpha', 'beta'] } })
      await untilBusy('alpha')
      await become({ beta: null, routing: only('alpha') })
      await untilBusy('alpha')
    }
  })
  expect(clients.flatMap(({ failures }) => failures)).toEqual([])
  expect(beta.received('currencies').length).toBeGreaterThan(0)
})

it.each<[string, Facts, (open: string) => string]>([
  [
    'off',
    { alpha: { state: 'off' }, routing: { providers: ['alpha', 'beta'] } },
    (open) => `providers.alpha.state is off with ${open}`,
  ],
  ['removed', { alpha: null, routing: only('beta') }, (open) => `providers has no tag alpha, which has ${open}`],
  [
    'renamed',
    { alpha: { tag: 'renamed' }, routing: only('alpha') },
    (open) =>
      `providers has no tag alpha, which has ${open}: they stay as last seen until a provider has that tag again; providers.alpha has its URL: tag: alpha there keeps them`,
  ],
])('W10: a provider with open transactions may be %s, and their number is reported', async (_, off, lineOf) => {
  reloads = 0
  const [client] = await underTraffic(async () => {})
  await client?.round()
  const { ids = [] } = client ?? {}
  const open = alpha.received('create').length
  const line = lineOf(open === 1 ? '1 open transaction or create' : `${open} open transactions or creates`)
  expect(gateway.output).not.toMatch(/is off with|has no tag/)
  await become(off)
  await vi.waitFor(() => expect(gateway.output).toContain(`warning: ${line}`), eventTimeoutMs)
  const got = await client?.send('GET', `/transactions/${ids[0]}`)
  expect(got?.headers).toHaveProperty('x-swap-stale')
  const report = (await commandOver(file, ['check'])) as { warnings: readonly string[] }
  expect(report.warnings.join('\n')).toContain(line)
  await using other = await InProcessGateway.start(file)
  await vi.waitFor(() => expect(other.output).toContain(`warning: ${line}`), eventTimeoutMs)
})

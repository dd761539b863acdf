/**
 * Creates in doubt: how many a provider leaves that answers nothing for 20 s, and what is left of them a minute later; and how long one
 * decision takes that settles 2,000 of them beside traffic, on both stores. The figures of docs/reconciliation.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { SettlementPreview, SettlementProgress } from '../src/core/operations/settle-many.ts'
import { openLedger } from '../src/ledger/index.ts'
import type { Customer } from '../test/checker/customer.ts'
import { type Provider, startProvider } from '../test/checker/provider.ts'
import { intent } from '../test/ledger/samples.ts'
import { Gateways, type StartedGateway } from '../test/process/gateways.ts'
import { sendRequest } from '../test/support/client.ts'
import { startPostgres } from '../test/support/postgres.ts'

const createsPerSecond = 10
const unlimited = { quotes: 0, create: 0, read: 0 }
const faultMs = 20_000
const rowsToSettle = 2_000
/** The sources, as they are. */
const program = join(import.meta.dirname, '../src/cli/swapgate.js')
const token = 'operator-token-of-the-bench-0123456789'

/** What a provider does with creates while it is silent. */
const faults = { 'none of them is made': 'before', 'each of them is made': 'after' } as const

async function reportFault(made: keyof typeof faults, providers: readonly string[]): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-doubt-'))
  await using open = new AsyncDisposableStack()
  open.defer(() => rmSync(directory, { recursive: true }))
  const started = new Map<string, Provider>()
  for (const name of providers)
    started.set(name, open.use(await startProvider({ form: 'A', name, keys: ['own-key-1'], journal: join(directory, name) })))
  const gateways = open.use(
    await Gateways.prepare({
      providers: Object.fromEntries(
        [...started].map(([name, { url }]) => [name, { form: 'A', url, key: 'own-key-1', extraIds: true, rateLimit: unlimited }]),
      ),
      routing: { providers },
    }),
  )
  const { url } = await gateways.start({}, program)
  const customers = [await gateways.customer('acme', 'A'), await gateways.customer('globex', 'A')]
  const alpha = started.get('alpha') as Provider
  await swapFor(customers, gateways, url, 5_000)
  for (const operation of ['rate', 'get', 'list', 'currencies'] as const)
    await alpha.fault({ operation, before: 'hang', times: 1e9 })
  await alpha.fault({ [faults[made]]: 'hang', times: 1e9 })
  const swapping = swapFor(customers, gateways, url, faultMs)
  await wait(faultMs)
  await alpha.heal()
  const statuses = await swapping
  const left = await unresolved(gateways)
  const going = swapFor(customers, gateways, url, 60_000)
  await wait(60_000)
  const later = await unresolved(gateways)
  const after = await going
  return `${providers.length === 1 ? 'no other provider' : 'another provider'}, ${made}: ${countText(statuses)}; in doubt ${left}, a minute later ${later}; in that minute: ${countText(after)}`
}

/** A quote, then a create, as many a second. Returns the statuses of the creates. */
async function swapFor(customers: readonly Customer[], gateways: Gateways, url: string, forMs: number): Promise<readonly number[]> {
  const going: Promise<number>[] = []
  for (let sent = 0; sent < (forMs / 1_000) * createsPerSecond; sent++) {
    going.push(swap(customers[sent % customers.length] as Customer, gateways, url))
    await wait(1_000 / createsPerSecond)
  }
  return await Promise.all(going)
}

async function swap(customer: Customer, gateways: Gateways, url: string): Promise<number> {
  const order = gateways.order()
  const query = new URLSearchParams({ coinFrom: order.from.code, coinTo: order.to.code, amount: order.amount })
  const headers = { authorization: `Bearer ${customer.key}` }
  await sendRequest(url, { path: `/a/api/v2/rate?${query}`, headers }).catch(() => {})
  const created = await customer.create(url, order, { idempotencyKey: order.withdrawalAddress })
  return created?.status ?? 0
}

/** Without those that are under way. */
async function unresolved(gateways: Gateways): Promise<number> {
  const rows = (await gateways.command('ledger', 'unknown')) as readonly { readonly state: string }[]
  return rows.filter(({ state }) => state === 'unknown').length
}

function countText(statuses: readonly number[]): string {
  const counts = [...Map.groupBy(statuses, (status) => status)].toSorted(([one], [other]) => one - other)
  return `${statuses.length} creates, ${counts.map(([status, { length }]) => `${length} × ${status}`).join(', ')}`
}

async function reportSettling(store: string, ledger: string | undefined): Promise<void> {
  await using open = new AsyncDisposableStack()
  const sections = { admin: { port: 0, tokens: { bench: token } } }
  const gateways = open.use(await Gateways.prepare({ ...sections, ...(ledger !== undefined && { ledger: { url: ledger } }) }))
  const gateway = await gateways.start({}, program)
  const customers = [await gateways.customer('acme', 'A'), await gateways.customer('globex', 'A')]
  await leaveInDoubt(ledger ?? `sqlite:${join(gateways.directory, 'ledger.db')}`)
  const before = await traffic(customers, gateways, gateway, wait(10_000))
  const startedAt = performance.now()
  const settling = settle(gateway)
  const beside = await traffic(customers, gateways, gateway, settling)
  const { settled, left, steps } = await settling
  const seconds = (performance.now() - startedAt) / 1_000
  console.log(
    `${store}: ${settled} settled with one confirmation in ${seconds.toFixed(1)} s and ${steps} requests, ${left} left. Creates and gets, median and 99th percentile: ${before}; beside it: ${beside}`,
  )
}

/** Four accounts: each has a bound on such creates. */
async function leaveInDoubt(url: string): Promise<void> {
  const { ledger, close } = await openLedger(url)
  const attemptedAt = Date.now() - 3_600_000
  for (let first = 0; first < rowsToSettle; first += 100)
    await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const at = { attemptedAt: attemptedAt + first + n, deadline: attemptedAt + 30_000 }
        const create = intent({ ...at, owner: `account-${n % 4}`, idempotencyKey: { key: `${first + n}`, fingerprint: 'f' } })
        await ledger.begin(create)
        await ledger.markUnknown(create.id, Date.now() + 86_400_000, 'timed_out')
      }),
    )
  await close()
}

async function settle({ adminUrl }: StartedGateway) {
  const call = async (path: string, body?: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
    const response = await sendRequest(adminUrl, {
      method: 'POST',
      path: `/api${path}`,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${response.text}`)
    return JSON.parse(response.text)
  }
  const wanted = { provider: 'alpha', since: '2h', reason: 'timed_out', outcome: 'none', note: 'nothing was made' }
  const { confirm } = (await call('/settlements', wanted)) as SettlementPreview
  let [settled, left, steps] = [0, 0, 0]
  for (let remaining = 1; remaining > 0; steps++) {
    const step = (await call(`/settlements/${confirm}`)) as SettlementProgress
    settled += step.settled
    left += step.left.length
    remaining = step.remaining
  }
  return { settled, left, steps }
}

/** Ten creates a second and a get of each, until the work is done: what they took, and how many failed. */
async function traffic(
  customers: readonly Customer[],
  gateways: Gateways,
  { url }: StartedGateway,
  work: Promise<unknown>,
): Promise<string> {
  let isOver = false
  work.then(
    () => (isOver = true),
    () => (isOver = true),
  )
  const timesMs: number[] = []
  let failures = 0
  const timed = async (send: () => Promise<{ readonly status: number; readonly text: string } | undefined>) => {
    const startedAt = performance.now()
    const response = await send()
    timesMs.push(performance.now() - startedAt)
    if (response === undefined || response.status >= 300) failures++
    return response
  }
  const going: Promise<unknown>[] = []
  for (let sent = 0; !isOver; sent++) {
    const customer = customers[sent % customers.length] as Customer
    const order = gateways.order()
    going.push(
      timed(() => customer.create(url, order, { idempotencyKey: order.withdrawalAddress })).then((made) =>
        timed(() => customer.get(url, JSON.parse(made?.text ?? '{}').id)),
      ),
    )
    await wait(1_000 / createsPerSecond)
  }
  await Promise.all(going)
  const sorted = timesMs.toSorted((one, other) => one - other)
  const [p50, p99] = [0.5, 0.99].map((share) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(0))
  return `${p50} and ${p99} ms of ${sorted.length}, ${failures} failed`
}

const scenarios = [['alpha', 'beta'], ['alpha']].flatMap((providers) =>
  (Object.keys(faults) as (keyof typeof faults)[]).map((made) => reportFault(made, providers)),
)
console.log(`a provider answers nothing for ${faultMs / 1_000} s, with ${createsPerSecond} creates a second, each after a quote:`)
for (const line of await Promise.all(scenarios)) console.log(`  ${line}`)
await reportSettling('SQLite', undefined)
const server = await startPostgres(process.pid)
await reportSettling('PostgreSQL', await server.createDatabase())
await server.close()
process.exit()

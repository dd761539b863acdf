/** An upgrade and its way back: this version and one with a further step in its schema, on one ledger (docs/ledger.md, Upgrades). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Customer } from '../checker/customer.ts'
import type { Order } from '../checker/order.ts'
import { readJournal } from '../checker/provider/journal.ts'
import { Balancer } from '../process/balancer.ts'
import { Gateways, type StartedGateway } from '../process/gateways.ts'
import { Swapgate } from '../process/swapgate.ts'
import { bundledProgram, bundleWithFurtherStep, furtherStep } from '../support/bundle.ts'
import { runCommand } from '../support/command.ts'
import { type PreviousLedger, previousConfiguration, restorePrevious } from './previous/previous.ts'
import { query } from './raw.ts'
import type { Site } from './stores.ts'

const present = bundledProgram()

/** On both stores the same; each in a file of its own, since the two take the machine for a minute. */
export function describeUpgrades(store: 'sqlite' | 'postgres', site: Site): void {
  let next: string
  let remove: () => void
  beforeAll(async () => {
    ;({ program: next, remove } = await bundleWithFurtherStep())
  })
  afterAll(() => remove())

  it('this version and one with a further step serve one ledger under load, also when one is killed and comes back', {
    timeout: 500_000,
  }, async () => {
    const ledger = { url: await site.createStore(), refreshAfter: 1 }
    await using gateways = await Gateways.prepare({ server: { port: 0, shutdownDelay: 0.6 }, ledger })
    const balancer = new Balancer<StartedGateway>()
    const started = async (program: string): Promise<StartedGateway> => {
      const gateway = await gateways.start({}, program)
      await balancer.add(gateway)
      return gateway
    }
    const killed = async (gateway: StartedGateway): Promise<void> => {
      balancer.remove(gateway)
      gateway.process.child.kill('SIGKILL')
      await gateway.process.ended
    }
    const first = await started(present)
    const customers = [await gateways.customer('acme', 'A'), await gateways.customer('globex', 'B')]
    await gateways.provider.fault({ times: 1_000_000, delay: 20 })
    let isOver = false
    const unsent: Order[] = []
    const load = Promise.all(
      customers.flatMap((customer) => [1, 2, 3].map(() => use(customer, gateways, balancer, () => isOver, unsent))),
    )
    load.catch(() => {}) // it is awaited at the end
    const moreIsDone = async (): Promise<void> => {
      const { length } = gateways.history.operations
      await expect.poll(() => gateways.history.operations.length, { timeout: 30_000 }).toBeGreaterThan(length + 40)
    }
    await moreIsDone()
    const newer = await started(next)
    await moreIsDone()
    await killed(first)
    await started(present)
    await moreIsDone()
    await killed(newer)
    await moreIsDone()
    const last = await started(next)
    await moreIsDone()
    isOver = true
    expect((await load).flat()).toEqual([])
    balancer.end()
    expect(await stepsOf(ledger.url)).toContain(furtherStep)
    expect(await gateways.command('ledger', 'migrate')).toEqual({ migrations: [] })
    expectEachOnce(gateways, unsent)
    expect(await gateways.violations(last, customers)).toEqual([])
  })

  it('forth, back, forth and back again, each killed: every swap is there, once', { timeout: 400_000 }, async () => {
    await using gateways = await Gateways.prepare({ ledger: { url: await site.createStore() } })
    let gateway = await gateways.start({}, present)
    const customers = [await gateways.customer('acme', 'A'), await gateways.customer('globex', 'B')]
    const ids: { readonly customer: Customer; readonly id: string }[] = []
    const unsent: Order[] = []
    const followedBy = async (program: string): Promise<void> => {
      gateway.process.child.kill('SIGKILL')
      await gateway.process.ended
      gateway = await gateways.start({}, program)
    }
    for (const program of [next, present, next]) {
      const cut = gateways.order()
      const [customer] = customers as [Customer]
      await gateways.provider.fault({ times: 1, delay: 300 })
      const lost = customer.create(gateway.url, cut, { idempotencyKey: cut.withdrawalAddress })
      await wait(100)
      await followedBy(program)
      await lost
      const orders = [{ customer, order: cut }, ...customers.map((each) => ({ customer: each, order: gateways.order() }))]
      for (const { customer, order } of orders) {
        const made = await repeated(customer, order, gateways, () => gateway.url)
        if (!made) {
          unsent.push(order)
          continue
        }
        const { id = '' } = made.json as { id?: string }
        ids.push({ customer, id })
      }
      for (const { customer, id } of ids) expect((await customer.get(gateway.url, id))?.status).toBe(200)
    }
    await followedBy(present)
    for (const { customer, id } of ids) expect((await customer.get(gateway.url, id))?.status).toBe(200)
    expect(new Set(ids.map(({ id }) => id)).size).toBe(ids.length)
    expectEachOnce(gateways, unsent)
    expect(await gateways.violations(gateway, customers)).toEqual([])
  })

  describe('a ledger of the build before schema 1, after real use', () => {
    it('is whole for this version before and after ledger migrate, for one with a further step, and again for this one', {
      timeout: 120_000,
    }, async () => {
      const url = await site.createStore()
      const previous = await restorePrevious(store, url)
      using place = new PreviousPlace(url)
      const steps = await stepsOf(url)
      expect(await place.holds(previous)).toMatchObject(lasting(previous))
      await place.serves(previous, present, 'manual')
      expect(await stepsOf(url)).toEqual(steps)
      expect(await place.facts('ledger', 'migrate')).toEqual({ migrations: ['schema 1'] })
      expect(await place.facts('ledger', 'migrate')).toEqual({ migrations: [] })
      await place.serves(previous, present, 'auto')
      await place.serves(previous, next, 'auto')
      expect(await stepsOf(url)).toContain(furtherStep)
      await place.serves(previous, present, 'auto')
    })
  })
}

async function stepsOf(url: string): Promise<readonly unknown[]> {
  return (await query(url, 'SELECT name FROM schema_steps ORDER BY name')).map(({ name }) => name)
}

/** So that the provider's list stands still for long enough to be read: what was lost with a process is found at the first looks. */
const thinkTimeMs = 1_000

/** The client's day, over and over. What was lost with a process is sent again; `unsent` gets what that never sent on. Returns what was wrong. */
async function use(
  customer: Customer,
  gateways: Gateways,
  balancer: Balancer<StartedGateway>,
  isOver: () => boolean,
  unsent: Order[],
): Promise<readonly unknown[]> {
  const wrong: unknown[] = []
  while (!isOver()) {
    const order = gateways.order()
    const made = await repeated(customer, order, gateways, () => balancer.url)
    if (!made) {
      unsent.push(order)
      continue
    }
    const { id = '' } = made.json as { id?: string }
    for (const read of [() => customer.get(balancer.url, id), () => customer.list(balancer.url, 1, 10)]) {
      const response = (await read()) ?? (await read())
      if (response?.status !== 200) wrong.push([response?.status, response?.text])
    }
    await wait(thinkTimeMs)
  }
  return wrong
}

/** A gateway that was killed between the intent and its request has created nothing: that is proven only after `ledger.reconcileFor`. */
const unsentAfterMs = 20_000

/**
 * Repeats a create under its key while its outcome is not known, or a machine without time refuses it. Undefined: it never reached the
 * provider. Throws what else it gets. One that ended with a process is found at a look at the provider's list: the third, two minutes after
 * the create's own end, where the list grew during the first two.
 */
async function repeated(customer: Customer, order: Order, gateways: Gateways, url: () => string) {
  const begun = Date.now()
  let reason: unknown
  while (Date.now() < begun + 280_000) {
    const response = await customer.create(url(), order, { idempotencyKey: order.withdrawalAddress })
    if (response?.status === (customer.form === 'A' ? 201 : 200)) return response
    reason = response?.headers['x-swap-reason']
    if (response && reason !== 'in_progress' && reason !== 'outcome_unknown' && reason !== 'overloaded')
      throw new Error(`${response.status} ${reason} ${response.text}`)
    const isLong = reason === 'in_progress' && Date.now() > begun + unsentAfterMs
    if (isLong && !appliedAt(gateways).includes(order.withdrawalAddress)) return undefined
    await wait(100)
  }
  throw new Error(`the create ${order.withdrawalAddress} did not end: ${reason}`)
}

function appliedAt({ provider }: Gateways): readonly string[] {
  return readJournal(provider.settings.journal)
    .filter((entry) => entry.what === 'applied')
    .map(({ swap }) => swap.withdrawalAddress)
}

/** But for those that a killed gateway never sent. */
function expectEachOnce(gateways: Gateways, unsent: readonly Order[]): void {
  const orders = new Set(
    gateways.history.operations.flatMap(({ kind, order }) => (kind === 'create' && order ? [order.withdrawalAddress] : [])),
  )
  for (const { withdrawalAddress } of unsent) orders.delete(withdrawalAddress)
  expect(appliedAt(gateways).toSorted()).toEqual([...orders].toSorted())
}

/** Without what changes as time goes on: keys and secrets that have expired, creates whose time is over. This version may tell more of each. */
function lasting({ replayable: _, keys, accounts, webhooks, stats, unknown, ...holds }: PreviousLedger): object {
  return {
    ...holds,
    keys: keys.map((key) => ({ ...key, state: expect.any(String) })),
    accounts: accounts.map((account) => ({ ...account, validKeys: expect.any(Number) })),
    webhooks: webhooks.map(({ oldSecretEndsAt: __, ...webhook }) => webhook),
    stats: { ...stats, validKeys: expect.any(Number) },
    unknown: unknown.map((create) => ({ ...create, reason: expect.any(String) })),
  }
}

/** The ledger under a configuration as it was made with; its providers and receivers are away. */
class PreviousPlace implements Disposable {
  private readonly directory = mkdtempSync(join(tmpdir(), 'swapgate-upgrades-'))
  private readonly file = join(this.directory, 'gateway.yaml')
  private readonly url: string

  constructor(url: string) {
    this.url = url
    this.configure({})
  }

  private configure(ledger: object): void {
    const { providers, ...rest } = previousConfiguration(this.url, join(dirname(present), '../../config/assets.yaml'))
    const away = Object.entries(providers as Record<string, object>).map(([name, facts]) => [name, { ...facts, state: 'off' }])
    const limits = { quotes: 100_000, create: 100_000, read: 100_000, unverified: 100_000 }
    const configuration = { ...rest, limits, providers: Object.fromEntries(away), ledger: { url: this.url, ...ledger } }
    writeFileSync(this.file, JSON.stringify(configuration))
  }

  async facts(...args: readonly string[]): Promise<unknown> {
    const { out, err } = await runCommand([...args, '--json', '--config', this.file])
    if (out.length === 0) throw new Error(err.join('\n'))
    return JSON.parse(out.join('\n'))
  }

  /** By the commands of this version. */
  async holds({ deliveries, usage, shown }: PreviousLedger): Promise<object> {
    return {
      exported: await this.facts('ledger', 'export'),
      keys: await this.facts('keys', 'list'),
      audit: await this.facts('audit'),
      stats: await this.facts('ledger', 'stats'),
      unknown: await this.facts('ledger', 'unknown'),
      accounts: await this.facts('accounts', 'list'),
      webhooks: await this.facts('webhooks', 'list'),
      deliveries: await this.facts('webhooks', 'deliveries', deliveries[0]?.webhook ?? ''),
      found: {
        undecided: await this.facts('ledger', 'found', 'list'),
        assigned: await this.facts('ledger', 'found', 'list', '--assigned'),
      },
      usage: await this.facts('usage', '--since', usage.since),
      shown: await this.facts('ledger', 'show', shown.swap.id),
    }
  }

  /** Starts a version on it, and finds every swap and every first response through the API. */
  async serves({ exported, replayable }: PreviousLedger, program: string, migrate: 'auto' | 'manual'): Promise<void> {
    const accounts = await Promise.all(
      ['acme', 'globex'].map(async (name) => {
        const { key } = (await this.facts('keys', 'create', '--name', name)) as { readonly key: string }
        return { name, key }
      }),
    )
    this.configure({ migrate })
    await using gateway = new Swapgate(['start', '--config', this.file], { program })
    const url = `${(await gateway.urls()).get('gateway')}/a/api/v2/transactions`
    const found: object[] = []
    for (const { key } of accounts) {
      const headers = { authorization: `Bearer ${key}` }
      const { data } = (await (await fetch(`${url}?size=100`, { headers })).json()) as { data: { id: string; status: string }[] }
      for (const { id } of data) {
        const { status } = (await (await fetch(`${url}/${id}`, { headers })).json()) as { status: string }
        found.push({ id, status })
      }
    }
    const byId = (a: { id?: string }, b: { id?: string }): number => (String(a.id) < String(b.id) ? -1 : 1)
    expect(found.toSorted(byId)).toEqual(exported.map(({ id, status }) => ({ id, status })).toSorted(byId))
    for (const { account, key, body, id } of replayable) {
      const { key: secret } = accounts.find(({ name }) => name === account) ?? { key: '' }
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}`, 'idempotency-key': key }
      const response = await fetch(url, { method: 'POST', headers, body })
      expect([response.status, ((await response.json()) as { id: string }).id]).toEqual([201, id])
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true })
  }
}

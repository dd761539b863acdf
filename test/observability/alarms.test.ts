// Takes long: it waits for the first round of reconciliation.
/** Each cause of an alert has a counter of its own. */
import { test as base, describe, expect, vi } from 'vitest'
import type { Customer } from '../checker/customer.ts'
import { Gateways } from '../process/gateways.ts'
import { lock } from '../support/broken-ledger.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import type { InProcessGateway } from '../support/in-process-gateway.ts'
import { RedisServer } from '../support/redis.ts'
import { Scrape } from './scrape.ts'

const timeout = 30_000
const server = { port: 0, shutdownDelay: 0 }

interface Rig {
  readonly gateways: Gateways
  readonly gateway: InProcessGateway
  readonly acme: Customer
  readonly scrape: () => Promise<Scrape>
  /** How many creates had this outcome. */
  readonly outcome: (word: string) => Promise<number>
}

const scraped = async ({ adminUrl }: InProcessGateway): Promise<Scrape> =>
  new Scrape(await (await fetch(`${adminUrl}/metrics`)).text())

/** Each test has a gateway of its own: they mostly wait, and so they run side by side. */
const sequential = base.extend<{ rig: Rig }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures that are used from the pattern.
  rig: async ({}, use) => {
    await using gateways = await Gateways.prepare({ server })
    const gateway = await gateways.startInProcess()
    const scrape = (): Promise<Scrape> => scraped(gateway)
    const outcome = async (word: string): Promise<number> =>
      (await scrape()).sum('swapgate_create_outcomes_total', { provider: 'alpha', outcome: word })
    await use({ gateways, gateway, acme: await gateways.customer('acme', 'A'), scrape, outcome })
  },
})
const it = sequential.concurrent

describe('O9', { timeout }, () => {
  it('a create of unknown outcome, as a count and as what is open', async ({
    rig: { gateways, gateway, acme, scrape, outcome },
  }) => {
    expect(await outcome('unknown')).toBe(0)
    await gateways.provider.fault({ before: 'reset' })
    expect((await acme.create(gateway.url, gateways.order()))?.status).toBe(504)
    expect(await outcome('unknown')).toBe(1)
    const ended = { error_type: 'provider_unknown_outcome', provider: 'alpha', operation: 'create_transaction' }
    expect((await scrape()).sum('swapgate_requests_total', ended)).toBe(1)
    const open = async (): Promise<number> =>
      (await scrape()).sum('swapgate_creates_unresolved', { provider: 'alpha', state: 'unknown' })
    await vi.waitFor(async () => expect(await open()).toBe(1), { timeout: 20_000, interval: 500 })
    const metrics = await scrape()
    expect(metrics.sum('swapgate_creates_oldest_unresolved_seconds', { provider: 'alpha' })).toBeGreaterThan(0)
    const roundAt = metrics.sum('swapgate_reconciliation_last_run_timestamp_seconds')
    expect(Math.abs(Date.now() / 1000 - roundAt)).toBeLessThan(10)
  })

  it('a create whose response contradicts the request', async ({ rig: { gateways, gateway, acme, outcome } }) => {
    await gateways.provider.fault({ swap: 'withdrawalAddress' })
    expect((await acme.create(gateway.url, gateways.order()))?.status).toBe(502)
    expect(await outcome('contradicted')).toBe(1)
    await gateways.provider.fault({ swap: 'amount' })
    expect((await acme.create(gateway.url, gateways.order()))?.status).toBe(502)
    expect(await outcome('contradicted')).toBe(2)
  })

  it('an id that another client holds', async ({ rig: { gateways, gateway, acme, outcome } }) => {
    const globex = await gateways.customer('globex', 'B')
    const created = (await acme.create(gateway.url, gateways.order())) as ReceivedResponse
    const { id } = created.json as { readonly id: string }
    await gateways.provider.fault({ repeat: id.replace(/^.*~/, '') })
    expect((await globex.create(gateway.url, gateways.order()))?.status).toBe(502)
    expect(await outcome('duplicate_id')).toBe(1)
  })

  it("a provider that refuses the gateway's own key", async ({ rig: { gateways, gateway, acme, scrape } }) => {
    for (const operation of ['create', 'list'] as const) await gateways.provider.fault({ operation, before: 401, message: 'no' })
    expect((await acme.create(gateway.url, gateways.order()))?.status).toBe(502)
    const cooldowns = async () =>
      (await scrape()).sum('swapgate_provider_cooldowns_total', { provider: 'alpha', reason: 'key_refused' })
    await vi.waitFor(async () => expect(await cooldowns()).toBe(1), eventTimeoutMs)
    expect((await scrape()).sum('swapgate_requests_total', { error_type: 'provider_key_refused' })).toBe(1)
  })

  // Alone: what the others do in this process would be a part of the time that it measures.
  sequential('a ledger that is slow, and one that does not do it', async ({ rig: { gateways, gateway, acme, scrape } }) => {
    const heal = lock(gateways.directory)
    const creating = acme.create(gateway.url, gateways.order())
    setTimeout(heal, 700)
    expect((await creating)?.status).toBe(201)
    const slow = await scrape()
    const within = (le: string): number => slow.sum('swapgate_ledger_duration_seconds_bucket', { action: 'begin', le })
    expect([within('0.25'), within('2.5'), within('+Inf')]).toEqual([0, 1, 1])
    const heal2 = lock(gateways.directory)
    expect((await acme.create(gateway.url, gateways.order()))?.status).toBe(503)
    heal2()
    const failures = async () => (await scrape()).sum('swapgate_ledger_failures_total', { action: 'begin' })
    await expect.poll(failures).toBe(1)
    expect((await scrape()).sum('swapgate_requests_total', { error_type: 'gateway_ledger' })).toBe(1)
  })
})

base('O9: limits that each process counts alone', { timeout }, async () => {
  await using redis = await RedisServer.start()
  await using prepared = await Gateways.prepare({ server, redis: { url: redis.url } })
  const gateway = await prepared.startInProcess()
  const scrape = (): Promise<Scrape> => scraped(gateway)
  expect((await scrape()).sum('swapgate_limit_store_changes_total', { state: 'local' })).toBe(0)
  await redis.kill()
  const alone = async () => (await fetch(`${gateway.url}/a/api/v2/rate`)) && (await scrape())
  await expect.poll(async () => (await alone()).sum('swapgate_limits_local')).toBe(1)
  expect((await scrape()).sum('swapgate_limit_store_changes_total', { state: 'local' })).toBe(1)
})

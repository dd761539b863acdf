/** The order of locks (`LockName` in src/ledger/store.ts): what changes many rows of several transactions waits in PostgreSQL for nobody who waits for it. */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import type { LedgerEntry } from '../../src/core/ports/ledger.ts'
import type { EncodeChange } from '../../src/core/ports/webhooks.ts'
import { type OpenLedger, openLedger } from '../../src/ledger/index.ts'
import { startPostgres } from '../support/postgres.ts'
import { query } from './raw.ts'
import { facts, unique } from './samples.ts'

const day = 86_400_000
const hour = 3_600_000
const durationMs = 5_000
const encode: EncodeChange = ({ entry }) => ({ body: `{"id":"${entry.transaction.id}"}`, isPayable: true })
const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T

test('numbering, deliveries, prune, retention and changes of webhooks run against each other without a deadlock', {
  timeout: 60_000,
}, async () => {
  const server = await startPostgres()
  onTestFinished(server.close)
  const url = await server.createDatabase()
  const stores = await Promise.all([0, 1].map(() => openLedger(url)))
  const [first] = stores as [OpenLedger, OpenLedger]
  await first.accounts.addKey({ id: 'key', name: 'acme', createdAt: 1 }, 'digest', 'tester')
  const owner = (await first.accounts.findKeys(['digest'])).get('digest')?.identity ?? ''
  const add = () => {
    const webhook = { id: `wh_${randomUUID()}`, account: 'acme', url: 'https://hooks.example/', form: 'A', secret: 'sealed' }
    return first.webhooks.add({ ...webhook, createdAt: 1 }, 'tester')
  }
  for (let n = 0; n < 3; n++) await add()
  const end = performance.now() + durationMs
  const failures: unknown[] = []
  const done: Record<string, number> = {}
  const repeat = async (name: string, action: () => Promise<unknown>): Promise<void> => {
    while (performance.now() < end)
      await action().then(
        (result) => {
          done[name] = (done[name] ?? 0) + (typeof result === 'number' ? result : 1)
        },
        (reason) => void failures.push(name, reason),
      )
  }
  const createdAt = new Date(Date.now() - 9 * day).toISOString()
  let sequence = 0
  const swap = async ({ ledger }: OpenLedger): Promise<void> => {
    const id = unique('x')
    let before: LedgerEntry | undefined
    for (const status of ['wait', 'confirmation', 'exchanging', 'sending', 'success'] as const)
      before = await ledger.upsert(owner, 'alpha', facts(id, { status, createdAt }, { sequence: ++sequence }), before)
  }
  const deliver = async ({ webhooks }: OpenLedger): Promise<number> => {
    const webhook = pick(await webhooks.list())
    const claims = await webhooks.claim(webhook, encode)
    const at = Date.now()
    for (const delivery of claims?.deliveries ?? []) {
      const status = pick([200, 200, 200, 500])
      const outcome = status === 200 ? 'delivered' : pick(['failed', { retryAfterMs: 5 }] as const)
      await webhooks.finish(claims?.webhook ?? webhook, delivery, { at: at - 40 * day, status, ms: 1, body: '' }, outcome)
    }
    return claims?.deliveries.length ?? 0
  }
  const replay = async ({ webhooks }: OpenLedger): Promise<void> => {
    const { parts } = await webhooks.deliveries(pick(await webhooks.list()).id, { onlyFailed: false, size: 1 })
    const [delivery] = (await Array.fromAsync(parts)).flat()
    if (!delivery) return
    await webhooks.findToReplay(delivery.id, encode)
    await webhooks.recordReplay(delivery.id, { at: Date.now(), status: 200, ms: 1, body: '' })
  }
  const clockSetBack = () =>
    query(
      url,
      `UPDATE webhook_queues SET due_at = due_at + ${hour} WHERE (webhook, provider, provider_id) IN (
        SELECT webhook, provider, provider_id FROM webhook_queues WHERE claim IS NOT NULL ORDER BY random() LIMIT 1
      )`,
    )
  const renew = async (): Promise<void> => {
    const all = await first.webhooks.list()
    await first.webhooks.rotate(pick(all).id, randomUUID(), 1, 2, 'tester')
    if (all.length > 2) await first.webhooks.remove(pick(all).id, 1, 'tester')
    await add()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  await Promise.all(
    stores
      .flatMap((store) => [
        ...[1, 2, 3].map(() => repeat('swap', () => swap(store))),
        repeat('number', async () => (await store.events.number()).count),
        ...[1, 2].map(() => repeat('deliver', () => deliver(store))),
        repeat('replay', () => replay(store)),
        repeat('expire', () => store.webhooks.expire(-day)),
        repeat('events', async () => void (await store.retention.eventsStep(-day))),
        repeat('prune', async () => (await store.retention.pruneStep(Date.now() - day)).pruned),
        repeat('lease', async () => void (await store.ledger.leaseOpen('alpha', 20, 0))),
        repeat('mark', () => first.restores.mark(['alpha'], undefined, 'tester')),
      ])
      .concat([
        repeat('prune by hand', async () => (await first.ledgerAdmin.prune(Date.now() - day, 'tester')).pruned),
        repeat('renew', renew),
        repeat('clock', clockSetBack),
      ]),
  )
  for (const { close } of stores) await close()
  // The server adds up what its processes have counted once they have ended.
  await expect
    .poll(async () =>
      query(
        url,
        `SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'swapgate' AND datname = current_database()`,
      ),
    )
    .toEqual([{ count: 0 }])
  expect(await query(url, 'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()')).toEqual([
    { deadlocks: 0 },
  ])
  expect(failures).toEqual([])
  for (const name of ['swap', 'number', 'deliver', 'expire', 'prune', 'prune by hand', 'renew'])
    expect(done[name], name).toBeGreaterThan(0)
})

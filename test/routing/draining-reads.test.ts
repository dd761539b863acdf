/** docs/contract-operators.md §12: the gateway reads what is open at a draining provider, so that it ends without a request. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { memoryBudgets } from '../../src/adapters/memory.ts'
import { createBreaker } from '../../src/core/resilience/breaker.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { startPassthrough } from '../support/passthrough.ts'

const routing = ['alpha', 'beta']
const minuteMs = 60_000
let managed: Managed
let key: string
let now = 0
afterEach(() => managed.close())

/** Times are the rig's: of budgets, and of the ledger. */
async function start(settings: Parameters<typeof startManaged>[0] = {}): Promise<void> {
  now = 1_800_000_000_000
  managed = await startManaged({
    routing,
    ledgerClock: () => now,
    steadyClock: () => now,
    budgets: memoryBudgets(() => now),
    ...settings,
  })
  key = await managed.issue()
}
const create = async (count: number): Promise<readonly string[]> => {
  const ids: string[] = []
  for (let at = 0; at < count; at++) {
    const { json } = await managed.client('A').post('/transactions', orderIn('A'), { key })
    ids.push((json as { id: string }).id.slice('alpha~'.length))
    // The provider's own time orders them.
    managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((held, n) => ({
      ...held,
      createdAt: `2026-01-01T00:00:0${n}Z`,
    }))
  }
  return ids
}
const drain = (facts: object = {}): void => {
  managed.reconfigure({ routing, providers: { alpha: { state: 'draining', ...facts } } })
  managed.alpha.reset()
}
const become = (status: string): void => {
  managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((held) => ({ ...held, status }))
}
const idsRead = (): readonly string[] => managed.alpha.received('get').map(({ path }) => path.slice('/transactions/'.length))
const openCounts = async (): Promise<unknown> => managed.gateway.ledgerAdmin.openCounts()

test('W8: each is read, the oldest first, and not again for ten minutes; what has ended is not read any more', async () => {
  await start()
  const ids = await create(3)
  drain()
  await managed.gateway.pollTransactions()
  expect(idsRead()).toEqual(ids)
  become('success')
  now += 10 * minuteMs - 1
  await managed.gateway.pollTransactions()
  expect(idsRead()).toEqual(ids)
  now += 1
  await managed.gateway.pollTransactions()
  expect(idsRead()).toEqual([...ids, ...ids])
  expect(await openCounts()).toEqual([])
  now += 10 * minuteMs
  await managed.gateway.pollTransactions()
  expect(idsRead()).toHaveLength(6)
  const listed = await managed.client('A').get('/transactions', { key })
  expect((listed.json as { data: { status: string }[] }).data.map(({ status }) => status)).toEqual([
    'success',
    'success',
    'success',
  ])
  expect(idsRead()).toHaveLength(6)
})

test('W8: only the tenth of the read budget pays for it, and clients keep the rest', async () => {
  const rateLimit = { quotes: 0, create: 0, read: 30 }
  await start({
    providers: { alpha: { rateLimit } },
    sections: { ledger: { refreshAfter: 0 }, routing: { providers: routing }, cache: { currencies: 600, rate: 0, staleFor: 600 } },
  })
  const ids = await create(5)
  drain({ rateLimit })
  for (let pass = 0; pass < 4; pass++) await managed.gateway.pollTransactions()
  expect(idsRead()).toEqual(ids.slice(0, 3))
  now += minuteMs + 2_000
  await managed.gateway.pollTransactions()
  expect(idsRead()).toEqual(ids)
  let stale = 0
  for (let call = 0; call < 30; call++) {
    const { headers } = await managed.client('A').get(`/transactions/alpha~${ids[0]}`, { key })
    if (headers['x-swap-stale'] !== undefined) stale++
  }
  expect(stale).toBeLessThanOrEqual(3)
})

test('W8: where a tenth is less than one, nothing is read', async () => {
  const rateLimit = { quotes: 0, create: 0, read: 9 }
  await start({ providers: { alpha: { rateLimit } } })
  await create(1)
  drain({ rateLimit })
  await managed.gateway.pollTransactions()
  expect(idsRead()).toEqual([])
})

test('W8: several processes on one ledger read each once', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-draining-'))
  const ledger = `sqlite:${join(directory, 'ledger.db')}`
  await start({ ledger })
  const ids = await create(8)
  drain()
  const other = await startManaged({
    routing,
    ledger,
    follows: managed,
    ledgerClock: () => now,
    providers: { alpha: { url: managed.alpha.url, state: 'draining' } },
  })
  await Promise.all([managed.gateway.pollTransactions(), other.gateway.pollTransactions()])
  await Promise.all([managed.gateway.pollTransactions(), other.gateway.pollTransactions()])
  expect(idsRead().toSorted()).toEqual(ids.toSorted())
  await other.close()
  await managed.close()
  rmSync(directory, { recursive: true })
})

test('W8: a provider that fails gets no more calls; its breaker rejects the reads', async () => {
  await start({ breaker: createBreaker })
  const ids = await create(6)
  drain()
  managed.alpha.reply('get', { status: 500, json: {} })
  await managed.gateway.pollTransactions()
  expect(new Set(idsRead())).toEqual(new Set(ids.slice(0, 5)))
  managed.alpha.reset()
  await managed.gateway.pollTransactions()
  expect(idsRead()).toEqual([])
})

test.each(['active', 'off'])('W8: nothing is read of a provider that is %s', async (state) => {
  await start()
  await create(1)
  managed.reconfigure({ routing, providers: { alpha: { state } } })
  await managed.gateway.pollTransactions()
  expect(idsRead()).toEqual([])
})

test('W8: a provider that is not routed is read too while it drains', async () => {
  await start()
  const ids = await create(1)
  managed.reconfigure({ routing: ['beta'], providers: { alpha: { state: 'draining' } } })
  await managed.gateway.pollTransactions()
  expect(idsRead()).toEqual(ids)
})

test('W8: a response that contradicts the create changes nothing', async () => {
  await start()
  await create(1)
  drain()
  managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((held) => ({
    ...held,
    depositAddress: 'bc1q-other',
    status: 'success',
  }))
  await managed.gateway.pollTransactions()
  expect(idsRead()).toHaveLength(1)
  expect(await openCounts()).toEqual([{ provider: 'alpha', state: 'done', status: 'wait', count: 1 }])
})

test('W8: with the provider’s own keys the gateway has no key to read with', async () => {
  await using passthrough = await startPassthrough('alpha')
  managed = await startManaged()
  await passthrough.client('A').post('/transactions', orderIn('A'))
  passthrough.reconfigure({}, { state: 'draining' })
  await passthrough.gateway.pollTransactions()
  expect(passthrough.alpha.received('get')).toEqual([])
})

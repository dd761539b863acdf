/** docs/contract.md §18.1: each change of a transaction that its owner can see is one row, in an order that no late commit breaks. */
import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { LedgerEntry, TransactionRecord } from '../../src/core/ports/ledger.ts'
import type { EventStore, TransactionEvent } from '../../src/core/ports/transaction-events.ts'
import type { Transaction } from '../../src/domain/swap.ts'
import { type OpenLedger, openLedger } from '../../src/ledger/index.ts'
import { removeOld } from '../../src/process/retention.ts'
import { changedFields } from '../support/changed-fields.ts'
import { startPostgres } from '../support/postgres.ts'
import { query } from './raw.ts'
import { amount, facts, intent, unique } from './samples.ts'
import { allStores, describeStores, durableStores } from './stores.ts'

const day = 86_400_000
let sequence = 0

/** A create with its result. */
async function created(
  { ledger }: Pick<OpenLedger, 'ledger'>,
  owner: string,
  id: string,
  more: Partial<Transaction> = {},
): Promise<string> {
  const create = intent({ owner })
  await ledger.begin(create)
  await ledger.complete(create.id, facts(id, more, { sequence: ++sequence }))
  return create.id
}

/** A report of the provider. */
async function reported(
  { ledger }: Pick<OpenLedger, 'ledger'>,
  owner: string,
  id: string,
  change: Partial<Transaction>,
  more: Partial<TransactionRecord> = {},
): Promise<void> {
  const before = (await ledger.find(owner, 'alpha', id)) as LedgerEntry
  const after = { ...before, transaction: { ...before.transaction, ...change }, sequence: ++sequence, ...more }
  await ledger.upsert(owner, 'alpha', after, before)
}

async function numberAll({ events }: { readonly events: EventStore }): Promise<void> {
  while ((await events.number()).mayBeMore);
}

async function rows(store: OpenLedger, owner: string, after = 0): Promise<readonly TransactionEvent[]> {
  await numberAll(store)
  return await store.events.ofOwner(owner, after, 1_000)
}

async function removeEvents({ retention }: Pick<OpenLedger, 'retention'>, keepMs: number): Promise<void> {
  while (await retention.eventsStep(keepMs));
}

const shown = ({ number, transactionNumber, entry, isFinal }: TransactionEvent) => [
  number,
  transactionNumber,
  entry.transaction.id,
  entry.transaction.status,
  isFinal,
]

describeStores(allStores, (shared) => {
  test('a create is the first row, and each change that the owner can see is one more', async () => {
    const owner = unique('owner')
    await created(shared(), owner, `${owner}-x`)
    const changes: readonly Partial<Transaction>[] = [
      { status: 'confirmation' },
      { txHashIn: '0xdeposit' },
      { amountOut: amount('1.5') },
      { attention: 'held', statusReason: 'kyc' },
      { attention: undefined, statusReason: undefined, depositAddress: 'another' },
      { status: 'success', txHashOut: '0xpayout' },
    ]
    for (const change of changes) await reported(shared(), owner, `${owner}-x`, change)
    const all = await rows(shared(), owner)
    expect(all.map(({ number, transactionNumber }) => [number, transactionNumber])).toEqual(
      [1, 2, 3, 4, 5, 6, 7].map((each) => [each, each]),
    )
    expect(all.map(({ isFinal }) => isFinal)).toEqual([false, false, false, false, false, false, true])
    for (const [at, change] of changes.entries())
      expect(all[at + 1]?.entry.transaction).toMatchObject(JSON.parse(JSON.stringify(change)))
    expect(all[3]?.entry.transaction.txHashOut).toBeUndefined()
    expect(all.at(-1)?.entry).toMatchObject({ owner, provider: 'alpha', isCreated: true })
  })

  test('a change of one field alone makes a row exactly if the owner is told of it', async () => {
    const owner = unique('owner')
    const fields = Object.entries(changedFields).filter(([field]) => field !== 'id')
    for (const [field, { to }] of fields) {
      const id = `${owner}-${field}`
      await created(shared(), owner, id)
      for (let times = 0; times < 2; times++) await reported(shared(), owner, id, { [field]: to })
    }
    const rowsOf = Map.groupBy(await rows(shared(), owner), ({ entry }) => entry.transaction.id)
    expect(fields.map(([field]) => [field, rowsOf.get(`${owner}-${field}`)?.length])).toEqual(
      fields.map(([field, { isEvent }]) => [field, isEvent ? 2 : 1]),
    )
  })

  test('what changes nothing for the owner makes no row', async () => {
    const owner = unique('owner')
    const id = `${owner}-x`
    await created(shared(), owner, id)
    await reported(shared(), owner, id, {}, { fetchedAt: Date.now(), reportedAt: Date.now() })
    await reported(shared(), owner, id, { updatedAt: new Date().toISOString(), hasDeposit: true, contractFrom: '0x' })
    await reported(shared(), owner, id, {}, { missingSince: Date.now() })
    const before = await shared().ledger.find(owner, 'alpha', id)
    await shared().ledger.upsert('another', 'alpha', facts(id, { status: 'success' }))
    await shared().ledger.upsert(owner, 'alpha', facts(id, { status: 'success' }, { sequence: 1 }), {
      ...before,
      sequence: 7,
    } as LedgerEntry)
    expect(await rows(shared(), owner)).toHaveLength(1)
    expect(await rows(shared(), 'another')).toEqual([])
  })

  test('a report that contradicts the swap withdraws its deposit address, which is a change', async () => {
    const owner = unique('owner')
    await created(shared(), owner, `${owner}-x`)
    await reported(shared(), owner, `${owner}-x`, {}, { doubt: 'contradicted' })
    await reported(shared(), owner, `${owner}-x`, {}, { doubt: 'contradicted', fetchedAt: Date.now() })
    expect((await rows(shared(), owner)).map(({ entry }) => entry.doubt)).toEqual([undefined, 'contradicted'])
  })

  test('every way to a result makes its row', async () => {
    const store = shared()
    const owner = unique('owner')
    const begun = async () => {
      const create = intent({ owner })
      await store.ledger.begin(create)
      await store.ledger.markUnknown(create.id, Date.now())
      return create.id
    }
    await store.ledger.upsert(owner, 'alpha', facts(`${owner}-observed`))
    await store.ledger.bindFound(await begun(), facts(`${owner}-found`))
    await store.ledgerAdmin.bind(await begun(), `${owner}-bound`, Date.now(), undefined, 'alice')
    const mismatch = await begun()
    await store.ledger.markMismatch(mismatch, facts(`${owner}-accepted`).transaction, ['amountIn'])
    expect(await rows(store, owner)).toHaveLength(3)
    await store.ledgerAdmin.accept(mismatch, Date.now(), 'alice')
    await created(store, owner, `${owner}-held`, { attention: 'held' })
    await store.ledgerAdmin.settle('alpha', `${owner}-held`, { status: 'overdue', note: 'x', at: Date.now() }, 'alice')
    expect((await rows(store, owner)).map(shown)).toEqual([
      [1, 1, `${owner}-observed`, 'wait', false],
      [2, 1, `${owner}-found`, 'wait', false],
      [3, 1, `${owner}-bound`, 'wait', false],
      [4, 1, `${owner}-accepted`, 'wait', false],
      [5, 1, `${owner}-held`, 'wait', false],
      [6, 2, `${owner}-held`, 'overdue', true],
    ])
  })

  test('a row that was only observed and becomes a create keeps its numbers with its owner, and leaves another one nothing', async () => {
    const store = shared()
    const [owner, another] = [unique('owner'), unique('another')]
    await store.ledger.upsert(owner, 'alpha', facts(`${owner}-own`))
    await store.ledger.upsert(another, 'alpha', facts(`${owner}-others`))
    expect((await rows(store, another)).length).toBe(1)
    await created(store, owner, `${owner}-own`)
    await created(store, owner, `${owner}-others`)
    expect(await rows(store, another)).toEqual([])
    expect((await store.events.ofTransaction(owner, 'alpha', `${owner}-own`, 0, 9)).at(-1)?.transactionNumber).toBe(2)
    expect((await store.events.ofTransaction(owner, 'alpha', `${owner}-others`, 0, 9)).map(shown)).toEqual([
      [expect.any(Number), 1, `${owner}-others`, 'wait', false],
    ])
  })

  test('of many writers at a time the rows of each transaction are in its order, and no number is missing', async () => {
    const store = shared()
    const owner = unique('owner')
    const ids = Array.from({ length: 8 }, (_, n) => `${owner}-${n}`)
    const numbering = new AbortController()
    const numberer = (async () => {
      while (!numbering.signal.aborted) {
        await store.events.number()
        await setImmediate()
      }
    })()
    await Promise.all(
      ids.map(async (id) => {
        await created(store, owner, id)
        for (const status of ['confirmation', 'confirmed', 'exchanging', 'sending', 'success'] as const)
          await reported(store, owner, id, { status })
      }),
    )
    numbering.abort()
    await numberer
    const all = await rows(store, owner)
    expect(all.map(({ number }) => number)).toEqual(Array.from({ length: 48 }, (_, n) => n + 1))
    for (const id of ids)
      expect(all.filter(({ entry }) => entry.transaction.id === id).map(({ transactionNumber }) => transactionNumber)).toEqual([
        1, 2, 3, 4, 5, 6,
      ])
  })

  test('rows go after events.keep, but for the last one of a swap; numbers go on', async () => {
    const store = await shared().openNew()
    for (const id of ['open', 'ended', 'young']) await created(store, 'owner', id)
    for (const id of ['open', 'ended']) await reported(store, 'owner', id, { status: 'confirmation' })
    await reported(store, 'owner', 'ended', { status: 'success' })
    expect(await rows(store, 'owner')).toHaveLength(6)
    await removeEvents(store, day)
    expect(await rows(store, 'owner')).toHaveLength(6)
    await removeEvents(store, -day)
    expect((await rows(store, 'owner')).map(shown)).toEqual([
      [3, 1, 'young', 'wait', false],
      [4, 2, 'open', 'confirmation', false],
      [6, 3, 'ended', 'success', true],
    ])
    expect(await store.events.rangeOfOwner('owner')).toEqual({ oldest: 3, last: 6 })
    expect(await store.events.rangeOfTransaction('owner', 'alpha', 'ended')).toEqual({ oldest: 3, last: 3 })
    await reported(store, 'owner', 'open', { status: 'success' })
    expect((await rows(store, 'owner', 6)).map(shown)).toEqual([[7, 3, 'open', 'success', true]])
  })

  test('what changes nothing of a swap whose rows are old makes no row', async () => {
    const store = await shared().openNew()
    await created(store, 'owner', 'ended')
    await reported(store, 'owner', 'ended', { status: 'overdue' })
    await numberAll(store)
    await removeEvents(store, -day)
    await reported(store, 'owner', 'ended', {}, { fetchedAt: Date.now() })
    expect((await rows(store, 'owner')).map(shown)).toEqual([[2, 2, 'ended', 'overdue', false]])
    expect(await store.events.newest('owner', 'alpha', 'ended')).toMatchObject({
      event: { transactionNumber: 2 },
      entry: undefined,
    })
  })

  test('the last row of an old swap goes once it is no longer the last one, a day later', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const store = await shared().openNew()
    for (let at = 0; at < 3; at++) await created(store, 'owner', `${at}`)
    await numberAll(store)
    await removeEvents(store, -day)
    await reported(store, 'owner', '0', { status: 'success' })
    await numberAll(store)
    await removeEvents(store, -day)
    expect(await rows(store, 'owner')).toHaveLength(4)
    vi.advanceTimersByTime(day + 1)
    await removeEvents(store, -day)
    expect((await rows(store, 'owner')).map(({ number }) => number)).toEqual([2, 3, 4])
  })

  test('rows without a number are kept, whatever their age, and the job of the process removes the others', async () => {
    const store = await shared().openNew()
    await created(store, 'owner', 'x', { status: 'success' })
    await removeEvents(store, -day)
    expect(await rows(store, 'owner')).toHaveLength(1)
    await removeOld(store.retention, { keepEvents: 30 }, () => false)
    expect(await rows(store, 'owner')).toHaveLength(1)
  })

  describe('after a restore is marked', () => {
    const numbersOf = async (store: OpenLedger, id: string) =>
      (await store.events.ofTransaction('owner', 'alpha', id, 0, 9)).map(({ transactionNumber }) => transactionNumber)
    const secondOf = (number: number): number => Math.floor(number / 1_000_000)

    test('all numbers, of new owners and swaps too, go on from its second × 1,000,000', async () => {
      const store = await shared().openNew()
      for (const id of ['open', 'ended']) await created(store, 'owner', id)
      await reported(store, 'owner', 'ended', { status: 'success' })
      await numberAll(store)
      const before = Math.floor(Date.now() / 1_000)
      expect(await store.restores.mark(['alpha'], undefined, 'alice')).toMatchObject({ outcome: 'marked' })
      await reported(store, 'owner', 'open', { status: 'sending' })
      await created(store, 'owner', 'new')
      await created(store, 'another', 'of another')
      await numberAll(store)
      const [first, base = 0] = await numbersOf(store, 'open')
      expect([first, base % 1_000_000]).toEqual([1, 1])
      expect(secondOf(base)).toBeGreaterThanOrEqual(before)
      expect(secondOf(base)).toBeLessThanOrEqual(Date.now() / 1_000)
      expect(base).toBeLessThan(2 ** 53)
      expect(await numbersOf(store, 'ended')).toEqual([1, 2])
      expect(await numbersOf(store, 'new')).toEqual([base])
      expect((await rows(store, 'owner')).map(({ number }) => number)).toEqual([1, 2, 3, base, base + 1])
      expect((await rows(store, 'another')).map(({ number }) => number)).toEqual([base])
      expect(await store.events.rangeOfOwner('owner')).toEqual({ oldest: 1, last: base + 1, base: base - 1 })
    })

    test('each restore has numbers of its own, above those of the one before', async () => {
      const store = await shared().openNew()
      await created(store, 'owner', 'x')
      for (const status of ['sending', 'success'] as const) {
        await store.restores.mark(['alpha'], undefined, 'alice')
        await reported(store, 'owner', 'x', { status })
      }
      const [, second = 0, third = 0] = await numbersOf(store, 'x')
      expect([second % 1_000_000, third % 1_000_000]).toEqual([1, 1])
      expect(secondOf(third)).toBeGreaterThan(secondOf(second))
    })
  })

  test('prune removes the rows of a swap with it', async () => {
    const store = await shared().openNew()
    await created(store, 'owner', 'old', { status: 'success', createdAt: new Date(Date.now() - 9 * day).toISOString() })
    await store.ledger.upsert(
      'owner',
      'alpha',
      facts('seen', { status: 'success', createdAt: new Date(Date.now() - 9 * day).toISOString() }),
    )
    await created(store, 'owner', 'new')
    await numberAll(store)
    await store.ledgerAdmin.prune(Date.now() - day, 'alice')
    expect((await rows(store, 'owner')).map(({ entry }) => entry.transaction.id)).toEqual(['old', 'new'])
  })

  test('the newest row is what the ledger has', async () => {
    const owner = unique('owner')
    const id = `${owner}-x`
    await created(shared(), owner, id)
    expect(await shared().events.newest(owner, 'alpha', id)).toMatchObject({ event: { transactionNumber: 1 }, entry: undefined })
    expect(await shared().events.newest('another', 'alpha', id)).toEqual({ event: undefined, entry: undefined })
    expect(await shared().events.newest(owner, 'alpha', 'none')).toEqual({ event: undefined, entry: undefined })
  })

  test('a write with a new row is told once it is committed, and no other', async () => {
    const store = await shared().openNew()
    let told = 0
    store.events.onWritten(() => void told++)
    await created(store, 'owner', 'x')
    expect(told).toBeGreaterThan(0)
    const before = told
    await reported(store, 'owner', 'x', {}, { fetchedAt: Date.now() })
    expect(told).toBe(before)
    await reported(store, 'owner', 'x', { status: 'sending' })
    expect(told).toBe(before + 1)
  })

  test('rows that wait for a number are counted', async () => {
    const store = await shared().openNew()
    expect(await store.events.waiting()).toEqual({ count: 0, ageMs: 0 })
    await created(store, 'owner', 'x')
    expect(await store.events.waiting()).toMatchObject({ count: 1 })
    await numberAll(store)
    expect(await store.events.waiting()).toEqual({ count: 0, ageMs: 0 })
  })
})

describeStores(durableStores, (shared) => {
  test('mark-restored refuses a clock that is behind the newest row, and changes nothing', async () => {
    const store = await shared().openNew()
    await created(store, 'owner', 'x')
    await query(store.url, 'UPDATE transaction_events SET at = at + 60000')
    expect(await store.restores.mark(['alpha'], undefined, 'alice')).toEqual({ outcome: 'clockBehind' })
    expect(await store.restores.read()).toEqual([])
    await query(store.url, 'UPDATE transaction_events SET at = at - 60000')
    expect(await store.restores.mark(['alpha'], undefined, 'alice')).toMatchObject({ outcome: 'marked' })
    await query(store.url, 'UPDATE restore_marks SET base = base + 60000000')
    expect(await store.restores.mark(['alpha'], undefined, 'alice')).toEqual({ outcome: 'clockBehind' })
  })

  test('a version without rows works beside this one: what it has changed is no row, and the next change is one', async () => {
    const { url, ...store } = await shared().openNew()
    await created(store, 'owner', 'x')
    await numberAll(store)
    await query(url, "UPDATE transactions SET status = 'sending', sequence = sequence + 1")
    expect(await store.events.newest('owner', 'alpha', 'x')).toMatchObject({
      event: { entry: { transaction: { status: 'wait' } } },
      entry: { transaction: { status: 'sending' } },
    })
    await reported(store, 'owner', 'x', {}, { fetchedAt: Date.now() })
    await numberAll(store)
    expect((await store.events.ofOwner('owner', 0, 9)).map(shown)).toEqual([
      [1, 1, 'x', 'wait', false],
      [2, 2, 'x', 'sending', false],
    ])
    await query(url, 'DELETE FROM transactions')
    expect(await store.events.ofOwner('owner', 0, 9)).toEqual([])
  })
})

test('a writer that commits late gets the later number: whoever has seen one has seen all below', async () => {
  const server = await startPostgres()
  onTestFinished(server.close)
  const url = await server.createLedger()
  const store = await openLedger(url)
  onTestFinished(store.close)
  await created(store, 'owner', 'late')
  await created(store, 'owner', 'early')
  await numberAll(store)
  const late = new pg.Client({ connectionString: url })
  await late.connect()
  onTestFinished(() => late.end())
  await late.query('BEGIN')
  // As the ledger writes it; its id is below that of the next row.
  await late.query(`UPDATE transactions SET status = 'sending' WHERE provider_id = 'late'`)
  await late.query(`INSERT INTO transaction_events (owner, provider, provider_id, at, transaction_number, digest, state, is_final)
    SELECT owner, provider, provider_id, at + 1, 2, 'other', state, 0 FROM transaction_events WHERE provider_id = 'late'`)
  await reported(store, 'owner', 'early', { status: 'sending' })
  const before = await rows(store, 'owner')
  expect(before.map(shown).slice(2)).toEqual([[3, 2, 'early', 'sending', false]])
  await late.query('COMMIT')
  const after = await rows(store, 'owner')
  expect(after.slice(0, before.length)).toEqual(before)
  expect(after.map(({ number, entry }) => [number, entry.transaction.id]).slice(3)).toEqual([[4, 'late']])
})

test('while one process gives numbers another one gives none; one that is killed meanwhile has given none', async () => {
  const server = await startPostgres()
  onTestFinished(server.close)
  const url = await server.createLedger()
  const stores = [await openLedger(url), await openLedger(url)] as const
  for (const { close } of stores) onTestFinished(close)
  await created(stores[0], 'owner', 'x')
  const numbering = new pg.Client({ connectionString: url })
  numbering.on('error', () => {})
  await numbering.connect()
  await numbering.query('BEGIN')
  await numbering.query('SELECT pg_advisory_xact_lock(7927081172029)')
  await numbering.query(`INSERT INTO event_owners (owner, last_number) VALUES ('owner', 1)`)
  await numbering.query('UPDATE transaction_events SET number = 1')
  expect(await stores[1].events.number()).toEqual({ count: 0, mayBeMore: true })
  const { rows: found } = await numbering.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  await query(url, `SELECT pg_terminate_backend(${found[0]?.pid})`)
  await expect.poll(async () => (await stores[1].events.number()).count).toBe(1)
  expect((await stores[0].events.ofOwner('owner', 0, 9)).map(({ number }) => number)).toEqual([1])
})

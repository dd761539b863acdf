/** docs/contract-operators.md §12: open transactions of a provider, each leased by one process at a time. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openLedger } from '../../src/ledger/index.ts'
import { query } from './raw.ts'
import { facts, intent, unique, upsert } from './samples.ts'
import { allStores, describeStores, durableStores } from './stores.ts'

const pauseMs = 600_000
const dayMs = 86_400_000

describeStores(allStores, (shared) => {
  let provider: string
  beforeEach(() => {
    provider = unique('provider')
    vi.useFakeTimers({ toFake: ['Date'] })
  })
  afterEach(() => void vi.useRealTimers())

  const lease = async (count = 10): Promise<readonly string[]> =>
    (await shared().ledger.leaseOpen(provider, count, pauseMs)).map(({ transaction }) => transaction.id)
  const created = async (id: string, ageMs: number, status = 'wait', at = provider): Promise<void> => {
    const { ledger } = shared()
    const attemptedAt = Date.now() - ageMs
    const made = intent({ provider: at, owner: unique('owner'), attemptedAt })
    await ledger.begin(made)
    const createdAt = new Date(attemptedAt).toISOString()
    await ledger.complete(made.id, facts(id, { createdAt }, { reportedAt: attemptedAt, sequence: 1 }))
    if (status === 'wait') return
    const record = facts(id, { createdAt, status: status as never }, { changedAt: attemptedAt, sequence: 2 })
    await upsert(ledger, made.owner, at, record)
  }

  test('W23: one that its provider does not find, once in the pause', async () => {
    const { ledger } = shared()
    await created('lost', 9_000)
    await created('held', 9_000)
    const found = await shared().ledgerAdmin.findTransaction(provider, 'lost')
    const { owner = '', transaction } = found?.entry ?? {}
    const lost = facts('lost', { ...transaction, attention: 'lost' }, { sequence: 2 })
    await upsert(ledger, owner, provider, { ...lost, missingAt: Date.now() - 4 })
    const leaseLost = async () =>
      (await ledger.leaseLost(provider, 9, pauseMs, Date.now() - 5)).map((entry) => entry.transaction.id)
    expect(await leaseLost()).toEqual([])
    vi.setSystemTime(Date.now() + 1)
    expect(await leaseLost()).toEqual(['lost'])
    expect(await leaseLost()).toEqual([])
    await ledger.releaseOpen(provider, ['lost'])
    expect(await leaseLost()).toEqual(['lost'])
  })

  test('each once in the pause, the oldest first', async () => {
    await created('young', 1_000)
    await created('old', 9_000)
    await created('middle', 5_000)
    await created('elsewhere', 5_000, 'wait', unique('provider'))
    expect(await lease(2)).toEqual(['old', 'middle'])
    expect(await lease(2)).toEqual(['young'])
    expect(await lease()).toEqual([])
    vi.setSystemTime(Date.now() + pauseMs - 1)
    expect(await lease()).toEqual([])
    vi.setSystemTime(Date.now() + 1)
    await created('new', 0)
    expect(await lease()).toEqual(['new', 'old', 'middle', 'young'])
  })

  test('what is released was never leased', async () => {
    await created('old', 9_000)
    await created('young', 1_000)
    expect(await lease()).toEqual(['old', 'young'])
    await shared().ledger.releaseOpen(provider, ['young'])
    expect(await lease()).toEqual(['young'])
  })

  test('success and refunded are not open; overdue is for seven days', async () => {
    await created('done', 1_000, 'success')
    await created('back', 1_000, 'refunded')
    await created('overdue', 6.9 * dayMs, 'overdue')
    await created('forgotten', 7.1 * dayMs, 'overdue')
    await created('sending', 90 * dayMs, 'sending')
    expect((await lease()).toSorted()).toEqual(['overdue', 'sending'])
  })

  test('creates of unknown outcome have no id to be read by', async () => {
    await shared().ledger.begin(intent({ provider }))
    expect(await lease()).toEqual([])
  })

  test('what a client reads meanwhile stays leased', async () => {
    const { ledger } = shared()
    await created('one', 1_000)
    const [entry] = await ledger.leaseOpen(provider, 1, pauseMs)
    await upsert(ledger, entry?.owner ?? '', provider, facts('one', { status: 'exchanging' }, { sequence: 5 }))
    expect(await lease()).toEqual([])
  })

  test('concurrent leases never overlap, and in the end each transaction is leased', async () => {
    for (let at = 0; at < 40; at++) await created(`tx-${at}`, at * 1_000)
    const leased: string[] = []
    for (let round = 0; round < 12; round++) leased.push(...(await Promise.all([lease(7), lease(7), lease(7), lease(7)])).flat())
    expect(leased).toHaveLength(40)
    expect(new Set(leased).size).toBe(40)
  })
})

describe('with a second process', () => {
  describeStores(durableStores, (shared) => {
    test('a lease costs by what is open, not by what is kept', async () => {
      const { url } = await shared().openNew()
      const isSqlite = url.startsWith('sqlite:')
      const due = "SELECT provider_id FROM transactions WHERE provider = 'a' AND polled_at <= (SELECT 5)"
      const notEnded = "state = 'done' AND (status IS NULL OR status NOT IN ('success', 'refunded', 'overdue'))"
      const since = 'coalesce(changed_at, -sort_key / 1000000)'
      for (const [index, statement] of [
        ['transactions_polled', `${due} AND ${notEnded} ORDER BY polled_at, sort_key DESC LIMIT 8`],
        [
          'transactions_overdue_at',
          `${due} AND state = 'done' AND status = 'overdue' AND attention IS NULL AND settled_at IS NULL AND ${since} > (SELECT 5) ORDER BY ${since} LIMIT 8`,
        ],
      ] as const) {
        const plan = await query(
          url,
          ...(isSqlite ? [] : ['SET enable_seqscan = off', 'SET enable_bitmapscan = off']),
          `${isSqlite ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'} ${statement}`,
        )
        expect(JSON.stringify(plan)).toContain(index)
        expect(JSON.stringify(plan)).not.toMatch(/Sort Key|TEMP B-TREE/)
      }
    })

    test('what one has leased the other has not', async () => {
      const provider = unique('provider')
      // Its clock has not been set by other tests.
      const first = await shared().openNew()
      const other = await openLedger(first.url)
      for (let at = 0; at < 6; at++) {
        const made = intent({ provider })
        await first.ledger.begin(made)
        await first.ledger.complete(made.id, facts(`tx-${at}`))
      }
      const leases = [first.ledger, other.ledger].map((ledger) => ledger.leaseOpen(provider, 6, pauseMs))
      const ids = (await Promise.all(leases)).flat().map(({ transaction }) => transaction.id)
      expect(ids).toHaveLength(6)
      expect(new Set(ids).size).toBe(6)
      for (const { close } of [first, other]) await close()
    })
  })
})

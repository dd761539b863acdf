/** docs/contract.md §16, docs/contract-operators.md §15: transactions that need a person, in both stores. */
import { describe, expect, test } from 'vitest'
import type { LedgerEntry, TransactionRecord } from '../../src/core/ports/ledger.ts'
import type { OperatorResult } from '../../src/core/ports/ledger-admin.ts'
import type { Attention, Status } from '../../src/domain/status.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { query } from './raw.ts'
import { facts, intent, unique, upsert } from './samples.ts'
import { allStores, describeStores, durableStores } from './stores.ts'

const day = 86_400_000
const settlement = (status: OperatorResult['status']): OperatorResult => ({ status, note: 'ticket 7', at: Date.now() })

describeStores(allStores, (shared) => {
  const provider = unique('alpha')
  let sequence = 10
  const report = async (
    id: string,
    status: Status | undefined,
    attention?: Attention,
    more: Partial<TransactionRecord> = {},
  ): Promise<LedgerEntry> => {
    const record = facts(id, { status, attention }, { sequence: ++sequence, ...more })
    return (await upsert(shared().ledger, 'owner', provider, record)) as LedgerEntry
  }
  const find = async (id: string) => shared().ledger.find('owner', provider, id)
  const own = async () =>
    (await shared().ledgerAdmin.needPerson()).filter(({ entry }) => entry.provider === provider).map(({ entry }) => entry)
  const counted = async () => (await shared().ledgerAdmin.openCounts()).filter((row) => row.provider === provider)

  test('is listed and counted, the oldest first, until the provider reports an end', async () => {
    await report('young', 'exchanging', 'held', { reportedAt: Date.now() - 1_000 })
    await report('old', 'wait', 'failed', { reportedAt: Date.now() - 5_000 })
    expect((await own()).map(({ transaction }) => [transaction.id, transaction.attention, transaction.status])).toEqual([
      ['old', 'failed', 'wait'],
      ['young', 'held', 'exchanging'],
    ])
    const counts = (await shared().ledgerAdmin.gauges()).attentionCounts.filter((row) => row.provider === provider)
    expect(counts.toSorted((a, b) => (a.attention < b.attention ? -1 : 1))).toEqual([
      { provider, attention: 'failed', count: 1 },
      { provider, attention: 'held', count: 1 },
    ])
    await report('young', 'success', 'held')
    await report('old', 'refunded')
    expect(await own()).toEqual([])
    expect((await find('young'))?.transaction.attention).toBeUndefined()
    expect(await counted()).toEqual([])
  })

  test('an overdue one is open for any time, and a settled one is not', async () => {
    const id = unique('late')
    await report(id, 'overdue', 'failed', { changedAt: Date.now() - 40 * day, reportedAt: Date.now() - 50 * day })
    expect(await counted()).toEqual([{ provider, state: 'done', status: 'overdue', count: 1 }])
    expect((await shared().ledger.leaseOpen(provider, 8, 1_000)).map(({ transaction }) => transaction.id)).toEqual([id])
    expect(await shared().ledgerAdmin.settle(provider, id, settlement('overdue'), 'alice')).toBe('settled')
    expect(await counted()).toEqual([])
    await shared().ledger.releaseOpen(provider, [id])
    expect(await shared().ledger.leaseOpen(provider, 8, 0)).toEqual([])
  })

  test('is settled once, with an audit record; what needs no person and what is unknown is not', async () => {
    const id = unique('s')
    await report(id, 'exchanging', 'failed')
    const settle = (of: string) => shared().ledgerAdmin.settle(provider, of, settlement('refunded'), 'alice')
    const results = await Promise.all([settle(id), settle(id), settle(id)])
    expect(results.toSorted()).toEqual(['settled', 'unneeded', 'unneeded'])
    expect(await settle(unique('nothing'))).toBe('missing')
    await report(unique('fine'), 'exchanging')
    const records = (await shared().audit.read({})).filter(({ subject }) => subject === `${provider}~${id}`)
    expect(records).toMatchObject([
      {
        actor: 'alice',
        action: 'transaction.settle',
        before: { status: 'exchanging', attention: 'failed' },
        after: { status: 'refunded', note: 'ticket 7' },
      },
    ])
    expect(await find(id)).toMatchObject({ transaction: { status: 'refunded' }, settledAt: expect.any(Number) })
  })

  test.each(['success', 'refunded', 'overdue'] as const)(
    'a report that was merged before it was settled as %s changes nothing',
    async (status) => {
      const id = unique('race')
      const before = await report(id, 'exchanging', 'failed')
      await shared().ledgerAdmin.settle(provider, id, settlement(status), 'alice')
      const late = facts(id, { status: 'exchanging', attention: 'failed' }, { sequence: ++sequence })
      expect((await shared().ledger.upsert('owner', provider, late, before))?.transaction.status).toBe(status)
      // Also if it has read the settled row: no report but an end changes it.
      await report(id, 'sending', 'held')
      expect((await find(id))?.transaction).toMatchObject({ status })
      expect((await find(id))?.transaction.attention).toBeUndefined()
    },
  )

  test('a settled overdue ends by what the provider reports at last', async () => {
    const id = unique('revived')
    await report(id, 'exchanging', 'held')
    await shared().ledgerAdmin.settle(provider, id, settlement('overdue'), 'alice')
    await report(id, 'success')
    expect((await find(id))?.transaction.status).toBe('success')
  })

  test('its change is the last one, where the gateway derives that', async () => {
    const id = unique('derived')
    await report(id, 'exchanging', 'failed', { derived: ['updatedAt'] })
    const at = Date.now() + 5_000
    await shared().ledgerAdmin.settle(provider, id, { ...settlement('refunded'), at }, 'alice')
    expect(await find(id)).toMatchObject({ transaction: { updatedAt: new Date(at).toISOString() }, changedAt: at })
  })

  test('is never pruned until it is settled', async () => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    const old = Date.now() - 100 * day
    const record = facts('x', { status: 'overdue', attention: 'failed' }, { changedAt: old, reportedAt: old, sequence: 1 })
    await upsert(ledger, 'o', 'alpha', record)
    expect(await ledgerAdmin.prune(Date.now(), 'tester')).toMatchObject({ pruned: 0, kept: { attention: 1 } })
    await ledgerAdmin.settle('alpha', 'x', settlement('refunded'), 'tester')
    expect(await ledgerAdmin.prune(Date.now(), 'tester')).toMatchObject({ pruned: 1, kept: { attention: 0 } })
  })

  test('a create that is reported so at once needs a person too', async () => {
    const { ledger } = shared()
    const made = intent({ provider, owner: unique('owner') })
    await ledger.begin(made)
    const id = unique('created')
    await ledger.complete(made.id, facts(id, { status: 'exchanging', attention: 'failed' }))
    expect((await own()).map(({ transaction }) => transaction.id)).toContain(id)
  })
})

describe('durable', () => {
  describeStores(durableStores, (shared) => {
    test('W12: is not settled without its audit record', async () => {
      const { ledger, ledgerAdmin, url } = await shared().openNew()
      await upsert(ledger, 'o', 'alpha', facts('x', { attention: 'failed' }, { sequence: 1 }))
      await query(url, 'ALTER TABLE audit RENAME TO mislaid')
      await expect(ledgerAdmin.settle('alpha', 'x', settlement('refunded'), 'alice')).rejects.toThrow()
      expect((await ledger.find('o', 'alpha', 'x'))?.transaction).toMatchObject({ status: 'wait', attention: 'failed' })
    })

    test('survives a restart', async () => {
      const { ledger, url, close } = await shared().openNew()
      await upsert(ledger, 'o', 'alpha', facts('x', { status: 'wait', attention: 'held' }, { sequence: 1 }))
      await close()
      const again = await openLedger(url)
      expect((await again.ledgerAdmin.needPerson()).map(({ entry }) => entry.transaction.attention)).toEqual(['held'])
      await again.close()
    })
  })
})

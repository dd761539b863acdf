/** A change by a person is in the audit log, or is not made (docs/contract.md §5). */
import { expect, test } from 'vitest'
import type { AuditLog } from '../../src/core/operations/audit.ts'
import { query } from './raw.ts'
import { facts, intent, unique } from './samples.ts'
import { allStores, describeStores, durableStores } from './stores.ts'

const actor = 'cli:alice@box'

/** Without ids and times. */
async function recordsOf(audit: AuditLog) {
  const records = await audit.read({})
  return records.map(({ id: _, at: __, ...entry }) => entry)
}

describeStores(allStores, (shared) => {
  test('O1: each change of a key is a record: actor, action, before and after, newest first', async () => {
    const { accounts, audit } = await shared().openNew()
    await accounts.addKey({ id: 'k1', name: 'acme', createdAt: 1_000, expiresAt: 90_000 }, 'digest-1', actor)
    await accounts.addKey({ id: 'k2', name: 'acme', createdAt: 2_000 }, 'digest-2', 'alice')
    await accounts.rotateKey('k1', 50_000, { id: 'k3', createdAt: 3_000 }, 'digest-3', 'alice')
    await accounts.revokeKey('k2', 4_000, actor)
    const at = (ms: number) => new Date(ms).toISOString()
    expect(await recordsOf(audit)).toStrictEqual([
      {
        actor,
        action: 'key.revoke',
        subject: 'k2',
        before: { account: 'acme', expiresAt: null },
        after: { account: 'acme', revokedAt: at(4_000) },
      },
      {
        actor: 'alice',
        action: 'key.rotate',
        subject: 'k1',
        before: { account: 'acme', expiresAt: at(90_000) },
        after: { account: 'acme', expiresAt: at(50_000), successor: { id: 'k3', expiresAt: null } },
      },
      { actor: 'alice', action: 'key.create', subject: 'k2', after: { account: 'acme', expiresAt: null } },
      { actor, action: 'key.create', subject: 'k1', after: { account: 'acme', expiresAt: at(90_000) } },
      { actor, action: 'account.create', subject: 'acme', after: { id: expect.any(String) } },
    ])
    expect(JSON.stringify(await recordsOf(audit))).not.toContain('digest')
  })

  test('O1: what changes nothing is no record', async () => {
    const { accounts, ledgerAdmin, audit } = await shared().openNew()
    expect(await accounts.revokeKey('none', 1, actor)).toBe(false)
    expect(await accounts.rotateKey('none', 5, { id: 'k', createdAt: 2 }, 'd', actor)).toBe(false)
    expect(await ledgerAdmin.bind('none', 'x', 1, undefined, actor)).toBe('missing')
    expect(await ledgerAdmin.markNotCreated('none', actor)).toBe(false)
    expect(await recordsOf(audit)).toEqual([])
  })

  test('O1: a change that fails is no record, and a record that fails is no change', async () => {
    const { accounts, audit, url } = await shared().openNew()
    await accounts.addKey({ id: 'k1', name: 'acme', createdAt: 1 }, 'd', actor)
    await expect(accounts.addKey({ id: 'k2', name: 'bolt', createdAt: 1 }, 'd', actor)).rejects.toThrow()
    expect((await recordsOf(audit)).map(({ subject }) => subject)).toEqual(['k1', 'acme'])
    if (url === 'sqlite::memory:') return
    await query(url, 'ALTER TABLE audit RENAME TO mislaid')
    await expect(accounts.revokeKey('k1', 2, actor)).rejects.toThrow()
    await expect(accounts.addKey({ id: 'k3', name: 'cern', createdAt: 1 }, 'e', actor)).rejects.toThrow()
    expect(await accounts.listKeys()).toStrictEqual([{ id: 'k1', name: 'acme', createdAt: 1 }])
  })

  test('O1: resolving a create by hand is a record, without an address', async () => {
    const { ledger, ledgerAdmin, audit } = await shared().openNew()
    const [bound, dismissed] = [intent(), intent()]
    for (const create of [bound, dismissed]) await ledger.begin(create)
    await ledger.markUnknown(dismissed.id, 5)
    expect(await ledgerAdmin.bind(bound.id, 'x', 7, undefined, actor)).toBe('bound')
    expect(await ledgerAdmin.markNotCreated(dismissed.id, actor)).toBe(true)
    const record = { actor, action: 'ledger.resolve' }
    expect(await recordsOf(audit)).toStrictEqual([
      { ...record, subject: dismissed.id, before: { provider: 'alpha', state: 'unknown' }, after: { bound: null } },
      { ...record, subject: bound.id, before: { provider: 'alpha', state: 'pending' }, after: { bound: 'alpha~x' } },
    ])
    expect(JSON.stringify(await recordsOf(audit))).not.toContain(bound.requested.withdrawalAddress)
  })

  test('O1: a prune is one record with all that was deleted, for any number of steps', async () => {
    const { ledger, ledgerAdmin, audit } = await shared().openNew()
    const created = { createdAt: '2026-01-01T00:00:00Z', status: 'success' } as const
    for (let n = 0; n < 60; n++) await ledger.upsert(`owner-${n}`, 'alpha', facts(`${n}`, created))
    const result = await ledgerAdmin.prune(Date.parse('2026-02-01T00:00:00Z'), actor)
    expect(result.pruned).toBe(60)
    const subject = 'before 2026-02-01T00:00:00.000Z'
    expect(await recordsOf(audit)).toStrictEqual([{ actor, action: 'ledger.prune', subject, after: result }])
  })

  test('O1: records are read since a time, and so many', async () => {
    const { audit } = shared()
    const subjects = [unique('tx'), unique('tx'), unique('tx')]
    for (const subject of subjects) await audit.append({ actor, action: 'transaction.read', subject })
    const newest = await audit.read({ maxRecords: 2 })
    expect(newest.map(({ subject }) => subject)).toEqual(subjects.slice(1).toReversed())
    const [{ at = 0 } = {}] = newest
    expect(Math.abs(at - Date.now())).toBeLessThan(60_000)
    expect(await audit.read({ since: at + 1 })).toEqual([])
    expect((await audit.read({ since: at })).at(0)).toEqual(newest[0])
  })
})

describeStores(durableStores, (shared) => {
  test('O1: a since of long ago costs by what is read, not by what is kept', async () => {
    const { url, audit } = await shared().openNew()
    await audit.append({ actor, action: 'transaction.read', subject: 'x' })
    const explain = url.startsWith('sqlite:') ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'
    const off = url.startsWith('sqlite:') ? [] : ['SET enable_seqscan = off']
    const plan = await query(url, ...off, `${explain} SELECT * FROM audit WHERE at >= 5 ORDER BY at DESC, id DESC LIMIT 5`)
    expect(JSON.stringify(plan)).toContain('audit_by_age')
    expect(JSON.stringify(plan)).not.toMatch(/sort|TEMP B-TREE/i)
  })

  test('the log is bounded: reads go first, then the oldest changes', async () => {
    const { url, audit } = await shared().openNew()
    const subjects = async () => (await audit.read({})).map(({ subject }) => subject)
    const append = async (next: number, action: 'transaction.read' | 'override.ended', subject: string) => {
      const sequence = url.startsWith('sqlite:')
        ? `UPDATE sqlite_sequence SET seq = ${next - 1} WHERE name = 'audit'`
        : `ALTER TABLE audit ALTER COLUMN id RESTART WITH ${next}`
      await query(url, sequence)
      await audit.append({ actor, action, subject })
    }
    await audit.append({ actor, action: 'override.ended', subject: 'change' })
    await append(100, 'transaction.read', 'early read')
    await append(50_000, 'transaction.read', 'read')
    await append(101_000, 'override.ended', 'later change')
    expect(await subjects()).toEqual(['later change', 'read', 'change'])
    await append(1_001_000, 'transaction.read', 'last')
    expect(await subjects()).toEqual(['last', 'later change'])
  })

  test('O8: what is open is counted without what has ended', async () => {
    const { url, ledger, ledgerAdmin } = await shared().openNew()
    const day = 86_400_000
    const rows = Array.from(
      { length: 400 },
      (_, n) => ({ id: `${n}`, days: 8 + n, status: n % 2 ? 'overdue' : 'success' }) as const,
    )
    for (const { id, days, status } of rows)
      await ledger.upsert('o', 'alpha', facts(id, { status }, { changedAt: Date.now() - days * day }))
    expect(await ledgerAdmin.openCounts()).toEqual([])
    const isSqlite = url.startsWith('sqlite:')
    const setup = isSqlite ? ['ANALYZE'] : ['ANALYZE transactions', 'SET enable_seqscan = off', 'SET enable_bitmapscan = off']
    const overdue = `SELECT provider FROM transactions WHERE state = 'done' AND status = 'overdue'
      AND (coalesce(changed_at, -sort_key / 1000000)) > ${Date.now() - 7 * day}`
    const plan = JSON.stringify(await query(url, ...setup, `EXPLAIN ${isSqlite ? 'QUERY PLAN ' : ''}${overdue}`))
    expect(plan).toMatch(isSqlite ? /SEARCH .*transactions_overdue/ : /transactions_overdue.*Index Cond/)
  })
})

/** What an operator does with the ledger by hand (docs/contract.md §10). */
import { afterEach, expect, test, vi } from 'vitest'
import type { Intent, Ledger, TransactionRecord } from '../../src/core/ports/ledger.ts'
import type { LedgerAdmin } from '../../src/core/ports/ledger-admin.ts'
import type { Status } from '../../src/domain/status.ts'
import { maxSegmentEntries } from '../../src/ledger/page-index.ts'
import { query, wrongPageIndex } from './raw.ts'
import { always, eachOf, facts, intent, requested, unique, upsert } from './samples.ts'
import { allStores, describeStores } from './stores.ts'

const idempotencyKey = { key: 'key', fingerprint: 'f' }
const day = 24 * 3_600_000
const none = { overdue: 0, recentKey: 0, unresolved: 0, attention: 0 }

afterEach(() => void vi.useRealTimers())

async function begun(ledger: Ledger, fields: Partial<Intent> = {}): Promise<Intent> {
  const made = intent({ owner: unique('owner'), provider: unique('provider'), idempotencyKey, ...fields })
  await ledger.begin(made)
  return made
}

const numbers = (from: number, length: number) => Array.from({ length }, (_, n) => from + n)

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

async function exported(ledgerAdmin: LedgerAdmin, since?: number): Promise<string[]> {
  const entries = await Array.fromAsync(ledgerAdmin.export(since))
  return entries.map(({ owner, transaction }) => `${owner} ${transaction.id}`)
}

describeStores(allStores, (shared) => {
  test('unfinished transactions are counted by provider, with the age of the oldest', async () => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    expect(await ledgerAdmin.gauges()).toEqual({ unfinished: [], unresolvedCounts: [], attentionCounts: [], watchedCounts: [] })
    const upsertOne = (provider: string, id: string, status: Status | undefined, createdAt: string) =>
      upsert(ledger, 'o', provider, facts(id, { status, createdAt }))
    for (const status of ['success', 'refunded', 'overdue'] as const)
      await upsertOne('alpha', status, status, '2026-01-01T00:00:00Z')
    await upsertOne('alpha', 'x', 'wait', '2026-02-03T00:00:00Z')
    await upsertOne('alpha', 'y', 'wait', '2026-02-01T00:00:00.500Z')
    await upsertOne('alpha', 'z', undefined, '2026-02-02T00:00:00Z')
    await upsertOne('beta', 'x', 'sending', '2026-02-04T00:00:00Z')
    await upsertOne('beta', 'y', 'sending', '2026-02-04T00:00:00Z')
    await upsertOne('beta', 'y', 'success', '2026-02-04T00:00:00Z')
    const wrong = await begun(ledger, { provider: 'alpha', attemptedAt: 400 })
    await ledger.markMismatch(wrong.id, facts('w').transaction, ['coinTo'])
    for (const attemptedAt of [300, 200]) await begun(ledger, { provider: 'beta', attemptedAt })
    const { unfinished: open, unresolvedCounts: unresolved } = await ledgerAdmin.gauges()
    expect(open.toSorted((a, b) => a.oldest - b.oldest)).toEqual([
      { provider: 'alpha', status: 'wait', count: 2, oldest: Date.parse('2026-02-01T00:00:00.500Z') },
      { provider: 'alpha', count: 1, oldest: Date.parse('2026-02-02T00:00:00Z') },
      { provider: 'beta', status: 'sending', count: 1, oldest: Date.parse('2026-02-04T00:00:00Z') },
    ])
    expect(unresolved.toSorted((a, b) => a.oldest - b.oldest)).toEqual([
      { provider: 'beta', state: 'pending', count: 2, oldest: 200 },
      { provider: 'alpha', state: 'mismatch', count: 1, oldest: 400 },
    ])
  })

  test('O8: open is a create under way or unknown, and a transaction that has not ended or is overdue for under 7 days', async () => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    expect(await ledgerAdmin.openCounts()).toEqual([])
    const upsertOne = (
      id: string,
      status: Status | undefined,
      more: Partial<TransactionRecord> = {},
      createdAt = '2026-01-01T00:00:00Z',
    ) => ledger.upsert('o', 'alpha', facts(id, { status, createdAt }, more))
    await upsertOne('s', 'success')
    await upsertOne('r', 'refunded')
    for (const id of ['w1', 'w2']) await upsertOne(id, 'wait')
    await upsertOne('u', undefined)
    const now = Date.now()
    await upsertOne('o1', 'overdue', { changedAt: now - 6.9 * day })
    await upsertOne('o2', 'overdue', { changedAt: now - 7.1 * day })
    await upsertOne('o3', 'overdue', {}, new Date(now - 6.9 * day).toISOString())
    await upsertOne('o4', 'overdue', {}, new Date(now - 7.1 * day).toISOString())
    await begun(ledger, { provider: 'beta' })
    const doubt = await begun(ledger, { provider: 'beta' })
    await ledger.markUnknown(doubt.id, 5)
    const wrong = await begun(ledger, { provider: 'beta' })
    await ledger.markMismatch(wrong.id, facts('w').transaction, ['coinTo'])
    const counts = await ledgerAdmin.openCounts()
    expect(counts.toSorted((a, b) => compare(JSON.stringify(a), JSON.stringify(b)))).toStrictEqual([
      { provider: 'alpha', state: 'done', count: 1 },
      { provider: 'alpha', state: 'done', count: 2, status: 'overdue' },
      { provider: 'alpha', state: 'done', count: 2, status: 'wait' },
      { provider: 'beta', state: 'pending', count: 1 },
      { provider: 'beta', state: 'unknown', count: 1 },
    ])
  })

  test('the state of the ledger is counted', async () => {
    const { ledger, accounts, ledgerAdmin } = await shared().openNew()
    const none = {
      entries: [],
      pending: 0,
      unknown: 0,
      mismatches: 0,
      needPerson: 0,
      idempotencyKeys: 0,
      accounts: 0,
      validKeys: 0,
    }
    expect(await ledgerAdmin.stats(1_000)).toEqual(none)
    await ledger.upsert('o', 'beta', facts('x', { status: 'success' }))
    await ledger.upsert('o', 'alpha', facts('x', { status: 'wait' }))
    await ledger.upsert('p', 'alpha', facts('y', { status: 'wait' }))
    await ledger.upsert('p', 'alpha', facts('z', { status: undefined }))
    await begun(ledger, { attemptedAt: 300 })
    const [unknownCreate, wrong] = [await begun(ledger, { attemptedAt: 200 }), await begun(ledger, { attemptedAt: 100 })]
    await ledger.markUnknown(unknownCreate.id, 500)
    await ledger.markMismatch(wrong.id, facts('w').transaction, ['coinTo'])
    for (const [id, expiresAt] of [['a'], ['b', 1_000], ['c', 1_001], ['d']] as const) {
      await accounts.addKey({ id, name: 'acme', createdAt: 1, ...(expiresAt !== undefined && { expiresAt }) }, id, 'tester')
    }
    await accounts.revokeKey('d', 5, 'tester')
    const { entries, ...numbers } = await ledgerAdmin.stats(1_000)
    expect(numbers).toEqual({
      pending: 1,
      unknown: 1,
      oldestAttempt: 200,
      mismatches: 1,
      needPerson: 0,
      idempotencyKeys: 3,
      accounts: 1,
      validKeys: 2,
    })
    expect(entries).toHaveLength(3)
    expect(entries).toEqual(
      expect.arrayContaining([
        { provider: 'alpha', count: 1 },
        { provider: 'alpha', status: 'wait', count: 2 },
        { provider: 'beta', status: 'success', count: 1 },
      ]),
    )
  })

  test('unresolved creates are listed, the oldest first', async () => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    const pending = await begun(ledger, { attemptedAt: 300 })
    const unknown = await begun(ledger, { attemptedAt: 200 })
    const wrong = await begun(ledger, { attemptedAt: 100 })
    const resolved = await begun(ledger)
    await ledger.markUnknown(unknown.id, 500)
    const { transaction } = facts('w')
    await ledger.markMismatch(wrong.id, transaction, ['coinTo', 'networkTo'])
    await ledger.complete(resolved.id, facts('x'))
    const unresolvedOf = ({ id, owner, provider, attemptedAt }: Intent) => ({
      intent: id,
      owner,
      provider,
      requested,
      attemptedAt,
    })
    expect(await ledgerAdmin.unresolved()).toStrictEqual([
      { ...unresolvedOf(wrong), state: 'mismatch', reported: { id: 'w', fields: ['coinTo', 'networkTo'], transaction } },
      { ...unresolvedOf(unknown), state: 'unknown' },
      { ...unresolvedOf(pending), state: 'pending' },
    ])
  })

  test('a create that is bound by hand is its owner’s, and its key has the result but no first response', async () => {
    const { ledger, ledgerAdmin } = shared()
    const { id, owner, provider } = await begun(ledger, { attemptedAt: Date.UTC(2026, 6, 1) })
    await ledger.markUnknown(id, 5)
    expect(await ledgerAdmin.bind(id, 'x', 77, undefined, 'tester')).toBe('bound')
    const transaction = { ...requested, id: 'x', status: 'wait', createdAt: '2026-07-01T00:00:00.000Z' }
    const entry = { transaction, derived: [], reportedAt: 77, owner, provider, isCreated: true }
    expect(await ledger.find(owner, provider, 'x')).toStrictEqual(entry)
    expect(await ledger.list(owner, { page: 1, size: 5, created: always })).toStrictEqual({ entries: [entry], total: 1 })
    expect(await ledger.findIdempotencyKey(owner, 'key')).toMatchObject({
      fingerprint: 'f',
      state: 'done',
      entry,
      first: undefined,
    })
    expect(await ledger.ownersOfUnresolved()).not.toContain(owner)
    expect(await ledgerAdmin.bind(id, 'x', 78, undefined, 'tester')).toBe('missing')
    expect(await ledgerAdmin.bind('no such create', 'x', 78, undefined, 'tester')).toBe('missing')
    expect(await ledger.complete(id, facts('x'))).toBe(true)
  })

  test('a mismatch can be bound, also with the id that was reported', async () => {
    const { ledger, ledgerAdmin } = shared()
    const [one, two] = [await begun(ledger), await begun(ledger)]
    await ledger.markMismatch(one.id, facts('x').transaction, ['coinTo'])
    await ledger.markMismatch(two.id, facts('x').transaction, ['coinTo'])
    expect(await ledgerAdmin.bind(one.id, 'x', 5, undefined, 'tester')).toBe('bound')
    expect(await ledgerAdmin.bind(two.id, 'y', 5, undefined, 'tester')).toBe('bound')
    expect(await ledger.find(one.owner, one.provider, 'x')).toBeDefined()
    expect(await ledger.find(two.owner, two.provider, 'y')).toBeDefined()
    expect(await ledger.existingIds(two.provider, ['x', 'y'])).toEqual(new Set(['y']))
  })

  test('an accepted mismatch is done with the response that contradicted the request, and its key returns that', async () => {
    const { ledger, ledgerAdmin } = shared()
    const wrong = await begun(ledger)
    await ledger.markMismatch(wrong.id, facts('x', { coinTo: 'USDC' }).transaction, ['coinTo'])
    expect(await ledgerAdmin.accept(wrong.id, 5, 'tester')).toBe('accepted')
    const { id, depositAddress } = facts('x').transaction
    const transaction = { id, depositAddress, status: 'wait', coinTo: requested.coinTo }
    expect(await ledger.findIdempotencyKey(wrong.owner, wrong.idempotencyKey?.key ?? '')).toMatchObject({
      state: 'done',
      first: { transaction },
      entry: { transaction, isCreated: true },
    })
    expect(await ledgerAdmin.accept(wrong.id, 5, 'tester')).toBe('missing')
    expect((await ledgerAdmin.unresolved()).filter(({ intent }) => intent === wrong.id)).toEqual([])
  })

  test('only a mismatch is accepted, and not with the id of another create', async () => {
    const { ledger, ledgerAdmin } = shared()
    const { id, provider } = await begun(ledger)
    expect(await ledgerAdmin.accept(id, 5, 'tester')).toBe('missing')
    expect(await ledger.complete(id, facts('x'))).toBe(true)
    const repeated = await begun(ledger, { provider })
    expect(await ledger.complete(repeated.id, facts('x'))).toBe(false)
    expect(await ledgerAdmin.accept(repeated.id, 5, 'tester')).toBe('taken')
  })

  test('a create is not bound to what another create has, but to what another key has only listed', async () => {
    const { ledger, ledgerAdmin } = shared()
    const { id, owner, provider } = await begun(ledger)
    const other = await begun(ledger, { owner, provider, idempotencyKey: undefined })
    await ledger.complete(other.id, facts('x'))
    const others = await begun(ledger, { owner: unique('stranger'), provider, idempotencyKey: undefined })
    await ledger.complete(others.id, facts('y'))
    const reader = unique('stranger')
    await ledger.upsert(reader, provider, facts('z', { status: 'exchanging' }))
    expect(await ledgerAdmin.bind(id, 'x', 5, undefined, 'tester')).toBe('taken')
    expect(await ledgerAdmin.bind(id, 'y', 5, undefined, 'tester')).toBe('taken')
    expect(await ledger.findIdempotencyKey(owner, 'key')).toMatchObject({ state: 'open' })
    expect(await ledgerAdmin.bind(id, 'z', 5, undefined, 'tester')).toBe('bound')
    expect(await ledger.find(reader, provider, 'z')).toBeUndefined()
    expect(await ledger.find(owner, provider, 'z')).toMatchObject({ isCreated: true, transaction: { status: 'exchanging' } })
  })

  test('that its owner has listed it does not prevent that', async () => {
    const { ledger, ledgerAdmin } = shared()
    const { id, owner, provider } = await begun(ledger)
    await ledger.upsert(owner, provider, facts('x', { status: 'success' }))
    expect(await ledgerAdmin.bind(id, 'x', 5, undefined, 'tester')).toBe('bound')
    const { entries, total } = await ledger.list(owner, { page: 1, size: 5, created: always })
    expect([total, entries[0]?.isCreated, entries[0]?.transaction.status]).toEqual([1, true, 'success'])
  })

  test('a create that never was is gone with its key', async () => {
    const { ledger, ledgerAdmin } = shared()
    const [open, wrong, done] = [await begun(ledger), await begun(ledger), await begun(ledger)]
    await ledger.markMismatch(wrong.id, facts('x').transaction, ['coinTo'])
    await ledger.complete(done.id, facts('x'))
    const gone = await Promise.all(
      [open.id, wrong.id, done.id, 'no such create'].map((id) => ledgerAdmin.markNotCreated(id, 'tester')),
    )
    expect(gone).toEqual([true, true, false, false])
    const states = await Promise.all([open, wrong, done].map(({ owner }) => ledger.findIdempotencyKey(owner, 'key')))
    expect(states.map((found) => found?.state)).toEqual([undefined, undefined, 'done'])
    expect(await ledger.existingIds(wrong.provider, ['x'])).toEqual(new Set())
  })

  test('all entries are exported, owner by owner, and none without a result', async () => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    expect(await exported(ledgerAdmin)).toEqual([])
    await begun(ledger)
    const wrong = await begun(ledger)
    await ledger.markMismatch(wrong.id, facts('w').transaction, ['coinTo'])
    const records = Array.from({ length: 520 }, (_, n) => ({
      owner: ['b', 'B', 'a'][n % 3] as string,
      at: (n >> 1) * 1_000,
      id: `${n}`,
    }))
    await eachOf(records, ({ owner, at, id }) =>
      ledger.upsert(owner, 'alpha', facts(id, { createdAt: new Date(at).toISOString() })),
    )
    const sorted = records.toSorted((a, b) => compare(a.owner, b.owner) || b.at - a.at || compare(a.id, b.id))
    expect(await exported(ledgerAdmin)).toEqual(sorted.map(({ owner, id }) => `${owner} ${id}`))
    const since = 150_000
    const late = sorted.filter(({ at }) => at >= since)
    expect(await exported(ledgerAdmin, since)).toEqual(late.map(({ owner, id }) => `${owner} ${id}`))
  })

  test('what ended before a time is forgotten with its keys, and lists are right afterwards', async () => {
    const { ledger, ledgerAdmin, url } = await shared().openNew()
    const statuses = ['wait', 'success', 'refunded', 'overdue', 'sending', undefined] as const
    const rows = Array.from({ length: 1_200 }, (_, n) => ({ id: `${n}`, at: n * 1_000, status: statuses[n % 6] }))
    const created = (at: number) => new Date(at).toISOString()
    const old = { reportedAt: Date.now() - 31 * day }
    await eachOf(rows, ({ id, at, status }) => ledger.upsert('o', 'alpha', facts(id, { createdAt: created(at), status }, old)))
    await ledger.upsert('p', 'beta', facts('x', { createdAt: created(0), status: 'success' }))
    const made = await begun(ledger, { owner: 'q', provider: 'gamma', attemptedAt: 5 })
    await ledger.complete(made.id, facts('x', { status: 'overdue', createdAt: created(5) }, old))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1.1 * day })
    const open = await begun(ledger, { attemptedAt: 5 })
    const before = 1_003_000
    const ended = ({ status }: { status: string | undefined }) => ['success', 'refunded', 'overdue'].includes(status ?? '')
    const gone = rows.filter((row) => row.at < before && ended(row))
    expect(await ledgerAdmin.prune(before, 'tester')).toEqual({ pruned: gone.length + 2, kept: none })
    expect(await ledgerAdmin.prune(before, 'tester')).toEqual({ pruned: 0, kept: none })
    const left = rows.filter((row) => !gone.includes(row)).toSorted((a, b) => b.at - a.at)
    for (const page of [1, 10, 30, Math.ceil(left.length / 20)]) {
      const { entries, total } = await ledger.list('o', { page, size: 20, created: always })
      expect(total).toBe(left.length)
      expect(entries.map(({ transaction }) => transaction.id)).toEqual(left.slice((page - 1) * 20, page * 20).map(({ id }) => id))
    }
    if (url !== 'sqlite::memory:') expect(await wrongPageIndex(url)).toEqual([])
    expect(await ledger.knownOwners(['p', 'o'])).toEqual(new Set(['o']))
    expect(await ledger.findIdempotencyKey('q', 'key')).toBeUndefined()
    expect(await ledger.findIdempotencyKey(open.owner, 'key')).toMatchObject({ state: 'open' })
    await ledger.upsert('p', 'beta', facts('y'))
    expect((await ledger.list('p', { page: 1, size: 5, created: always })).total).toBe(1)
  })

  test('L49: prune keeps what its Idempotency-Key still returns, until the key is over 24 hours old', async () => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    const now = Date.now()
    const made = await begun(ledger, { owner: 'o' })
    await ledger.complete(made.id, facts('x', { status: 'success' }))
    const without = await begun(ledger, { owner: 'o', idempotencyKey: undefined })
    await ledger.complete(without.id, facts('y', { status: 'refunded' }))
    expect(await ledgerAdmin.prune(now + day, 'tester')).toEqual({ pruned: 1, kept: { ...none, recentKey: 1 } })
    expect(await ledger.findIdempotencyKey('o', 'key')).toMatchObject({ state: 'done', first: { transaction: { id: 'x' } } })
    vi.useFakeTimers({ toFake: ['Date'], now: now + 1.1 * day })
    expect(await ledgerAdmin.prune(now + day, 'tester')).toEqual({ pruned: 1, kept: none })
    expect(await ledger.findIdempotencyKey('o', 'key')).toBeUndefined()
  })

  test('L49: prune keeps what has been overdue for less than 30 days, however long ago it was created', async () => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    const now = Date.now()
    const upsertOne = (id: string, changed: number | undefined, at: number) =>
      ledger.upsert(
        'o',
        'alpha',
        facts(
          id,
          { status: 'overdue', createdAt: '2026-01-01T00:00:00Z' },
          { reportedAt: now - at, ...(changed && { changedAt: now - changed }) },
        ),
      )
    await upsertOne('changed lately', 29.9 * day, 0)
    await upsertOne('changed long ago', 30.1 * day, 0)
    await upsertOne('read lately', undefined, 29.9 * day)
    await upsertOne('read long ago', undefined, 30.1 * day)
    expect(await ledgerAdmin.prune(now, 'tester')).toEqual({ pruned: 2, kept: { ...none, overdue: 2 } })
    const { entries } = await ledger.list('o', { page: 1, size: 5, created: always })
    expect(entries.map(({ transaction }) => transaction.id).sort()).toEqual(['changed lately', 'read lately'])
    expect((await upsert(ledger, 'o', 'alpha', facts('changed lately', { status: 'success' })))?.transaction.status).toBe('success')
  })

  test('L49: prune keeps what a create of unknown outcome could be bound to', async () => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    const now = Date.now()
    const upsertOne = (provider: string, id: string, at: number) =>
      ledger.upsert('o', provider, facts(id, { status: 'success', createdAt: new Date(at).toISOString() }))
    const unknownCreate = await begun(ledger, { owner: 'o', provider: 'alpha', attemptedAt: now - day })
    await ledger.markUnknown(unknownCreate.id, now)
    await upsertOne('alpha', 'candidate', now - day + 9 * 60_000)
    await upsertOne('alpha', 'far away', now - 2 * day)
    await upsertOne('beta', 'elsewhere', now - day)
    expect(await ledgerAdmin.prune(now, 'tester')).toEqual({ pruned: 2, kept: { ...none, unresolved: 1 } })
    expect(await ledger.find('o', 'alpha', 'candidate')).toBeDefined()
    await ledger.drop(unknownCreate.id)
    expect(await ledgerAdmin.prune(now, 'tester')).toEqual({ pruned: 1, kept: none })
  })

  test('L49: where a provider dates a transaction days before its create, prune goes by the time of the create', async () => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    const now = Date.now()
    const create = async (id: string, attemptedAt: number) => {
      const made = intent({ owner: 'o', provider: 'alpha', attemptedAt })
      await ledger.begin(made)
      await ledger.complete(made.id, facts(id, { status: 'success', createdAt: new Date(now - 4 * day).toISOString() }))
    }
    await create('near the unknown create', now - day)
    await create('far from it', now - 2 * day)
    const unknownCreate = await begun(ledger, { owner: 'o', provider: 'alpha', attemptedAt: now - day })
    await ledger.markUnknown(unknownCreate.id, now)
    expect(await ledgerAdmin.prune(now, 'tester')).toEqual({ pruned: 1, kept: { ...none, unresolved: 1 } })
    expect(await ledger.find('o', 'alpha', 'near the unknown create')).toBeDefined()
  })

  test('if nearly all is pruned, pages are found and no empty segments are left', async () => {
    const { ledger, ledgerAdmin, url } = await shared().openNew()
    const upsertOne = (n: number, status: 'success' | 'wait') =>
      ledger.upsert('o', 'alpha', facts(`${n}`, { createdAt: new Date(n).toISOString(), status }))
    await eachOf(numbers(0, maxSegmentEntries + 100), (n) => upsertOne(n, n === 0 ? 'wait' : 'success'))
    expect((await ledgerAdmin.prune(1_000_000, 'tester')).pruned).toBe(maxSegmentEntries + 99)
    const made = await begun(ledger, { owner: 'o', provider: 'alpha' })
    await upsertOne(5_000, 'wait')
    // The last of the old segment becomes the newest entry.
    await ledger.complete(made.id, facts('0'))
    const { entries, total } = await ledger.list('o', { page: 1, size: 10, created: always })
    expect([total, ...entries.map(({ transaction }) => transaction.id)]).toEqual([2, '0', '5000'])
    const second = await ledger.list('o', { page: 2, size: 1, created: always })
    expect([second.total, second.entries[0]?.transaction.id]).toEqual([2, '5000'])
    await upsertOne(1, 'success')
    expect((await ledgerAdmin.prune(1_000_000, 'tester')).pruned).toBe(1)
    if (url !== 'sqlite::memory:') expect(await query(url, 'SELECT owner FROM page_index')).toHaveLength(1)
  })

  test('what is forgotten while it is written does not disturb the numbers', async () => {
    const { ledger, ledgerAdmin, url } = await shared().openNew()
    const upsertOne = (n: number) =>
      ledger.upsert('o', 'alpha', facts(`${n}`, { createdAt: new Date(n).toISOString(), status: 'success' }))
    await eachOf(numbers(0, 600), upsertOne)
    const writing = eachOf(numbers(2_000_000, 200), upsertOne)
    const [first, second] = await Promise.all([
      ledgerAdmin.prune(1_000_000, 'tester'),
      ledgerAdmin.prune(1_000_000, 'tester'),
      writing,
    ])
    expect(first.pruned + second.pruned).toBe(600)
    const { total, entries } = await ledger.list('o', { page: 2, size: 100, created: always })
    expect([total, entries.length]).toEqual([200, 100])
    if (url !== 'sqlite::memory:') expect(await wrongPageIndex(url)).toEqual([])
  })
})

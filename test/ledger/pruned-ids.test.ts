/** An id that a create had stays that create's, also when its transaction was pruned (docs/contract-operators.md §10.5). */
import { afterEach, expect, test, vi } from 'vitest'
import type { Intent, Ledger } from '../../src/core/ports/ledger.ts'
import type { OpenLedger } from '../../src/ledger/index.ts'
import { query } from './raw.ts'
import { always, eachOf, facts, intent, unique } from './samples.ts'
import { allStores, describeStores } from './stores.ts'

const idempotencyKey = { key: 'key', fingerprint: 'f' }
const day = 24 * 3_600_000
const future = Date.now() + 1_000 * day

afterEach(() => void vi.useRealTimers())

async function begun(ledger: Ledger, fields: Partial<Intent> = {}): Promise<Intent> {
  const made = intent({ owner: unique('owner'), provider: unique('provider'), ...fields })
  expect(await ledger.begin(made)).toBe(true)
  return made
}

/** A swap that ended well, and is forgotten. */
async function pruned({ ledger, ledgerAdmin }: OpenLedger, provider: string, id: string): Promise<Intent> {
  const first = await begun(ledger, { provider })
  expect(await ledger.complete(first.id, facts(id, { status: 'success' }))).toBe(true)
  await ledgerAdmin.prune(future, 'tester')
  expect(await ledger.find(first.owner, provider, id)).toBeUndefined()
  return first
}

describeStores(allStores, (shared) => {
  test.each(['in time', 'after a person settled its create as none'])(
    'L71: a result with the id of a pruned create, that comes %s, is a mismatch, and the operator gets the reason',
    async (when) => {
      const store = await shared().openNew()
      const { ledger, ledgerAdmin } = store
      const { provider } = await pruned(store, 'alpha', 'x')
      const second = await begun(ledger, { provider, idempotencyKey })
      const isLate = when !== 'in time'
      if (isLate) expect(await ledgerAdmin.markNotCreated(second.id, 'tester')).toBe(true)
      for (let times = 0; times < 2; times++) expect(await ledger.complete(second.id, facts('x'))).toBe(false)
      expect(await ledger.find(second.owner, provider, 'x')).toBeUndefined()
      expect(await ledger.list(second.owner, { page: 1, size: 5, created: always })).toEqual({ entries: [], total: 0 })
      const state = isLate ? undefined : { intent: second.id, state: 'mismatch', fingerprint: 'f', provider }
      expect(await ledger.findIdempotencyKey(second.owner, 'key')).toEqual(state)
      expect(await ledgerAdmin.unresolved()).toMatchObject([
        { intent: second.id, state: 'mismatch', reported: { id: 'x', fields: ['id'] } },
      ])
      // The owner of the first may have listed it again: it still belongs to no other client.
      await ledger.upsert(unique('reader'), provider, facts('x', { status: 'success' }, { sequence: 9 }))
      const third = await begun(ledger, { provider })
      expect(await ledger.complete(third.id, facts('x', {}, { sequence: 5 }))).toBe(false)
    },
  )

  test('L71: the result of a create that is bound to another transaction shows its owner nothing of a pruned one', async () => {
    const store = await shared().openNew()
    const { ledger } = store
    const { provider } = await pruned(store, 'alpha', 'x')
    const second = await begun(ledger, { provider })
    expect(await ledger.bindFound(second.id, facts('y'))).toBe(true)
    await expect(ledger.complete(second.id, facts('x'))).rejects.toThrow('another id')
    expect(await ledger.find(second.owner, provider, 'x')).toBeUndefined()
  })

  test('L71: a pruned transaction is not taken for what a create of unknown outcome made, by a look or by hand', async () => {
    const store = await shared().openNew()
    const { ledger, ledgerAdmin } = store
    const { provider } = await pruned(store, 'alpha', 'x')
    const second = await begun(ledger, { provider })
    await ledger.markUnknown(second.id, 5)
    expect(await ledger.existingIds(provider, ['x', 'y'])).toEqual(new Set(['x']))
    expect(await ledger.bindFound(second.id, facts('x'))).toBe(false)
    expect(await ledgerAdmin.bind(second.id, 'x', 5, undefined, 'tester')).toBe('taken')
    expect(await ledgerAdmin.unresolved()).toMatchObject([{ intent: second.id, state: 'unknown' }])
    expect(await ledgerAdmin.bind(second.id, 'y', 5, undefined, 'tester')).toBe('bound')
  })

  test('L71: the same id at another provider, and one that was only listed, block no create', async () => {
    const store = await shared().openNew()
    const { ledger, ledgerAdmin } = store
    await pruned(store, 'alpha', 'x')
    await ledger.upsert('reader', 'alpha', facts('listed', { status: 'success' }))
    expect((await ledgerAdmin.prune(future, 'tester')).pruned).toBe(1)
    expect(await ledger.existingIds('alpha', ['listed'])).toEqual(new Set())
    for (const [provider, id] of [
      ['beta', 'x'],
      ['alpha', 'listed'],
    ] as const) {
      const { id: second, owner } = await begun(ledger, { provider })
      expect(await ledger.complete(second, facts(id))).toBe(true)
      expect(await ledger.find(owner, provider, id)).toBeDefined()
    }
  })

  test('L71: ids of many owners and providers are kept in one go, each once', async () => {
    const store = await shared().openNew()
    const { ledger, ledgerAdmin } = store
    const creates = Array.from({ length: 60 }, (_, n) =>
      intent({ owner: `o${n % 3}`, provider: `p${n % 2}`, attemptedAt: Date.now() - n }),
    )
    await eachOf(creates, async ({ id, ...fields }) => {
      await ledger.begin({ id, ...fields })
      await ledger.complete(id, facts(id, { status: 'refunded' }))
    })
    const counts = await Promise.all([ledgerAdmin.prune(future, 'tester'), ledgerAdmin.prune(future, 'tester')])
    expect(counts.reduce((total, each) => total + each.pruned, 0)).toBe(60)
    const ids = creates.map(({ id }) => id)
    for (const n of [0, 1]) expect(await ledger.existingIds(`p${n}`, ids)).toEqual(new Set(ids.filter((_, at) => at % 2 === n)))
  })

  test('L71: an id is forgotten by the first prune after 30 days', async () => {
    const store = await shared().openNew()
    const { ledger, ledgerAdmin } = store
    const now = Date.now()
    await pruned(store, 'alpha', 'x')
    vi.useFakeTimers({ toFake: ['Date'], now: now + 29.9 * day })
    await ledgerAdmin.prune(0, 'tester')
    expect(await ledger.existingIds('alpha', ['x'])).toEqual(new Set(['x']))
    vi.setSystemTime(now + 30.1 * day)
    await ledgerAdmin.prune(0, 'tester')
    expect(await ledger.existingIds('alpha', ['x'])).toEqual(new Set())
  })

  test('L71: ids that are over 30 days old are forgotten in steps, all of them', async () => {
    const { ledgerAdmin, url } = await shared().openNew()
    if (url === 'sqlite::memory:') return
    await query(
      url,
      `INSERT INTO pruned_ids (provider, provider_id, pruned_at)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 4500)
        SELECT 'alpha', CAST(n AS text), n FROM numbers`,
    )
    await ledgerAdmin.prune(0, 'tester')
    expect(await query(url, 'SELECT provider_id FROM pruned_ids')).toEqual([])
  })

  test('L71: whichever comes first, prune or a second create, an id is one create’s', async () => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    for (let n = 0; n < 20; n++) {
      const first = await begun(ledger, { provider: 'alpha' })
      await ledger.complete(first.id, facts(`${n}`, { status: 'success' }))
      const seconds = await Promise.all(Array.from({ length: 3 }, () => begun(ledger, { provider: 'beta' })))
      const ours = await Promise.all(Array.from({ length: 3 }, () => intent({ provider: 'alpha', attemptedAt: n * day })))
      await Promise.all(ours.map((each) => ledger.begin(each)))
      const [, ...taken] = await Promise.all([
        ledgerAdmin.prune(future, 'tester'),
        ...ours.map(({ id }) => ledger.complete(id, facts(`${n}`))),
        ...seconds.map(({ id }, at) => ledger.complete(id, facts(`${n}-${at}`))),
      ])
      expect(taken).toEqual([false, false, false, true, true, true])
    }
  })
})

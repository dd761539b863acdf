/** `ledger.keep` and `ledger.keepAudit`: what is older is removed in short steps, by one process of several. */
import { afterEach, expect, test, vi } from 'vitest'
import type { Status } from '../../src/domain/status.ts'
import type { OpenLedger } from '../../src/ledger/index.ts'
import { removeOld } from '../../src/process/retention.ts'
import { query, wrongPageIndex } from './raw.ts'
import { always, eachOf, facts, intent } from './samples.ts'
import { allStores, describeStores, durableStores } from './stores.ts'

const day = 86_400_000
const never = (): boolean => false
const daysAgo = (days: number): number => Date.now() - days * day

afterEach(() => void vi.useRealTimers())

/** A swap that was created so many days ago. */
async function made({ ledger }: OpenLedger, id: string, days: number, status: Status = 'success', owner = 'owner'): Promise<void> {
  const create = intent({ owner, attemptedAt: daysAgo(days) })
  await ledger.begin(create)
  const createdAt = new Date(daysAgo(days)).toISOString()
  await ledger.complete(create.id, facts(id, { createdAt, status }, { reportedAt: daysAgo(days) }))
}

/** No more at once than there are connections: on a busy machine the others would not get one in time. */
async function madeEach<T>(items: readonly T[], make: (item: T) => Promise<void>): Promise<void> {
  await eachOf(items, make)
}

async function ids({ ledger }: OpenLedger, owner = 'owner'): Promise<readonly string[]> {
  const { entries, total } = await ledger.list(owner, { page: 1, size: 500, created: always })
  expect(entries).toHaveLength(total)
  return entries.map(({ transaction }) => transaction.id).toSorted()
}

describeStores(allStores, (shared) => {
  test('what ended longer ago than is kept goes; what is open, or may still be needed, stays', async () => {
    const store = await shared().openNew()
    const { retention, ledger, audit } = store
    await made(store, 'new', 0)
    await made(store, 'young', 399)
    await made(store, 'old', 401)
    await made(store, 'old refunded', 500, 'refunded')
    await made(store, 'old open', 600, 'wait')
    await made(store, 'old of another', 700, 'success', 'other')
    const withKey = intent({ attemptedAt: daysAgo(450), idempotencyKey: { key: 'k', fingerprint: 'f' } })
    await ledger.begin(withKey)
    await ledger.complete(
      withKey.id,
      facts('old with a key', { status: 'success', createdAt: new Date(daysAgo(450)).toISOString() }),
    )
    await removeOld(retention, { keep: 400 }, never)
    expect(await ids(store)).toEqual(['new', 'old open', 'old with a key', 'young'])
    expect(await ids(store, 'other')).toEqual([])
    expect(await ledger.existingIds('alpha', ['old'])).toEqual(new Set(['old']))
    expect(await audit.read({})).toMatchObject([{ actor: 'ledger.keep', action: 'ledger.prune', after: { pruned: 3 } }])
  })

  test('it counts back from the newest swap where that is old: a clock that is ahead removes nothing', async () => {
    const store = await shared().openNew()
    await made(store, 'one', 300)
    await made(store, 'two', 650)
    expect(await store.retention.keptSince(400 * day)).toBeLessThan(daysAgo(699))
    await removeOld(store.retention, { keep: 400 }, never)
    expect(await ids(store)).toEqual(['one', 'two'])
  })

  test('many go in steps, also of several owners, and the pages of their lists are right', async () => {
    const store = await shared().openNew()
    const numbers = Array.from({ length: 240 }, (_, n) => n)
    await made(store, 'new', 0)
    await madeEach(numbers, (n) => made(store, `old-${n}`, 500 + n, 'success', `owner-${n % 3}`))
    let steps = 0
    const pruneStep: typeof store.retention.pruneStep = (...args) => {
      steps++
      return store.retention.pruneStep(...args)
    }
    await removeOld({ ...store.retention, pruneStep }, { keep: 400 }, never)
    expect(steps).toBe(5)
    for (const owner of ['owner-0', 'owner-1', 'owner-2']) expect(await ids(store, owner)).toEqual([])
  })

  test('without a setting nothing goes', async () => {
    const store = await shared().openNew()
    await made(store, 'old', 5_000)
    await removeOld(store.retention, {}, never)
    expect(await ids(store)).toEqual(['old'])
  })

  test('a process that ends stops after its step', async () => {
    const store = await shared().openNew()
    await made(store, 'new', 0)
    await madeEach(
      Array.from({ length: 120 }, (_, n) => n),
      (n) => made(store, `old-${n}`, 500),
    )
    await removeOld(store.retention, { keep: 400 }, () => true)
    expect((await ids(store)).length).toBe(71)
  })

  test('the audit log keeps what is young, what is of use for something that needs a person, and prunes', async () => {
    const store = await shared().openNew()
    const { audit, retention, ledger } = store
    await audit.append({ actor: 'a', action: 'key.revoke', subject: 'one' })
    expect(await retention.auditStep(day)).toBe(false)
    expect(await audit.read({})).toHaveLength(1)
    await retention.auditStep(-day)
    expect(await audit.read({})).toHaveLength(0)
    await ledger.begin(intent({ id: 'in-doubt', attemptedAt: Date.now() - 1_000 }))
    await ledger.markUnknown('in-doubt', Date.now())
    await audit.append({ actor: 'a', action: 'key.revoke', subject: 'since then' })
    await retention.auditStep(-day)
    expect(await audit.read({})).toHaveLength(1)
  })
})

describeStores(durableStores, (shared) => {
  test('the counts of a list of several segments stay right, step by step', async () => {
    const store = await shared().openNew()
    await made(store, 'new', 0)
    await madeEach(
      Array.from({ length: 1_200 }, (_, n) => n),
      (n) => made(store, `old-${n}`, 500 + n / 1_000),
    )
    for (let steps = 0; steps < 3; steps++) {
      await store.retention.pruneStep(daysAgo(400))
      expect(await wrongPageIndex(store.url)).toEqual([])
    }
    await removeOld(store.retention, { keep: 400 }, never)
    expect([await wrongPageIndex(store.url), await ids(store)]).toEqual([[], ['new']])
  })

  test('of several processes one has the turn, until it says nothing for an hour', async () => {
    const { url, retention } = await shared().openNew()
    const turns = await Promise.all(Array.from({ length: 4 }, () => retention.takeTurn(3_600_000)))
    expect(turns.filter(Boolean)).toHaveLength(1)
    await query(url, 'UPDATE background_jobs SET at = at - 3600001')
    expect(await retention.takeTurn(3_600_000)).toBe(true)
    await query(url, 'UPDATE background_jobs SET at = at + 7200000')
    expect(await retention.takeTurn(3_600_000)).toBe(true)
    await retention.keepTurn()
    expect(await retention.takeTurn(3_600_000)).toBe(false)
    expect(await wrongPageIndex(url)).toEqual([])
  })
})

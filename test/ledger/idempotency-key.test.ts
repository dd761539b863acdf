/** An `Idempotency-Key` in the ledger: its owner, its request, and its result (docs/contract.md §10.1). */
import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Intent } from '../../src/core/ports/ledger.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { facts, intent, unique, upsert } from './samples.ts'
import { allStores, describeStores, durableStores, openSite, type Site } from './stores.ts'

const hour = 3_600_000
const idempotencyKey = { key: 'key', fingerprint: 'f' }

afterEach(() => void vi.useRealTimers())

/** Only the clock: the store's own timers go on. */
function passHours(hours: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * hour })
}

describeStores(allStores, (shared) => {
  const create = (owner: string, fingerprint = 'f') => intent({ owner, idempotencyKey: { key: 'key', fingerprint } })

  test('L6: of fifty creates with one key at once, one begins, and of the others nothing is stored', async () => {
    const { ledger } = shared()
    const owner = unique('owner')
    const provider = unique('provider')
    const creates = Array.from({ length: 50 }, () => intent({ owner, provider, idempotencyKey }))
    const begun = await Promise.all(creates.map((each) => ledger.begin(each)))
    expect(begun.filter(Boolean)).toHaveLength(1)
    const kept = await ledger.unresolvedBetween(provider, 0, Date.now())
    expect(kept.map((open) => open.intent)).toEqual(creates.filter((_, n) => begun[n]).map(({ id }) => id))
  })

  test('while its outcome is unknown, a key is open', async () => {
    const { ledger } = shared()
    const made = create(unique('owner'))
    expect(await ledger.findIdempotencyKey(made.owner, 'key')).toBeUndefined()
    await ledger.begin(made)
    const open = { fingerprint: 'f', state: 'open', provider: 'alpha' }
    expect(await ledger.findIdempotencyKey(made.owner, 'key')).toMatchObject({
      ...open,
      isRunning: true,
      nextCheckAt: made.nextCheckAt,
    })
    await ledger.markUnknown(made.id, 5)
    expect(await ledger.findIdempotencyKey(made.owner, 'key')).toMatchObject({ ...open, isRunning: false, nextCheckAt: 5 })
    expect(await ledger.findIdempotencyKey(made.owner, 'another')).toBeUndefined()
  })

  test('L5: a key keeps its first response, for any later state of the transaction', async () => {
    const { ledger } = shared()
    const made = { ...create(unique('owner')), provider: unique('provider') }
    const first = facts('x', {}, { derived: ['updatedAt'], reportedAt: 1 })
    await ledger.begin(made)
    await ledger.complete(made.id, first)
    const entry = await upsert(ledger, made.owner, made.provider, facts('x', { status: 'success' }, { fetchedAt: 2 }))
    expect(await ledger.findIdempotencyKey(made.owner, 'key')).toMatchObject({ fingerprint: 'f', state: 'done', entry, first })
  })

  describe('of a create that gets a quote of its own', () => {
    const quoting = (owner: string, deadline: number): Intent => ({
      ...create(owner),
      provider: unique('provider'),
      isQuoting: true,
      deadline,
      nextCheckAt: deadline,
    })

    test('it is open until the deadline, then free, and the create cannot be sent any more', async () => {
      const { ledger, ledgerAdmin } = shared()
      const owner = unique('owner')
      const [running, gone] = [quoting(owner, Date.now() + hour), quoting(unique('owner'), Date.now() - 1)]
      for (const made of [running, gone]) expect(await ledger.begin(made)).toBe(true)
      expect(await ledger.findIdempotencyKey(owner, 'key')).toMatchObject({ state: 'open' })
      expect(await ledger.begin(create(owner))).toBe(false)
      expect(await ledger.findIdempotencyKey(gone.owner, 'key')).toBeUndefined()
      expect(await ledger.begin(create(gone.owner))).toBe(true)
      expect(await ledger.markQuoted(gone.id)).toBe(false)
      const intents = (await ledgerAdmin.unresolved()).map((unresolved) => unresolved.intent)
      expect(intents.filter((id) => id === running.id || id === gone.id)).toEqual([])
      expect(await ledger.unresolvedBetween(running.provider, 0, Date.now())).toEqual([])
    })

    test('once it is sent it is a create like any other, past its deadline, too', async () => {
      const { ledger } = shared()
      const made = quoting(unique('owner'), Date.now() - 1)
      await ledger.begin(made)
      expect([await ledger.markQuoted(made.id), await ledger.markQuoted(made.id)]).toEqual([true, true])
      expect(await ledger.findIdempotencyKey(made.owner, 'key')).toMatchObject({ state: 'open' })
      expect(await ledger.begin(create(made.owner))).toBe(false)
      expect(await ledger.dueCreates(Date.now(), 10, [made.owner])).toMatchObject([{ intent: made.id }])
    })

    test('if its process is gone it ends at its next check: nothing is unknown', async () => {
      const { ledger } = shared()
      const made = quoting(unique('owner'), Date.now() - 1)
      await ledger.begin(made)
      expect(await ledger.dueCreates(Date.now(), 10, [made.owner])).toEqual([])
      await ledger.dropUnquoted(Date.now())
      expect(await ledger.markQuoted(made.id)).toBe(false)
      expect(await ledger.ownersOfUnresolved()).not.toContain(made.owner)
    })
  })

  test('L8: one key of two clients is two keys', async () => {
    const { ledger } = shared()
    const [one, two] = [create(unique('owner'), '1'), create(unique('owner'), '2')]
    expect(await ledger.begin(one)).toBe(true)
    expect(await ledger.begin(two)).toBe(true)
    expect((await ledger.findIdempotencyKey(one.owner, 'key'))?.fingerprint).toBe('1')
    expect((await ledger.findIdempotencyKey(two.owner, 'key'))?.fingerprint).toBe('2')
  })

  test('a key is kept for a day, then it may be used again', async () => {
    const { ledger } = shared()
    const made = { ...create(unique('owner')), provider: unique('provider') }
    await ledger.begin(made)
    await ledger.complete(made.id, facts('x'))
    passHours(23.9)
    expect(await ledger.begin(create(made.owner, 'new'))).toBe(false)
    expect(await ledger.findIdempotencyKey(made.owner, 'key')).toMatchObject({ state: 'done', fingerprint: 'f' })
    passHours(0.2)
    expect(await ledger.findIdempotencyKey(made.owner, 'key')).toBeUndefined()
    expect(await ledger.begin(create(made.owner, 'new'))).toBe(true)
    expect(await ledger.findIdempotencyKey(made.owner, 'key')).toMatchObject({ state: 'open', fingerprint: 'new' })
    expect(await ledger.find(made.owner, made.provider, 'x')).toBeDefined()
  })

  test('a key of unknown outcome never ends', async () => {
    const { ledger } = shared()
    const made = create(unique('owner'))
    await ledger.begin(made)
    passHours(1_000)
    expect(await ledger.findIdempotencyKey(made.owner, 'key')).toMatchObject({ state: 'open' })
    expect(await ledger.begin(create(made.owner))).toBe(false)
    await ledger.expireIdempotencyKeys()
    expect(await ledger.findIdempotencyKey(made.owner, 'key')).toMatchObject({ state: 'open' })
  })

  test('L63: a key whose outcome became known after days is kept for a day from then on: found, bound by hand, or contradicted', async () => {
    const { ledger, ledgerAdmin } = shared()
    const made = () => ({ ...create(unique('owner')), provider: unique('provider') })
    const [found, bound, contradicted] = [made(), made(), made()]
    const states = [[found.owner, 'done'] as const, [bound.owner, 'done'] as const, [contradicted.owner, 'mismatch'] as const]
    for (const intent of [found, bound, contradicted]) await ledger.begin(intent)
    passHours(50)
    expect(await ledger.complete(found.id, facts('x'))).toBe(true)
    expect(await ledgerAdmin.bind(bound.id, 'x', Date.now(), undefined, 'tester')).toBe('bound')
    await ledger.markMismatch(contradicted.id, facts('x').transaction, ['coinTo'])
    for (const [owner, state] of states) {
      expect(await ledger.findIdempotencyKey(owner, 'key')).toMatchObject({ state })
      expect(await ledger.begin(create(owner))).toBe(false)
    }
    await ledger.expireIdempotencyKeys()
    passHours(23.5)
    for (const [owner, state] of states) expect(await ledger.findIdempotencyKey(owner, 'key')).toMatchObject({ state })
    passHours(1)
    for (const [owner] of states) expect(await ledger.findIdempotencyKey(owner, 'key')).toBeUndefined()
  })

  test('only old keys of known outcome are deleted', async () => {
    const { ledger } = await shared().openNew()
    const [done, mismatch, open, young] = [create('done'), create('mismatch'), create('open'), create('young')]
    for (const made of [done, mismatch, open]) await ledger.begin(made)
    await ledger.complete(done.id, facts('x'))
    await ledger.markMismatch(mismatch.id, facts('y').transaction, ['coinTo'])
    passHours(25)
    await ledger.begin(young)
    await ledger.complete(young.id, facts('z'))
    expect(await ledger.expireIdempotencyKeys()).toBe(2)
    expect(await ledger.expireIdempotencyKeys()).toBe(0)
    expect(await ledger.findIdempotencyKey('open', 'key')).toMatchObject({ state: 'open' })
    expect(await ledger.findIdempotencyKey('young', 'key')).toMatchObject({ state: 'done' })
    expect(await ledger.find('done', 'alpha', 'x')).toBeDefined()
  })
})

describe.each(durableStores)('the clock of a ledger: %s', (name) => {
  let site: Site
  beforeAll(async () => {
    site = await openSite(name)
    return site.close
  })
  const open = async (url: string) => {
    const opened = await openLedger(url)
    let isOpen = true
    const close = async () => {
      if (isOpen) await opened.close()
      isOpen = false
    }
    onTestFinished(close)
    return { ...opened, close }
  }
  const made = intent({ owner: 'owner', idempotencyKey })

  test.each([
    ['a day ahead', 24.5],
    ['a year ahead', 9_000],
    ['an hour back', -1],
  ])('L50: a wall clock that is set %s expires no key, at once or after a restart', async (_, hours) => {
    const url = await site.createLedger()
    const { ledger, close } = await open(url)
    await ledger.begin(made)
    await ledger.complete(made.id, facts('x'))
    passHours(hours)
    expect(await ledger.findIdempotencyKey('owner', 'key')).toMatchObject({ state: 'done' })
    expect(await ledger.begin(intent({ owner: 'owner', idempotencyKey }))).toBe(false)
    expect(await ledger.expireIdempotencyKeys()).toBe(0)
    await close()
    const { ledger: later, ledgerAdmin } = await open(url)
    expect(await later.begin(intent({ owner: 'owner', idempotencyKey }))).toBe(false)
    expect(await later.expireIdempotencyKeys()).toBe(0)
    await upsert(later, 'owner', 'alpha', facts('x', { status: 'success' }))
    expect(await ledgerAdmin.prune(Date.now() + 9_000 * hour, 'tester')).toMatchObject({ pruned: 0, kept: { recentKey: 1 } })
    expect(await later.findIdempotencyKey('owner', 'key')).toMatchObject({ state: 'done' })
  })
})

test('L50: with SQLite a key lasts for 24 hours in which a process runs, over restarts, and is not valid again when the wall clock is set back', async () => {
  const site = await openSite('SQLite in a file')
  onTestFinished(site.close)
  const url = await site.createLedger()
  const made = intent({ owner: 'owner', idempotencyKey })
  vi.useFakeTimers({ toFake: ['performance', 'Date'] })
  const first = await openLedger(url)
  await first.ledger.begin(made)
  await first.ledger.complete(made.id, facts('x'))
  vi.advanceTimersByTime(15 * hour)
  await first.close()
  vi.advanceTimersByTime(10 * hour)
  const second = await openLedger(url)
  onTestFinished(second.close)
  expect(await second.ledger.findIdempotencyKey('owner', 'key')).toMatchObject({ state: 'done' })
  vi.advanceTimersByTime(10 * hour)
  expect(await second.ledger.findIdempotencyKey('owner', 'key')).toBeUndefined()
  vi.setSystemTime(Date.now() - 48 * hour)
  expect(await second.ledger.findIdempotencyKey('owner', 'key')).toBeUndefined()
  expect(await second.ledger.expireIdempotencyKeys()).toBe(1)
})

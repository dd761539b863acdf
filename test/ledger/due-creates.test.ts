/** Creates of unknown outcome: which are due, and that one process leases each (docs/contract-operators.md §10.2). */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Intent, maxOpenCreates, type UnresolvedCreate } from '../../src/core/ports/ledger.ts'
import { TooManyOpenCreates } from '../../src/domain/fault.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { facts, intent, requested, unique } from './samples.ts'
import { allStores, describeStores, openSite } from './stores.ts'

describeStores(allStores, (shared) => {
  test('a create of unknown outcome is due when its time comes, the longest waiting first', async () => {
    const { ledger } = await shared().openNew()
    const [early, late, dead, done] = [
      intent({ owner: 'a', attemptedAt: 1_000, nextCheckAt: 5_000 }),
      intent({ owner: 'b', attemptedAt: 2_000, nextCheckAt: 6_000 }),
      intent({ owner: 'c', attemptedAt: 500, nextCheckAt: 4_500 }),
      intent({ owner: 'd', attemptedAt: 500, nextCheckAt: 4_000 }),
    ]
    for (const made of [early, late, dead, done]) await ledger.begin(made)
    await ledger.markUnknown(early.id, 3_000)
    await ledger.markUnknown(late.id, 2_000)
    await ledger.complete(done.id, facts('x'))
    const owners = async (now: number, most: number, of?: readonly string[]) =>
      (await ledger.dueCreates(now, most, of)).map(({ owner }) => owner)
    expect(await owners(1_999, 10)).toEqual([])
    expect(await owners(3_000, 10)).toEqual(['b', 'a'])
    expect(await owners(9_000, 10)).toEqual(['b', 'a', 'c'])
    expect(await owners(9_000, 2)).toEqual(['b', 'a'])
    expect(await owners(9_000, 10, ['a', 'c', 'e'])).toEqual(['a', 'c'])
    expect(await owners(9_000, 10, [])).toEqual([])
    expect((await ledger.ownersOfUnresolved()).toSorted()).toEqual(['a', 'b', 'c'])
  })

  test('a due create has all that reconciliation needs', async () => {
    const { ledger } = shared()
    const made = intent({ owner: unique('owner'), provider: unique('provider'), attemptedAt: 1_000, nextCheckAt: 2_000 })
    await ledger.begin(made)
    const { id, owner, provider } = made
    const open: UnresolvedCreate = { intent: id, owner, provider, requested, attemptedAt: 1_000, checkCount: 0, nextCheckAt: 2_000 }
    expect(await ledger.dueCreates(2_000, 10, [owner])).toStrictEqual([open])
    expect(await ledger.scheduleNextCheck(open, 5_000)).toBe(true)
    expect(await ledger.dueCreates(4_999, 10, [owner])).toEqual([])
    expect(await ledger.dueCreates(5_000, 10, [owner])).toStrictEqual([{ ...open, checkCount: 1, nextCheckAt: 5_000 }])
    expect(await ledger.scheduleNextCheck({ ...open, checkCount: 1, nextCheckAt: 5_000 }, undefined)).toBe(true)
    expect(await ledger.dueCreates(9_000, 10, [owner])).toEqual([])
    expect(await ledger.ownersOfUnresolved()).not.toContain(owner)
    const { nextCheckAt: _, ...given } = open
    expect(await ledger.unresolvedBetween(provider, 0, 9_000)).toStrictEqual([{ ...given, checkCount: 2 }])
  })

  test('L164: an owner has at most 1,000 creates without an outcome at one provider', { timeout: 180_000 }, async () => {
    const { ledger } = shared()
    const [owner, provider] = [unique('owner'), unique('provider')]
    const open = Array.from({ length: maxOpenCreates }, () => intent({ owner, provider }))
    // Few at a time: none waits so long for its turn that it is refused, however busy the machine is.
    for (let at = 0; at < open.length; at += 10) await Promise.all(open.slice(at, at + 10).map((create) => ledger.begin(create)))
    const idempotencyKey = { key: 'order', fingerprint: 'f', request: {} } as unknown as Intent['idempotencyKey']
    const refused = intent({ owner, provider, idempotencyKey })
    await expect(ledger.begin(refused)).rejects.toThrow(TooManyOpenCreates)
    expect(await ledger.findIdempotencyKey(owner, 'order')).toBeUndefined()
    expect(await ledger.begin(intent({ owner: unique('owner'), provider }))).toBe(true)
    expect(await ledger.begin(intent({ owner, provider: unique('provider') }))).toBe(true)
    const [first] = open
    expect(await ledger.begin(first as Intent)).toBe(true)
    await ledger.complete(first?.id ?? '', facts(unique('x')))
    expect(await ledger.begin(refused)).toBe(true)
  })

  test('unresolved creates come in pages, the oldest first, and one is found by its intent', async () => {
    const { ledger, ledgerAdmin } = await shared().openNew()
    const made = Array.from({ length: 5 }, (_, at) => intent({ attemptedAt: at < 3 ? 1_000 : 2_000 }))
    for (const create of made) await ledger.begin(create)
    const all = (await ledgerAdmin.unresolved()).map(({ intent: id }) => id)
    expect(all.toSorted()).toEqual(made.map(({ id }) => id).toSorted())
    const paged: string[] = []
    for (
      let page = await ledgerAdmin.unresolved(undefined, 2);
      page.length > 0;
      page = await ledgerAdmin.unresolved(page.at(-1), 2)
    ) {
      expect(page.length).toBeLessThanOrEqual(2)
      paged.push(...page.map(({ intent: id }) => id))
    }
    expect(paged).toEqual(all)
    expect(await ledgerAdmin.unresolvedCount()).toBe(5)
    expect(await ledgerAdmin.findUnresolved(made[0]?.id ?? '')).toMatchObject({ intent: made[0]?.id, state: 'pending' })
    expect(await ledgerAdmin.findUnresolved('none')).toBeUndefined()
  })

  test('the trace context of the request stays with its create, and may be unknown', async () => {
    const { ledger } = shared()
    const provider = unique('provider')
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    await ledger.begin(intent({ provider, attemptedAt: 1_000, traceparent }))
    await ledger.begin(intent({ provider, attemptedAt: 2_000 }))
    const [traced, other] = await ledger.unresolvedBetween(provider, 0, 9_000)
    expect(traced?.traceparent).toBe(traceparent)
    expect(other).not.toHaveProperty('traceparent')
  })

  test('of many that take a due create at once, one has it, even if the next is due at the same time', async () => {
    const { ledger } = shared()
    const owner = unique('owner')
    await ledger.begin(intent({ owner, attemptedAt: 1_000, nextCheckAt: 2_000 }))
    const [open] = await ledger.dueCreates(2_000, 10, [owner])
    const taken = await Promise.all(Array.from({ length: 20 }, () => ledger.scheduleNextCheck(open as UnresolvedCreate, 2_000)))
    expect(taken.filter(Boolean)).toHaveLength(1)
  })

  test('a check is under way from its beginning to its end, also if another process left it before', async () => {
    const { ledger } = shared()
    const idempotencyKey = { key: 'order', fingerprint: 'f', request: {} } as unknown as Intent['idempotencyKey']
    const made = intent({
      owner: unique('owner'),
      provider: unique('provider'),
      attemptedAt: 1_000,
      nextCheckAt: 2_000,
      idempotencyKey,
    })
    const isBeingChecked = async () => (await ledger.findIdempotencyKey(made.owner, 'order')) as object
    await ledger.begin(made)
    const [due] = await ledger.dueCreates(2_000, 10, [made.owner])
    expect(await isBeingChecked()).toMatchObject({ isBeingChecked: false })
    const left = await ledger.beginCheck(due as UnresolvedCreate, 5_000)
    expect(await isBeingChecked()).toMatchObject({ isBeingChecked: true, nextCheckAt: 5_000 })
    expect(await ledger.beginCheck(due as UnresolvedCreate, 5_000)).toBeUndefined()
    const checked = await ledger.beginCheck(left as UnresolvedCreate, 9_000)
    expect(await ledger.dueCreates(9_000, 10, [made.owner])).toEqual([checked])
    expect(await isBeingChecked()).toMatchObject({ isBeingChecked: true, nextCheckAt: 9_000 })
    expect(await ledger.scheduleNextCheck(left as UnresolvedCreate, 10_000)).toBe(false)
    expect(await ledger.scheduleNextCheck(checked as UnresolvedCreate, 10_000)).toBe(true)
    expect(await isBeingChecked()).toMatchObject({ isBeingChecked: false, nextCheckAt: 10_000 })
  })

  test('no check is under way of a create that none will look for, however its last one ended', async () => {
    const { ledger } = shared()
    const idempotencyKey = { key: 'order', fingerprint: 'f', request: {} } as unknown as Intent['idempotencyKey']
    const made = intent({ owner: unique('owner'), provider: unique('provider'), nextCheckAt: 2_000, idempotencyKey })
    await ledger.begin(made)
    const [due] = await ledger.dueCreates(2_000, 10, [made.owner])
    expect(await ledger.scheduleNextCheck(due as UnresolvedCreate, undefined)).toBe(true)
    expect(await ledger.findIdempotencyKey(made.owner, 'order')).toMatchObject({ isBeingChecked: false, nextCheckAt: undefined })
  })

  test('a create that was completed in the meantime is not taken', async () => {
    const { ledger } = shared()
    const made = intent({ owner: unique('owner'), provider: unique('provider'), attemptedAt: 1_000, nextCheckAt: 2_000 })
    await ledger.begin(made)
    const [open] = await ledger.dueCreates(2_000, 10, [made.owner])
    await ledger.complete(made.id, facts('x'))
    expect(await ledger.scheduleNextCheck(open as UnresolvedCreate, 3_000)).toBe(false)
    expect(await ledger.find(made.owner, made.provider, 'x')).toBeDefined()
  })

  test('a dead process’s create that was looked for is still completed by a late response', async () => {
    const { ledger } = shared()
    const made = intent({ owner: unique('owner'), provider: unique('provider'), attemptedAt: 1_000, nextCheckAt: 2_000 })
    await ledger.begin(made)
    const [open] = await ledger.dueCreates(2_000, 10, [made.owner])
    await ledger.scheduleNextCheck(open as UnresolvedCreate, undefined)
    expect(await ledger.complete(made.id, facts('x'))).toBe(true)
  })

  test('open creates of a provider are found by the time at which they were attempted, both ends included', async () => {
    const { ledger } = shared()
    const provider = unique('provider')
    const made = [1_000, 2_000, 3_000, 4_000].map((attemptedAt) => intent({ provider, attemptedAt }))
    for (const each of made) await ledger.begin(each)
    await ledger.markUnknown(made[1]?.id ?? '', 5)
    const ids = async (first: number, last: number, at = provider) =>
      (await ledger.unresolvedBetween(at, first, last)).map((open) => open.attemptedAt)
    expect(await ids(2_000, 3_000)).toEqual([2_000, 3_000])
    expect(await ids(0, 999)).toEqual([])
    expect(await ids(0, 9_000, unique('provider'))).toEqual([])
  })

  test('L70: a mismatch is found among the open creates, and is not due', async () => {
    const { ledger } = shared()
    const provider = unique('provider')
    const [open, contradicted, done] = [2_000, 1_000, 3_000].map((attemptedAt) =>
      intent({ owner: unique('owner'), provider, attemptedAt }),
    ) as [Intent, Intent, Intent]
    for (const each of [open, contradicted, done]) await ledger.begin(each)
    await ledger.complete(done.id, facts('x'))
    expect(await ledger.complete(contradicted.id, facts('x'))).toBe(false)
    const intents = async (first: number, last: number) =>
      (await ledger.unresolvedBetween(provider, first, last)).map((each) => each.intent)
    expect(await intents(0, 9_000)).toEqual([open.id, contradicted.id])
    expect(await intents(2_001, 9_000)).toEqual([])
    expect(await intents(1_001, 9_000)).toEqual([open.id])
    expect(await ledger.dueCreates(Number.MAX_SAFE_INTEGER, 10, [contradicted.owner])).toEqual([])
  })

  describe('a create of which the provider’s whole list has nothing', () => {
    const key = unique('key')
    const idempotencyKey = { key, fingerprint: 'f' }
    const lost = async (store: ReturnType<typeof shared>, owner = unique('owner')): Promise<UnresolvedCreate> => {
      const { ledger } = store
      const made = intent({ owner, provider: unique('provider'), attemptedAt: 1_000, nextCheckAt: 2_000, idempotencyKey })
      await ledger.begin(made)
      await ledger.markUnknown(made.id, 2_000)
      const [open] = await ledger.dueCreates(2_000, 10, [owner])
      return open as UnresolvedCreate
    }

    test('L28: ends as not created, and its key is free', async () => {
      const { ledger, ledgerAdmin } = shared()
      const open = await lost(shared())
      expect(await ledger.findIdempotencyKey(open.owner, key)).toMatchObject({ state: 'open' })
      expect(await ledger.markNotCreated(open, 0)).toBe(true)
      expect(await ledger.findIdempotencyKey(open.owner, key)).toBeUndefined()
      expect(await ledger.dueCreates(9_000, 10, [open.owner])).toEqual([])
      expect((await ledgerAdmin.unresolved()).map(({ intent: id }) => id)).not.toContain(open.intent)
      expect(await ledger.begin(intent({ owner: open.owner, idempotencyKey }))).toBe(true)
      expect(await ledger.markNotCreated(open, 0)).toBe(false)
    })

    test('L28: does not end before its time is over on the ledger’s own clock', async () => {
      const { ledger } = shared()
      const open = await lost(shared())
      expect(await ledger.markNotCreated(open, 60_000)).toBe(false)
      expect(await ledger.findIdempotencyKey(open.owner, key)).toMatchObject({ state: 'open' })
    })

    test('L28: does not end if another process has taken it, or it was completed', async () => {
      const { ledger } = shared()
      const [looked, completed] = [await lost(shared()), await lost(shared())]
      await ledger.scheduleNextCheck(looked, 3_000)
      await ledger.complete(completed.intent, facts('x'))
      for (const open of [looked, completed]) expect(await ledger.markNotCreated(open, 0)).toBe(false)
      expect(await ledger.find(completed.owner, completed.provider, 'x')).toBeDefined()
    })

    test('L28: a result that comes late all the same is its owner’s', async () => {
      const { ledger, ledgerAdmin } = shared()
      const [done, mismatch] = [await lost(shared()), await lost(shared())]
      for (const open of [done, mismatch]) await ledger.markNotCreated(open, 0)
      expect(await ledger.complete(done.intent, facts('x'))).toBe(true)
      expect(await ledger.find(done.owner, done.provider, 'x')).toMatchObject({ isCreated: true })
      expect(await ledger.findIdempotencyKey(done.owner, key)).toBeUndefined()
      await ledger.markMismatch(mismatch.intent, facts('y').transaction, ['coinTo'])
      expect(await ledgerAdmin.unresolved()).toContainEqual(expect.objectContaining({ intent: mismatch.intent, state: 'mismatch' }))
    })
  })
})

test('L69: with SQLite the time of a process that was killed counts up to what it wrote last', async () => {
  const site = await openSite('SQLite in a file')
  onTestFinished(site.close)
  onTestFinished(() => void vi.useRealTimers())
  const url = await site.createLedger()
  vi.useFakeTimers({ toFake: ['performance', 'Date'] })
  const killed = await openLedger(url)
  onTestFinished(killed.close)
  vi.advanceTimersByTime(50_000)
  const made = intent({ attemptedAt: 1_000, nextCheckAt: 2_000 })
  await killed.ledger.begin(made)
  await killed.ledger.markUnknown(made.id, 2_000)
  const { ledger, close } = await openLedger(url)
  onTestFinished(close)
  const [open] = await ledger.dueCreates(2_000, 10, undefined)
  expect(await ledger.markNotCreated(open as UnresolvedCreate, 10_000)).toBe(false)
  vi.advanceTimersByTime(10_000)
  expect(await ledger.markNotCreated(open as UnresolvedCreate, 10_000)).toBe(true)
})

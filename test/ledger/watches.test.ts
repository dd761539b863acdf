/** docs/contract-operators.md §18.4: what somebody watches is read by one process at a time, and no more once nobody watches it. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { facts, unique } from './samples.ts'
import { allStores, describeStores } from './stores.ts'

const minuteMs = 60_000

describeStores(allStores, (shared) => {
  const setUp = async (count: number) => {
    const { ledger, watches, ledgerAdmin } = shared()
    const [owner, provider] = [unique('owner'), unique('provider')]
    for (let at = 0; at < count; at++) await ledger.upsert(owner, provider, facts(`x${at}`))
    const take = async (max = 100) => (await watches.takeDue(provider, max)).map(({ entry }) => entry.transaction.id).toSorted()
    const counts = async () => (await ledgerAdmin.gauges()).watchedCounts.filter((each) => each.provider === provider)
    return { ledger, watches, owner, provider, take, counts }
  }

  test('of many processes one takes each', async () => {
    const { watches, owner, provider, counts } = await setUp(20)
    await watches.watchOwners([owner], minuteMs)
    await watches.findWatched()
    await watches.findWatched()
    const taken = await Promise.all(Array.from({ length: 8 }, () => watches.takeDue(provider, 20)))
    const ids = taken.flat().map(({ entry }) => entry.transaction.id)
    expect(ids).toHaveLength(20)
    expect(new Set(ids).size).toBe(20)
    expect(await counts()).toEqual([{ provider, count: 20, oldest: expect.any(Number) }])
  })

  test('those that could not be read are due again after the pause, the others after theirs', async () => {
    const { watches, owner, provider, take } = await setUp(3)
    await watches.watch(
      ['x0', 'x1', 'x2'].map((id) => ({ owner, provider, id })),
      minuteMs,
    )
    expect(await take()).toEqual(['x0', 'x1', 'x2'])
    await watches.postpone(provider, ['x1'], 0)
    expect(await take()).toEqual(['x1'])
    expect(await take()).toEqual([])
  })

  test('what a hint alone asked for is read once, and again only where it could not be read', async () => {
    const { watches, provider, take } = await setUp(2)
    await watches.hint(provider, ['x0', 'x1'])
    expect(await take()).toEqual(['x0', 'x1'])
    await watches.recordReads(provider, ['x0'])
    await watches.postpone(provider, ['x0', 'x1'], 0)
    expect(await take()).toEqual(['x1'])
  })

  test('a hint, the look for what is due and a read in one millisecond keep their order', async () => {
    const { watches, provider, take } = await setUp(1)
    for (let round = 0; round < 20; round++) {
      await watches.hint(provider, ['x0'])
      expect(await take()).toEqual(['x0'])
      await watches.postpone(provider, ['x0'], 0)
      expect(await take()).toEqual(['x0'])
      await watches.hint(provider, ['x0'])
      await watches.recordReads(provider, ['x0'])
      await watches.postpone(provider, ['x0'], 0)
      expect(await take()).toEqual(['x0'])
      await watches.recordReads(provider, ['x0'])
      await watches.postpone(provider, ['x0'], 0)
      expect(await take()).toEqual([])
    }
  })

  test('what was hinted and is watched is read again', async () => {
    const { watches, owner, provider, take } = await setUp(2)
    await watches.hint(provider, ['x0', 'x1'])
    expect(await take()).toEqual(['x0', 'x1'])
    await watches.recordReads(provider, ['x0', 'x1'])
    await watches.watch([{ owner, provider, id: 'x0' }], minuteMs)
    await watches.postpone(provider, ['x0', 'x1'], 0)
    expect(await take()).toEqual(['x0'])
    await watches.watchOwners([owner], minuteMs)
    expect(await take()).toEqual(['x1'])
  })

  test('a hint waits for five seconds behind a read, and for nothing where what was taken was not read', async () => {
    const { watches, owner, provider, take } = await setUp(2)
    await watches.watchOwners([owner], minuteMs)
    await watches.findWatched()
    expect(await take()).toEqual(['x0', 'x1'])
    await watches.recordReads(provider, ['x0'])
    await watches.recordSkipped(provider, ['x1'])
    await watches.hint(provider, ['x0', 'x1'])
    expect(await take()).toEqual(['x1'])
  })

  test('the most overdue ones come first', async () => {
    const { watches, owner, provider, take } = await setUp(3)
    await watches.watch(
      ['x0', 'x1', 'x2'].map((id) => ({ owner, provider, id })),
      minuteMs,
    )
    await watches.postpone(provider, ['x2'], -2 * minuteMs)
    await watches.postpone(provider, ['x0'], -minuteMs)
    expect([await take(1), await take(1), await take(1)]).toEqual([['x2'], ['x0'], ['x1']])
  })

  test('what nobody watches any more is dropped, also of an owner; what is watched twice stays for the longer one', async () => {
    const { watches, owner, provider, counts, take } = await setUp(2)
    await watches.watchOwners([owner], minuteMs)
    await watches.findWatched()
    await watches.watch([{ owner, provider, id: 'x1' }], minuteMs)
    await watches.watchOwners([owner], 0)
    await watches.findWatched()
    expect(await counts()).toMatchObject([{ count: 1 }])
    expect(await take()).toEqual(['x1'])
  })

  test('what was created lately is found at once, and all that an account has open when it begins, and then once a minute', async () => {
    const { ledger, watches, owner, provider, take } = await setUp(0)
    const old = (id: string) => ledger.upsert(owner, provider, facts(id, {}, { reportedAt: Date.now() - 10 * minuteMs }))
    await old('before')
    await watches.watchOwners([owner], minuteMs)
    await watches.findWatched()
    expect(await take()).toEqual(['before'])
    await old('resolved')
    await ledger.upsert(owner, provider, facts('new'))
    await watches.findWatched()
    expect(await take()).toEqual(['new'])
    const later = performance.now() + minuteMs
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => later)
    onTestFinished(() => clock.mockRestore())
    await watches.findWatched()
    expect(await take()).toEqual(['resolved'])
  })

  test('an account is watched while it has a webhook', async () => {
    const { accounts, ledger, watches, webhooks } = shared()
    const [account, provider] = [unique('account'), unique('provider')]
    await accounts.changeLimits(account, { read: 9 }, Date.now(), 'alice')
    const webhook = {
      id: unique('wh_'),
      account,
      url: 'https://hooks.example/',
      form: 'A',
      secret: 'sealed',
      createdAt: Date.now(),
    }
    const { owner = '' } = (await webhooks.add(webhook, 'alice')) ?? {}
    await ledger.upsert(owner, provider, facts('x0'))
    await watches.findWatched()
    expect((await watches.takeDue(provider, 9)).map(({ entry }) => entry.transaction.id)).toEqual(['x0'])
    await webhooks.remove(webhook.id, Date.now(), 'alice')
    await ledger.upsert(owner, provider, facts('x1'))
    await watches.findWatched()
    expect(await watches.takeDue(provider, 9)).toEqual([])
  })

  test('what has ended is not taken', async () => {
    const { ledger, watches, owner, provider, take, counts } = await setUp(2)
    await watches.watchOwners([owner], minuteMs)
    await watches.findWatched()
    const before = await ledger.find(owner, provider, 'x0')
    await ledger.upsert(owner, provider, facts('x0', { status: 'success' }), before)
    expect(await take()).toEqual(['x1'])
    expect(await counts()).toMatchObject([{ count: 1 }])
  })

  test('what has ended counts no more, also where nothing is read any more', async () => {
    const { ledger, watches, owner, provider, counts } = await setUp(2)
    await watches.watchOwners([owner], minuteMs)
    await watches.findWatched()
    for (const id of ['x0', 'x1']) {
      const before = await ledger.find(owner, provider, id)
      await ledger.upsert(owner, provider, facts(id, { status: 'success' }), before)
    }
    expect(await counts()).toEqual([])
  })

  test('a transaction of another owner, or none, is not watched', async () => {
    const { watches, provider, take } = await setUp(1)
    await watches.watch([{ owner: 'another', provider, id: 'x0' }], minuteMs)
    await watches.watch([{ owner: 'another', provider, id: 'none' }], minuteMs)
    expect(await take()).toEqual([])
  })
})

/** Transactions in the ledger: their owners, and which reported facts are kept (docs/contract.md §3, §5). */
import { expect, test } from 'vitest'
import { progress } from '../../src/domain/status.ts'
import { always, amount, depositOf, facts, intent, unique, upsert } from './samples.ts'
import { allStores, describeStores } from './stores.ts'

const page = { page: 1, size: 10, created: always }

describeStores(allStores, (shared) => {
  const names = () => ({ owner: unique('owner'), provider: unique('provider') })

  test('a new transaction belongs to its owner, and was not created here', async () => {
    const { ledger } = shared()
    const { owner, provider } = names()
    const reported = facts('x', {}, { derived: ['fee'], fetchedAt: 4, changedAt: 3 })
    const entry = { ...reported, owner, provider, isCreated: false }
    expect(await ledger.upsert(owner, provider, reported)).toStrictEqual(entry)
    expect(await ledger.find(owner, provider, 'x')).toStrictEqual(entry)
    expect(await ledger.list(owner, page)).toStrictEqual({ entries: [entry], total: 1 })
  })

  test('W23: since when a transaction is missing is kept, until a report without it', async () => {
    const { ledger } = shared()
    const { owner, provider } = names()
    const missing = facts('x', {}, { missingSince: 5, missingAt: 6 })
    const entry = await ledger.upsert(owner, provider, missing)
    expect(entry).toStrictEqual({ ...missing, owner, provider, isCreated: false })
    expect(await ledger.find(owner, provider, 'x')).toStrictEqual(entry)
    expect(await ledger.upsert(owner, provider, facts('x'), entry)).not.toHaveProperty('missingSince')
  })

  test('W22: the transactions of an owner at all providers but one, newest first', async () => {
    const { ledger } = shared()
    const { owner, provider } = names()
    const others = [unique('a'), unique('z')]
    const created = (at: number) => ({ createdAt: new Date(at).toISOString() })
    await ledger.upsert(owner, provider, facts('x'))
    await ledger.upsert(unique('stranger'), others[0] ?? '', facts('y'))
    expect((await ledger.listElsewhere(owner, provider, 9)).entries).toEqual([])
    await ledger.upsert(owner, others[0] ?? '', facts('old', created(1_000)))
    await ledger.upsert(owner, others[1] ?? '', facts('new', created(2_000)))
    await ledger.begin(intent({ owner, provider: others[0] ?? '' }))
    const ids = async (max: number) =>
      (await ledger.listElsewhere(owner, provider, max)).entries.map(({ transaction }) => transaction.id)
    expect(await ids(9)).toEqual(['new', 'old'])
    expect(await ids(1)).toEqual(['new'])
  })

  test('a newer observation replaces the older one, also fields that are no longer reported', async () => {
    const { ledger } = shared()
    const { owner, provider } = names()
    await ledger.upsert(owner, provider, facts('x', {}, { quotedAmountOut: amount('1'), fetchedAt: 4 }))
    const newer = facts('x', { status: 'sending', depositAddress: undefined, txHashIn: 'h' }, { changedAt: 9 })
    const kept = await upsert(ledger, owner, provider, newer)
    expect(kept).toEqual({ ...newer, owner, provider, isCreated: false })
    expect(kept).not.toHaveProperty('promised')
    expect(kept).not.toHaveProperty('readAt')
    expect(await ledger.list(owner, page)).toStrictEqual({ entries: [kept], total: 1 })
  })

  test('X7: no owner reads or takes what is another’s', async () => {
    const { ledger } = shared()
    const { owner, provider } = names()
    const entry = await ledger.upsert(owner, provider, facts('x'))
    const otherOwner = unique('stranger')
    expect(await ledger.upsert(otherOwner, provider, facts('x', { status: 'success' }))).toBeUndefined()
    expect(await ledger.find(otherOwner, provider, 'x')).toBeUndefined()
    expect(await ledger.findAll(otherOwner, provider, ['x'])).toEqual([])
    expect(await ledger.list(otherOwner, page)).toEqual({ entries: [], total: 0 })
    expect(await ledger.knownOwners([otherOwner, owner])).toEqual(new Set([owner]))
    expect(await ledger.find(owner, provider, 'x')).toStrictEqual(entry)
    expect(await ledger.upsert(otherOwner, unique('provider'), facts('x'))).toBeDefined()
  })

  test.each(['success', 'refunded'] as const)('L19: %s stays, for any later report', async (end) => {
    const { ledger } = shared()
    const { owner, provider } = names()
    await ledger.upsert(owner, provider, facts('x', { status: end }, { changedAt: 5 }))
    const others = [...progress, 'overdue', 'refunded', undefined] as const
    for (const status of others.filter((other) => other !== end)) {
      const kept = await upsert(
        ledger,
        owner,
        provider,
        facts('x', { status, txHashOut: `${status}` }, { changedAt: 6, reportedAt: 7 }),
      )
      expect(kept?.transaction).toMatchObject({ status: end, txHashOut: `${status}` })
      expect([kept?.reportedAt, kept?.changedAt]).toEqual([7, 5])
    }
    expect((await ledger.find(owner, provider, 'x'))?.transaction.status).toBe(end)
  })

  test('L19: an open status may become any other, and an unmapped word leaves it unchanged', async () => {
    const { ledger } = shared()
    const { owner, provider } = names()
    for (const status of ['sending', 'wait', 'overdue', 'confirmation'] as const) {
      expect((await upsert(ledger, owner, provider, facts('x', { status })))?.transaction.status).toBe(status)
    }
    expect((await upsert(ledger, owner, provider, facts('x', { status: undefined })))?.transaction.status).toBe('confirmation')
    expect((await ledger.upsert(owner, provider, facts('y', { status: undefined })))?.transaction).not.toHaveProperty('status')
  })

  test('L19: a final status is not lost if many record the transaction at once', async () => {
    const { ledger } = shared()
    const { owner, provider } = names()
    const reports = Array.from({ length: 30 }, (_, n) => facts('x', { status: n === 10 ? 'success' : 'wait' }, { sequence: n }))
    await Promise.all(reports.map((each) => upsert(ledger, owner, provider, each)))
    const { entries, total } = await ledger.list(owner, page)
    expect([total, entries.length, entries[0]?.transaction.status]).toEqual([1, 1, 'success'])
  })

  test('L39: if the stored state differs from the one that the facts are based on, it stays and is returned', async () => {
    const { ledger } = shared()
    const { owner, provider } = names()
    const first = await ledger.upsert(owner, provider, facts('x', {}, { sequence: 1 }))
    const second = await ledger.upsert(owner, provider, facts('x', { status: 'sending' }, { sequence: 2 }), first)
    expect(second).toMatchObject({ sequence: 2, transaction: { status: 'sending' } })
    for (const stale of [first, undefined]) {
      const kept = await ledger.upsert(owner, provider, facts('x', { status: 'exchanging' }, { sequence: 3 }), stale)
      expect(kept).toStrictEqual(second)
    }
    expect(await ledger.find(owner, provider, 'x')).toStrictEqual(second)
    expect(await ledger.upsert(owner, provider, facts('y', {}, { sequence: 3 }), first)).toMatchObject({ sequence: 3 })
  })

  test('L39: a response that was read before the create was recorded does not replace its facts', async () => {
    const { ledger } = shared()
    const { owner, provider } = names()
    const created = intent({ owner, provider })
    await ledger.begin(created)
    const reported = await ledger.upsert(owner, provider, facts('x', { depositAddress: undefined }, { sequence: 5 }))
    await ledger.complete(created.id, facts('x', {}, { quotedAmountOut: amount('2'), sequence: 4 }))
    const late = facts('x', { status: 'sending', depositAddress: undefined }, { sequence: 6 })
    const kept = await ledger.upsert(owner, provider, late, reported)
    expect(kept).toMatchObject({
      isCreated: true,
      quotedAmountOut: '2',
      sequence: 5,
      transaction: { depositAddress: depositOf('x') },
    })
  })

  test('of many owners that record a new transaction at once, one has it', async () => {
    const { ledger } = shared()
    const { provider } = names()
    const owners = Array.from({ length: 10 }, () => unique('owner'))
    const reported = await Promise.all(owners.map((owner) => ledger.upsert(owner, provider, facts('x'))))
    expect(reported.filter(Boolean)).toHaveLength(1)
    const totals = await Promise.all(owners.map(async (owner) => (await ledger.list(owner, page)).total))
    expect(totals).toEqual(reported.map((entry) => (entry ? 1 : 0)))
  })

  test('the ids of creates are returned, of every owner, and ids that were only listed are not', async () => {
    const { ledger } = shared()
    const { owner, provider } = names()
    const [done, mismatch, open] = [intent({ owner, provider }), intent({ provider }), intent({ owner, provider })]
    for (const made of [done, mismatch, open]) await ledger.begin(made)
    await ledger.complete(done.id, facts('x'))
    await ledger.markMismatch(mismatch.id, facts('y').transaction, ['coinTo'])
    await ledger.upsert(owner, provider, facts('z'))
    await ledger.upsert(owner, provider, facts('x'))
    expect(await ledger.existingIds(provider, ['x', 'y', 'z', 'other'])).toEqual(new Set(['x', 'y']))
    expect(await ledger.existingIds(unique('provider'), ['x'])).toEqual(new Set())
    expect(await ledger.existingIds(provider, [])).toEqual(new Set())
    expect(await ledger.findAll(owner, provider, [])).toEqual([])
  })

  test('ids differ by every character', async () => {
    const { ledger } = shared()
    const { owner, provider } = names()
    const ids = ['x', 'X', 'x ', 'é', 'e\u0301', "x'", 'x%', '1', '01', '1.0', '漢', '𝒳', 'x'.repeat(256)]
    await Promise.all(ids.map((id) => ledger.upsert(owner, provider, facts(id))))
    const found = await ledger.findAll(owner, provider, ids)
    expect(found.map(({ transaction }) => transaction.id).sort()).toEqual(ids.toSorted())
    expect((await ledger.list(owner, { ...page, size: 50 })).total).toBe(ids.length)
  })

  test('an owner is known by any of its rows', async () => {
    const { ledger } = shared()
    const [creator, reader, mistaken] = [unique('owner'), unique('owner'), unique('owner')]
    await ledger.begin(intent({ owner: creator }))
    await ledger.upsert(reader, unique('provider'), facts('x'))
    const mismatch = intent({ owner: mistaken })
    await ledger.begin(mismatch)
    await ledger.markMismatch(mismatch.id, facts(unique('x')).transaction, ['coinTo'])
    const owners = [creator, reader, mistaken]
    expect(await ledger.knownOwners([...owners, unique('owner')])).toEqual(new Set(owners))
    expect(await ledger.knownOwners([unique('owner')])).toEqual(new Set())
  })
})

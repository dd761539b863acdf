/** A create in the ledger, from before it goes up until its outcome is known (`spec/contract.md` §10). */
import { expect, test } from 'vitest'
import type { Facts, Intent, Ledger } from '../../src/core/ledger.ts'
import { always, amount, asked, facts, intent, unique } from './samples.ts'
import { allStores, describeStores } from './stores.ts'

async function begun(ledger: Ledger, fields: Partial<Intent> = {}): Promise<Intent> {
  const made = intent({ owner: unique('owner'), provider: unique('provider'), ...fields })
  expect(await ledger.begin(made)).toBe(true)
  return made
}

async function settled(ledger: Ledger, id: string, fields: Partial<Intent> = {}, told: Facts = facts(id)): Promise<Intent> {
  const made = await begun(ledger, fields)
  expect(await ledger.settle(made.id, told)).toBe(true)
  return made
}

const page = { page: 1, size: 10, created: always }

describeStores(allStores, (shared) => {
  test('what came of a create is its owner’s, fact for fact', async () => {
    const { ledger } = shared()
    const created = await begun(ledger)
    expect(await ledger.find(created.owner, created.provider, 'x')).toBeUndefined()
    const told = facts('x', { amountOut: amount('1e-8') }, { derived: ['rate'], promised: amount('2.50'), readAt: 5, changedAt: 6 })
    expect(await ledger.settle(created.id, told)).toBe(true)
    const entry = { ...told, owner: created.owner, provider: created.provider, isCreated: true }
    const found = await ledger.find(created.owner, created.provider, 'x')
    expect(found).toStrictEqual(entry)
    expect(await ledger.findAll(created.owner, created.provider, ['x', 'y'])).toStrictEqual([entry])
    expect(await ledger.list(created.owner, page)).toStrictEqual({ entries: [entry], total: 1 })
  })

  test('fields that are not known are not there when it is read', async () => {
    const { ledger } = shared()
    const told: Facts = {
      transaction: { id: 'x', amountIn: amount('1'), createdAt: '', status: undefined },
      derived: [],
      seenAt: 1,
    }
    const { owner, provider } = await settled(ledger, 'x', {}, { ...told, promised: undefined, readAt: undefined })
    const entry = await ledger.find(owner, provider, 'x')
    expect(Object.keys(entry ?? {}).sort()).toEqual(['derived', 'isCreated', 'owner', 'provider', 'seenAt', 'transaction'])
    expect(Object.keys(entry?.transaction ?? {}).sort()).toEqual(['amountIn', 'createdAt', 'id'])
  })

  test('texts of every sort come back as they went in', async () => {
    const { ledger } = shared()
    const odd = `"'\\%_ é漢𝒳 \u2028 \ud800 \u0000 ${'z'.repeat(5_000)}`
    const told = facts('x', { withdrawalAddress: odd, depositExtraId: odd })
    const { owner, provider } = await settled(ledger, 'x', { asked: { ...asked, withdrawalAddress: odd } }, told)
    expect((await ledger.find(owner, provider, 'x'))?.transaction).toStrictEqual(told.transaction)
  })

  test('a create that was refused leaves nothing, its claim neither', async () => {
    const { ledger } = shared()
    const claim = { key: 'key', fingerprint: 'f' }
    const { id, owner, provider } = await begun(ledger, { claim })
    await ledger.drop(id)
    expect(await ledger.claimed(owner, 'key')).toBeUndefined()
    expect(await ledger.knows(owner)).toBe(false)
    expect(await ledger.openBetween(provider, 0, Date.now())).toEqual([])
    expect(await ledger.begin(intent({ owner, provider, claim }))).toBe(true)
  })

  test('a create whose outcome is known is not dropped or doubted any more', async () => {
    const { ledger } = shared()
    const { id, owner, provider } = await settled(ledger, 'x')
    await ledger.drop(id)
    await ledger.doubt(id, 1)
    expect(await ledger.find(owner, provider, 'x')).toBeDefined()
    expect(await ledger.openBetween(provider, 0, Date.now())).toEqual([])
  })

  test('a result that comes after doubt is taken', async () => {
    const { ledger } = shared()
    const { id, owner, provider } = await begun(ledger)
    await ledger.doubt(id, 5)
    expect(await ledger.settle(id, facts('x'))).toBe(true)
    expect(await ledger.find(owner, provider, 'x')).toBeDefined()
    expect(await ledger.openBetween(provider, 0, Date.now())).toEqual([])
    expect(await ledger.waitingOwners()).not.toContain(owner)
  })

  test('a result that is told twice is kept once', async () => {
    const { ledger } = shared()
    const { id, owner, provider } = await settled(ledger, 'x')
    expect(await ledger.settle(id, facts('x', { status: 'sending' }))).toBe(true)
    expect((await ledger.find(owner, provider, 'x'))?.transaction.status).toBe('wait')
    expect(await ledger.list(owner, page)).toMatchObject({ total: 1 })
    await expect(ledger.settle(id, facts('another'))).rejects.toThrow('another id')
  })

  test('a result that many tell at once is kept once', async () => {
    const { ledger, bookkeeping } = shared()
    const { id, owner, provider } = await begun(ledger)
    const told = [...Array.from({ length: 6 }, () => ledger.settle(id, facts('x'))), bookkeeping.bind(id, 'x', 5)]
    expect((await Promise.all(told)).filter((answer) => answer === false)).toEqual([])
    expect(await ledger.list(owner, page)).toMatchObject({ total: 1 })
    expect(await ledger.find(owner, provider, 'x')).toBeDefined()
  })

  test('where an answer contradicts the question while another settles it, one of both counts', async () => {
    const { ledger } = shared()
    for (let n = 0; n < 5; n++) {
      const { id, owner, provider } = await begun(ledger)
      const [settled, contradicted] = await Promise.allSettled([
        ledger.settle(id, facts('x')),
        ledger.contradict(id, facts('x').transaction, ['coinTo']),
      ])
      const isEntry = (await ledger.find(owner, provider, 'x')) !== undefined
      expect(settled).toEqual({ status: 'fulfilled', value: isEntry })
      expect(contradicted.status).toBe(isEntry ? 'rejected' : 'fulfilled')
      expect(await ledger.list(owner, page)).toMatchObject({ total: isEntry ? 1 : 0 })
    }
  })

  test('a create that is not there can not be settled', async () => {
    const { ledger } = shared()
    await expect(ledger.settle('no such create', facts('x'))).rejects.toThrow('no create')
    await expect(ledger.contradict('no such create', facts('x').transaction, ['id'])).rejects.toThrow('no create')
  })

  test('L16: an id that the ledger gave to another client makes a mismatch, and the old owner keeps it', async () => {
    const { ledger } = shared()
    const { owner, provider } = await settled(ledger, 'x')
    const before = await ledger.find(owner, provider, 'x')
    const second = await begun(ledger, { provider, claim: { key: 'key', fingerprint: 'f' } })
    expect(await ledger.settle(second.id, facts('x', { depositAddress: 'other' }))).toBe(false)
    expect(await ledger.settle(second.id, facts('x'))).toBe(false)
    expect(await ledger.find(owner, provider, 'x')).toStrictEqual(before)
    expect(await ledger.find(second.owner, provider, 'x')).toBeUndefined()
    expect(await ledger.list(second.owner, page)).toEqual({ entries: [], total: 0 })
    expect(await ledger.claimed(second.owner, 'key')).toEqual({ fingerprint: 'f', state: 'mismatch', provider })
  })

  test('L16: of many clients who are told one id at once, one has it', async () => {
    const { ledger } = shared()
    const provider = unique('provider')
    const creates = await Promise.all(Array.from({ length: 8 }, () => begun(ledger, { provider })))
    const won = await Promise.all(creates.map(({ id }) => ledger.settle(id, facts('x'))))
    expect(won.filter(Boolean)).toHaveLength(1)
    const found = await Promise.all(creates.map(({ owner }) => ledger.find(owner, provider, 'x')))
    expect(found.map((entry) => entry !== undefined)).toEqual(won)
  })

  test('an id that its owner was told twice is one entry, with the newer facts', async () => {
    const { ledger } = shared()
    const { owner, provider } = await settled(
      ledger,
      'x',
      { claim: { key: 'one', fingerprint: '1' } },
      facts('x', {}, { seenAt: 1 }),
    )
    const claim = { key: 'two', fingerprint: '2' }
    await settled(ledger, 'x', { owner, provider, claim }, facts('x', { status: 'sending' }, { seenAt: 2 }))
    const { entries, total } = await ledger.list(owner, page)
    expect([total, entries.length, entries[0]?.transaction.status, entries[0]?.seenAt]).toEqual([1, 1, 'sending', 2])
    const claims = await Promise.all(['one', 'two'].map((key) => ledger.claimed(owner, key)))
    expect(claims).toMatchObject([
      { state: 'done', entry: entries[0], first: { seenAt: 1 } },
      { state: 'done', entry: entries[0], first: { seenAt: 2 } },
    ])
  })

  test('what its owner saw before its result came is the same entry, and counts as created', async () => {
    const { ledger } = shared()
    const created = await begun(ledger, { claim: { key: 'key', fingerprint: 'f' } })
    const { owner, provider } = created
    expect(await ledger.see(owner, provider, facts('x', { status: 'success' }, { changedAt: 7 }))).toMatchObject({
      isCreated: false,
    })
    const told = facts('x', { status: 'wait', depositAddress: 'newer' })
    expect(await ledger.settle(created.id, told)).toBe(true)
    expect(await ledger.settle(created.id, told)).toBe(true)
    const { entries, total } = await ledger.list(owner, page)
    expect(total).toBe(1)
    expect(entries).toMatchObject([{ isCreated: true, changedAt: 7, transaction: { status: 'success', depositAddress: 'newer' } }])
    expect(await ledger.claimed(owner, 'key')).toStrictEqual({ fingerprint: 'f', state: 'done', entry: entries[0], first: told })
  })

  test('M6: an answer that contradicts the question is kept as a mismatch, and nobody finds it', async () => {
    const { ledger } = shared()
    const { id, owner, provider } = await begun(ledger, { claim: { key: 'key', fingerprint: 'f' } })
    await ledger.doubt(id, 5)
    await ledger.contradict(id, facts('x').transaction, ['coinTo'])
    expect(await ledger.find(owner, provider, 'x')).toBeUndefined()
    expect(await ledger.findAll(owner, provider, ['x'])).toEqual([])
    expect(await ledger.list(owner, page)).toEqual({ entries: [], total: 0 })
    expect(await ledger.claimed(owner, 'key')).toEqual({ fingerprint: 'f', state: 'mismatch', provider })
    expect(await ledger.held(provider, ['x', 'y'])).toEqual(new Set(['x']))
    expect(await ledger.see(owner, provider, facts('x'))).toBeUndefined()
    expect(await ledger.settle(id, facts('x'))).toBe(false)
    expect(await ledger.waitingOwners()).not.toContain(owner)
  })

  test('M6: nobody is given the id of a mismatch', async () => {
    const { ledger } = shared()
    const { id, owner, provider } = await begun(ledger)
    await ledger.contradict(id, facts('x').transaction, ['coinTo'])
    const another = await begun(ledger, { provider })
    const again = await begun(ledger, { provider, owner })
    expect(await ledger.settle(another.id, facts('x'))).toBe(false)
    expect(await ledger.settle(again.id, facts('x'))).toBe(false)
  })

  test('a contradicting answer does not take an id from whoever holds it', async () => {
    const { ledger } = shared()
    const { owner, provider } = await settled(ledger, 'x')
    const second = await begun(ledger, { provider })
    await ledger.contradict(second.id, facts('x').transaction, ['coinTo'])
    expect(await ledger.find(owner, provider, 'x')).toBeDefined()
    const done = await settled(ledger, 'y', { provider })
    await expect(ledger.contradict(done.id, facts('y').transaction, ['coinTo'])).rejects.toThrow('no create')
  })
})

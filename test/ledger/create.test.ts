/** A create in the ledger, from before it is sent until its outcome is known (docs/contract.md §10). */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { mayGetDeposit } from '../../src/core/open-deposits.ts'
import type { DepositClaim, Intent, Ledger, TransactionRecord, UnresolvedCreate } from '../../src/core/ports/ledger.ts'
import { paymentAddressKey } from '../../src/domain/address/same-address.ts'
import { DepositInUse } from '../../src/domain/fault.ts'
import type { OpenLedger } from '../../src/ledger/index.ts'
import { query } from './raw.ts'
import { always, amount, depositOf, facts, intent, requested, unique, upsert } from './samples.ts'
import { allStores, describeStores, durableStores } from './stores.ts'

async function begun(ledger: Ledger, fields: Partial<Intent> = {}): Promise<Intent> {
  const made = intent({ owner: unique('owner'), provider: unique('provider'), ...fields })
  expect(await ledger.begin(made)).toBe(true)
  return made
}

async function completed(
  ledger: Ledger,
  id: string,
  fields: Partial<Intent> = {},
  reported: TransactionRecord = facts(id),
): Promise<Intent> {
  const made = await begun(ledger, fields)
  expect(await ledger.complete(made.id, reported)).toBe(true)
  return made
}

const page = { page: 1, size: 10, created: always }

describeStores(allStores, (shared) => {
  test('what came of a create is its owner’s, fact for fact', async () => {
    const { ledger } = shared()
    const created = await begun(ledger)
    expect(await ledger.find(created.owner, created.provider, 'x')).toBeUndefined()
    const reported = facts(
      'x',
      { amountOut: amount('1e-8') },
      { derived: ['rate'], quotedAmountOut: amount('2.50'), fetchedAt: 5, changedAt: 6 },
    )
    expect(await ledger.complete(created.id, reported)).toBe(true)
    const entry = { ...reported, owner: created.owner, provider: created.provider, isCreated: true }
    const found = await ledger.find(created.owner, created.provider, 'x')
    expect(found).toStrictEqual(entry)
    expect(await ledger.findAll(created.owner, created.provider, ['x', 'y'])).toStrictEqual([entry])
    expect(await ledger.list(created.owner, page)).toStrictEqual({ entries: [entry], total: 1 })
  })

  test('fields that are not known are not there when it is read', async () => {
    const { ledger } = shared()
    const reported: TransactionRecord = {
      transaction: { id: 'x', amountIn: amount('1'), createdAt: '', status: undefined },
      derived: [],
      reportedAt: 1,
    }
    const { owner, provider } = await completed(ledger, 'x', {}, { ...reported, quotedAmountOut: undefined, fetchedAt: undefined })
    const entry = await ledger.find(owner, provider, 'x')
    expect(Object.keys(entry ?? {}).sort()).toEqual(['derived', 'isCreated', 'owner', 'provider', 'reportedAt', 'transaction'])
    expect(Object.keys(entry?.transaction ?? {}).sort()).toEqual(['amountIn', 'createdAt', 'id'])
  })

  test('texts of every sort come back as they went in', async () => {
    const { ledger } = shared()
    const odd = `"'\\%_ é漢𝒳 \u2028 \ud800 \u0000 ${'z'.repeat(5_000)}`
    const reported = facts('x', { withdrawalAddress: odd, depositExtraId: odd })
    const { owner, provider } = await completed(ledger, 'x', { requested: { ...requested, withdrawalAddress: odd } }, reported)
    expect((await ledger.find(owner, provider, 'x'))?.transaction).toStrictEqual(reported.transaction)
  })

  test('a create that was refused leaves nothing, its key neither', async () => {
    const { ledger } = shared()
    const idempotencyKey = { key: 'key', fingerprint: 'f' }
    const { id, owner, provider } = await begun(ledger, { idempotencyKey })
    await ledger.drop(id)
    expect(await ledger.findIdempotencyKey(owner, 'key')).toBeUndefined()
    expect(await ledger.knownOwners([owner])).toEqual(new Set())
    expect(await ledger.unresolvedBetween(provider, 0, Date.now())).toEqual([])
    expect(await ledger.begin(intent({ owner, provider, idempotencyKey }))).toBe(true)
  })

  test('a create of known outcome is neither dropped nor marked unknown', async () => {
    const { ledger } = shared()
    const { id, owner, provider } = await completed(ledger, 'x')
    await ledger.drop(id)
    await ledger.markUnknown(id, 1)
    expect(await ledger.find(owner, provider, 'x')).toBeDefined()
    expect(await ledger.unresolvedBetween(provider, 0, Date.now())).toEqual([])
  })

  test('a result that comes after doubt is taken', async () => {
    const { ledger } = shared()
    const { id, owner, provider } = await begun(ledger)
    await ledger.markUnknown(id, 5)
    expect(await ledger.complete(id, facts('x'))).toBe(true)
    expect(await ledger.find(owner, provider, 'x')).toBeDefined()
    expect(await ledger.unresolvedBetween(provider, 0, Date.now())).toEqual([])
    expect(await ledger.ownersOfUnresolved()).not.toContain(owner)
  })

  test('a result that is recorded twice is stored once', async () => {
    const { ledger } = shared()
    const { id, owner, provider } = await completed(ledger, 'x')
    expect(await ledger.complete(id, facts('x', { status: 'sending' }))).toBe(true)
    expect((await ledger.find(owner, provider, 'x'))?.transaction.status).toBe('wait')
    expect(await ledger.list(owner, page)).toMatchObject({ total: 1 })
    await expect(ledger.complete(id, facts('another'))).rejects.toThrow('another id')
  })

  test('L28: a late result is its owner’s, though the create is bound to another transaction, or was resolved by hand', async () => {
    const { ledger, ledgerAdmin } = shared()
    const [bound, none] = [await begun(ledger), await begun(ledger)]
    await ledger.bindFound(bound.id, facts('x'))
    await expect(ledger.complete(bound.id, facts('late'))).rejects.toThrow('another id')
    await expect(ledger.complete(bound.id, facts('late'))).rejects.toThrow('another id')
    expect(await ledger.find(bound.owner, bound.provider, 'late')).toMatchObject({ isCreated: false })
    expect(await ledger.list(bound.owner, page)).toMatchObject({ total: 2 })
    expect(await ledgerAdmin.markNotCreated(none.id, 'tester')).toBe(true)
    expect(await ledgerAdmin.markNotCreated(none.id, 'tester')).toBe(false)
    expect(await ledger.complete(none.id, facts('later'))).toBe(true)
    expect(await ledger.find(none.owner, none.provider, 'later')).toMatchObject({ isCreated: true })
  })

  test('a result that many record at once is stored once', async () => {
    const { ledger, ledgerAdmin } = shared()
    const { id, owner, provider } = await begun(ledger)
    const reported = [
      ...Array.from({ length: 6 }, () => ledger.complete(id, facts('x'))),
      ledgerAdmin.bind(id, 'x', 5, undefined, 'tester'),
    ]
    expect((await Promise.all(reported)).filter((response) => response === false)).toEqual([])
    expect(await ledger.list(owner, page)).toMatchObject({ total: 1 })
    expect(await ledger.find(owner, provider, 'x')).toBeDefined()
  })

  test('if a response contradicts the request while another completes it, one of both counts', async () => {
    const { ledger } = shared()
    for (let n = 0; n < 5; n++) {
      const { id, owner, provider } = await begun(ledger)
      const [completed, contradicted] = await Promise.allSettled([
        ledger.complete(id, facts(`x${n}`)),
        ledger.markMismatch(id, facts(`x${n}`).transaction, ['coinTo']),
      ])
      const isEntry = (await ledger.find(owner, provider, `x${n}`)) !== undefined
      expect(completed).toEqual({ status: 'fulfilled', value: isEntry })
      expect(contradicted.status).toBe(isEntry ? 'rejected' : 'fulfilled')
      expect(await ledger.list(owner, page)).toMatchObject({ total: isEntry ? 1 : 0 })
    }
  })

  test('a create that is not there cannot be completed', async () => {
    const { ledger } = shared()
    await expect(ledger.complete('no such create', facts('x'))).rejects.toThrow('no create')
    await expect(ledger.markMismatch('no such create', facts('x').transaction, ['id'])).rejects.toThrow('no create')
  })

  test('L16: an id that the ledger gave to another client makes a mismatch, and the old owner keeps it', async () => {
    const { ledger } = shared()
    const { owner, provider } = await completed(ledger, 'x')
    const before = await ledger.find(owner, provider, 'x')
    const second = await begun(ledger, { provider, idempotencyKey: { key: 'key', fingerprint: 'f' } })
    expect(await ledger.complete(second.id, facts('x', { depositAddress: 'other' }))).toBe(false)
    expect(await ledger.complete(second.id, facts('x'))).toBe(false)
    expect(await ledger.find(owner, provider, 'x')).toStrictEqual(before)
    expect(await ledger.find(second.owner, provider, 'x')).toBeUndefined()
    expect(await ledger.list(second.owner, page)).toEqual({ entries: [], total: 0 })
    expect(await ledger.findIdempotencyKey(second.owner, 'key')).toMatchObject({ fingerprint: 'f', state: 'mismatch', provider })
  })

  test('L16: of many clients that get one id at once, one has it', async () => {
    const { ledger } = shared()
    const provider = unique('provider')
    const creates = await Promise.all(Array.from({ length: 8 }, () => begun(ledger, { provider })))
    const won = await Promise.all(creates.map(({ id }) => ledger.complete(id, facts('x'))))
    expect(won.filter(Boolean)).toHaveLength(1)
    const found = await Promise.all(creates.map(({ owner }) => ledger.find(owner, provider, 'x')))
    expect(found.map((entry) => entry !== undefined)).toEqual(won)
  })

  test('L36: an id that the ledger gave to another create of the same client makes a mismatch, and the first stays', async () => {
    const { ledger } = shared()
    const { owner, provider } = await completed(
      ledger,
      'x',
      { idempotencyKey: { key: 'one', fingerprint: '1' } },
      facts('x', { status: 'success' }),
    )
    const before = await ledger.find(owner, provider, 'x')
    const second = await begun(ledger, { owner, provider, idempotencyKey: { key: 'two', fingerprint: '2' } })
    expect(await ledger.complete(second.id, facts('x', { depositAddress: 'other', status: 'wait' }))).toBe(false)
    expect(await ledger.complete(second.id, facts('x'))).toBe(false)
    expect(await ledger.list(owner, page)).toStrictEqual({ entries: [before], total: 1 })
    expect(await ledger.findIdempotencyKey(owner, 'one')).toMatchObject({ state: 'done', entry: before })
    expect(await ledger.findIdempotencyKey(owner, 'two')).toMatchObject({ fingerprint: '2', state: 'mismatch', provider })
  })

  test('L36: of many creates of one client that get one id at once, one has it', async () => {
    const { ledger } = shared()
    const [owner, provider] = [unique('owner'), unique('provider')]
    const creates = await Promise.all(Array.from({ length: 8 }, () => begun(ledger, { owner, provider })))
    const won = await Promise.all(creates.map(({ id }) => ledger.complete(id, facts('x'))))
    expect(won.filter(Boolean)).toHaveLength(1)
    expect(await ledger.list(owner, page)).toMatchObject({ total: 1 })
  })

  test('L36: an id that was found in a list is not bound if another create has it, and the create stays unknown', async () => {
    const { ledger } = shared()
    const { owner, provider } = await completed(ledger, 'x')
    const before = await ledger.find(owner, provider, 'x')
    for (const [by, own] of [
      [owner, 'y'],
      [unique('owner'), 'z'],
    ] as const) {
      const lost = await begun(ledger, { owner: by, provider, idempotencyKey: { key: 'key', fingerprint: 'f' } })
      await ledger.markUnknown(lost.id, 5)
      expect(await ledger.bindFound(lost.id, facts('x', { depositAddress: 'other' }))).toBe(false)
      expect(await ledger.findIdempotencyKey(by, 'key')).toMatchObject({ fingerprint: 'f', state: 'open', provider })
      expect(await ledger.bindFound(lost.id, facts(own))).toBe(true)
      expect(await ledger.bindFound(lost.id, facts(own))).toBe(true)
      expect(await ledger.bindFound(lost.id, facts('x'))).toBe(false)
      expect(await ledger.findIdempotencyKey(by, 'key')).toMatchObject({ state: 'done', entry: { transaction: { id: own } } })
    }
    expect(await ledger.find(owner, provider, 'x')).toStrictEqual(before)
  })

  test.each(['its owner', 'another key'])(
    'L37: what %s saw before its result came is its creator’s, and counts as created',
    async (who) => {
      const { ledger } = shared()
      const created = await begun(ledger, { idempotencyKey: { key: 'key', fingerprint: 'f' } })
      const { owner, provider } = created
      const reader = who === 'its owner' ? owner : unique('owner')
      const listed = facts('x', { status: 'success', depositAddress: undefined }, { changedAt: 7, sequence: 12 })
      expect(await ledger.upsert(reader, provider, listed)).toMatchObject({ isCreated: false })
      const newer = depositOf('newer')
      const reported = facts('x', { status: 'wait', depositAddress: newer }, { sequence: 11 })
      expect(await ledger.complete(created.id, reported)).toBe(true)
      expect(await ledger.complete(created.id, reported)).toBe(true)
      const { entries, total } = await ledger.list(owner, page)
      expect(total).toBe(1)
      const transaction = { status: 'success', depositAddress: newer }
      expect(entries).toMatchObject([{ isCreated: true, changedAt: 7, sequence: 12, transaction }])
      expect(await ledger.findIdempotencyKey(owner, 'key')).toMatchObject({
        fingerprint: 'f',
        state: 'done',
        entry: entries[0],
        first: reported,
      })
      if (reader === owner) return
      expect(await ledger.find(reader, provider, 'x')).toBeUndefined()
      expect(await ledger.list(reader, page)).toMatchObject({ total: 0 })
      expect(
        await ledger.upsert(reader, provider, listed, { ...listed, owner: reader, provider, isCreated: false }),
      ).toBeUndefined()
    },
  )

  test.each([
    ['coin', { coinTo: 'ETH' }],
    ['network', { networkTo: 'ETH' }],
    ['deposit address', { depositAddress: 'bc1q-other' }],
    ['deposit memo', { depositExtraId: '2' }],
    ['withdrawal address', { withdrawalAddress: 'TOther' }],
    ['withdrawal memo, which was not requested', { withdrawalExtraId: '77' }],
  ])('L40: the status of a row with other facts that was recorded before the result is not the create’s (%s)', async (_, other) => {
    const { ledger } = shared()
    const terms = { coinTo: 'USDT', networkTo: 'TRX', depositExtraId: '1', withdrawalAddress: 'TMade' }
    for (const finish of ['complete', 'bindFound'] as const) {
      for (const [facts1, status] of [
        [other, 'wait'],
        [{}, 'success'],
      ] as const) {
        const agreed = { ...terms, depositAddress: unique('bc1q-made') }
        const seen = { ...agreed, ...facts1 }
        const result = facts('x', { status: 'wait', ...agreed }, { sequence: 11 })
        const { id, owner, provider } = await begun(ledger, { provider: unique('provider') })
        await ledger.upsert(unique('owner'), provider, facts('x', { ...seen, status: 'success' }, { sequence: 12 }))
        expect(await ledger[finish](id, result)).toBe(true)
        expect(await ledger.find(owner, provider, 'x')).toMatchObject({ isCreated: true, transaction: { status, ...agreed } })
      }
    }
  })

  test('L37: a transaction that was recorded after its create was sent, and unchanged, is its creator’s too', async () => {
    const { ledger } = shared()
    const created = await begun(ledger)
    await ledger.upsert(unique('owner'), created.provider, facts('x', {}, { sequence: 10 }))
    expect(await ledger.complete(created.id, facts('x', {}, { sequence: 11 }))).toBe(true)
  })

  test.each([
    ['has gone on', { status: 'exchanging' }],
    ['has ended', { status: 'success' }],
    ['has another address to pay to', { depositAddress: 'older' }],
  ] as const)(
    'L36: a transaction that was recorded before the create was sent, and %s, is not what the create made',
    async (_, known) => {
      const { ledger } = shared()
      for (const who of ['same', 'another']) {
        const second = await begun(ledger, { idempotencyKey: { key: 'key', fingerprint: 'f' } })
        const reader = who === 'same' ? second.owner : unique('owner')
        const before = await ledger.upsert(reader, second.provider, facts('x', known, { sequence: 10 }))
        expect(await ledger.complete(second.id, facts('x', { depositAddress: 'newer' }, { sequence: 11 }))).toBe(false)
        expect(await ledger.find(reader, second.provider, 'x')).toStrictEqual(before)
        expect(await ledger.findIdempotencyKey(second.owner, 'key')).toMatchObject({ state: 'mismatch' })
      }
    },
  )

  test('M6: a response that contradicts the request is stored as a mismatch, and no client finds it', async () => {
    const { ledger } = shared()
    const { id, owner, provider } = await begun(ledger, { idempotencyKey: { key: 'key', fingerprint: 'f' } })
    await ledger.markUnknown(id, 5)
    await ledger.markMismatch(id, facts('x').transaction, ['coinTo'])
    expect(await ledger.find(owner, provider, 'x')).toBeUndefined()
    expect(await ledger.findAll(owner, provider, ['x'])).toEqual([])
    expect(await ledger.list(owner, page)).toEqual({ entries: [], total: 0 })
    expect(await ledger.findIdempotencyKey(owner, 'key')).toMatchObject({ fingerprint: 'f', state: 'mismatch', provider })
    expect(await ledger.existingIds(provider, ['x', 'y'])).toEqual(new Set(['x']))
    expect(await ledger.upsert(owner, provider, facts('x'))).toBeUndefined()
    expect(await ledger.complete(id, facts('x'))).toBe(false)
    expect(await ledger.ownersOfUnresolved()).not.toContain(owner)
  })

  test('M6: no client gets the id of a mismatch', async () => {
    const { ledger } = shared()
    const { id, owner, provider } = await begun(ledger)
    await ledger.markMismatch(id, facts('x').transaction, ['coinTo'])
    const another = await begun(ledger, { provider })
    const again = await begun(ledger, { provider, owner })
    expect(await ledger.complete(another.id, facts('x'))).toBe(false)
    expect(await ledger.complete(again.id, facts('x'))).toBe(false)
  })

  test('a contradicting response does not take an id from its owner', async () => {
    const { ledger } = shared()
    const { owner, provider } = await completed(ledger, 'x')
    const second = await begun(ledger, { provider })
    await ledger.markMismatch(second.id, facts('x').transaction, ['coinTo'])
    expect(await ledger.find(owner, provider, 'x')).toBeDefined()
    const done = await completed(ledger, 'y', { provider })
    await expect(ledger.markMismatch(done.id, facts('y').transaction, ['coinTo'])).rejects.toThrow('no create')
  })

  test('the ids of mismatches are known, for any owner', async () => {
    const { ledger } = shared()
    const { id, provider } = await begun(ledger)
    await completed(ledger, 'done', { provider })
    await ledger.markMismatch(id, facts('x').transaction, ['coinTo'])
    expect(await ledger.mismatchedIds(provider, ['x', 'done', 'y'])).toEqual(new Set(['x']))
    expect(await ledger.mismatchedIds(unique('provider'), ['x'])).toEqual(new Set())
  })

  test('a mismatch takes the place of a row that its client listed meanwhile, but not of one that has progressed', async () => {
    const { ledger } = shared()
    const { id, owner, provider } = await begun(ledger)
    const other = await begun(ledger, { owner, provider })
    await ledger.upsert(owner, provider, facts('x', { status: 'wait' }))
    await ledger.upsert(owner, provider, facts('y', { status: 'exchanging' }))
    await ledger.markMismatch(id, facts('x').transaction, ['coinTo'])
    await ledger.markMismatch(other.id, facts('y').transaction, ['coinTo'])
    expect(await ledger.mismatchedIds(provider, ['x', 'y'])).toEqual(new Set(['x']))
    expect((await ledger.list(owner, page)).entries.map(({ transaction }) => transaction.id)).toEqual(['y'])
  })

  test('a create has its deposit address with its memo, in any spelling, and what was only observed has none', async () => {
    const { ledger } = shared()
    const address = `0x${'0123456789abcdef'.repeat(2)}${crypto.randomUUID().slice(0, 8)}`
    const at = { depositAddress: address, depositExtraId: '7' }
    await upsert(ledger, unique('owner'), unique('provider'), facts('seen', at))
    const { owner, provider } = await completed(ledger, 'x', {}, facts('x', at))
    await completed(ledger, 'w', {}, facts('w', { ...at, depositExtraId: '8' }))
    const holderAt = (extraId: string) =>
      ledger.depositHolder(paymentAddressKey({ address: address.toUpperCase().replace('0X', '0x'), extraId }))
    expect(await holderAt('7')).toMatchObject({ entry: { owner, provider, transaction: { id: 'x' } } })
    expect(await holderAt('8')).toMatchObject({ entry: { transaction: { id: 'w' } } })
    expect(await holderAt('9')).toBeUndefined()
  })

  describe('the deposit address of a swap that waits', () => {
    /** The next create of an owner that has some, so that PostgreSQL gets it together with others, and how each way in stores its result. */
    async function taken() {
      const { ledger, ledgerAdmin } = shared()
      const at = { depositAddress: unique('r'), depositExtraId: '7' }
      const first = await completed(ledger, 'first', {}, facts('first', at))
      const owner = unique('owner')
      await completed(ledger, 'warm', { owner })
      const create = await begun(ledger, { owner })
      return { ledger, ledgerAdmin, at, first, owner, create }
    }
    const ways = {
      'a response': (ledger, _, { id }, record, claim) => ledger.complete(id, record, [], claim),
      'a search': (ledger, _, { id }, record, claim) => ledger.bindFound(id, record, claim),
      'a person who binds': (_, admin, { id }, record, claim) =>
        admin.bind(id, record.transaction.id, Date.now(), record, 'ops', undefined, claim),
      'a person who accepts': async (ledger, admin, { id }, record, claim) => {
        if (!claim?.givenUpBy && !claim?.isShared) await ledger.markMismatch(id, record.transaction, ['amountOut'])
        return admin.accept(id, Date.now(), 'ops', undefined, claim)
      },
    } as const satisfies Record<
      string,
      (
        ledger: OpenLedger['ledger'],
        admin: OpenLedger['ledgerAdmin'],
        create: Intent,
        record: TransactionRecord,
        claim?: DepositClaim,
      ) => Promise<unknown>
    >

    test.each(Object.entries(ways))('is no other create’s by %s, until its holder has given it up', async (_, store) => {
      const { ledger, ledgerAdmin, at, first, owner, create } = await taken()
      const id = unique('second')
      const storing = (claim?: DepositClaim) => store(ledger, ledgerAdmin, create, facts(id, at), claim)
      await expect(storing()).rejects.toThrow(DepositInUse)
      expect(await ledger.find(owner, create.provider, id)).toBeUndefined()
      await expect(storing({ givenUpBy: { provider: first.provider, id: 'another' } })).rejects.toThrow(DepositInUse)
      await storing({ givenUpBy: { provider: first.provider, id: 'first' } })
      expect(await ledger.find(owner, create.provider, id)).toMatchObject({ transaction: at })
      const key = paymentAddressKey({ address: at.depositAddress, extraId: '7' })
      expect(await ledger.depositHolder(key)).toMatchObject({ entry: { owner, transaction: { id } } })
    })

    test('stays its own where another result is stored all the same', async () => {
      const { ledger, at, first, owner, create } = await taken()
      expect(await ledger.complete(create.id, facts('second', at), [], { isShared: true })).toBe(true)
      expect(await ledger.find(owner, create.provider, 'second')).toMatchObject({ transaction: at })
      const key = paymentAddressKey({ address: at.depositAddress, extraId: '7' })
      expect(await ledger.depositHolder(key)).toMatchObject({ entry: { owner: first.owner } })
    })

    test('is not given up because a machine says that it is a month later', async () => {
      const { ledger, at } = await taken()
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30 * 86_400_000 })
      onTestFinished(() => void vi.useRealTimers())
      const holder = await ledger.depositHolder(paymentAddressKey({ address: at.depositAddress, extraId: '7' }))
      expect(holder && mayGetDeposit(holder)).toBe(true)
    })

    test('with another memo is free', async () => {
      const { ledger, at, create } = await taken()
      expect(await ledger.complete(create.id, facts('second', { ...at, depositExtraId: '8' }))).toBe(true)
    })

    test('is that of one of several results that are stored at the same time, and of the others it is that error alone', async () => {
      const { ledger } = shared()
      const owner = unique('owner')
      await completed(ledger, 'warm', { owner })
      const at = { depositAddress: unique('r'), depositExtraId: '7' }
      const creates = await Promise.all([1, 2, 3, 4, 5].map(() => begun(ledger, { owner })))
      const results = await Promise.allSettled(
        creates.map(({ id }, n) => ledger.complete(id, facts(unique('x'), n < 3 ? at : { depositAddress: unique('r') }))),
      )
      const outcomes = results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.constructor))
      expect(outcomes.slice(0, 3).toSorted((a, b) => Number(a === true) - Number(b === true))).toEqual([
        DepositInUse,
        DepositInUse,
        true,
      ])
      expect(outcomes.slice(3)).toEqual([true, true])
    })

    test('is free once its swap was pruned', async () => {
      const { ledger, ledgerAdmin } = shared()
      const at = { depositAddress: unique('r') }
      const long = Date.now() - 40 * 86_400_000
      const record = facts(unique('old'), { ...at, status: 'success' }, { reportedAt: long })
      await completed(ledger, record.transaction.id, { attemptedAt: long }, record)
      await ledgerAdmin.prune(Date.now() - 30 * 86_400_000, 'ops')
      const key = paymentAddressKey({ address: at.depositAddress, extraId: undefined })
      expect(await ledger.depositHolder(key)).toBeUndefined()
    })

    test('is no second swap’s of its own create either', async () => {
      const { ledger, at, owner, create } = await taken()
      await ledger.complete(create.id, facts('bound'))
      await expect(ledger.complete(create.id, facts(unique('other'), at))).rejects.toThrow()
      const { entries } = await ledger.list(owner, page)
      expect(entries.filter(({ transaction }) => transaction.depositAddress === at.depositAddress)).toEqual([])
    })
  })

  test('what is withheld for a create of unknown outcome may not be paid, until that is resolved', async () => {
    const { ledger, ledgerAdmin } = shared()
    const { id, provider } = await begun(ledger)
    await ledger.markUnknown(id, 0)
    const found = (await ledger.dueCreates(Date.now(), 1_000, undefined)).find(({ intent }) => intent === id)
    await ledger.scheduleNextCheck(found as UnresolvedCreate, undefined, ['x', 'y'], ['x'])
    expect(await ledger.mismatchedIds(provider, ['x', 'y'])).toEqual(new Set(['x']))
    await ledgerAdmin.markNotCreated(id, 'ops')
    expect(await ledger.mismatchedIds(provider, ['x', 'y'])).toEqual(new Set())
  })

  test('so does what a refused create may have made', async () => {
    const { ledger, ledgerAdmin } = shared()
    const { id, provider } = await begun(ledger)
    await ledger.drop(id, 0)
    const refused = (await ledger.dueRefusedCreates(Date.now(), 1_000, undefined)).find(({ intent }) => intent === id)
    await ledger.keepCandidates(refused as UnresolvedCreate, ['x', 'y'], ['x'])
    expect(await ledger.mismatchedIds(provider, ['x', 'y'])).toEqual(new Set(['x']))
    await ledgerAdmin.markNotCreated(id, 'ops')
    expect(await ledger.mismatchedIds(provider, ['x', 'y'])).toEqual(new Set())
  })

  test('what its owner had read before it was withheld is contradicted, and no report changes that meanwhile', async () => {
    const { ledger, ledgerAdmin } = shared()
    const { id, provider, owner } = await begun(ledger)
    const [x, y] = [facts('x'), facts('y')]
    const read = await ledger.upsert(owner, provider, x)
    await ledger.markUnknown(id, 0)
    const found = (await ledger.dueCreates(Date.now(), 1_000, undefined)).find(({ intent }) => intent === id)
    await ledger.scheduleNextCheck(found as UnresolvedCreate, undefined, ['x', 'y'], ['x', 'y'])
    const withheld = await ledger.find(owner, provider, 'x')
    expect(withheld).toMatchObject({ doubt: 'contradicted', transaction: x.transaction })
    const later = { ...x, sequence: 9 }
    for (const before of [read, withheld]) expect(await ledger.upsert(owner, provider, later, before)).toEqual(withheld)
    expect(await ledger.upsert(owner, provider, y)).toBeUndefined()
    await ledgerAdmin.markNotCreated(id, 'ops')
    expect((await ledger.upsert(owner, provider, later, withheld))?.doubt).toBeUndefined()
    expect(await ledger.upsert(owner, provider, y)).toMatchObject({ transaction: y.transaction })
  })

  test('a mismatch that its owner had read before goes on with its numbers once a person accepts it', async () => {
    const { ledger, ledgerAdmin, events } = shared()
    const { id, provider, owner } = await begun(ledger)
    const x = facts('x', { depositAddress: 'bc1q-x' })
    const read = await ledger.upsert(owner, provider, x)
    const later = { ...x, sequence: 9, transaction: { ...x.transaction, supportUrl: 'https://one.test/x' } }
    await ledger.upsert(owner, provider, later, read)
    const numbers = async () => (await events.ofTransaction(owner, provider, 'x', 0, 10)).map((each) => each.transactionNumber)
    expect(await numbers()).toEqual([1, 2])
    await ledger.markMismatch(id, x.transaction, ['withdrawalAddress'])
    expect(await ledgerAdmin.accept(id, Date.now(), 'ops')).toBe('accepted')
    expect(await numbers()).toEqual([3])
  })

  test('the quote that binds a create is kept with it, that of its own in the place of the one before', async () => {
    const { ledger, ledgerAdmin } = shared()
    const quote = { source: 'winner', amountIn: amount('1'), amountOut: amount('2'), until: 5 } as const
    const own = { source: 'own', amountIn: amount('1'), amountOut: amount('3') } as const
    const one = await begun(ledger, { quote })
    const other = await begun(ledger, { quote, isQuoting: true })
    await ledger.markQuoted(other.id, own)
    const none = await begun(ledger)
    for (const { id } of [one, other, none]) await ledger.markUnknown(id, 0)
    const due = await ledger.dueCreates(Date.now(), 1_000, undefined)
    const quoteOf = (id: string) => due.find(({ intent }) => intent === id)?.quote
    expect([one, other, none].map(({ id }) => quoteOf(id))).toEqual([quote, own, undefined])
    expect((await ledgerAdmin.findUnresolved(other.id))?.quote).toEqual(own)
    // A refusal that may not be the provider's own: what is found then is judged by it, too.
    await ledger.drop(one.id, 0)
    expect((await ledger.dueRefusedCreates(Date.now(), 1_000, undefined)).find(({ intent }) => intent === one.id)?.quote).toEqual(
      quote,
    )
  })
})

describeStores(durableStores, (shared) => {
  test('a swap that a version without the table of deposit addresses has made keeps its own until it gives it up', async () => {
    const { ledger, url } = await shared().openNew()
    const at = { depositAddress: unique('r'), depositExtraId: '7' }
    const attemptedAt = Date.now() - 60_000
    const first = await completed(ledger, 'first', { attemptedAt }, facts('first', at))
    await query(url, 'DELETE FROM open_deposits')
    const owner = unique('owner')
    await completed(ledger, 'warm', { owner })
    const [one, another] = [await begun(ledger, { owner }), await begun(ledger, { owner })]
    const key = paymentAddressKey({ address: at.depositAddress, extraId: '7' })
    expect(await ledger.depositHolder(key)).toMatchObject({ entry: { owner: first.owner }, takenAt: attemptedAt })
    await expect(ledger.complete(one.id, facts('second', at))).rejects.toThrow(DepositInUse)
    await expect(ledger.bindFound(one.id, facts('second', at))).rejects.toThrow(DepositInUse)
    const givenUpBy = { provider: first.provider, id: 'first' }
    expect(await ledger.complete(one.id, facts('second', at), [], { givenUpBy })).toBe(true)
    await expect(ledger.complete(another.id, facts('third', at), [], { givenUpBy })).rejects.toThrow(DepositInUse)
    expect(await ledger.depositHolder(key)).toMatchObject({ entry: { owner, transaction: { id: 'second' } } })
  })
})

/**
 * docs/contract-operators.md §8, §12: when a managed client's transactions are read again, and what is served while their provider
 * fails.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { transactionA } from '../support/form-a.ts'
import { depositOfB } from '../support/form-b.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { formNames } from '../support/pair.ts'
import { swap } from '../support/swaps.ts'

let managed: Managed
let key: string

const start = async (refreshAfter: number, routing = ['alpha']): Promise<void> => {
  managed = await startManaged({
    routing,
    sections: { auth: { mode: 'managed' }, routing: { providers: routing }, ledger: { refreshAfter } },
  })
  key = await managed.issue()
}
const create = async (form: 'A' | 'B' = 'A', facts: object = {}): Promise<string> =>
  ((await managed.client(form).post('/transactions', orderIn(form, facts), { key })).json as { id: string }).id
const get = (id: string, form: 'A' | 'B' = 'A'): Promise<ReceivedResponse> =>
  managed.client(form).get(`/transactions/${id}`, { key })
const list = (form: 'A' | 'B' = 'A'): Promise<ReceivedResponse> => managed.client(form).get('/transactions', { key })
/** What the provider reports from now on. */
const advance = (facts: object): void => {
  managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((known) => ({ ...known, ...facts }))
}

afterEach(() => managed.close())

describe('what was read is fresh for ledger.refreshAfter', () => {
  beforeEach(() => start(600))

  test('two pollers cost one upstream call', async () => {
    const id = await create()
    await get(id)
    await get(id, 'B')
    await get(id)
    expect(managed.alpha.received('get')).toHaveLength(1)
  })

  test('a list does not read again what a get has just read', async () => {
    await get(await create())
    expect((await list()).json).toMatchObject({ data: [{ status: 'wait' }] })
    expect(managed.alpha.received('get')).toHaveLength(1)
  })
})

describe('L43: a wall clock that is set', () => {
  afterEach(() => void vi.useRealTimers())
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }))
  const setClock = (by: number): void => void vi.setSystemTime(Date.now() + by)

  test.each([-3_600_000, -86_400_000, 3_600_000])('by %i ms makes nothing fresh, and no age negative', async (jump) => {
    await start(0.2)
    const id = await create()
    await get(id)
    vi.advanceTimersByTime(250)
    setClock(jump)
    advance({ status: 'exchanging' })
    expect((await get(id)).json).toMatchObject({ status: 'exchanging' })
    vi.advanceTimersByTime(250)
    managed.alpha.reply('get', { reset: true })
    const stale = Number((await get(id)).headers['x-swap-stale'])
    expect(stale).toBeGreaterThanOrEqual(0)
    expect(stale).toBeLessThanOrEqual(2)
  })

  test('back for a new process: what was read in its future is read again, and orders nothing', async () => {
    await start(600)
    const id = await create()
    const [entry] = await Array.fromAsync(managed.gateway.ledgerAdmin.export())
    if (!entry) throw new Error('nothing is in the ledger')
    const ahead = Date.now() + 3_600_000
    const read = { ...entry, reportedAt: ahead, fetchedAt: ahead, sequence: ahead * 1_000 }
    await managed.gateway.ledger.upsert(entry.owner, 'alpha', read, entry)
    for (const status of ['exchanging', 'success']) {
      advance({ status })
      const response = await get(id)
      expect(response.json).toMatchObject({ status })
      if (status === 'success') break
      const [kept] = await Array.fromAsync(managed.gateway.ledgerAdmin.export())
      if (!kept) throw new Error('nothing is in the ledger')
      await managed.gateway.ledger.upsert(
        entry.owner,
        'alpha',
        { ...kept, reportedAt: ahead, fetchedAt: ahead, sequence: ahead * 2_000 },
        kept,
      )
    }
    expect(managed.alpha.received('get')).toHaveLength(2)
  })
})

describe('what is not fresh', () => {
  beforeEach(() => start(0))

  test('is read once for all concurrent requests, in either form', async () => {
    const id = await create()
    const now = transactionA(swap({ status: 'exchanging' }))
    /** The provider answers once all have come. */
    const answered = async (reply: object, ...forms: readonly ('A' | 'B')[]): Promise<readonly ReceivedResponse[]> => {
      const all = Promise.withResolvers<void>()
      managed.alpha.reply('get', { ...reply, after: all.promise })
      const responses = forms.map((form) => get(id, form))
      await sendRequest(managed.gateway.url, { path: '/nowhere' })
      all.resolve()
      return await Promise.all(responses)
    }
    const responses = await answered({ json: now }, 'A', 'B', 'A', 'B')
    for (const { json } of responses) expect(json).toMatchObject({ id, status: 'exchanging' })
    expect(managed.alpha.received('get')).toHaveLength(1)
    for (const { headers } of await answered({ status: 500, json: {} }, 'A', 'B')) expect(headers).toHaveProperty('x-swap-stale')
    // One reading, and its one retry.
    expect(managed.alpha.received('get')).toHaveLength(3)
  })

  test('is read again by a get and by a list', async () => {
    const id = await create()
    advance({ status: 'exchanging' })
    expect((await get(id)).json).toMatchObject({ status: 'exchanging' })
    advance({ status: 'sending' })
    expect((await list()).json).toMatchObject({ data: [{ id, status: 'sending' }] })
  })

  test('L19: a final status that another process recorded meanwhile is returned', async () => {
    const id = await create()
    const [requested, recorded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    managed.alpha.reply('get', () => {
      requested.resolve()
      return { json: transactionA(swap({ status: 'exchanging' })), after: recorded.promise }
    })
    const reading = get(id)
    await requested.promise
    const [entry] = await Array.fromAsync(managed.gateway.ledgerAdmin.export())
    if (!entry) throw new Error('nothing is in the ledger')
    const ended = { ...entry, transaction: { ...entry.transaction, status: 'success' as const } }
    await managed.gateway.ledger.upsert(entry.owner, 'alpha', ended, entry)
    recorded.resolve()
    expect((await reading).json).toMatchObject({ status: 'success' })
  })

  test.each(['success', 'refunded'])('L19: is never read again if it is final (%s), and does not go back', async (status) => {
    const id = await create()
    advance({ status })
    expect((await get(id)).json).toMatchObject({ status })
    managed.alpha.reset()
    advance({ status: 'wait' })
    expect((await get(id)).json).toMatchObject({ status })
    expect((await list()).json).toMatchObject({ data: [{ status }] })
    expect(managed.alpha.journal).toEqual([])
  })

  test('L19: an unmapped word leaves the last status', async () => {
    const id = await create()
    advance({ status: 'exchanging' })
    await get(id)
    advance({ status: 'frozen' })
    expect((await get(id)).json).toMatchObject({ status: 'exchanging' })
    expect((await list()).json).toMatchObject({ data: [{ status: 'exchanging' }] })
  })

  describe.each<[string, object]>([
    ['breaks off', { reset: true }],
    ['returns 500', { status: 500, json: {} }],
    ['returns nonsense', { text: '<html>' }],
    ['returns about another transaction', { json: transactionA(swap({ id: 'other' })) }],
    ['takes no more', { status: 429, json: { message: 'no', code: 429 } }],
  ])('U25: while the provider %s', (_, reply) => {
    test('the last known state is returned, with its age', async () => {
      const id = await create()
      advance({ status: 'exchanging' })
      const before = await get(id)
      managed.alpha.reply('get', reply)
      const after = await get(id)
      expect(after.status).toBe(200)
      expect(after.text).toBe(before.text)
      expect(after.headers['x-swap-stale']).toMatch(/^\d$/)
      expect(after.headers['x-swap-provider']).toBe('alpha')
      expect(before.headers).not.toHaveProperty('x-swap-stale')
      expect((await list()).json).toMatchObject({ data: [{ status: 'exchanging' }] })
      const kept = await Array.fromAsync(managed.gateway.ledgerAdmin.export())
      expect(kept.map(({ transaction }) => transaction.id)).not.toContain('other')
    })
  })

  test('a provider that refuses our own key with 401 is 502, though something is known', async () => {
    const id = await create()
    managed.alpha.reply('get', { status: 401, json: { error: 'Unauthorized', message: 'no', code: 401 } })
    const response = await get(id)
    expect(response.status).toBe(502)
    expect(response.headers).not.toHaveProperty('x-swap-stale')
  })

  test.each([
    ['its 403', { status: 403, json: { error: 'Forbidden', message: 'no', code: 403 } }],
    ['the 403 of a firewall', { status: 403, headers: { 'content-type': 'text/html' }, text: '<html>no</html>' }],
  ])('H53: %s to a get is a failure like others: the last known state is returned, with its age', async (_, reply) => {
    const id = await create()
    managed.alpha.reply('get', reply)
    const response = await get(id)
    expect(response.status).toBe(200)
    expect(response.headers).toHaveProperty('x-swap-stale')
    expect(response.json).toMatchObject({ id, status: 'wait' })
  })

  test('W23: a transaction that the provider does not find is the last known state, with its age, for its owner', async () => {
    const id = await create()
    managed.alpha.holdings.swaps = []
    const response = await get(id)
    expect(response.json).toMatchObject({ id, status: 'wait' })
    expect(response.headers).toHaveProperty('x-swap-stale')
    expect((await list()).headers).toHaveProperty('x-swap-stale')
    key = await managed.issue()
    expect((await get(id)).status).toBe(404)
  })
})

describe.each(formNames)('a Form B provider and a client of form %s', (form) => {
  beforeEach(() => start(0, ['beta']))

  test('a list item has the fields of the create, before anything was read', async () => {
    const id = await create(form, { refundAddress: 'bc1q-refund-1' })
    managed.beta.reply('get', { reset: true })
    const { json } = await list(form)
    expect(json).toMatchObject({
      data: [
        form === 'A'
          ? {
              id,
              coinTo: 'USDTTRC20',
              depositAddress: depositOfB('tx-1'),
              refundAddress: 'bc1q-refund-1',
              withdrawalAddress: 'TWithdraw1',
            }
          : { id, coin_to: 'USDT' },
      ],
    })
  })

  test('the expected amount stands in Form A until there is a better one, and never as received in Form B', async () => {
    const id = await create(form)
    managed.beta.reply('get', { reset: true })
    const { json } = await get(id, form)
    if (form === 'A') expect(json).toMatchObject({ amountTo: expect.anything() })
    else expect(json).not.toHaveProperty('amount_out')
  })

  test('updatedAt is when the change was recorded', async () => {
    const id = await create('A')
    expect((await get(id)).json).toMatchObject({ updatedAt: '2026-03-01T10:00:00.000Z' })
    managed.beta.holdings.swaps = managed.beta.holdings.swaps.map((known) => ({ ...known, status: 'exchanging' }))
    const before = Date.now()
    const { updatedAt } = (await get(id)).json as { updatedAt: string }
    expect(Date.parse(updatedAt)).toBeGreaterThanOrEqual(before)
    expect((await get(id)).json).toMatchObject({ updatedAt })
  })
})

// Takes long: it waits for the whole time that a list may take.
/** docs/contract-operators.md §12: an account's list out of the ledger, over all providers, and what of it is read again. */
import { afterEach, describe, expect, test } from 'vitest'
import type { Transaction } from '../../src/domain/swap.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { transactionA } from '../support/form-a.ts'
import { digits } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { type FormName, formNames, pairWords } from '../support/pair.ts'
import type { Received } from '../support/stand-in.ts'
import { assets, swap } from '../support/swaps.ts'

let managed: Managed
let key: string
afterEach(() => managed.close())

const start = async (refreshAfter = 0): Promise<void> => {
  const routing = { providers: ['alpha', 'beta'] }
  managed = await startManaged({
    providers: { alpha: { assets: { ETH: null } } },
    sections: { auth: { mode: 'managed' }, routing, ledger: { refreshAfter } },
  })
  key = await managed.issue()
}
const create = async (facts: object = {}): Promise<string> =>
  ((await managed.client('A').post('/transactions', orderIn('A', facts), { key })).json as { id: string }).id
/** Of a pair that only beta offers. */
const createAtBeta = (): Promise<string> => create(pairWords('A', assets.eth, assets.usdtTrx))
const list = (form: FormName, query = ''): Promise<ReceivedResponse> => managed.client(form).get(`/transactions${query}`, { key })
const idsOf = ({ json }: ReceivedResponse): readonly string[] =>
  (json as { data: readonly { id: string }[] }).data.map(({ id }) => id)

describe.each(formNames)('form %s', (form) => {
  test('all providers are in one list, newest first, in pages with one total', async () => {
    await start()
    const ids: string[] = []
    for (const make of [create, createAtBeta, create, createAtBeta, create]) ids.unshift(await make())
    expect(new Set(ids.map((id) => id.split('~')[0]))).toEqual(new Set(['alpha', 'beta']))
    expect(idsOf(await list(form))).toEqual(ids)
    const pages = await Promise.all([1, 2, 3, 4].map((page) => list(form, `?page=${page}&size=2`)))
    expect(pages.map(idsOf)).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4), []])
    for (const { json, status } of pages) {
      expect(status).toBe(200)
      expect(json).toMatchObject(form === 'A' ? { pagination: { total: digits('5') } } : { count: digits('5') })
    }
  })

  test('X-Swap-Provider names the one provider that they are of, and none if there are two', async () => {
    await start()
    await create()
    expect((await list(form)).headers['x-swap-provider']).toBe('alpha')
    await createAtBeta()
    expect((await list(form)).headers).not.toHaveProperty('x-swap-provider')
    expect((await list(form, '?page=1&size=1')).headers['x-swap-provider']).toBe('beta')
    expect((await list(form, '?page=9')).headers).not.toHaveProperty('x-swap-provider')
  })
})

test('derived fields are named', async () => {
  await start()
  await createAtBeta()
  expect((await list('A')).headers['x-swap-derived']).toBe('updatedAt')
})

test('dates cut it, both ends inclusive, and the total with it', async () => {
  await start(600)
  await create()
  const [{ owner } = { owner: '' }] = await Array.fromAsync(managed.gateway.ledgerAdmin.export())
  const made = ['2026-03-01T00:00:00Z', '2026-03-02T00:00:00.000Z', '2026-03-02T23:59:59.999Z', '2026-03-03T00:00:00Z']
  for (const [at, createdAt] of made.entries())
    await managed.gateway.ledger.upsert(owner, 'alpha', {
      transaction: { id: `dated-${at}`, status: 'wait', coinFrom: 'BTC', coinTo: 'USDT', amountIn: '1', createdAt } as Transaction,
      derived: [],
      reportedAt: Date.now(),
      fetchedAt: Date.now(),
    })
  const [first, second, third, fourth] = [0, 1, 2, 3].map((at) => `alpha~dated-${at}`)
  const between = async (query: string): Promise<readonly string[]> => {
    const response = await list('B', `?${query}`)
    expect(response.json).toMatchObject({ count: digits(String(idsOf(response).length)) })
    return idsOf(response)
  }
  expect(await between('dateFrom=2026-03-02&dateTo=2026-03-02')).toEqual([third, second])
  expect(await between('dateFrom=2026-03-02T00:00:00Z&dateTo=2026-04-01')).toEqual([fourth, third, second])
  expect(await between('dateTo=2026-03-02T01:00:00%2B01:00')).toEqual([second, first])
  expect(await between('dateFrom=2026-03-02T23:59:59.999Z&dateTo=2026-03-03T00:00:00Z')).toEqual([fourth, third])
})

describe('rows that are not final are read again first', () => {
  const many = 20
  const details = ({ path }: Received) => {
    const held = managed.alpha.holdings.swaps.find(({ id }) => path === `/transactions/${id}`)
    return swap({ ...held, status: 'exchanging' })
  }

  test('at most 8 at a time', async () => {
    await start()
    for (let at = 0; at < many; at++) await create()
    let [now, most] = [0, 0]
    managed.alpha.reply('get', (received) => {
      most = Math.max(most, ++now)
      setTimeout(() => now--, 300)
      return { json: transactionA(details(received)), delay: 300 }
    })
    const { json } = await list('A')
    expect((json as { data: readonly { status: string }[] }).data.map(({ status }) => status)).toEqual(
      Array.from({ length: many }, () => 'exchanging'),
    )
    expect(most).toBe(8)
  })

  test('in 2 s in all; what cannot be read by then is as last recorded', async () => {
    await start()
    for (let at = 0; at < many; at++) await create()
    managed.alpha.reply('get', (received) => ({ json: transactionA(details(received)), delay: 1_200 }))
    const before = performance.now()
    const { status, json } = await list('A')
    expect(performance.now() - before).toBeLessThan(5_000)
    expect(status).toBe(200)
    const statuses = (json as { data: readonly { status: string }[] }).data.map((row) => row.status)
    // Eight are read at a time, and the second eight would end after 2.4 s.
    expect(statuses).toEqual([...Array.from({ length: 8 }, () => 'exchanging'), ...Array.from({ length: many - 8 }, () => 'wait')])
  })

  test('not if they are final or fresh', async () => {
    await start(600)
    const ids = [await create(), await create(), await create()]
    managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((known, at) => ({
      ...known,
      status: ['success', 'refunded', 'overdue'][at] ?? 'wait',
    }))
    for (const id of ids) await managed.client('A').get(`/transactions/${id}`, { key })
    managed.alpha.reset()
    expect(idsOf(await list('B'))).toHaveLength(3)
    expect(managed.alpha.journal).toEqual([])
  })
})

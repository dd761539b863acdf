/** docs/contract.md §5, docs/contract-operators.md §12, managed: the owner of a transaction, and which key goes where. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { transactionA } from '../support/form-a.ts'
import { digits } from '../support/json.ts'
import { type Managed, orderIn, ownKeys, startManaged } from '../support/managed.ts'
import { type FormName, formNames } from '../support/pair.ts'
import { swap } from '../support/swaps.ts'

let managed: Managed
let mine: string
let theirs: string

beforeAll(async () => {
  managed = await startManaged({ routing: ['alpha', 'beta'] })
})
beforeEach(async () => {
  managed.alpha.reset()
  managed.beta.reset()
  mine = await managed.issue()
  theirs = await managed.issue()
})
afterAll(() => managed.close())

const idOf = ({ json }: ReceivedResponse): string => (json as { id: string }).id

/** What may differ from one response to the next. */
function comparable({ status, text, headers }: ReceivedResponse): object {
  const { 'x-request-id': _, date: __, ratelimit: ___, ...rest } = headers
  return { status, text, headers: rest }
}

describe.each(formNames)('form %s', (form) => {
  const create = (key: string, facts: object = {}) => managed.client(form).post('/transactions', orderIn(form, facts), { key })
  const get = (id: string, key: string) => managed.client(form).get(`/transactions/${id}`, { key })
  const list = (key: string, query = '') => managed.client(form).get(`/transactions${query}`, { key })

  test("A1: another account's id is one that does not exist, without an upstream call", async () => {
    const id = idOf(await create(mine))
    managed.alpha.reset()
    const foreign = await get(id, theirs)
    expect(foreign.status).toBe(404)
    expect(comparable(foreign)).toEqual(comparable(await get('alpha~no-such-id', theirs)))
    expect(comparable(foreign)).toEqual(comparable(await get('unknown~no-such-id', theirs)))
    expect(managed.alpha.journal).toEqual([])
  })

  test("A2: a list has one account's transactions, newest first, and its total counts no others", async () => {
    const first = idOf(await create(mine))
    await create(theirs)
    const second = idOf(await create(mine))
    const { json } = await list(mine)
    expect((json as { data: readonly { id: string }[] }).data.map(({ id }) => id)).toEqual([second, first])
    expect(json).toMatchObject(form === 'A' ? { pagination: { total: digits('2') } } : { count: digits('2') })
  })

  test('A3: what a provider holds for others is never passed through', async () => {
    managed.alpha.holdings.swaps = [...managed.alpha.holdings.swaps, swap({ id: `unknown-${form}` })]
    expect((await list(mine)).json).toMatchObject({ data: [] })
    expect((await get(`alpha~unknown-${form}`, mine)).status).toBe(404)
    expect(managed.alpha.journal).toEqual([])
  })

  test.each([
    'page=0',
    'page=-1',
    'size=101',
    'size=0',
    'page=1&page=2',
    'page[]=1',
    ...(form === 'B' ? ['dateFrom=2026-02-01&dateTo=2026-01-01', 'dateFrom=yesterday'] : []),
  ])('A4: %s is refused', async (query) => {
    expect((await list(mine, `?${query}`)).status).toBe(400)
  })

  test('A4: a page far beyond the end is empty', async () => {
    await create(mine)
    const { status, json } = await list(mine, '?page=1000000000&size=100')
    expect(status).toBe(200)
    expect(json).toMatchObject({ data: [], ...(form === 'A' ? { pagination: { total: digits('1') } } : { count: digits('1') }) })
  })

  test('A6: an id is read at the provider of its tag, and at no other', async () => {
    managed.alpha.reply('create', { status: 201, json: transactionA(swap({ id: `twin-${form}` })) })
    const id = idOf(await create(mine, { refundAddress: 'bc1q-refund-1' }))
    managed.alpha.holdings.swaps = [...managed.alpha.holdings.swaps, swap({ id: `twin-${form}` })]
    managed.beta.holdings.swaps = [swap({ id: `twin-${form}` })]
    expect(id).toBe(`alpha~twin-${form}`)
    expect((await get(id, mine)).json).toMatchObject({ id })
    expect((await get(`beta~twin-${form}`, mine)).status).toBe(404)
    expect(managed.beta.journal).toEqual([])
  })

  test('A11: an account keeps its transactions under all its keys; one that is revoked or has expired is 401', async () => {
    const name = `rotating-${form}`
    const id = idOf(await create(await managed.gateway.issueKey(name)))
    expect((await get(id, await managed.gateway.issueKey(name))).json).toMatchObject({ id })
    expect((await get(id, await managed.gateway.issueKey(name, Date.now() - 1))).status).toBe(401)
    const { accounts } = managed.gateway
    const before = new Set((await accounts.listKeys()).map((known) => known.id))
    const revoked = await managed.gateway.issueKey(name)
    const made = (await accounts.listKeys()).find((known) => !before.has(known.id))
    expect(await accounts.revokeKey(made?.id ?? '', Date.now(), 'tester')).toBe(true)
    expect((await get(id, revoked)).status).toBe(401)
  })

  test('A12: a provider receives its own key, and nothing of the client', async () => {
    await managed.client(form).post('/transactions', orderIn(form), { key: mine, headers: { cookie: 'session=canary' } })
    const [received] = managed.alpha.received('create')
    expect(received?.headers.authorization).toBe(`Bearer ${ownKeys.alpha}`)
    expect(JSON.stringify(received)).not.toContain(mine)
    expect(JSON.stringify(received)).not.toContain('canary')
  })

  test('A13: a provider that shows our own key in its refusal does not show it to a client', async () => {
    const message = `The key ${ownKeys.alpha} may not do this`
    managed.alpha.reply('create', { status: 400, json: { error: 'Bad Request', message, code: 400 } })
    const { status, text } = await create(mine)
    expect(status).toBe(400)
    expect(text).not.toContain('provider-key')
  })

  test.each([401, 403])('a provider that refuses our own key with %i is 502, never 401, without failover', async (status) => {
    managed.alpha.reply('create', { status, json: { error: 'Unauthorized', message: 'Invalid API key', code: status } })
    expect((await create(mine)).status).toBe(502)
    expect(managed.beta.journal).toEqual([])
  })

  test('the 429 of every provider is 503, with the smallest Retry-After', async () => {
    managed.alpha.reply('create', { status: 429, headers: { 'retry-after': '7' }, json: { message: 'Slow down', code: 429 } })
    managed.beta.reply('create', { status: 429, headers: { 'retry-after': '9' }, json: { message: 'Slow down', code: 429 } })
    const response = await create(mine)
    expect(response.status).toBe(503)
    expect(response.headers['retry-after']).toBe('7')
  })

  test.each([
    ['no key', null],
    ['the key of the provider', ownKeys.alpha],
    ['a key that was never issued', 'sg_live_000000000000000000000000000000000'],
  ])('A7: %s is 401 with the same body', async (_, key) => {
    await using fresh = await startManaged()
    const responses = await Promise.all([
      fresh.client(form).get('/transactions', { key }),
      fresh.client(form).get('/transactions/alpha~tx-1', { key }),
      fresh.client(form).post('/transactions', orderIn(form), { key }),
    ])
    for (const { status, text, headers } of responses) {
      expect(status).toBe(401)
      expect(headers['www-authenticate']).toBeDefined()
      expect(text).toBe(responses[0]?.text)
    }
    expect(fresh.alpha.journal).toEqual([])
  })
})

test('a transaction that is created in one form is read in the other', async () => {
  const others: Readonly<Record<FormName, FormName>> = { A: 'B', B: 'A' }
  for (const form of formNames) {
    const id = idOf(await managed.client(form).post('/transactions', orderIn(form), { key: mine }))
    expect((await managed.client(others[form]).get(`/transactions/${id}`, { key: mine })).json).toMatchObject({ id })
  }
  expect((await managed.client('A').get('/transactions', { key: mine })).json).toMatchObject({ pagination: { total: digits('2') } })
})

test('quotes need no key, and go up without any', async () => {
  const path = '/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=1'
  expect((await managed.client('A').get(path, { key: null })).status).toBe(200)
  expect((await managed.client('A').get(path, { key: mine })).status).toBe(200)
  expect((await managed.client('A').get(path, { key: 'no-such-key' })).status).toBe(200)
  for (const { headers } of managed.alpha.received('rate')) expect(headers).not.toHaveProperty('authorization')
})

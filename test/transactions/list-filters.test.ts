/** docs/contract.md §3.4: lists by status, and by when that changed. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { idsOf, numbered, tagged } from '../support/lists.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { type FormName, formNames, type Pair, pairs, startPair } from '../support/pair.ts'
import { startPassthrough } from '../support/passthrough.ts'
import { swap } from '../support/swaps.ts'

function totalOf({ json }: ReceivedResponse, form: FormName): unknown {
  const { count, pagination } = json as { count?: unknown; pagination?: { total: unknown } }
  return form === 'A' ? pagination?.total : count
}

function statusesOf({ json }: ReceivedResponse): readonly string[] {
  return (json as { data: { status: string }[] }).data.map(({ status }) => status)
}

describe.each(formNames)('form %s, with issued keys', (form) => {
  let managed: Managed
  let key: string
  afterEach(() => managed.close())

  const start = async (): Promise<void> => {
    managed = await startManaged({ sections: { ledger: { refreshAfter: 0 } } })
    key = await managed.issue()
  }
  const create = async (): Promise<string> =>
    ((await managed.client('A').post('/transactions', orderIn('A'), { key })).json as { id: string }).id
  const list = async (query: string): Promise<readonly string[]> => {
    const response = await managed.client(form).get(`/transactions?${query}`, { key })
    expect(response.status, response.text).toBe(200)
    if (!query.includes('size')) expect(totalOf(response, form)).toEqual(digits(String(idsOf(response).length)))
    return idsOf(response)
  }
  /** At the provider, in the order of the creates. */
  const setStatuses = (...statuses: readonly string[]): void => {
    const { holdings } = managed.alpha
    holdings.swaps = holdings.swaps.map((known, at) => ({ ...known, status: statuses[at] ?? known.status }))
  }

  test('a status selects what is shown with it now, also what has just changed', async () => {
    await start()
    const [first, second, third, fourth] = [await create(), await create(), await create(), await create()]
    setStatuses('wait', 'confirmed', 'sending', 'success')
    expect(await list('status=wait')).toEqual([first])
    expect(await list(form === 'A' ? 'status=confirmed' : 'status=confirmation')).toEqual([second])
    expect(await list(form === 'A' ? 'status=sending' : 'status=exchanging')).toEqual([third])
    expect(await list('status=success')).toEqual([fourth])
    expect(await list('status=refunded')).toEqual([])
  })

  test('pages and the total are of what passes', async () => {
    await start()
    const ids: string[] = []
    for (let made = 0; made < 5; made++) ids.unshift(await create())
    setStatuses('success', 'wait', 'success', 'wait', 'success')
    const pages: ReceivedResponse[] = []
    for (const page of [1, 2, 3])
      pages.push(await managed.client(form).get(`/transactions?status=success&size=2&page=${page}`, { key }))
    expect(pages.map(idsOf)).toEqual([[ids[0], ids[2]], [ids[4]], []])
    expect(pages.map((page) => totalOf(page, form))).toEqual([digits('3'), digits('3'), digits('3')])
  })

  test('what changed since a time is found without a get, and so is what was created since', async () => {
    await start()
    const [first] = [await create(), await create()]
    await list('status=wait') // read once, so that a change is one
    const readAt = Date.now()
    await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(readAt)
    const since = new Date().toISOString()
    expect(await list(`updatedSince=${since}`)).toEqual([])
    setStatuses('confirmation', 'wait')
    expect(await list(`updatedSince=${since}`)).toEqual([first])
    const third = await create()
    expect(await list(`updatedSince=${since}`)).toEqual([third, first])
    expect(await list(`updatedSince=${since}&status=wait`)).toEqual([third])
    expect(await list(`updatedSince=${encodeURIComponent(since.replace('Z', '+00:00'))}&status=confirmation`)).toEqual([first])
  })

  test('another account gets none of it', async () => {
    await start()
    await create()
    const other = await managed.issue()
    expect(idsOf(await managed.client(form).get('/transactions?status=wait', { key: other }))).toEqual([])
  })
})

describe.each(pairs)('the provider’s own keys: client $client, provider $provider', ({ client: form, provider }) => {
  let pair: Pair
  let key: string
  afterEach(() => pair.close())

  const start = async (): Promise<void> => {
    pair = await startPair(form, provider)
    key = await pair.gateway.freshKey()
  }
  const list = (query: string): Promise<ReceivedResponse> => pair.client.get(`/transactions?${query}`, { key })

  test('a status selects among all pages of the provider, which is not asked for it', async () => {
    await start()
    pair.provider.holdings.swaps = numbered(250).map((id, at) => swap({ id, status: at % 50 === 0 ? 'exchanging' : 'wait' }))
    const found = await list('status=exchanging&size=4')
    expect(found.status, found.text).toBe(200)
    expect(new Set(statusesOf(found))).toEqual(new Set(['exchanging']))
    const rest = await list('status=exchanging&size=4&page=2')
    expect(new Set([...idsOf(found), ...idsOf(rest)])).toEqual(new Set(tagged(['tx-0', 'tx-50', 'tx-100', 'tx-150', 'tx-200'])))
    expect([totalOf(found, form), totalOf(rest, form)]).toEqual([digits('5'), digits('5')])
    const asked = pair.provider.received('list').map(({ query }) => [...query.keys()].sort().join())
    expect(new Set(asked)).toEqual(new Set(['page,size']))
  })

  test('what the key has created is found by the next filter, also while one from before is answered', async () => {
    await start()
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const empty = { data: [], ...(provider === 'A' ? { pagination: { page: 1, size: 100, total: 0 } } : { count: 0 }) }
    pair.provider.reply('list', () => (pair.provider.received('list').length === 1 ? { json: empty, after: held } : undefined))
    const before = list('status=wait')
    await vi.waitFor(() => expect(pair.provider.received('list')).toHaveLength(1), eventTimeoutMs)
    const created = await pair.client.post('/transactions', orderIn(form), { key })
    const id = (created.json as { id: string }).id
    expect(idsOf(await list('status=wait'))).toEqual([id])
    release()
    await before
    expect(idsOf(await list('status=wait&page=1'))).toEqual([id])
  })

  test('a row counts by the change that its provider reports, else by its creation', async () => {
    await start()
    pair.provider.holdings.swaps = [
      swap({ id: 'old', createdAt: '2026-03-01T10:00:00Z', updatedAt: '2026-03-01T10:05:00Z' }),
      swap({ id: 'moved', createdAt: '2026-03-01T11:00:00Z', updatedAt: '2026-03-02T12:00:00Z' }),
      swap({ id: 'new', createdAt: '2026-03-02T10:00:00Z', updatedAt: '2026-03-02T10:05:00Z' }),
    ]
    const ids = idsOf(await list('updatedSince=2026-03-02'))
    expect(new Set(ids)).toEqual(new Set(tagged(provider === 'A' ? ['moved', 'new'] : ['new'])))
  })

  test('a status that the ledger knows better is what counts', async () => {
    await start()
    pair.provider.holdings.swaps = [swap({ id: 'tx-0', status: 'success' })]
    expect(statusesOf(await list(''))).toEqual(['success'])
    await pair.gateway.ledger.findAll('', 'alpha', []) // after the write
    pair.provider.holdings.swaps = [swap({ id: 'tx-0', status: 'exchanging' })]
    expect(idsOf(await list('status=success'))).toEqual(tagged(['tx-0']))
    expect(idsOf(await list('status=exchanging'))).toEqual([])
  })
})

describe.each(formNames)('form %s: what is no filter is 400, by its name', (form) => {
  const words = {
    A: 'wait, confirmation, confirmed, exchanging, sending, success, overdue, refunded',
    B: 'wait, confirmation, exchanging, success, overdue, refunded',
  }
  const date = 'Invalid updatedSince: it must be an RFC 3339 timestamp with a zone, or a date YYYY-MM-DD'

  test.each([
    ['status=done', `Invalid status: it must be one of ${words[form]}.`],
    ['status=', `Invalid status: it must be one of ${words[form]}, but it is empty.`],
    ['status=wait&status=success', 'Invalid status: it is given twice.'],
    ['updatedSince=yesterday', `${date}.`],
    ['updatedSince=2026-03-01T10:00:00', `${date}.`],
    ['updatedSince=2026-02-30', `${date}.`],
  ])('%s', async (query, message) => {
    const pair = await startPair(form, 'A')
    try {
      const response = await pair.client.get(`/transactions?${query}`)
      expect(expectRefusal(response, form, 400, 'parameter_invalid')).toBe(message)
    } finally {
      await pair.close()
    }
  })

  test('another spelling is 400 that says the name', async () => {
    const pair = await startPair(form, 'A')
    try {
      const response = await pair.client.get('/transactions?updated_since=2026-03-01')
      expect(expectRefusal(response, form, 400, 'parameter_unknown')).toBe(
        'Invalid updated_since: it is not a parameter here; its name is updatedSince.',
      )
    } finally {
      await pair.close()
    }
  })
})

describe.each(formNames)('form %s, the provider’s own keys, with swaps at two providers', (form) => {
  test('a filter is applied to both, and the total with it', async () => {
    await using passthrough = await startPassthrough('alpha')
    const first = await passthrough.client(form).post('/transactions', orderIn(form))
    const { id: old } = first.json as { id: string }
    await passthrough.restart('beta')
    const client = passthrough.client(form)
    const { id: recent } = (await client.post('/transactions', orderIn(form))).json as { id: string }
    const { holdings } = passthrough.beta
    holdings.swaps = holdings.swaps.map((known) => ({ ...known, status: 'success' }))
    const listed = async (query: string): Promise<readonly [unknown, readonly string[]]> => {
      const response = await client.get(`/transactions?${query}`)
      return [totalOf(response, form), idsOf(response)]
    }
    expect(await listed('')).toEqual([digits('2'), [recent, old]])
    expect(await listed('status=wait')).toEqual([digits('1'), [old]])
    expect(await listed('status=success')).toEqual([digits('1'), [recent]])
    expect(await listed('status=refunded&updatedSince=2020-01-01')).toEqual([digits('0'), []])
    expect(await listed('updatedSince=2020-01-01&size=1&page=2')).toEqual([digits('2'), [old]])
  })
})

test('with the provider’s own keys, what is known of one that is off is filtered too', async () => {
  await using passthrough = await startPassthrough('alpha')
  const client = passthrough.client('B')
  const { id } = (await client.post('/transactions', orderIn('B'))).json as { id: string }
  passthrough.reconfigure({}, { state: 'off' })
  expect(idsOf(await client.get('/transactions?status=wait'))).toEqual([id])
  expect(idsOf(await client.get('/transactions?status=success'))).toEqual([])
})

/** docs/contract.md §5: a client's own key goes to the provider in the routing, and to another one only for what this key made there. */
import { afterEach, describe, expect, test } from 'vitest'
import { hashKey } from '../../src/adapters/crypto.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { orderIn } from '../support/managed.ts'
import { type FormName, formNames } from '../support/pair.ts'
import { type Passthrough, startPassthrough } from '../support/passthrough.ts'
import { swap } from '../support/swaps.ts'

let place: Passthrough
afterEach(() => place[Symbol.asyncDispose]())

const idOf = ({ json }: ReceivedResponse): string => (json as { id: string }).id
const create = (form: FormName, key: string): Promise<ReceivedResponse> =>
  place.client(form).post('/transactions', orderIn(form), { key, headers: { 'idempotency-key': 'order-1' } })
const get = (form: FormName, id: string, key: string): Promise<ReceivedResponse> =>
  place.client(form).get(`/transactions/${id}`, { key })

describe.each(formNames)('form %s, after a switch from beta to alpha', (form) => {
  const start = async (): Promise<{ mine: string; theirs: string; id: string }> => {
    place = await startPassthrough('beta')
    const mine = await place.gateway.freshKey()
    const theirs = await place.gateway.freshKey()
    const id = idOf(await create(form, mine))
    expect(id).toBe('beta~tx-1')
    await place.restart('alpha')
    place.beta.reset()
    return { mine, theirs, id }
  }

  test('the key that made a transaction reads it where it is', async () => {
    const { mine, id } = await start()
    place.beta.holdings.swaps = place.beta.holdings.swaps.map((known) => ({ ...known, status: 'exchanging' }))
    const response = await get(form, id, mine)
    expect(response.json).toMatchObject({ id, status: 'exchanging' })
    expect(response.headers['x-swap-provider']).toBe('beta')
    expect(place.alpha.received('get')).toEqual([])
  })

  test('W22: its list has what the ledger holds of this key, newest first, and others have none of it', async () => {
    const { mine, theirs, id } = await start()
    place.alpha.holdings.swaps = [
      swap({ id: 'older', createdAt: '2026-01-01T00:00:00Z' }),
      swap({ id: 'newer', createdAt: new Date(Date.now() + 60_000).toISOString() }),
    ]
    place.beta.holdings.swaps = place.beta.holdings.swaps.map((known) => ({ ...known, status: 'exchanging' }))
    const list = async (key: string, query = ''): Promise<ReceivedResponse> =>
      place.client(form).get(`/transactions${query}`, { key })
    const rowsOf = ({ json }: ReceivedResponse) =>
      (json as { data: { id: string; status: string }[] }).data.map((row) => [row.id, row.status])
    expect(rowsOf(await list(mine))).toEqual([
      ['alpha~newer', 'wait'],
      [id, 'exchanging'],
      ['alpha~older', 'wait'],
    ])
    expect(rowsOf(await list(mine, '?page=2&size=1'))).toEqual([[id, 'exchanging']])
    expect((await list(mine, '?page=2&size=1')).json).toMatchObject(
      form === 'A' ? { pagination: { total: digits('3') } } : { count: digits('3') },
    )
    if (form === 'B') expect(rowsOf(await list(mine, '?dateTo=2026-01-02'))).toEqual([['alpha~older', 'wait']])
    expect(rowsOf(await list(theirs)).map(([listed]) => listed)).not.toContain(id)
    place.beta.reply('get', { status: 500, json: {} })
    const later = await list(mine)
    expect(rowsOf(later)).toContainEqual([id, 'exchanging'])
  })

  test('W23: what its provider does not find is the last known state, for the key that made it', async () => {
    const { mine, theirs, id } = await start()
    place.beta.holdings.swaps = []
    const response = await get(form, id, mine)
    expect(response.json).toMatchObject({ id, status: 'wait' })
    expect(response.headers).toHaveProperty('x-swap-stale')
    expectRefusal(await get(form, id, theirs), form, 404)
  })

  test('no other key goes there, whatever the id', async () => {
    const { theirs, mine, id } = await start()
    place.beta.holdings.swaps = [...place.beta.holdings.swaps, swap({ id: 'tx-2' })]
    for (const [requestedId, key] of [
      [id, theirs],
      ['beta~tx-2', mine],
      ['beta~tx-2', theirs],
    ] as const)
      expectRefusal(await get(form, requestedId, key), form, 404)
    expect(place.beta.journal).toEqual([])
    expect(place.alpha.received('get')).toEqual([])
  })

  test('a create goes to the routed one alone, and an earlier request is replayed from the ledger', async () => {
    const { mine, theirs } = await start()
    const replayed = await create(form, mine)
    expect(replayed.headers['idempotent-replayed']).toBe('true')
    expect(idOf(replayed)).toBe('beta~tx-1')
    expect(idOf(await create(form, theirs))).toBe('alpha~tx-1')
    expect(place.beta.received('create')).toEqual([])
  })
})

describe.each(formNames)('form %s, after the tag of the routed provider became another one', (form) => {
  const idsOf = async (key: string): Promise<readonly string[]> => {
    const { json } = await place.client(form).get('/transactions', { key })
    return (json as { data: { id: string }[] }).data.map(({ id }) => id)
  }
  const reason = 'The checker knows the provider by its first tag.'
  const start = async (account: string): Promise<string> => {
    place = await startPassthrough('alpha')
    const key = await place.gateway.freshKey()
    expect(idOf(await create(form, key))).toBe('alpha~tx-1')
    await place.restart('alpha', { tag: 'gamma', account })
    return key
  }

  test.each(['alpha', 'gamma'])(
    'W22: a swap of the same account (%s), or URL, is one row, as the provider has it',
    async (account) => {
      const key = await start(account)
      place.witness.excuse('I11', reason)
      place.alpha.holdings.swaps = place.alpha.holdings.swaps.map((known) => ({ ...known, status: 'exchanging' }))
      const { json } = await place.client(form).get('/transactions', { key })
      expect(json).toMatchObject({ data: [{ id: 'gamma~tx-1', status: 'exchanging' }] })
      expect(json).toMatchObject(form === 'A' ? { pagination: { total: digits('1') } } : { count: digits('1') })
    },
  )

  test('W22: one that the provider no longer lists is there as it was known', async () => {
    const key = await start('alpha')
    place.alpha.holdings.swaps = []
    expect(await idsOf(key)).toEqual(['alpha~tx-1'])
  })

  test('W22: it is one row in the list of another provider too', async () => {
    const key = await start('alpha')
    place.witness.excuse('I11', reason)
    await idsOf(key)
    await expect.poll(() => place.gateway.ledger.find(hashKey(key), 'gamma', 'tx-1')).toBeDefined()
    await place.restart('beta')
    expect(await idsOf(key)).toHaveLength(1)
  })
})

test('what a key only read from a provider is not read there after a switch', async () => {
  place = await startPassthrough('beta')
  const key = await place.gateway.freshKey()
  place.beta.holdings.swaps = [swap({ id: 'listed' })]
  expect((await get('A', 'beta~listed', key)).status).toBe(200)
  await expect.poll(() => place.gateway.ledger.find(hashKey(key), 'beta', 'listed')).toBeDefined()
  await place.restart('alpha')
  place.beta.reset()
  expectRefusal(await get('A', 'beta~listed', key), 'A', 404)
  expect(place.beta.journal).toEqual([])
})

test('a request is compared with those under its key: the same words under another key are a new swap', async () => {
  place = await startPassthrough('alpha')
  const first = await create('A', await place.gateway.freshKey())
  const other = await create('A', await place.gateway.freshKey())
  expect(idOf(other)).not.toBe(idOf(first))
  expect(other.headers).not.toHaveProperty('idempotent-replayed')
})

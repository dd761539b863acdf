/** docs/contract.md §3, §5 in passthrough mode: what the ledger adds to responses, and for which key. */
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hashKey } from '../../src/adapters/crypto.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { depositOfB, detailedB } from '../support/form-b.ts'
import { digits } from '../support/json.ts'
import { orderIn } from '../support/managed.ts'
import { client, type FormName, formNames, pairWords } from '../support/pair.ts'
import { type Passthrough, startPassthrough } from '../support/passthrough.ts'
import { assets, depositOf, type Swap, swap } from '../support/swaps.ts'

let place: Passthrough
let mine: string
let theirs: string
afterEach(() => place[Symbol.asyncDispose]())

const start = async (routedTo: 'alpha' | 'beta'): Promise<void> => {
  place = await startPassthrough(routedTo)
  mine = await place.gateway.freshKey()
  theirs = await place.gateway.freshKey()
}
const idOf = ({ json }: ReceivedResponse): string => (json as { id: string }).id
const create = (form: FormName, facts: object = {}, key = mine): Promise<ReceivedResponse> =>
  place.client(form).post('/transactions', orderIn(form, facts), { key })
const get = (form: FormName, id: string, key = mine): Promise<ReceivedResponse> =>
  place.client(form).get(`/transactions/${id}`, { key })
const list = (form: FormName, key = mine): Promise<ReceivedResponse> => place.client(form).get('/transactions', { key })
const [row, rows] = [
  ({ json }: ReceivedResponse) => (json as { data: readonly Record<string, unknown>[] }).data[0],
  ({ json }: ReceivedResponse) => (json as { data: readonly Record<string, unknown>[] }).data,
]
const change = (facts: Partial<Swap>): void => {
  const { holdings } = place.beta
  holdings.swaps = holdings.swaps.map((known) => ({ ...known, ...facts }))
}

describe('a Form B provider', () => {
  beforeEach(() => start('beta'))
  const withoutPayout = (): void =>
    place.beta.reply('get', () => {
      const [held] = place.beta.holdings.swaps
      return { json: { ...detailedB(held as Swap), amount_out: null } }
    })

  test('amountTo is what the create promised until there is an amount_out, for the same key only', async () => {
    const created = await create('A')
    const { amountTo } = created.json as { amountTo: unknown }
    withoutPayout()
    expect((await get('A', idOf(created))).json).toMatchObject({ amountTo })
    expect((await get('A', idOf(created), theirs)).json).not.toHaveProperty('amountTo')
    expect((await get('A', idOf(created))).json).toMatchObject({ amountTo })
    change({ amountOut: digits('6000.5') })
    place.beta.reply('get', () => undefined)
    expect((await get('A', idOf(created))).json).toMatchObject({ amountTo: digits('6000.5') })
  })

  test('an expected amount is not received: Form B does not get it', async () => {
    const created = await create('A')
    withoutPayout()
    expect(((await get('B', idOf(created))).json as { amount_out?: unknown }).amount_out ?? null).toBeNull()
  })

  test('a list item is completed from the ledger for the key that created it, without a call', async () => {
    const created = await create('A', { refundAddress: 'bc1q-refund-1', coinTo: 'USDTERC20' })
    const confirmed = place.beta.received('get').length
    const item = row(await list('A'))
    expect(item).toMatchObject({ coinTo: 'USDTERC20', refundAddress: 'bc1q-refund-1', depositAddress: depositOfB('tx-1') })
    expect(item).toMatchObject({ id: idOf(created), rateType: 'float' })
    expect(place.beta.received('get')).toHaveLength(confirmed)
  })

  test('another key gets nothing from it: its items are read', async () => {
    await create('A', { coinTo: 'USDTERC20' })
    const confirmed = place.beta.received('get').length
    place.beta.reply('get', { status: 404, json: { message: 'Transaction not found', code: 404 } })
    const item = row(await list('A', theirs))
    expect(place.beta.received('get')).toHaveLength(confirmed + 1)
    for (const field of ['coinTo', 'depositAddress', 'withdrawalAddress', 'refundAddress', 'rateType'])
      expect(item).not.toHaveProperty(field)
  })

  test('details of items that were not created here are read once, by any process', async () => {
    place.beta.holdings.swaps = [swap({ id: 'old-1' }), swap({ id: 'old-2' })]
    const first = await list('A')
    expect(rows(first)).toMatchObject([{ depositAddress: depositOf('old-1') }, { depositAddress: depositOf('old-2') }])
    expect(place.beta.received('get')).toHaveLength(2)
    const kept = async () => (await place.gateway.ledger.findAll(hashKey(mine), 'beta', ['old-1', 'old-2'])).length
    await expect.poll(kept).toBe(2)
    const another = client('A', (await place.second()).url, place.witness)
    expect((await another.get('/transactions', { key: mine })).text).toBe(first.text)
    expect((await list('A')).text).toBe(first.text)
    await place.restart()
    expect((await list('A')).text).toBe(first.text)
    expect(place.beta.received('get')).toHaveLength(2)
  })

  test('updatedAt moves when a change is recorded, and only then', async () => {
    const id = idOf(await create('A'))
    const updatedAt = async (): Promise<string> => ((await get('A', id)).json as { updatedAt: string }).updatedAt
    const { createdAt } = (await get('A', id)).json as { createdAt: string }
    expect(await updatedAt()).toBe(createdAt)
    const before = Date.now()
    change({ status: 'exchanging' })
    const changed = await updatedAt()
    expect(Date.parse(changed)).toBeGreaterThanOrEqual(before)
    expect(await updatedAt()).toBe(changed)
    expect(row(await list('A'))).toMatchObject({ updatedAt: changed, status: 'exchanging' })
    await place.restart()
    expect(await updatedAt()).toBe(changed)
    expect((await get('A', id, theirs)).json).toMatchObject({ updatedAt: createdAt })
  })

  test.each(['success', 'refunded'])('L19: %s stays, for any later report of the provider', async (status) => {
    const id = idOf(await create('A'))
    change({ status })
    expect((await get('A', id)).json).toMatchObject({ status })
    change({ status: 'wait' })
    for (const form of formNames) {
      expect((await get(form, id)).json).toMatchObject({ status })
      expect(row(await list(form))).toMatchObject({ status })
    }
    await place.restart()
    expect((await get('B', id)).json).toMatchObject({ status })
  })

  test('L19: overdue is not final: a late deposit revives it', async () => {
    const id = idOf(await create('B'))
    for (const status of ['overdue', 'confirmation', 'success']) {
      change({ status })
      expect((await get('B', id)).json).toMatchObject({ status })
    }
  })

  test('L19: an unmapped word is the last known status, for this key', async () => {
    const id = idOf(await create('A'))
    change({ status: 'exchanging' })
    await get('A', id)
    change({ status: 'frozen' })
    for (const form of formNames) {
      expect((await get(form, id)).json).toMatchObject({ status: 'exchanging' })
      expect(row(await list(form))).toMatchObject({ status: 'exchanging' })
      expectRefusal(await get(form, id, theirs), form, 502)
    }
    expect(row(await list('B', theirs))).not.toHaveProperty('status')
  })
})

describe('a Form A provider', () => {
  beforeEach(() => start('alpha'))

  test('the networks are those of the create, for a coin that the table lacks too', async () => {
    const created = await create('B', pairWords('B', assets.btc, { code: 'DOGE', coin: 'DOGE', network: 'DOGE' }))
    expect((await get('B', idOf(created))).json).toMatchObject({
      coin_to: 'DOGE',
      network_from: 'BTC',
      network_to: 'DOGE',
    })
  })

  test('a key that did not create it gets the networks of the table', async () => {
    const created = await create('B')
    expect((await get('B', idOf(created), theirs)).json).toMatchObject({ network_from: 'BTC', network_to: 'TRX' })
  })
})

describe('L15: without a ledger', () => {
  /** Another process drops its tables. */
  const lose = (): void => {
    const database = new DatabaseSync(place.file)
    for (const table of ['claims', 'transactions']) database.exec(`ALTER TABLE ${table} RENAME TO lost_${table}`)
    database.close()
  }

  const regain = (): void => {
    const database = new DatabaseSync(place.file)
    for (const table of ['claims', 'transactions']) database.exec(`ALTER TABLE lost_${table} RENAME TO ${table}`)
    database.close()
  }
  const unavailable = [503, 'ledger_unavailable']
  const reasonOf = ({ status, headers }: ReceivedResponse) => [status, headers['x-swap-reason']]
  const loseAll = (): void => {
    lose()
    place.witness.excuse('I2', 'The ledger is lost, so it holds nothing.')
  }

  test.each(formNames)(
    'what was created here is read while its report is the same; a list has no deposit address, and creates are 503 (form %s)',
    async (form) => {
      await start('beta')
      const id = idOf(await create('A'))
      lose()
      place.beta.journal.length = 0
      const deposit = form === 'A' ? 'depositAddress' : 'deposit'
      const read = await get(form, id)
      expect([read.status, JSON.stringify(read.json).includes(depositOfB('tx-1'))]).toEqual([200, true])
      const listed = await list(form)
      expect(listed.headers['x-swap-warning']).toBe('ledger_unavailable')
      expect(row(listed)).toMatchObject({ id })
      expect(listed.text).not.toContain(depositOfB('tx-1'))
      expect(row(listed)?.[deposit] ?? null).toBeNull()
      change({ status: 'exchanging' })
      expect(reasonOf(await get(form, id))).toEqual(unavailable)
      for (const name of [undefined, 'order-1']) {
        const headers = name === undefined ? {} : { 'idempotency-key': name }
        const refused = await place.client(form).post('/transactions', orderIn(form), { key: mine, headers })
        expectRefusal(refused, form, 503)
        expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
      }
      expect(place.beta.received('create')).toEqual([])
      for (const path of ['/currencies', '/rate?coinFrom=BTC&coinTo=ETH&amount=1'])
        expect((await place.client(form).get(path)).status).toBe(200)
      regain()
      expect((await get(form, id)).json).toMatchObject({ id, status: 'exchanging' })
      const again = await list(form)
      expect(again.headers['x-swap-warning']).toBeUndefined()
      expect(again.text.includes(depositOfB('tx-1'))).toBe(form === 'A')
    },
  )

  test('what another process has made, or another key, is 503: only the ledger knows whether it may be paid', async () => {
    await start('beta')
    const second = await place.second()
    const made = await client('A', second.url, place.witness).post('/transactions', orderIn('A'), { key: mine })
    lose()
    expect(reasonOf(await get('A', idOf(made)))).toEqual(unavailable)
    expect(reasonOf(await get('A', idOf(made), theirs))).toEqual(unavailable)
    regain()
    expect((await get('A', idOf(made))).json).toMatchObject({ depositAddress: depositOfB('tx-1') })
    lose()
    expect((await get('A', idOf(made))).json).toMatchObject({ depositAddress: depositOfB('tx-1') })
    regain()
  })

  test.each(formNames)('a list that lacks what the key made at another provider says so, form %s', async (form) => {
    await start('alpha')
    const id = idOf(await create('A'))
    await place.restart('beta')
    expect(row(await list(form))).toMatchObject({ id })
    lose()
    const listed = await list(form)
    expect([listed.status, rows(listed), listed.headers['x-swap-warning']]).toEqual([200, [], 'ledger_unavailable'])
    expectRefusal(await place.client(form).get('/transactions?status=wait', { key: mine }), form, 503)
    regain()
    expect(row(await list(form))).toMatchObject({ id })
  })

  test.each(formNames)('a list of what has changed is 503: when the gateway saw it is not known, form %s', async (form) => {
    await start('beta')
    const id = idOf(await create('A'))
    const day = 86_400_000
    change({ status: 'exchanging', createdAt: new Date(Date.now() - day).toISOString() })
    expect((await get('A', id)).json).toMatchObject({ status: 'exchanging' })
    const since = new Date(Date.now() - day / 2).toISOString()
    const changed = () => place.client(form).get(`/transactions?updatedSince=${since}`, { key: mine })
    expect(row(await changed())).toMatchObject({ id })
    lose()
    expect(reasonOf(await changed())).toEqual(unavailable)
    regain()
    expect(row(await changed())).toMatchObject({ id })
  })

  test('a report with another deposit address is 503 too', async () => {
    await start('beta')
    const id = idOf(await create('A'))
    await get('A', id)
    loseAll()
    change({ depositAddress: 'bc1q-thief' })
    expect(reasonOf(await get('A', id))).toEqual(unavailable)
    expect((await list('A')).text).not.toContain('thief')
    change({ depositAddress: depositOfB('tx-1') })
    expect((await get('A', id)).json).toMatchObject({ id, depositAddress: depositOfB('tx-1') })
  })
})

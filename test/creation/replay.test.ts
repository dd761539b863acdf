/** docs/contract.md §10.1: what an Idempotency-Key returns, with its headers, in both forms and after a restart. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import type { Ledger } from '../../src/core/ports/ledger.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { credential, type FormName, formNames, pairs } from '../support/pair.ts'

let managed: Managed
afterEach(() => managed.close())

const nameOf = { A: 'alpha', B: 'beta' } as const
const create = (form: FormName, key: string, name: string, facts: object = {}): Promise<ReceivedResponse> =>
  managed.client(form).post('/transactions', orderIn(form, facts), { key, headers: { 'idempotency-key': name } })

const ofEachResponse: ReadonlySet<string> = new Set([
  'x-request-id',
  'date',
  'ratelimit',
  'ratelimit-policy',
  'idempotent-replayed',
])

/** What a replay, which counts as a read, has in common with the first response. */
function comparable({ status, text, headers }: ReceivedResponse): object {
  const rest = Object.entries(headers).filter(([name]) => !ofEachResponse.has(name))
  return { status, text, headers: Object.fromEntries(rest) }
}

describe.each(pairs)('a client of form $client, a provider of form $provider', ({ client: form, provider: side }) => {
  const other = form === 'A' ? 'B' : 'A'
  const start = async (): Promise<string> => {
    managed = await startManaged({ routing: [nameOf[side]] })
    return managed.issue()
  }

  test('L5: a replay is the first response, header by header, and asks no provider', async () => {
    const key = await start()
    const first = await create(form, key, 'order-5')
    const calls = managed[nameOf[side]].journal.length
    const again = await create(form, key, 'order-5')
    expect(comparable(again)).toEqual(comparable(first))
    expect([first, again].map(({ headers }) => headers['idempotent-replayed'])).toEqual([undefined, 'true'])
    expect(managed[nameOf[side]].journal).toHaveLength(calls)
    expect(managed[nameOf[side]].received('create')).toHaveLength(1)
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id'])
    if (form === 'A' && side === 'B') expect(again.headers['x-swap-derived']).toBe('rate,updatedAt')
  })

  test('L5: in the other form it is what that form’s own first response would be', async () => {
    const key = await start()
    await create(form, key, 'order-5')
    const replayed = await create(other, key, 'order-5')
    const fresh = await create(other, key, 'order-6')
    const words = ({ text }: ReceivedResponse): string => text.replaceAll(/tx-\d|bc1q\w{38}/g, '')
    expect(words(replayed)).toBe(words(fresh))
    for (const header of ['x-swap-derived', 'x-swap-omitted', 'x-swap-provider', 'x-swap-form'])
      expect(replayed.headers[header]).toBe(fresh.headers[header])
    expect(replayed.status).toBe(fresh.status)
    expect(replayed.headers['idempotent-replayed']).toBe('true')
  })
})

test('L8: a key is scoped to the account, over all its keys and both forms', async () => {
  managed = await startManaged()
  const [mine, successor, theirs] = [await managed.issue('acme'), await managed.issue('acme'), await managed.issue('globex')]
  const first = await create('A', mine, 'order-8')
  expect((await create('A', successor, 'order-8')).text).toBe(first.text)
  expectRefusal(await create('B', successor, 'order-8', { amount: digits('7') }), 'B', 422)
  const other = await create('A', theirs, 'order-8', { amount: digits('7') })
  expect(other.status).toBe(201)
  expect(other.headers).not.toHaveProperty('idempotent-replayed')
})

test('L7: a memo is part of the request', async () => {
  managed = await startManaged({ providers: { alpha: { extraIds: 'unconfirmed' } } })
  const key = await managed.issue()
  const memo = { withdrawalExtraId: '77', refundAddress: 'bc1q-refund-1', refundExtraId: '88' }
  const first = await create('A', key, 'order-7', memo)
  expect(first.status, first.text).toBe(201)
  for (const facts of [{ withdrawalExtraId: '78' }, { refundExtraId: '89' }, { withdrawalExtraId: null }])
    expectRefusal(await create('B', key, 'order-7', { ...memo, ...facts }), 'B', 422)
  expect((await create('A', key, 'order-7', memo)).text).toBe(first.text)
})

test('words for the same asset are the same request', async () => {
  managed = await startManaged()
  const key = await managed.issue()
  const first = await create('B', key, 'order-7')
  for (const words of [{ networkTo: 'TRC20' }, { networkTo: 'tron', coinTo: 'usdt' }, { rateType: 'float' }])
    expect((await create('B', key, 'order-7', words)).text).toBe(first.text)
  expect(managed.alpha.received('create')).toHaveLength(1)
})

test('an Idempotency-Key on a read is ignored, whatever it holds', async () => {
  managed = await startManaged()
  const key = await managed.issue()
  const { id } = (await create('A', key, 'order-1')).json as { id: string }
  const paths = [`/transactions/${id}`, '/transactions', '/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=1', '/currencies']
  for (const path of paths) {
    for (const name of ['order-1', '"', 'x'.repeat(256)]) {
      const response = await managed.client('A').get(path, { key, headers: { 'idempotency-key': name } })
      expect(response.status, `${path} ${name}`).toBe(200)
      expect(response.headers).not.toHaveProperty('idempotent-replayed')
    }
  }
})

test('L10: a key in quotes is the same without them, and what is no key is 400', async () => {
  managed = await startManaged()
  const key = await managed.issue()
  const first = await create('A', key, 'order-10')
  expect((await create('A', key, '"order-10"')).text).toBe(first.text)
  for (const name of ['ключ', 'a b', '"a"b', 'tab\there', ''].map((text) => Buffer.from(text).toString('latin1')))
    for (const form of formNames) expectRefusal(await create(form, key, name), form, 400)
  expectRefusal(await create('A', key, 'x'.repeat(256)), 'A', 400)
  expect((await create('A', key, 'x'.repeat(255))).status).toBe(201)
  expect(managed.alpha.received('create')).toHaveLength(2)
})

describe('over a restart', () => {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-replay-'))
  let ledgers = 0
  const newLedger = (): string => `sqlite:${join(directory, `${++ledgers}.db`)}`
  afterAll(() => rmSync(directory, { recursive: true }))

  test('L5: another process gives the same response, byte for byte', async () => {
    const ledger = newLedger()
    managed = await startManaged({ ledger })
    const key = await managed.issue('acme')
    const first = await create('A', key, 'order-5')
    await managed.close()
    managed = await startManaged({ ledger, follows: managed })
    const again = await create('A', key, 'order-5')
    expect(comparable(again)).toEqual(comparable(first))
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(managed.alpha.journal).toEqual([])
  })

  test('L5: without an upstream call, however long the ledger takes to find it', async () => {
    const ledger = newLedger()
    managed = await startManaged({ ledger })
    const key = await managed.issue('initech')
    const first = await create('B', key, 'order-5')
    await managed.close()
    const ledgerLayer = (own: Ledger): Ledger => ({
      ...own,
      async findIdempotencyKey(...names) {
        await sendRequest(managed.gateway.url, { path: '/nowhere' }) // by then it would have called
        return own.findIdempotencyKey(...names)
      },
    })
    managed = await startManaged({ ledger, ledgerLayer, follows: managed })
    const again = await create('B', key, 'order-5')
    expect([first.status, again.text]).toEqual([200, first.text])
    expect(managed.alpha.journal).toEqual([])
  })

  test('L5: on the bare mount too', async () => {
    const ledger = newLedger()
    managed = await startManaged({ ledger })
    const key = await managed.issue('globex')
    const headers = { ...credential('A', key), 'content-type': 'application/json', 'idempotency-key': 'order-5' }
    const first = await create('A', key, 'order-5')
    const body = JSON.stringify(orderIn('A'))
    const again = await sendRequest(managed.gateway.url, { method: 'POST', path: '/api/v2/transactions', headers, body })
    expect([first.status, again.text]).toEqual([201, first.text])
  })
})

/** docs/contract-operators.md §10.2 in passthrough mode: a lost create is looked for only with the key of its client. */
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { createdB } from '../support/form-b.ts'
import { readJson } from '../support/json.ts'
import { orderIn } from '../support/managed.ts'
import { lookNow, loseResponses, orderedSwap, outcomesOf } from '../support/outcomes.ts'
import { credential, pairs } from '../support/pair.ts'
import { type Passthrough, startPassthrough } from '../support/passthrough.ts'
import type { Order } from '../support/swaps.ts'

let place: Passthrough
afterEach(() => place[Symbol.asyncDispose]())

const nameOf = { A: 'alpha', B: 'beta' } as const

describe.each(pairs)('a client of form $client, a provider of form $provider', ({ client: form, provider: side }) => {
  const name = nameOf[side]
  const provider = () => place[name]
  const create = (key: string): Promise<ReceivedResponse> =>
    place.client(form).post('/transactions', orderIn(form), { key, headers: { 'idempotency-key': 'order-2' } })
  const lose = async (): Promise<string> => {
    place = await startPassthrough(name)
    const key = await place.gateway.freshKey()
    loseResponses(provider())
    expectRefusal(await create(key), form, 504)
    provider().reply('create', { status: 500, json: {} })
    provider().journal.length = 0
    return key
  }
  const expectFound = async (key: string): Promise<void> => {
    const response = await create(key)
    expect(response.status, response.text).toBe(form === 'A' ? 201 : 200)
    expect(response.json).toMatchObject({ id: `${name}~lost-1` })
    expect(response.headers['idempotent-replayed']).toBe('true')
    expect(provider().received('create')).toEqual([])
  }

  test('L2: while the process holds the key, it looks with it', async () => {
    const key = await lose()
    await lookNow(place.gateway)
    const [looked] = provider().received('list')
    const header = side === 'A' ? 'authorization' : 'x-api-key'
    expect(looked?.headers[header]).toBe(credential(side, key)[header])
    await expectFound(key)
  })

  test('L2: after a restart no call is made until that key sends a request', async () => {
    const key = await lose()
    const other = await place.gateway.freshKey()
    await place.restart()
    await lookNow(place.gateway)
    await place.client(form).get('/transactions/unknown~1', { key: other })
    await lookNow(place.gateway)
    expect(provider().journal).toEqual([])
    expectRefusal(await create(key), form, 409)
    await lookNow(place.gateway)
    await expectFound(key)
  })

  test('L2: a read with the key is enough', async () => {
    const key = await lose()
    await place.restart()
    await lookNow(place.gateway)
    await place.client(form).get('/transactions/unknown~1', { key })
    await lookNow(place.gateway)
    await expectFound(key)
  })

  test('L3: what another key made there is not found for this one', async () => {
    const key = await lose()
    provider().reply('list', ({ headers }) => {
      const header = side === 'A' ? 'authorization' : 'x-api-key'
      const isMine = headers[header] === credential(side, key)[header]
      return isMine ? { json: { data: [], count: 0, pagination: { page: 1, size: 100, total: 0 } } } : undefined
    })
    await lookNow(place.gateway)
    expect(outcomesOf(place.gateway).at(-1)).toBe('notFound')
    expectRefusal(await create(key), form, 409)
  })

  test('L15: a result that the ledger cannot take is unknown to the client, and there as soon as the ledger is well', async () => {
    place = await startPassthrough(name)
    const key = await place.gateway.freshKey()
    const database = new DatabaseSync(place.file)
    database.exec(`CREATE TRIGGER broken BEFORE UPDATE ON transactions BEGIN SELECT RAISE(ABORT, 'no'); END`)
    provider().reply('create', ({ body }) => {
      const made = orderedSwap(readJson(body) as Order, { id: 'lost-1' })
      provider().holdings.swaps = [made]
      return side === 'A' ? { status: 201, json: transactionA(made) } : { json: createdB(made) }
    })
    const response = await create(key)
    expectRefusal(response, form, 504)
    expect(response.text).not.toContain('deposit')
    expect(outcomesOf(place.gateway)).toEqual(['unrecorded'])
    provider().journal.length = 0
    database.exec('DROP TRIGGER broken')
    database.close()
    await vi.waitFor(() => expect(outcomesOf(place.gateway).at(-1)).toBe('recorded'), eventTimeoutMs)
    await expectFound(key)
  })
})

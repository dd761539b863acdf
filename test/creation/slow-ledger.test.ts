// Runs alone: it needs about half of what the machine can do.
/** A ledger in PostgreSQL that is slow, or whose connections break at the wrong moment, under a whole gateway. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { readJson } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { orderedSwap, outcomesOf } from '../support/outcomes.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy.ts'
import type { Order } from '../support/swaps.ts'

let server: Postgres
let proxy: PostgresProxy
let managed: Managed
let key: string

beforeEach(async () => {
  server = await startPostgres()
  proxy = await startPostgresProxy(await server.createLedger())
  managed = await startManaged({ ledger: proxy.url })
  key = await managed.issue()
  let made = 0
  managed.alpha.reply('create', ({ body }) => {
    const id = `made-${++made}`
    return { status: 201, json: transactionA(orderedSwap(readJson(body) as Order, { id, depositAddress: `to-${id}` })) }
  })
})
afterEach(async () => {
  await managed.close()
  proxy.close()
  await server.close()
})

const create = (idempotencyKey: string): Promise<ReceivedResponse> =>
  managed.client('A').post('/transactions', orderIn('A'), { key, headers: { 'idempotency-key': idempotencyKey } })
/** The server is out of reach, over kept connections too. */
const leave = (): void => {
  proxy.refuse()
  proxy.cut()
}
const idOf = ({ json }: ReceivedResponse): string => (json as { id: string }).id

test('L53: at 400 creates a second a healthy provider leaves no outcome unknown', async () => {
  const creating: Promise<ReceivedResponse>[] = []
  for (let n = 0; n < 800; n += 4) {
    for (const part of [0, 1, 2, 3]) creating.push(create(`order-${n + part}`))
    await delay(10)
  }
  const responses = await Promise.all(creating)
  const done = responses.filter(({ status }) => status === 201)
  expect(responses.filter(({ status }) => status !== 201 && status !== 503)).toEqual([])
  expect(done.length).toBeGreaterThan(0)
  expect(managed.alpha.received('create')).toHaveLength(done.length)
  // What was begun too late is dropped a moment after its response.
  await vi.waitFor(async () => expect(await managed.gateway.ledgerAdmin.unresolved()).toEqual([]), eventTimeoutMs)
  expect(outcomesOf(managed.gateway)).toEqual([])
}, 60_000)

describe('L48: the connection breaks at a COMMIT', () => {
  test('whose response is lost, at each step of a create: it is done once, and its key returns it', async () => {
    expect((await create('warm')).status).toBe(201)
    proxy.loseCommits('response', 2)
    const response = await create('order-1')
    expect(response.status).toBe(201)
    const again = await create('order-1')
    expect([again.status, idOf(again)]).toEqual([201, idOf(response)])
    expect(managed.alpha.received('create')).toHaveLength(2)
  })

  test('of the intent, and the server is gone: 503, nothing is sent, and the key is free afterwards', async () => {
    expect((await create('warm')).status).toBe(201)
    proxy.loseCommits('response', 1, leave)
    const response = await create('order-1')
    expectRefusal(response, 'A', 503)
    expect(response.headers['x-swap-reason']).toBe('ledger_unavailable')
    expect(managed.alpha.received('create')).toHaveLength(1)
    await proxy.admit()
    await vi.waitFor(async () => expect((await create('order-1')).status).toBe(201), eventTimeoutMs)
    expect(managed.alpha.received('create')).toHaveLength(2)
  })

  test('of the result, and the server is gone: 504, and the key returns it afterwards', async () => {
    expect((await create('warm')).status).toBe(201)
    managed.alpha.reply('create', ({ body }) => {
      proxy.loseCommits('response', 1, leave)
      return { status: 201, json: transactionA(orderedSwap(readJson(body) as Order, { id: 'late' })) }
    })
    const response = await create('order-1')
    expectRefusal(response, 'A', 504)
    expect(response.text).not.toContain('deposit')
    await proxy.admit()
    await vi.waitFor(() => expect(outcomesOf(managed.gateway).at(-1)).toBe('recorded'), eventTimeoutMs)
    const again = await create('order-1')
    expect([again.status, idOf(again)]).toEqual([201, 'alpha~late'])
    expect(managed.alpha.received('create')).toHaveLength(2)
  })
})

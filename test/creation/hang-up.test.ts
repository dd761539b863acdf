// Takes long: more than a thousand connections.
/** Clients that go away in the middle of a create. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { expectAlive } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { digits, readJson } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { orderedSwap } from '../support/outcomes.ts'
import { credential, type FormName, formNames } from '../support/pair.ts'
import type { Order } from '../support/swaps.ts'

let managed: Managed
let key: string
beforeEach(async () => {
  managed = await startManaged({
    sections: { auth: { mode: 'managed' }, routing: { providers: ['alpha'] }, cache: { currencies: 600, rate: 0, staleFor: 0 } },
  })
  key = await managed.issue()
  let made = 0
  // Long enough for a client to be gone by then.
  managed.alpha.reply('create', ({ body }) => {
    const id = `slow-${++made}`
    return { status: 201, json: transactionA(orderedSwap(readJson(body) as Order, { id })), delay: 60 }
  })
})
afterEach(() => managed.close())

async function send(bytes: string): Promise<Socket> {
  const socket = connect(managed.gateway.port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  socket.write(bytes)
  return socket
}

function request(form: FormName, method: string, path: string, headers: readonly string[], body: string): string {
  const headerLines = Object.entries(credential(form, key)).map(([name, value]) => `${name}: ${value}`)
  const lines = [`${method} /${form.toLowerCase()}/api/v2${path} HTTP/1.1`, 'Host: gateway', ...headerLines, ...headers]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

/** The bytes of a create whose response is never read; the witness has a record of it. */
function createBytes(form: FormName, name?: string): string {
  const body = JSON.stringify(orderIn(form))
  const headerLines = { 'x-request-id': randomUUID(), ...(name !== undefined && { 'idempotency-key': name }) }
  managed.witness.pending({
    method: 'POST',
    path: '/api/v2/transactions',
    headers: { ...credential(form, key), ...headerLines },
    body,
  })
  const headers = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]
  const lines = Object.entries(headerLines).map(([header, value]) => `${header}: ${value}`)
  return request(form, 'POST', '/transactions', [...lines, ...headers], body)
}

const creates = (): number => managed.alpha.received('create').length
const total = async (): Promise<unknown> => {
  const { json } = await managed.client('B').get('/transactions?size=1', { key })
  return (json as { count: unknown }).count
}

describe.each(formNames)('L17, form %s: a client that is gone while the provider works', (form) => {
  test.each(['end', 'destroy', 'resetAndDestroy'] as const)(
    '(%s) finds its create in the list and under its key',
    async (leave) => {
      const socket = await send(createBytes(form, 'order-17'))
      await expect.poll(creates).toBe(1)
      socket[leave]()
      await expect.poll(total).toEqual(digits('1'))
      const again = await managed.client(form).post('/transactions', orderIn(form), {
        key,
        headers: { 'idempotency-key': 'order-17' },
      })
      expect(again.headers['idempotent-replayed']).toBe('true')
      expect(again.json).toMatchObject({ id: 'alpha~slow-1' })
      expect(creates()).toBe(1)
      expect(await managed.gateway.ledgerAdmin.unresolved()).toEqual([])
    },
  )
})

test('X7: of 1,200 connections that send and reset each create is finished, and sockets and memory come back', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const handles = (): number => readdirSync('/proc/self/fd').length
  const heap = (): number => {
    managed.alpha.journal.length = 0
    collect()
    return process.memoryUsage().heapUsed / 2 ** 20
  }
  const read = request('A', 'GET', '/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=1', [], '')
  const flood = async (rounds: number): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      const before = creates()
      const bytes = Array.from({ length: 100 }, (_, at) =>
        at % 4 === 0 ? createBytes(formNames[at % 8 ? 1 : 0] as FormName) : read,
      )
      const sockets = await Promise.all(bytes.map(send))
      await expect.poll(creates, { interval: 5 }).toBe(before + 25)
      for (const socket of sockets) socket.resetAndDestroy()
    }
  }
  await flood(4)
  await expect.poll(total).toEqual(digits('100'))
  const [handlesBefore, heapBefore] = [handles(), heap()]
  await flood(8)
  await expect.poll(total).toEqual(digits('300'))
  // The connections to the provider may stay open: 128 of them, and both ends are in this process.
  await expect.poll(handles).toBeLessThanOrEqual(handlesBefore + 256)
  expect(heap() - heapBefore, 'MiB').toBeLessThan(8)
  expect(await managed.gateway.ledgerAdmin.unresolved()).toEqual([])
  await expectAlive(managed.client('A'))
})

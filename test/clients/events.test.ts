/** The clients of `clients/`, against streams of the gateway and signed webhooks: one test for each language. */
import { randomBytes } from 'node:crypto'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { type Call, drivers, hasPython, type Result } from './drivers.ts'

const languages = hasPython ? (['TypeScript', 'Python'] as const) : (['TypeScript'] as const)

let managed: Managed
let key: string
beforeEach(async () => {
  managed = await startManaged({
    sections: { auth: { mode: 'managed' }, ledger: { refreshAfter: 0 }, routing: { providers: ['alpha'] } },
  })
  key = await managed.issue()
})
afterEach(() => managed.close())

const create = async (): Promise<string> =>
  ((await managed.client('A').post('/transactions', orderIn('A'), { key })).json as { id: string }).id
const change = async (id: string, status: string): Promise<void> => {
  managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((held) => ({ ...held, status }))
  await managed.client('A').get(`/transactions/${id}`, { key })
}

/** TCP to the gateway, which can be cut. */
async function openWay(port: number) {
  const sockets = new Set<Socket>()
  let passed = ''
  const server = createServer((client) => {
    const gateway = connect(port, '127.0.0.1')
    for (const socket of [client, gateway]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => [client, gateway].map((each) => each.destroy()))
    }
    gateway.on('data', (bytes) => {
      passed += bytes
    })
    client.pipe(gateway).pipe(client)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async cutAfter(text: string) {
      await expect.poll(() => passed).toContain(text)
      cut()
    },
    async [Symbol.asyncDispose]() {
      cut()
      await new Promise((done) => server.close(done))
    },
  }
}

const anySwap = { id: 'alpha~1', status: 'wait', coinFrom: 'BTC', coinTo: 'XLM', amount: '0.5', depositAddress: 'bc1q' }

/** A gateway that sends these pieces as a stream, and then is silent. */
async function startStream(pieces: readonly Uint8Array[]) {
  const server = createHttpServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const piece of pieces) response.write(piece)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

describe.each(languages)('the %s client', (language) => {
  const driver = drivers[language]()
  afterAll(() => driver[Symbol.asyncDispose]())
  const call = (what: Call): Promise<Result> => driver.call({ url: managed.gateway.url, key }, what)

  it('reads the events of a swap to its end, with amounts as texts, and goes on where it was', async () => {
    const id = await create()
    await change(id, 'exchanging')
    await change(id, 'success')
    const { value: all } = await call({ name: 'events', swap: id, lastEventId: '1', count: 9 })
    expect(all).toMatchObject([
      { id: '2', swap: { id, status: 'exchanging', amount: '0.10' } },
      { id: '3', swap: { id, status: 'success' } },
    ])
    expect((await call({ name: 'events', swap: id, lastEventId: '3', count: 9 })).value).toEqual([])
  })

  it('goes on over a connection that breaks', async () => {
    const id = await create()
    await using way = await openWay(Number(new URL(managed.gateway.url).port))
    const reading = driver.call({ url: way.url, key }, { name: 'events', swap: id, count: 3 })
    await way.cutAfter('id: 1')
    await change(id, 'confirmation')
    await change(id, 'success')
    expect((await reading).value).toMatchObject([{ id: '1' }, { id: '2' }, { id: '3', swap: { status: 'success' } }])
  })

  it('reads the events of all swaps of the account', async () => {
    const first = await create()
    await change(first, 'exchanging')
    const second = await create()
    const { value } = await call({ name: 'events', lastEventId: '1', count: 2 })
    expect(value).toMatchObject([
      { id: '2', swap: { id: first, status: 'exchanging' } },
      { id: '3', swap: { id: second, status: 'wait' } },
    ])
  })

  it('misses no change of the account while a connection breaks before the first one', async () => {
    await using way = await openWay(Number(new URL(managed.gateway.url).port))
    const reading = driver.call({ url: way.url, key }, { name: 'events', count: 1 })
    await way.cutAfter('id: 0')
    const id = await create()
    expect((await reading).value).toMatchObject([{ id: '1', swap: { id, status: 'wait' } }])
  })

  it('reads lines however they end, and wherever the bytes are divided; no other character ends one', async () => {
    const memo = 'a\u2028b\u2029c\u0085d'
    const event = (id: number, end: string, data = JSON.stringify({ ...anySwap, withdrawalExtraId: memo })): string =>
      [`id: ${id}`, 'event: transaction', `data:${data}`, '', ''].join(end)
    const text = `: hello\n\n${event(1, '\n')}${event(2, '\r\n')}${event(3, '\r')}${event(4, '\n')}`
    await using stream = await startStream([...Buffer.from(text)].map((byte) => Buffer.of(byte)))
    const { value } = await driver.call({ url: stream.url, key }, { name: 'events', lastEventId: '0', count: 4 })
    expect(value).toMatchObject(['1', '2', '3', '4'].map((id) => ({ id, swap: { withdrawalExtraId: memo } })))
  })

  it('tells of an event that it cannot read, and goes on behind it', async () => {
    const events = [
      'id: 1\nevent: transaction\ndata: {"id":\n\n',
      `id: 2\nevent: transaction\ndata: ${JSON.stringify(anySwap)}\n\n`,
    ]
    await using stream = await startStream(events.map((text) => Buffer.from(text)))
    const { value } = await driver.call({ url: stream.url, key }, { name: 'events', lastEventId: '0', count: 2 })
    expect(value).toMatchObject([{ id: '1' }, { id: '2', swap: { id: anySwap.id } }])
  })

  it('has the error of a get for a swap that is not there', async () => {
    const { error } = await call({ name: 'events', swap: 'alpha~nothing', count: 1 })
    expect(error).toMatchObject({ name: 'NotFound', reason: 'not_found' })
  })

  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const body =
    '{"type":"transaction.updated","timestamp":"2026-11-27T10:00:00.000Z","data":{"id":"alpha~1","status":"success","amount":0.1000000000000000001,"amountTo":12}}'
  const signed = (text = body, at = new Date(), by = secret): Record<string, string> => ({
    'Webhook-Id': 'msg_1',
    'Webhook-Timestamp': String(Math.floor(at.getTime() / 1000)),
    'Webhook-Signature': `v1,c29tZXRoaW5nIGVsc2U= ${new Webhook(by).sign('msg_1', at, text)}`,
  })
  const read = (headers: Record<string, string>, text = body, ...secrets: readonly string[]) =>
    call({ name: 'readWebhook', body: text, headers, secrets: secrets.length > 0 ? secrets : [secret] })

  it('reads a webhook that swapgate has signed, with every digit', async () => {
    const swap = { id: 'alpha~1', status: 'success', amount: '0.1000000000000000001', amountTo: '12' }
    const expected = { id: 'msg_1', type: 'transaction.updated', timestamp: '2026-11-27T10:00:00.000Z', swap }
    expect((await read(signed())).value).toEqual(expected)
    const other = `whsec_${randomBytes(32).toString('base64')}`
    expect((await read(signed(), body, other, secret)).value).toEqual(expected)
  })

  it('refuses one that was changed, is old, or that another has signed', async () => {
    const other = `whsec_${randomBytes(32).toString('base64')}`
    const refused = [
      await read(signed(), body.replace('success', 'overdue')),
      await read(signed(body, new Date(Date.now() - 600_000))),
      await read(signed(body, new Date(), other)),
      await read({}),
    ]
    for (const { value, error } of refused) {
      expect(value).toBeUndefined()
      expect(['WebhookRefused', 'WebhookVerificationError', 'Error']).toContain(error?.name)
    }
  })
})

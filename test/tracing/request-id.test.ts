/** A request is found by its id: in the log with who sent it, what it made and its trace, and in the first span of that trace. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { requestLines } from '../observability/log-lines.ts'
import { orderIn } from '../support/managed.ts'
import { Caller } from './collector.ts'
import { type Rig, startRig } from './rig.ts'

let rig: Rig
let keyId: string
beforeAll(async () => {
  rig = await startRig({ sections: { server: { port: 0, shutdownDelay: 0, trustProxy: 1 } } })
  await rig.warm()
  const [issued] = (await rig.gateway.command('keys', 'list')) as readonly { readonly id: string }[]
  keyId = issued?.id ?? ''
})
afterAll(() => rig[Symbol.asyncDispose]())

const linesOf = (requestId: string) => requestLines(rig.gateway.output).filter(({ request_id }) => request_id === requestId)
const createAs = (requestId: string, caller: Caller, headers: Readonly<Record<string, string>> = {}) =>
  rig.client('A').post('/transactions', orderIn('A'), {
    key: rig.key,
    headers: { ...caller.headers, 'x-request-id': requestId, 'x-forwarded-for': '198.51.100.7, 203.0.113.9', ...headers },
  })

test('a create is found in the log with account, key id, address, intent and trace; its first span has the same', async () => {
  const caller = new Caller()
  expect((await createAs('ticket-1', caller)).status).toBe(201)
  const trace = await rig.collector.traceFrom(caller)
  await expect.poll(() => linesOf('ticket-1')).toHaveLength(1)
  const [line] = linesOf('ticket-1')
  expect(line).toMatchObject({
    account: 'acme',
    key_id: keyId,
    address: '203.0.113.9',
    intent: expect.stringMatching(/^[0-9a-f-]{36}$/),
    trace_id: trace.root.traceId,
  })
  expect(trace.root.attributes).toMatchObject({
    'swapgate.request_id': 'ticket-1',
    'swapgate.account': 'acme',
    'swapgate.intent': line?.intent,
  })
})

test('a create of unknown outcome, and every request that repeats it, have the intent that the ledger has', async () => {
  rig.alpha.reply('create', { reset: true })
  const headers = { 'idempotency-key': 'order-7' }
  expect((await createAs('ticket-2', new Caller(), headers)).status).toBe(504)
  expect((await createAs('ticket-3', new Caller(), headers)).status).toBe(409)
  await expect.poll(() => linesOf('ticket-3')).toHaveLength(1)
  const unknown = (await rig.gateway.command('ledger', 'unknown')) as readonly { readonly intent: string }[]
  const intents = [...linesOf('ticket-2'), ...linesOf('ticket-3')].map(({ intent }) => intent)
  expect(intents).toEqual([unknown[0]?.intent, unknown[0]?.intent])
})

test('a request without a valid key has its address, and neither account nor key id', async () => {
  const headers = { 'x-request-id': 'ticket-4', 'x-forwarded-for': '2001:db8::7' }
  expect((await rig.client('A').get('/transactions', { key: 'wrong', headers })).status).toBe(401)
  expect((await rig.client('A').get('/nowhere', { key: null, headers: { ...headers, 'x-request-id': 'ticket-5' } })).status).toBe(
    404,
  )
  await expect.poll(() => linesOf('ticket-5')).toHaveLength(1)
  for (const line of [...linesOf('ticket-4'), ...linesOf('ticket-5')]) {
    expect(line).toMatchObject({ address: '2001:db8::7' })
    for (const absent of ['account', 'key_id', 'intent', 'caller']) expect(line).not.toHaveProperty(absent)
  }
})

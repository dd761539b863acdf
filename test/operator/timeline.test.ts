/** docs/operating.md: what happened to a swap, from the admin port of a real gateway. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Provider, startProvider } from '../checker/provider.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'

const token = 'operator-token-of-alice-0123456789'
/** Without `money`. */
const readersToken = 'operator-token-of-carol-0123456789'
const order = { coinFrom: 'XRP', coinTo: 'USDTERC20', amount: 1, withdrawalAddress: '0xWithdraw123456789', rateType: 'float' }
const open = new AsyncDisposableStack()
let directory: string
let alpha: Provider
let beta: Provider
let gateway: InProcessGateway
let key: string

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'swapgate-timeline-'))
  open.defer(async () => rmSync(directory, { recursive: true }))
  alpha = open.use(await startProvider({ form: 'A', name: 'alpha', keys: ['own-key-of-alpha'], journal: join(directory, 'alpha') }))
  beta = open.use(await startProvider({ form: 'B', name: 'beta', keys: ['own-key-of-beta'], journal: join(directory, 'beta') }))
  gateway = open.use(
    await InProcessGateway.start({
      directory,
      mode: 'managed',
      admin: { tokens: { alice: token, carol: { token: readersToken, roles: ['read'] } } },
      providers: {
        alpha: { form: 'A', url: alpha.url, key: 'own-key-of-alpha', statuses: { broken: 'failed' } },
        beta: { form: 'B', url: beta.url, key: 'own-key-of-beta', statuses: { broken: 'failed' } },
      },
      sections: { ledger: { url: `sqlite:${join(directory, 'ledger.db')}`, refreshAfter: 0 } },
    }),
  )
  key = await gateway.createKey('acme')
}, 30_000)
afterAll(() => open.disposeAsync())

interface Row {
  readonly at: string
  readonly event: string
  readonly [member: string]: unknown
}

interface Read {
  readonly swap: Readonly<Record<string, unknown>>
  readonly timeline: readonly Row[]
}

const call = (path: string, method = 'GET', body?: unknown, by = token): Promise<ReceivedResponse> =>
  sendRequest(gateway.adminUrl, {
    method,
    path,
    headers: { authorization: `Bearer ${by}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

async function read(id: string): Promise<Read> {
  const response = await call(`/api/transactions/${encodeURIComponent(id)}/timeline`, 'GET', undefined, readersToken)
  expect(response.status, response.text).toBe(200)
  for (const secret of [order.withdrawalAddress, key, 'own-key-of', 'ordering'])
    expect(response.text.includes(secret), secret).toBe(false)
  return JSON.parse(response.text) as Read
}

/** Once it has this event: what happened is written within a second. */
async function readWith(id: string, event: Readonly<Record<string, unknown>>): Promise<Read> {
  await expect
    .poll(async () => (await read(id)).timeline, { timeout: 20_000, interval: 100 })
    .toContainEqual(expect.objectContaining(event))
  return await read(id)
}

const create = (requestId: string, headers: Readonly<Record<string, string>> = {}): Promise<ReceivedResponse> =>
  sendRequest(gateway.url, {
    method: 'POST',
    path: '/a/api/v2/transactions',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-request-id': requestId, ...headers },
    body: JSON.stringify(order),
  })
const get = (id: string): Promise<ReceivedResponse> =>
  sendRequest(gateway.url, { path: `/a/api/v2/transactions/${id}`, headers: { authorization: `Bearer ${key}` } })
const idOf = (response: ReceivedResponse): string => (response.json as { readonly id: string }).id
const intentOf = async (text: string): Promise<string> => {
  const { data } = (await call(`/api/find?text=${text}`)).json as { readonly data: readonly { readonly intent: string }[] }
  return data[0]?.intent ?? ''
}

test('a create has its request, why its provider, its quote, its call with status and time, and its outcome', async () => {
  const quote = '/a/api/v2/rate?coinFrom=XRP&coinTo=USDTERC20&amount=1&rateType=float'
  expect((await sendRequest(gateway.url, { path: quote, headers: { authorization: `Bearer ${key}` } })).status).toBe(200)
  const made = await create('ticket-1')
  const id = idOf(made)
  const { swap, timeline } = await readWith(id, { event: 'outcome' })
  expect(swap).toMatchObject({
    id,
    state: 'done',
    status: 'wait',
    account: 'acme',
    requestId: 'ticket-1',
    withdrawalAddress: '0xWith…6789',
  })
  expect(timeline).toMatchObject([
    { event: 'requested', requestId: 'ticket-1', keyId: swap.keyId },
    { event: 'routed', provider: 'alpha', strategy: 'priority', because: 'order', omitted: [] },
    { event: 'call', provider: 'alpha', operation: 'create_transaction', status: 201, outcome: 'done' },
    { event: 'quoted', provider: 'alpha', source: 'newest', rateType: 'float', amountIn: '1', amountOut: expect.any(String) },
    { event: 'outcome', outcome: 'done', status: 'wait' },
  ])
  for (const { at } of timeline) expect(at).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  expect(timeline.map(({ at }) => at)).toEqual(timeline.map(({ at }) => at).toSorted())
  expect(timeline[2]?.milliseconds).toEqual(expect.any(Number))
  expect(await read(String(swap.intent))).toEqual({ swap, reads: expect.anything(), timeline })
})

test('who did not take it is there with the reason, before the one who did', async () => {
  await alpha.fault({ operation: 'create', before: 429 })
  const made = await create('ticket-2')
  expect(made.headers['x-swap-provider']).toBe('beta')
  const { timeline } = await readWith(idOf(made), { event: 'outcome' })
  expect(timeline.filter(({ event }) => event !== 'quoted')).toMatchObject([
    { event: 'requested' },
    { event: 'routed', provider: 'alpha' },
    { event: 'call', provider: 'alpha', operation: 'create_transaction', status: 429, outcome: 'limited' },
    { event: 'passed_over', provider: 'alpha', reason: expect.any(String), because: 'limited' },
    ...['list_currencies', 'get_rate', 'create_transaction', 'get_transaction'].map((operation) => {
      return { event: 'call', provider: 'beta', operation, status: 200, outcome: 'done' }
    }),
    { event: 'outcome', outcome: 'done' },
  ])
  await call('/api/providers/alpha', 'PATCH', { state: 'draining' })
  const alone = await readWith(idOf(await create('ticket-3')), { event: 'outcome' })
  expect(alone.timeline[1]).toMatchObject({
    provider: 'beta',
    because: 'order',
    omitted: [{ provider: 'alpha', because: 'draining' }],
  })
  await call('/api/overrides', 'DELETE')
})

test('a create of unknown outcome: the call that broke off, each search with its calls, and what was found', {
  timeout: 60_000,
}, async () => {
  await beta.fault({ operation: 'create', after: 'reset' })
  expect((await create('ticket-4')).status).toBe(504)
  const intent = await intentOf('ticket-4')
  expect((await readWith(intent, { event: 'outcome', outcome: 'unknown' })).swap).toMatchObject({ id: null, state: 'unknown' })
  const { swap, timeline } = await readWith(intent, { event: 'search', outcome: 'found' })
  expect(swap).toMatchObject({ state: 'done', intent, requestId: 'ticket-4' })
  const broken = timeline.filter(({ event, provider }) => event === 'call' && provider === 'beta')
  expect(broken).toMatchObject([{ operation: 'create_transaction', outcome: 'failed' }])
  expect(broken[0]).not.toHaveProperty('status')
  const [search] = timeline.filter(({ event }) => event === 'search').slice(-1)
  expect(search?.calls).toContainEqual(
    expect.objectContaining({
      provider: 'beta',
      operation: 'list_transactions',
      status: 200,
      outcome: 'done',
      milliseconds: expect.any(Number),
    }),
  )
  expect(timeline).toContainEqual(expect.objectContaining({ event: 'outcome', outcome: 'found' }))
})

test('each change of status and each decision of a person is there once; a get that changes nothing leaves no trace', async () => {
  await call('/api/overrides', 'DELETE')
  const made = await create('ticket-5')
  const id = idOf(made)
  const provider = id.startsWith('alpha~') ? alpha : beta
  await provider.change(id.slice(id.indexOf('~') + 1), { status: 'exchanging' })
  for (let times = 0; times < 3; times++) await get(id)
  const { timeline } = await readWith(id, { event: 'status', to: 'exchanging' })
  expect(timeline.filter(({ event }) => event === 'status')).toMatchObject([{ from: 'wait', to: 'exchanging', attention: null }])
  const length = timeline.length
  for (let times = 0; times < 3; times++) await get(id)
  await create('ticket-6')
  await readWith(idOf(await create('ticket-7')), { event: 'outcome' })
  expect((await read(id)).timeline).toHaveLength(length)
})

test('a failure, and how a person has settled it, in the transaction of the audit log', async () => {
  const id = idOf(await create('ticket-9'))
  await (id.startsWith('alpha~') ? alpha : beta).change(id.slice(id.indexOf('~') + 1), { status: 'broken' })
  await get(id)
  await readWith(id, { event: 'status', attention: 'failed' })
  expect((await call(`/api/transactions/${id}`, 'POST', { status: 'refunded', note: 'ticket 7' })).status).toBe(200)
  const { swap, timeline } = await read(id)
  expect(swap).toMatchObject({ status: 'refunded', attention: null })
  expect(timeline.at(-1)).toMatchObject({
    event: 'person',
    actor: 'alice',
    action: 'transaction.settle',
    decision: { status: 'refunded', note: 'ticket 7' },
  })
})

test('an id that is not there is 404, and a read is in the audit log', async () => {
  for (const id of ['none', 'alpha~none', '%27%20OR%201=1'])
    expect((await call(`/api/transactions/${id}/timeline`)).status).toBe(404)
  const id = idOf(await create('ticket-8'))
  await read(id)
  const audit = (await call('/api/audit')).json as readonly object[]
  expect(audit[0]).toMatchObject({ actor: 'carol', action: 'transaction.read', subject: id })
})

/** docs/contract-operators.md §15: the operator's API on the admin port of real gateways. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'

import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SettlementPreview } from '../../src/core/operations/settle-many.ts'
import { type Provider, startProvider } from '../checker/provider.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'

const token = 'operator-token-of-alice-0123456789'
const other = 'operator-token-of-bob-012345678901'
const order = { coinFrom: 'XRP', coinTo: 'USDTERC20', amount: 1, withdrawalAddress: '0xWithdraw123456789', rateType: 'float' }

let directory: string
let alpha: Provider
let beta: Provider
let gateway: InProcessGateway
let replica: InProcessGateway
const open = new AsyncDisposableStack()

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'swapgate-operator-'))
  open.defer(async () => rmSync(directory, { recursive: true }))
  alpha = open.use(await startProvider({ form: 'A', name: 'alpha', keys: ['own-key-of-alpha'], journal: join(directory, 'alpha') }))
  beta = open.use(await startProvider({ form: 'B', name: 'beta', keys: ['own-key-of-beta'], journal: join(directory, 'beta') }))
  const settings = {
    directory,
    mode: 'managed' as const,
    admin: { tokens: { alice: token, bob: other } },
    providers: {
      alpha: { form: 'A' as const, url: alpha.url, key: 'own-key-of-alpha', statuses: { broken: 'failed' } },
      beta: { form: 'B' as const, url: beta.url, key: 'own-key-of-beta' },
    },
    sections: { routing: { strategy: 'weighted', providers: ['alpha', 'beta'], weights: { alpha: 1, beta: 0 } } },
  }
  gateway = open.use(await InProcessGateway.start(settings))
  replica = open.use(await InProcessGateway.start(settings))
}, 30_000)
afterAll(() => open.disposeAsync())

interface Call {
  readonly method?: string
  readonly body?: unknown
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

function call(
  path: string,
  { method = 'GET', body, token: sent = token, headers = {} }: Call = {},
  at = gateway,
): Promise<ReceivedResponse> {
  return sendRequest(at.adminUrl, {
    method,
    path,
    headers: {
      ...(sent !== null && { authorization: `Bearer ${sent}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}
const json = async <T>(path: string, options: Call = {}, at = gateway): Promise<T> => {
  const response = await call(path, options, at)
  expect(response.status, response.text).toBeLessThan(300)
  return JSON.parse(response.text) as T
}
const create = async (key: string, at = gateway, headers: Readonly<Record<string, string>> = {}): Promise<ReceivedResponse> =>
  sendRequest(at.url, {
    method: 'POST',
    path: '/a/api/v2/transactions',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(order),
  })

describe('authentication', () => {
  it('without a token every path of the API is 401, and nothing is shown', async () => {
    for (const path of ['/api/providers', '/api/nothing', '/api/keys', '/api/openapi.json', '/api/events']) {
      const response = await call(path, { token: null })
      expect([response.status, response.headers['x-swap-reason']], path).toEqual([401, 'key_missing'])
      expect(response.headers['www-authenticate']).toBe('Bearer')
      expect(response.text).not.toContain('alpha')
    }
  })

  it('a wrong token is 401, over ten a minute 429, and a right one is never refused', async () => {
    const codes: number[] = []
    for (let at = 0; at < 12; at++) codes.push((await call('/api/providers', { token: `wrong-${at}` }, replica)).status)
    expect(codes).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429])
    expect((await call('/api/providers', {}, replica)).status).toBe(200)
    const metrics = await (await fetch(`${replica.adminUrl}/metrics`)).text()
    expect(metrics).toContain('swapgate_operator_tokens_refused_total 12')
  })

  it('a foreign Host is 421 and a form of another site 401 or 415', async () => {
    for (const host of ['evil.example', 'evil@localhost', 'localhost/evil', 'localhost?evil', 'localhost.evil.example'])
      expect((await call('/api/providers', { headers: { host } })).status, host).toBe(421)
    const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'name=x' }
    expect((await call('/api/keys', { ...form, token: null })).status).toBe(401)
    expect((await call('/api/keys', form)).status).toBe(415)
  })

  it.each([
    ['two Host lines', '/api/status', 'Host: localhost\r\nHost: localhost\r\n', 400],
    ['two Authorization lines', '/api/status', `Host: localhost\r\nAuthorization: Bearer ${token}\r\n`, 400],
    ['a path that is no URL', '/api//[', 'Host: localhost\r\n', 404],
    ['a whole URL of this host', 'http://localhost/api/openapi.json?x=1', 'Host: evil.test\r\n', 400],
    ['a whole URL of another host', 'http://evil.test/api/providers', 'Host: localhost\r\n', 421],
  ])('a request with %s is answered as at the public port', async (_, target, lines, status) => {
    const socket = connect(Number(new URL(gateway.adminUrl).port), '127.0.0.1')
    socket.end(`GET ${target} HTTP/1.1\r\n${lines}Authorization: Bearer ${token}\r\nConnection: close\r\n\r\n`)
    expect((await text(socket)).split('\r\n')[0]).toContain(` ${status} `)
  })

  it('errors have the body of the default form', async () => {
    const response = await call('/api/nothing')
    expect(JSON.parse(response.text)).toEqual({ error: 'Not Found', message: expect.any(String), code: 404 })
    const wrong = await call('/api/providers', { method: 'PUT' })
    expect([wrong.status, wrong.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })

  it.each([
    ['GET', '/api/providers?page=2'],
    ['GET', '/api/keys?account=acme'],
    ['GET', '/api/openapi.json?x=1'],
    ['PATCH', '/api/routing?force=true', {}],
    ['PATCH', '/api/routing', { strategy: 'best' }],
    ['GET', '/api/events?since=1h'],
  ])('W84: an unknown field or parameter of %s %s is refused by name, never ignored', async (method, path, body?: unknown) => {
    const refused = await call(path, { method, ...(body !== undefined && { body }) })
    expect([refused.status, refused.headers['x-swap-reason']], refused.text).toEqual([400, 'parameter_unknown'])
  })

  it.each(['.', '..'])('an account called %s is refused: no path leads to it', async (name) => {
    for (const path of ['/api/accounts', '/api/keys']) {
      const refused = await call(path, { method: 'POST', body: { name } })
      expect([refused.status, refused.headers['x-swap-reason']], refused.text).toEqual([400, 'body_invalid'])
    }
    expect(await json('/api/accounts')).not.toContainEqual(expect.objectContaining({ name }))
  })

  it('each operation has an id of its own in the description', async () => {
    const { paths } = (await json('/api/openapi.json')) as {
      readonly paths: Record<string, Record<string, { operationId: string }>>
    }
    const ids = Object.values(paths).flatMap((of) => Object.values(of).map(({ operationId }) => operationId))
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toEqual(ids.map(() => expect.stringMatching(/^(?:get|post|patch|delete)[A-Za-z]+$/)))
    expect(ids).toEqual(
      expect.arrayContaining(['getAccountsByName', 'deleteAccountsByNameLimits', 'getOpenapiJson', 'postFoundKeys']),
    )
  })

  it('H52: a body in which a name is there twice is refused, and nothing changes', async () => {
    const body = '{"state":"active","state":"draining"}'
    const refused = await call('/api/providers/beta', { method: 'PATCH', body })
    expect([refused.status, refused.headers['x-swap-reason']], refused.text).toEqual([400, 'body_invalid'])
    expect(await json('/api/providers/beta')).toMatchObject({ state: 'active' })
  })

  it('W81: OPTIONS is 204 with the methods, and a wrong method of the events and of the page 405', async () => {
    const allowOf = async (path: string, method: string): Promise<readonly unknown[]> => {
      const { status, headers } = await call(path, { method })
      return [status, headers.allow]
    }
    expect(await allowOf('/api/providers/alpha', 'OPTIONS')).toEqual([204, 'GET, HEAD, PATCH, OPTIONS'])
    expect(await allowOf('/api/events', 'OPTIONS')).toEqual([204, 'GET, HEAD, OPTIONS'])
    expect(await allowOf('/api/events', 'POST')).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect(await allowOf('/', 'OPTIONS')).toEqual([204, 'GET, HEAD, OPTIONS'])
    expect(await allowOf('/', 'POST')).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect((await call('/api/nothing', { method: 'OPTIONS' })).status).toBe(404)
    expect((await call('/api/providers', { method: 'OPTIONS', token: null })).status).toBe(401)
    const head = await call('/api/events', { method: 'HEAD' })
    expect([head.status, head.headers['content-type'], head.text]).toEqual([200, 'text/event-stream; charset=utf-8', ''])
    expect([head.headers['x-accel-buffering'], head.headers['content-length']]).toEqual(['no', undefined])
  })
})

describe('providers and routing', () => {
  it('are those of the command', async () => {
    const command = (await gateway.command('providers', 'status')) as { providers: { name: string }[] }
    const api = await json<typeof command>('/api/providers')
    expect(Object.keys(api)).toEqual(Object.keys(command))
    expect(api.providers.map(({ name }) => name)).toEqual(command.providers.map(({ name }) => name))
    expect(await json('/api/providers/alpha')).toMatchObject({ name: 'alpha', state: 'active', weight: 1 })
    expect((await call('/api/providers/unknown')).status).toBe(404)
  })

  it('a change is in force at once, in every replica within 5 s, and in the audit log', async () => {
    const weights = { alpha: 0, beta: 1 }
    expect(await json('/api/routing', { method: 'PATCH', body: { weights } })).toMatchObject({
      inForce: { weights },
      file: { weights: { alpha: 1, beta: 0 } },
      overrides: [{ key: 'weights', value: weights, actor: 'alice' }],
    })
    const { key } = await json<{ key: string }>('/api/keys', { method: 'POST', body: { name: 'acme' } })
    expect((await create(key)).headers['x-swap-provider']).toBe('beta')
    await expect.poll(async () => (await create(key, replica)).headers['x-swap-provider']).toBe('beta')
    expect(await json('/api/overrides/weights', { method: 'DELETE', token: other })).toMatchObject({ overrides: [] })
    expect((await create(key)).headers['x-swap-provider']).toBe('alpha')
    const audit = await json<{ actor: string; action: string }[]>('/api/audit?since=1h')
    expect(audit.map(({ actor, action }) => `${actor} ${action}`).slice(0, 3)).toEqual([
      'bob override.reset',
      expect.stringMatching(/^alice (?:account|key)\.create$/),
      expect.stringMatching(/^alice (?:account|key)\.create$/),
    ])
  })

  it.each<[string, Call, number]>([
    ['/api/providers/alpha', { method: 'PATCH', body: { state: 'gone' } }, 400],
    ['/api/providers/alpha', { method: 'PATCH', body: { state: 'off', more: 1 } }, 400],
    ['/api/providers/alpha', { method: 'PATCH', body: '{' }, 400],
    ['/api/providers/unknown', { method: 'PATCH', body: { state: 'off' } }, 404],
    ['/api/routing', { method: 'PATCH', body: { weights: { alpha: 1 } } }, 400],
    ['/api/routing', { method: 'PATCH', body: { weights: { alpha: 0, beta: 0 } } }, 400],
    ['/api/routing', { method: 'PATCH', body: { weights: { alpha: 1.5, beta: 1 } } }, 400],
    ['/api/routing', { method: 'PATCH', body: { mirror: { provider: 'unknown', sample: 0.1 } } }, 400],
    ['/api/routing', { method: 'PATCH', body: { shadow: { provider: 'unknown', sample: 0.1 } } }, 400],
    ['/api/routing', { method: 'PATCH', body: { mirror: null, shadow: null } }, 400],
    ['/api/transactions?size=101', {}, 400],
    ['/api/transactions?nothing=1', {}, 400],
    ['/api/find', {}, 400],
    ['/api/find?text=%20', {}, 400],
    [`/api/find?text=${'x'.repeat(301)}`, {}, 400],
    ['/api/find?text=x&size=0', {}, 400],
    ['/api/find?text=x&after=1', {}, 400],
    ['/api/find?text=x&after={"part":0,"at":1e99,"key":""}', {}, 400],
    [
      '/api/find?text=x&after={"part":2,"at":1,"key":"","position":{"sort_key":"9999999999999999999","provider_id":"","provider":""}}',
      {},
      400,
    ],
    ['/api/audit?since=tomorrow', {}, 400],
    ['/api/keys/none', { method: 'DELETE' }, 404],
    ['/api/keys/none/rotate', { method: 'POST', body: {} }, 404],
    ['/api/keys/none/rotate', { method: 'POST', body: { overlap: 'soon' } }, 400],
    ['/api/unresolved/none', { method: 'POST', body: { none: true } }, 404],
    ['/api/unresolved/none', { method: 'POST', body: { none: false } }, 400],
    ['/api/transactions/alpha~none', { method: 'POST', body: { status: 'refunded', note: 'x' } }, 404],
    ['/api/transactions/none', { method: 'POST', body: { status: 'refunded', note: 'x' } }, 404],
    ['/api/transactions/alpha~none', { method: 'POST', body: { status: 'wait', note: 'x' } }, 400],
    ['/api/transactions/alpha~none', { method: 'POST', body: { status: 'refunded' } }, 400],
    ['/api/transactions/alpha~none', { method: 'POST', body: { status: 'refunded', note: ' ' } }, 400],
    ['/api/transactions/alpha~none', { method: 'POST', body: { status: 'refunded', note: 'x'.repeat(501) } }, 400],
    ['/api/transactions/alpha~none', { method: 'POST', body: { status: 'refunded', note: 'x', force: true } }, 400],
  ])('%s %o is %i, and nothing changes', async (path, options, status) => {
    const before = await json('/api/routing')
    const response = await call(path, options)
    expect(response.status, response.text).toBe(status)
    expect(response.headers['x-swap-reason']).toEqual(expect.any(String))
    expect(await json('/api/routing')).toEqual(before)
  })

  it('what would leave no provider needs force', async () => {
    const refused = await call('/api/providers/alpha', { method: 'PATCH', body: { state: 'draining' } })
    expect([refused.status, refused.headers['x-swap-reason']]).toEqual([409, 'refused'])
    const message = 'This leaves no provider for new swaps.'
    expect(JSON.parse(refused.text)).toEqual({ error: 'Conflict', message, code: 409, canForce: true })
    const forced = await json('/api/providers/alpha', { method: 'PATCH', body: { state: 'draining', force: true } })
    expect(forced).toMatchObject({ state: 'draining', override: { actor: 'alice' } })
    expect(await json('/api/overrides', { method: 'DELETE' })).toMatchObject({ inForce: { states: { alpha: 'active' } } })
  })

  it('a reset that would leave no provider needs force as well', async () => {
    await json('/api/routing', { method: 'PATCH', body: { weights: { alpha: 0, beta: 1 } } })
    await json('/api/providers/alpha', { method: 'PATCH', body: { state: 'draining' } })
    for (const path of ['/api/overrides/weights', '/api/overrides/weights?force=false']) {
      const refused = await call(path, { method: 'DELETE' })
      expect([refused.status, refused.json]).toEqual([409, expect.objectContaining({ canForce: true })])
    }
    await json('/api/overrides/weights?force=true', { method: 'DELETE' })
    await json('/api/overrides', { method: 'DELETE' })
  })
})

describe('for support', () => {
  it('transactions of all accounts are found, with shortened addresses; a whole one is audited', async () => {
    const keys = await Promise.all(
      ['globex', 'initech'].map((name) => json<{ key: string }>('/api/keys', { method: 'POST', body: { name } })),
    )
    const created = await Promise.all(keys.map(({ key }) => create(key)))
    const [{ id }] = created.map(({ json: body }) => body as { id: string }) as [{ id: string }]
    const list = await json<{ data: { id: string; account: string; withdrawalAddress: string }[]; count: number }>(
      '/api/transactions?account=globex&provider=alpha&status=wait&since=1h',
    )
    expect(list).toMatchObject({ count: 1, data: [{ id, account: 'globex', provider: 'alpha', status: 'wait' }] })
    expect(list.data[0]?.withdrawalAddress).toBe('0xWith…6789')
    expect((await json<{ count: number; data: unknown[] }>('/api/transactions?size=1')).data).toHaveLength(1)
    expect(await json(`/api/transactions/${id}`)).toMatchObject({ id, withdrawalAddress: order.withdrawalAddress })
    expect((await json<object[]>('/api/audit'))[0]).toMatchObject({ actor: 'alice', action: 'transaction.read', subject: id })
    expect((await json<object[]>('/api/audit')).slice(1, 3)).toMatchObject([
      { actor: 'alice', action: 'transaction.search', after: { size: 1 } },
      { actor: 'alice', action: 'transaction.search', subject: '1', after: { account: 'globex', status: 'wait' } },
    ])
    expect((await call('/api/transactions/alpha~none')).status).toBe(404)
    expect((await call('/api/transactions/nothing')).status).toBe(404)
  })

  it('a key is rotated: another one with its scope, and the end of the old one', async () => {
    const made = await json<{ key: string; id: string }>('/api/keys', { method: 'POST', body: { name: 'hooli', scope: ['quote'] } })
    const before = Date.now()
    const rotated = await json<{ key: string; id: string; name: string; oldExpiresAt: string }>(`/api/keys/${made.id}/rotate`, {
      method: 'POST',
      body: { overlap: '1h' },
    })
    expect(rotated).toMatchObject({ name: 'hooli', expiresAt: null })
    expect(rotated.key).not.toBe(made.key)
    expect(Date.parse(rotated.oldExpiresAt)).toBeGreaterThanOrEqual(before + 3_600_000)
    const keys = (await json<{ id: string; scope: string[]; expiresAt: string | null }[]>('/api/keys', {}, replica)) ?? []
    expect(keys.find(({ id }) => id === rotated.id)?.scope).toEqual(['quote'])
    expect(keys.find(({ id }) => id === made.id)?.expiresAt).toBe(rotated.oldExpiresAt)
  })

  it('a swap is found by its request, key, ids, address in another spelling and account; the search is audited', async () => {
    const { key, id: keyId } = await json<{ key: string; id: string }>('/api/keys', { method: 'POST', body: { name: 'wayne' } })
    const headers = { 'x-request-id': 'ticket-77', 'idempotency-key': 'order-77' }
    const made = await create(key, gateway, headers)
    expect(made.status).toBe(201)
    const { id } = made.json as { readonly id: string }
    const find = (text: string, query = '') =>
      json<{ data: Record<string, unknown>[] }>(`/api/find?text=${encodeURIComponent(text)}${query}`, {}, replica)
    const texts = ['ticket-77', 'order-77', id, id.replace('alpha~', ''), 'wayne']
    for (const text of texts) {
      expect((await find(text)).data, text).toMatchObject([
        { id, state: 'done', status: 'wait', account: 'wayne', requestId: 'ticket-77', keyId, withdrawalAddress: '0xWith…6789' },
      ])
    }
    const [{ intent } = {}] = (await find(id)).data
    expect((await find(String(intent))).data).toMatchObject([{ id, matched: ['intent'] }])
    const byAddress = await call(`/api/find?text=${order.withdrawalAddress}&size=1`)
    expect((byAddress.json as { data: unknown[] }).data).toMatchObject([{ id, matched: ['withdrawalAddress'] }])
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(String(byAddress.headers.link)) ?? []
    expect((await json<{ data: { id: string }[] }>(next)).data[0]?.id).not.toBe(id)
    expect((await find('%')).data).toEqual([])
    const searches = (await json<{ action: string; after: unknown }[]>('/api/audit')).filter(
      ({ action }) => action === 'transaction.search',
    )
    expect(searches[0]).toMatchObject({ actor: 'alice', subject: '0', after: { text: '%…' } })
    expect(JSON.stringify(searches)).not.toContain(order.withdrawalAddress)
  })

  it('a create in doubt is found by its request, and a refused one is not there', async () => {
    const { key } = await json<{ key: string }>('/api/keys', { method: 'POST', body: { name: 'stark' } })
    await alpha.fault({ operation: 'create', before: 'reset' })
    expect((await create(key, gateway, { 'x-request-id': 'ticket-78' })).status).toBe(504)
    await alpha.fault({ operation: 'create', before: 400 })
    expect((await create(key, gateway, { 'x-request-id': 'ticket-79' })).status).toBe(400)
    const [found] = (await json<{ data: { intent: string }[] }>('/api/find?text=ticket-78')).data
    expect(found).toMatchObject({ id: null, state: 'unknown', account: 'stark', status: null, withdrawalAddress: '0xWith…6789' })
    expect((await json<{ data: object[] }>('/api/find?text=ticket-79')).data).toEqual([])
    await json(`/api/unresolved/${found?.intent}`, { method: 'POST', body: { none: true } })
  })

  it('keys and accounts are listed without keys; a revoked key is 401', async () => {
    const { key, id } = await json<{ key: string; id: string }>('/api/keys', {
      method: 'POST',
      body: { name: 'umbrella', expires: '1h' },
    })
    const keys = await call('/api/keys')
    expect(keys.text).not.toContain(key)
    expect(JSON.parse(keys.text)).toContainEqual(expect.objectContaining({ id, name: 'umbrella', state: 'active' }))
    expect(await json('/api/accounts')).toContainEqual(expect.objectContaining({ name: 'umbrella', keys: 1, validKeys: 1 }))
    expect(await json(`/api/keys/${id}`, { method: 'DELETE' })).toMatchObject({ id, state: 'revoked' })
    await expect.poll(async () => (await create(key)).status).toBe(401)
  })

  it('a key has its scope and networks; an account its limits', async () => {
    const body = { name: 'stark-2', scope: ['read'], networks: ['203.0.113.0/24'] }
    const { id, key } = await json<{ id: string; key: string }>('/api/keys', { method: 'POST', body })
    const keys = await json<{ id: string }[]>('/api/keys')
    expect(keys.find((row) => row.id === id)).toMatchObject({ ...body, hint: key.slice(-4), lastUsedAt: null })
    expect((await json<object[]>('/api/audit'))[0]).toMatchObject({
      ...{ actor: 'alice', action: 'key.create', subject: id },
      after: { account: body.name, scope: ['read'], networks: body.networks },
    })
    for (const wrong of [{ scope: [] }, { scope: ['reed'] }, { networks: ['203.0.113.1/24'] }, { networks: [] }, { limits: {} }])
      expect((await call('/api/keys', { method: 'POST', body: { name: 'x', ...wrong } })).status, JSON.stringify(wrong)).toBe(400)
    const limits = { quotes: 600, create: 60, read: null, streams: null }
    const made = await call('/api/accounts', { method: 'POST', body: { name: 'wayne-2', limits: { quotes: 600, create: 60 } } })
    expect([made.status, JSON.parse(made.text)]).toMatchObject([201, { name: 'wayne-2', keys: 0, limits }])
    const changed = { method: 'PATCH', body: { limits: { quotes: null, read: 9, streams: 50 } } }
    expect(await json('/api/accounts/wayne-2', changed)).toMatchObject({
      limits: { quotes: null, create: 60, read: 9, streams: 50 },
    })
    expect(await json('/api/accounts/wayne-2')).toMatchObject({ limits: { quotes: null, create: 60, read: 9, streams: 50 } })
    const records = await json<{ subject: string; before: object; after: object }[]>('/api/audit')
    expect(records.find(({ subject }) => subject === 'wayne-2')).toMatchObject({
      before: { quotes: 600, create: 60 },
      after: { create: 60, read: 9, streams: 50 },
    })
    for (const wrong of [{ quotes: 0 }, { quotes: -1 }, { read: 1.5 }, { quotes: 'many' }, { streams: 0 }, { sockets: 5 }])
      expect((await call('/api/accounts/wayne-2', { method: 'PATCH', body: { limits: wrong } })).status).toBe(400)
    expect((await call('/api/accounts/nobody-2', changed)).status).toBe(404)
    expect(await json('/api/accounts/wayne-2/limits', { method: 'DELETE' })).toMatchObject({
      limits: { quotes: null, create: null, read: null, streams: null },
    })
    expect((await call('/api/accounts/nobody-2/limits', { method: 'DELETE' })).status).toBe(404)
    expect((await call('/api/accounts/wayne-2', { method: 'PATCH', body: { limits: {}, name: 'x' } })).status).toBe(400)
    expect((await call('/api/accounts/wayne-2', { method: 'PATCH', body: { quotes: 5 } })).status).toBe(400)
  })

  it('a create of unknown outcome is resolved by hand', async () => {
    const { key } = await json<{ key: string }>('/api/keys', { method: 'POST', body: { name: 'hooli' } })
    await alpha.fault({ operation: 'create', before: 'reset' })
    expect((await create(key)).status).toBe(504)
    const [found] = await json<{ intent: string; state: string }[]>('/api/unresolved')
    expect(found).toMatchObject({ provider: 'alpha', state: 'unknown' })
    const bind = (id: string) => call(`/api/unresolved/${found?.intent}`, { method: 'POST', body: { bind: id } })
    const atAnother = await bind('beta~tx-1')
    expect([atAnother.status, atAnother.headers['x-swap-reason']]).toEqual([409, 'refused'])
    expect(atAnother.json).not.toHaveProperty('canForce')
    await alpha.fault({ operation: 'get', having: 'tx-999', before: 'reset', times: 9 })
    const unread = await bind('tx-999')
    expect([unread.status, unread.json]).toEqual([409, expect.objectContaining({ canForce: true })])
    expect(unread.text).not.toContain('--force')
    const settled = await json(`/api/unresolved/${found?.intent}`, { method: 'POST', body: { none: true } })
    expect(settled).toMatchObject({ intent: found?.intent })
    expect(await json('/api/unresolved')).toEqual([])
    expect((await json<object[]>('/api/audit'))[0]).toMatchObject({
      actor: 'alice',
      action: 'ledger.resolve',
      subject: found?.intent,
    })
  })

  it('creates of unknown outcome are settled with one confirmation, at any replica', async () => {
    const { key } = await json<{ key: string }>('/api/keys', { method: 'POST', body: { name: 'initech' } })
    const createAs = (name: string): Promise<ReceivedResponse> =>
      sendRequest(gateway.url, {
        method: 'POST',
        path: '/a/api/v2/transactions',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': name },
        body: JSON.stringify(order),
      })
    const fail = async (name: string, before: 'reset' | 503): Promise<void> => {
      await alpha.fault({ operation: 'create', before })
      expect((await createAs(name)).status).toBe(504)
    }
    for (const name of ['bulk-1', 'bulk-2']) await fail(name, 'reset')
    await fail('bulk-3', 503)
    const wanted = { provider: 'alpha', account: 'initech', outcome: 'none', note: 'alpha says so', since: '10m' }
    const show = (more: object = {}, at = gateway): Promise<SettlementPreview> =>
      json('/api/settlements', { method: 'POST', body: { ...wanted, ...more } }, at)
    expect(await show({ reason: 'failed' })).toMatchObject({
      count: 1,
      groups: [{ account: 'initech', reason: 'failed', count: 1 }],
    })
    expect(await show({ reason: 'timed_out' })).toMatchObject({ confirm: null, count: 0, groups: [], left: [] })
    const { confirm, count } = await show({ reason: 'reset' })
    expect([count, confirm?.startsWith('2-')]).toEqual([2, true])
    await fail('bulk-4', 'reset')
    expect((await createAs('bulk-1')).status).toBe(409)
    const settle = () => json(`/api/settlements/${confirm}`, { method: 'POST' }, replica)
    expect(await settle()).toEqual({ settled: 2, already: 0, left: [], remaining: 0 })
    expect(await settle()).toEqual({ settled: 0, already: 0, left: [], remaining: 0 })
    const open = await json<{ account: string; reason: string }[]>('/api/unresolved')
    expect(open.map(({ account, reason }) => [account, reason])).toEqual([
      ['initech', 'failed'],
      ['initech', 'reset'],
    ])
    expect((await createAs('bulk-1')).status).toBe(201)
    expect((await createAs('bulk-3')).status).toBe(409)
    const rest = await show()
    expect(rest.count).toBe(2)
    expect(await json(`/api/settlements/${rest.confirm}`, { method: 'POST' })).toMatchObject({ settled: 2 })
    expect((await json<object[]>('/api/audit')).slice(0, 4)).toEqual(
      Array.from({ length: 4 }, () =>
        expect.objectContaining({
          actor: 'alice',
          action: 'ledger.resolve',
          before: expect.objectContaining({ provider: 'alpha', state: 'unknown', account: 'initech' }),
          after: { bound: null, note: 'alpha says so' },
        }),
      ),
    )
    expect((await call('/api/settlements/2-00000000', { method: 'POST' })).status).toBe(404)
  })

  it.each([
    [{ provider: 'alpha', outcome: 'none' }],
    [{ outcome: 'none', note: 'x' }],
    [{ provider: 'alpha', outcome: 'wait', note: 'x' }],
    [{ provider: 'alpha', outcome: 'none', note: 'x', force: true }],
    [{ provider: 'alpha', outcome: 'none', note: 'x', since: 'tomorrow' }],
  ])('a bulk settlement with %j is 400', async (body) => {
    expect((await call('/api/settlements', { method: 'POST', body })).status).toBe(400)
  })

  it('W12: a transaction that its provider reports as failed needs a person, who settles it once, for every replica', async () => {
    const { key } = await json<{ key: string }>('/api/keys', { method: 'POST', body: { name: 'soylent' } })
    const { id } = (await create(key)).json as { id: string }
    const get = (at = gateway) =>
      sendRequest(at.url, { path: `/a/api/v2/transactions/${id}`, headers: { authorization: `Bearer ${key}` } })
    const path = `/api/transactions/${id}`
    const settle = (status: string) =>
      call(path, { method: 'POST', body: { status, note: `${status}, says 0xWithdraw123456789abcdef` } })
    const unneeded = await settle('refunded')
    expect([unneeded.status, unneeded.headers['x-swap-reason']]).toEqual([409, 'refused'])
    await alpha.change(id.slice('alpha~'.length), { status: 'broken' } as never)
    await expect.poll(async () => (await get()).headers['x-swap-attention']).toBe('failed')
    const rows = await json<object[]>('/api/unresolved')
    expect(rows).toEqual([
      expect.objectContaining({ id, state: 'attention', attention: 'failed', status: 'wait', account: 'soylent' }),
    ])
    expect(await gateway.command('ledger', 'unknown')).toEqual(rows)
    const results = await Promise.all([settle('refunded'), settle('refunded')])
    expect(results.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(await json('/api/unresolved')).toEqual([])
    for (const at of [gateway, replica]) {
      const { json: body, headers } = await get(at)
      expect([(body as { status: string }).status, headers['x-swap-attention']]).toEqual(['refunded', undefined])
    }
    const [record] = await json<object[]>('/api/audit')
    expect(record).toMatchObject({
      actor: 'alice',
      action: 'transaction.settle',
      subject: id,
      before: { status: 'wait', attention: 'failed' },
      after: { status: 'refunded', note: 'refunded, says 0xWith…cdef' },
    })
    expect(await json(path)).toMatchObject({ status: 'refunded', attention: null, settledAt: expect.any(String) })
  })

  it('the API describes itself', async () => {
    const { openapi, paths } = await json<{ openapi: string; paths: Record<string, object> }>('/api/openapi.json')
    expect(openapi).toBe('3.1.0')
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(['/api/providers/{name}', '/api/unresolved/{intent}', '/api/events', '/api/openapi.json']),
    )
    for (const [path, method] of [
      ['/api/providers/{name}', 'patch'],
      ['/api/routing', 'patch'],
      ['/api/overrides', 'delete'],
      ['/api/unresolved/{intent}', 'post'],
    ] as const)
      expect(paths[path], path).toHaveProperty([
        method,
        'responses',
        '409',
        'content',
        'application/json',
        'schema',
        'properties',
        'canForce',
      ])
    expect(paths['/api/transactions/{id}']).not.toHaveProperty(['post', 'responses', '409', 'content'])
  })
})

describe('events', () => {
  async function* eventsOf(response: Response): AsyncGenerator<string> {
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      const parts = text.split('\n\n')
      text = parts.pop() ?? ''
      yield* parts
    }
  }
  const listen = (sent = token): Promise<Response> =>
    fetch(`${gateway.adminUrl}/api/events`, { headers: { authorization: `Bearer ${sent}` } })

  it('a listener gets what is there, then each change, and the end when the gateway stops', async () => {
    const response = await listen()
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const events = eventsOf(response)
    const received: string[] = []
    const until = async (wanted: RegExp): Promise<void> => {
      while (!received.some((event) => wanted.test(event))) {
        const { value, done } = await events.next()
        if (done) throw new Error(`ended after ${received.join(' | ')}`)
        received.push(value)
      }
    }
    await until(/^event: unresolved/)
    await until(/^event: provider\ndata: \{"name":"beta"/)
    await json('/api/providers/beta', { method: 'PATCH', body: { state: 'draining' } })
    await until(/^event: overrides\ndata: \[\{"key":"state:beta"/)
    await until(/"name":"beta".*"state":"draining"/)
    await json('/api/overrides', { method: 'DELETE' })
    await gateway.stop()
    await expect(until(/never/)).rejects.toThrow(/ended/)
    gateway = open.use(await InProcessGateway.start(gateway.file))
  })

  it('at most 5 listen with one token; the sixth is 429, and another token has its place', async () => {
    const listeners = await Promise.all(Array.from({ length: 5 }, () => listen()))
    expect(listeners.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 200))
    expect((await listen()).status).toBe(429)
    const another = await listen(other)
    expect(another.status).toBe(200)
    await another.body?.cancel()
    for (const { body } of listeners) await body?.cancel()
    await expect
      .poll(async () => {
        const one = await listen()
        await one.body?.cancel()
        return one.status
      })
      .toBe(200)
  })

  it('a stream ends when its token is taken out of the file', async () => {
    const events = eventsOf(await listen(other))
    await events.next()
    const { file } = gateway
    const before = readFileSync(file, 'utf8')
    writeFileSync(file, before.replace(`,"bob":"${other}"`, ''))
    for await (const _ of events) void _
    expect((await call('/api/providers', { token: other })).status).toBe(401)
    writeFileSync(file, before)
  })
})

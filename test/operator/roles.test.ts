/** docs/contract-operators.md §15: what a token with some roles may do in the operator's API, and what it gets beyond them. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Provider, startProvider } from '../checker/provider.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { freePort } from '../support/free-port.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { readersToken, serveApi, token as wholeToken } from './served.ts'

const token = (name: string): string => `operator-token-of-${name}-0123456789`
const tokens = {
  whole: token('whole'),
  reader: { token: token('reader'), roles: ['read'] },
  operator: { token: token('operator'), roles: ['read', 'operate'] },
  treasurer: { token: token('treasurer'), roles: ['money'] },
}
type Name = keyof typeof tokens
const names = Object.keys(tokens) as readonly Name[]
const address = '0xWithdraw123456789'
const order = { coinFrom: 'XRP', coinTo: 'USDTERC20', amount: 1, withdrawalAddress: address, rateType: 'float' }

let directory: string
let alpha: Provider
let gateway: InProcessGateway
let key: string
let receiverPort: number
let id: string
const open = new AsyncDisposableStack()

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'swapgate-roles-'))
  receiverPort = await freePort(32_000, 1_000)
  open.defer(async () => rmSync(directory, { recursive: true }))
  alpha = open.use(await startProvider({ form: 'A', name: 'alpha', keys: ['own-key-of-alpha'], journal: join(directory, 'alpha') }))
  gateway = open.use(
    await InProcessGateway.start({
      directory,
      mode: 'managed',
      admin: { tokens },
      providers: { alpha: { form: 'A', url: alpha.url, key: 'own-key-of-alpha' } },
      sections: {
        limits: { quotes: 1_000, create: 1_000, read: 1_000 },
        webhooks: { key: randomBytes(32).toString('base64'), allow: [`http://127.0.0.1:${receiverPort}`] },
      },
    }),
  )
  key = JSON.parse((await call('whole', 'POST', '/api/keys', { name: 'acme' })).text).key
  id = ((await create()).json as { readonly id: string }).id
}, 30_000)
afterAll(() => open.disposeAsync())

function call(name: Name, method: string, path: string, body?: unknown): Promise<ReceivedResponse> {
  return sendRequest(gateway.adminUrl, {
    method,
    path,
    headers: { authorization: `Bearer ${token(name)}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}
const json = async <T>(name: Name, path: string): Promise<T> => {
  const response = await call(name, 'GET', path)
  expect(response.status, response.text).toBe(200)
  return JSON.parse(response.text) as T
}
function create(): Promise<ReceivedResponse> {
  return sendRequest(gateway.url, {
    ...{ method: 'POST', path: '/a/api/v2/transactions', body: JSON.stringify(order) },
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  })
}

/** What each needs that is more than reading. */
const needed: Readonly<Record<string, 'operate' | 'money' | 'either'>> = {
  'patch /api/providers/{name}': 'operate',
  'patch /api/routing': 'operate',
  'delete /api/overrides': 'operate',
  'delete /api/overrides/{name}': 'operate',
  'post /api/accounts': 'either',
  'patch /api/accounts/{name}': 'either',
  'delete /api/accounts/{name}/limits': 'operate',
  'post /api/keys': 'either',
  'delete /api/keys/{id}': 'operate',
  'post /api/keys/{id}/rotate': 'money',
  'post /api/found/{id}': 'money',
  'post /api/found-keys': 'money',
  'post /api/unresolved/{intent}': 'money',
  'post /api/settlements': 'money',
  'post /api/settlements/{confirm}': 'money',
  'get /api/transactions/{id}': 'money',
  'post /api/transactions/{id}': 'money',
  'post /api/transactions/{id}/read': 'operate',
  'post /api/transactions/{id}/refund': 'money',
  'post /api/transactions/{id}/continue': 'money',
  'post /api/transactions/{id}/refund-address': 'money',
  'post /api/webhooks': 'money',
  'delete /api/webhooks/{id}': 'money',
  'post /api/webhooks/{id}/rotate': 'money',
  'post /api/webhooks/{id}/test': 'operate',
  'post /api/deliveries/{id}/replay': 'operate',
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly security: readonly { readonly token: readonly string[] }[]
}

async function operations(): Promise<readonly Operation[]> {
  type Paths = Readonly<Record<string, Readonly<Record<string, Pick<Operation, 'security'>>>>>
  const { paths } = await json<{ readonly paths: Paths }>('reader', '/api/openapi.json')
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({ method, path, security })),
  )
}

const rolesOf: Readonly<Record<Name, readonly string[]>> = {
  whole: ['read', 'operate', 'money'],
  reader: ['read'],
  operator: ['read', 'operate'],
  treasurer: ['money'],
}

describe('each operation', () => {
  it('is for the roles that the description names, and no other gets further than 403', async () => {
    const all = await operations()
    expect(all.map(({ method, path }) => `${method} ${path}`)).toEqual(expect.arrayContaining(Object.keys(needed)))
    for (const { method, path, security } of all) {
      const role = needed[`${method} ${path}`] ?? (method === 'get' ? 'read' : undefined)
      if (!role) throw new Error(`The table above lacks ${method} ${path}.`)
      const either = [{ token: ['operate'] }, { token: ['money'] }]
      expect(security, `${method} ${path}`).toEqual(role === 'either' ? either : [{ token: [role] }])
      if (path === '/api/events') continue
      for (const name of names) {
        const body = method === 'get' || method === 'delete' ? undefined : {}
        const { status, headers, text } = await call(name, method.toUpperCase(), path.replace(/\{\w+\}/, 'nothing'), body)
        // Without a scope a key may do everything; without limits an account gets none.
        const wanted = role !== 'either' ? role : path === '/api/keys' ? 'money' : 'operate'
        const mayDo = wanted === 'read' || rolesOf[name].includes(wanted)
        expect([status === 403, headers['x-swap-reason'] === 'role'], `${name} ${method} ${path}: ${status} ${text}`).toEqual([
          !mayDo,
          !mayDo,
        ])
      }
    }
  })

  it('tells the token what it has, and what it lacks', async () => {
    expect(await json('reader', '/api/token')).toEqual({ name: 'reader', roles: ['read'], mayKeep: true })
    expect(await json('whole', '/api/token')).toEqual({ name: 'whole', roles: ['read', 'operate', 'money'], mayKeep: false })
    const refused = await call('operator', 'POST', `/api/transactions/${id}`, { status: 'success', note: 'x' })
    expect([refused.status, refused.headers['x-swap-reason'], JSON.parse(refused.text)]).toEqual([
      403,
      'role',
      { error: 'Forbidden', message: 'This needs the role money; the token of operator has read, operate.', code: 403 },
    ])
  })

  it('is refused before anything of the request is looked at, and by HEAD too', async () => {
    expect((await call('reader', 'HEAD', `/api/transactions/${id}`)).status).toBe(403)
    expect((await call('treasurer', 'HEAD', `/api/transactions/${id}`)).status).toBe(200)
    expect((await call('reader', 'PATCH', '/api/providers/alpha', { state: 'nonsense' })).status).toBe(403)
    expect((await call('reader', 'DELETE', '/api/keys/none?colour=red')).status).toBe(403)
    expect((await call('reader', 'OPTIONS', '/api/keys')).status).toBe(204)
    expect(await json('whole', '/api/providers/alpha')).toMatchObject({ state: 'active' })
  })

  it('is what it was after a refusal', async () => {
    const before = await call('whole', 'GET', '/api/keys')
    for (const [method, path, body] of [
      ['POST', '/api/keys', { name: 'acme' }],
      ['DELETE', `/api/keys/${JSON.parse(before.text)[0].id}`, undefined],
      ['PATCH', '/api/providers/alpha', { state: 'off', force: true }],
      ['PATCH', '/api/accounts/acme', { limits: { read: 1 } }],
    ] as const)
      expect((await call('reader', method, path, body)).status, path).toBe(403)
    expect((await call('whole', 'GET', '/api/keys')).text).toBe(before.text)
    expect(await json('whole', '/api/accounts/acme')).toMatchObject({ limits: { read: null } })
    expect((await create()).status).toBe(201)
  })
})

describe('a key', () => {
  it.each<[readonly string[] | undefined, Name, number]>([
    [undefined, 'operator', 403],
    [undefined, 'treasurer', 201],
    [['create'], 'operator', 403],
    [['read', 'create'], 'operator', 403],
    [['create'], 'treasurer', 201],
    [['quote'], 'operator', 201],
    [['quote', 'quote'], 'operator', 201],
    [['read'], 'operator', 403],
    [['native'], 'operator', 403],
    [['quote', 'read'], 'operator', 403],
    [['read'], 'treasurer', 201],
    [['quote'], 'treasurer', 403],
    [['quote'], 'reader', 403],
    [['read'], 'reader', 403],
    [['read'], 'whole', 201],
    [undefined, 'whole', 201],
  ])('with the scope %j issued by %s is %i', async (scope, name, status) => {
    const response = await call(name, 'POST', '/api/keys', { name: 'acme', ...(scope && { scope }) })
    expect(response.status, response.text).toBe(status)
  })

  it.each([{}, { name: 'acme', scope: 'read' }, { name: 'acme', scope: null }, { name: 'acme', scope: { 0: 'read' } }, []])(
    'that a body does not describe is none without the role for a whole one: %j',
    async (body) => {
      expect((await call('operator', 'POST', '/api/keys', body)).status).toBe(403)
      expect((await call('treasurer', 'POST', '/api/keys', body)).status).toBe(400)
    },
  )

  it('is not issued by a body in which the scope is there twice', async () => {
    const body = '{"name":"acme","scope":["quote"],"scope":["create"]}'
    expect((await call('operator', 'POST', '/api/keys', body)).status).toBe(400)
  })
})

describe('a limit of an account', () => {
  it.each<[object, Name, number]>([
    [{ read: 1_000 }, 'operator', 200],
    [{ read: 1_001 }, 'operator', 403],
    [{ read: 1, streams: 21 }, 'operator', 403],
    [{ read: '1001' }, 'operator', 403],
    [{ read: null, streams: null }, 'operator', 200],
    [{ read: 1_001 }, 'treasurer', 200],
    [{ read: 1 }, 'treasurer', 403],
    [{ read: 1_001 }, 'whole', 200],
  ])('%j set by %s is %i: above that of the file it needs money', async (limits, name, status) => {
    const response = await call(name, 'PATCH', '/api/accounts/acme', { limits })
    expect(response.status, response.text).toBe(status)
  })
})

it('what a token without money cannot read it gets by no key that it may issue', async () => {
  for (const scope of [[], ['quote'], ['read'], ['create'], ['native'], ['quote', 'read'], ['quote', 'native'], undefined]) {
    const issued = await call('operator', 'POST', '/api/keys', { name: 'acme', ...(scope && { scope }) })
    if (issued.status !== 201) continue
    const headers = { authorization: `Bearer ${JSON.parse(issued.text).key}` }
    for (const path of [
      `/a/api/v2/transactions/${id}`,
      '/a/api/v2/transactions',
      '/a/api/v2/transactions/stream',
      '/native/alpha/x',
    ]) {
      const { status, text } = await sendRequest(gateway.url, { method: 'GET', path, headers })
      expect([status, text.includes(address)], `${scope} ${path}`).toEqual([expect.toBeOneOf([401, 404]), false])
    }
  }
})

describe('whole addresses', () => {
  it('are hidden from a token without money: in searches, lists, timelines and creates in doubt', async () => {
    await alpha.fault({ operation: 'create', before: 'reset' })
    expect((await create()).status).toBe(504)
    const paths = [
      '/api/transactions',
      '/api/find?text=acme',
      `/api/find?text=${address}`,
      `/api/transactions/${id}/timeline`,
      '/api/unresolved',
      `/api/transactions?account=${address}`,
      '/api/audit',
      '/api/providers',
      '/api/keys',
    ]
    for (const path of paths) {
      const { status, text } = await call('operator', 'GET', path)
      expect(status, path).toBe(200)
      expect(text, path).not.toContain(address)
    }
    expect(await json('operator', `/api/find?text=${address}`)).toMatchObject({
      data: [{ state: 'unknown', withdrawalAddress: '0xWith…6789' }, { withdrawalAddress: '0xWith…6789' }, {}],
    })
    expect(await json('reader', '/api/unresolved')).toMatchObject([{ requested: { withdrawalAddress: '0xWith…6789' } }])
    expect(await json('treasurer', '/api/unresolved')).toMatchObject([{ requested: { withdrawalAddress: address } }])
    expect(await json('treasurer', `/api/transactions/${id}`)).toMatchObject({ withdrawalAddress: address })
  })
})

it('an address that a receiver of a webhook sends back is shown whole for the role money alone', async () => {
  const attempt = { at: 1, status: 500, ms: 3, body: `{"withdrawalAddress":"0x00D283fFCb70F7b9A1d844e54A1AdE61E5443B6C"}` }
  const delivery = { id: 'msg_1', webhook: 'wh_1', provider: 'alpha', providerId: 'x', state: 'failed', attempts: [attempt] }
  const url = 'https://hooks.example/'
  const webhooks = {
    find: async () => ({ id: 'wh_1', url }),
    deliveries: async () => ({ parts: [[{ ...delivery, createdAt: 1 }]] }),
  }
  await using api = await serveApi({ webhooks }, {})
  const bodyFor = async (sent: string): Promise<string> => {
    const headers = { authorization: `Bearer ${sent}` }
    const rows = await (await fetch(`${api.url}/api/webhooks/wh_1/deliveries`, { headers })).json()
    return (rows as readonly { readonly attempts: readonly [{ readonly body: string }] }[])[0]?.attempts[0].body ?? ''
  }
  expect(await bodyFor(wholeToken)).toBe(attempt.body)
  expect(await bodyFor(readersToken)).toBe('{"withdrawalAddress":"0x00D2…3B6C"}')
})

it('the path and the query of the URL of a webhook are whole for the role money alone, also where a receiver sends them back', async () => {
  await using to = await Receiver.start('127.0.0.1', undefined, receiverPort)
  to.respond = ({ path }, response) => response.writeHead(500).end(`Cannot POST ${path}, ${decodeURIComponent(path)}`)
  const path = '/hook/secret-of-the%20path?token=secret-of-the-query'
  const url = `http://127.0.0.1:${receiverPort}${path}`
  const added = JSON.parse((await call('treasurer', 'POST', '/api/webhooks', { account: 'acme', url })).text)
  expect(added).toMatchObject({ url })
  const shortUrl = `http://127.0.0.1:${receiverPort}/hoo…`
  const at = `/api/webhooks/${added.id}`
  expect(await json('operator', '/api/webhooks')).toMatchObject([{ url: shortUrl }])
  expect(await json('reader', at)).toMatchObject({ url: shortUrl })
  expect(await json('treasurer', '/api/webhooks')).toMatchObject([{ url }])
  const test = await call('operator', 'POST', `${at}/test`)
  expect(JSON.parse(test.text)).toMatchObject({ status: 500, body: 'Cannot POST /hook/sec…?tok…=sec…, /hook/sec…?tok…=sec…' })
  expect((await call('whole', 'POST', `${at}/test`)).text).toContain(path)

  expect((await create()).status).toBe(201)
  const deliveries = () =>
    json<readonly { readonly id: string; readonly attempts: readonly object[] }[]>('reader', `${at}/deliveries`)
  await expect.poll(async () => (await deliveries())[0]?.attempts.length).toBe(1)
  // Kept to its first 200 characters: what is cut off is shown no more than what is whole.
  to.respond = (_, response) => response.writeHead(500).end('. '.repeat(90) + path)
  const [delivery] = await deliveries()
  const replayed = await call('operator', 'POST', `/api/deliveries/${delivery?.id}/replay`)
  expect(JSON.parse(replayed.text)).toMatchObject({ body: `${'. '.repeat(90)}/hook/sec…` })
  const shown = [test.text, replayed.text]
  for (const name of ['reader', 'operator'] as const)
    for (const read of [
      '/api/webhooks',
      at,
      `${at}/deliveries`,
      `${at}/deliveries?failed=true`,
      '/api/audit',
      '/api/configuration',
      '/api/find?text=acme',
    ])
      shown.push((await call(name, 'GET', read)).text)
  expect(shown.filter((text) => /secret-of|hook\//.test(text.replaceAll('/hook/sec…', '')))).toEqual([])
  expect((await call('treasurer', 'GET', `${at}/deliveries`)).text).toContain(path)
  expect((await call('treasurer', 'DELETE', at)).status).toBe(200)
})

describe('the audit log', () => {
  const refusals = async () =>
    (await json<{ readonly action: string; readonly actor: string; readonly subject: string }[]>('whole', '/api/audit')).filter(
      ({ action }) => action === 'role.refused',
    )

  it('has who was refused at which route, with the roles, once a minute for both', async () => {
    const path = `/api/transactions/${id}/continue`
    const statuses = await Promise.all(Array.from({ length: 50 }, () => call('operator', 'POST', path, { note: 'x' })))
    expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([403]))
    await call('reader', 'POST', path, { note: 'x' })
    const subject = 'POST /api/transactions/:id/continue'
    const ofRoute = (await refusals()).filter((record) => record.subject === subject)
    const byActor = (actor: string) => ofRoute.filter((record) => record.actor === actor)
    expect(byActor('operator')).toMatchObject([{ before: { roles: ['read', 'operate'] }, after: { needed: 'money' } }])
    expect(byActor('reader')).toMatchObject([{ before: { roles: ['read'] }, after: { needed: 'money' } }])
  })
})

describe('the configuration', () => {
  let before: string
  beforeEach(() => {
    before = readFileSync(gateway.file, 'utf8')
  })

  it('gives and takes roles at a reload', async () => {
    const patch = () => call('reader', 'PATCH', '/api/providers/alpha', { state: 'active' })
    expect((await patch()).status).toBe(403)
    const changed = JSON.parse(before)
    changed.admin.tokens.reader.roles = ['operate']
    writeFileSync(gateway.file, JSON.stringify(changed))
    await expect.poll(async () => (await patch()).status).toBe(200)
    expect(await json('reader', '/api/token')).toEqual({ name: 'reader', roles: ['operate'], mayKeep: true })
    const events = await fetch(`${gateway.adminUrl}/api/events`, { headers: { authorization: `Bearer ${token('reader')}` } })
    writeFileSync(gateway.file, before)
    await expect.poll(async () => (await patch()).status).toBe(403)
    // What it shows is for the roles that the token had: it ends, and the page begins another one.
    expect(await Promise.race([events.text(), pause(5_000, 'goes on')])).toContain('event: provider')
  })
})

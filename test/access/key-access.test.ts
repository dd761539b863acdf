/** docs/contract.md §5, §7: what a key may do and from where, and limits of an account, in every way that a key is used. */

import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type IncomingMessage, request as open } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ConfigDirectory } from '../process/swapgate.ts'
import { sendRequest } from '../support/client.ts'
import { commandOver, runCommand } from '../support/command.ts'
import { type ProviderA, startFormA } from '../support/form-a.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'

let directory: ConfigDirectory
let alpha: ProviderA
let gateway: InProcessGateway
let file: string
/** That of the test. */
let account: string
let accounts = 0

interface Created {
  readonly id: string
  readonly key: string
}

/** The path of a file with that name, and with a ledger of that name. */
function configured(name: string, ledger = name, server: object = { port: 0, trustProxy: 1 }): string {
  const path = join(directory.path, `${name}.json`)
  const config = {
    assets: join(process.cwd(), 'config/assets.yaml'),
    server,
    admin: { port: 0 },
    auth: { mode: 'managed' },
    ledger: { url: `sqlite:${join(directory.path, `${ledger}.db`)}` },
    limits: { quotes: 5, create: 5, read: 5 },
    providers: { alpha: { form: 'A', url: alpha.url, key: 'provider-key-1', native: ['GET /coins', 'POST /estimates'] } },
    routing: { providers: ['alpha'] },
  }
  writeFileSync(path, JSON.stringify(config))
  return path
}

beforeAll(async () => {
  directory = new ConfigDirectory()
  alpha = await startFormA()
  file = configured('gateway')
  gateway = await InProcessGateway.start(file)
})
beforeEach(() => {
  account = `acme-${++accounts}`
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await alpha.close()
  directory[Symbol.dispose]()
})

const credentials = {
  a: (key: string) => ({ authorization: `Bearer ${key}` }),
  b: (key: string) => ({ 'x-api-key': key }),
  exolix: (key: string) => ({ authorization: key }),
}

type Mount = keyof typeof credentials

interface Sent {
  readonly mount?: Mount
  /** Without the mount's own `/a`. */
  readonly isBare?: boolean
  readonly from?: string
  readonly body?: object
}

function send(key: string, path: string, { mount = 'a', isBare = false, from = '192.0.2.7', body }: Sent = {}) {
  const headers = { ...credentials[mount](key), 'x-forwarded-for': from, ...(body && { 'content-type': 'application/json' }) }
  const target = `${isBare ? '' : `/${mount}`}/api/v2${path}`
  const options = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  return sendRequest(gateway.url, { path: target, headers, ...options })
}

const order = {
  a: { coinFrom: 'BTC', coinTo: 'ETH' },
  b: { coinFrom: 'BTC', networkFrom: 'BTC', coinTo: 'ETH', networkTo: 'ETH' },
  exolix: { coinFrom: 'BTC', networkFrom: 'BTC', coinTo: 'ETH', networkTo: 'ETH' },
}
const terms = { amount: 0.1, rateType: 'float', withdrawalAddress: '0x00D283fFCb70F7b9A1d844e54A1AdE61E5443B6C' }

/** One request of each kind. */
const requests = {
  quote: (key: string, sent: Sent = {}) =>
    send(key, `/rate?${new URLSearchParams({ ...order[sent.mount ?? 'a'], amount: '0.1' })}`, sent),
  read: (key: string, sent: Sent = {}) => send(key, '/transactions', sent),
  create: (key: string, sent: Sent = {}) =>
    send(key, '/transactions', { ...sent, body: { ...order[sent.mount ?? 'a'], ...terms } }),
  /** The stand-in has no such path: its own 404 has no reason. */
  native: async (key: string, { from = '192.0.2.7' }: Sent = {}) => {
    const headers = { ...credentials.a(key), 'x-forwarded-for': from }
    const response = await fetch(`${gateway.url}/native/alpha/coins`, { headers })
    const reason = response.headers.get('x-swap-reason') ?? undefined
    return { status: response.status, headers: { 'x-swap-reason': reason }, text: await response.text() }
  },
}

type Scope = keyof typeof requests

const command = (...args: readonly string[]): Promise<unknown> => commandOver(file, args)
const issue = async (...args: readonly string[]): Promise<Created> =>
  (await command('keys', 'create', '--name', account, ...args)) as Created
/** Those of the account. */
const keys = async (): Promise<readonly object[]> =>
  ((await command('keys', 'list')) as readonly { readonly name: string }[]).filter(({ name }) => name === account)

describe('a key with a scope', () => {
  const ways: readonly Sent[] = [{ mount: 'a' }, { mount: 'b' }, { mount: 'exolix' }, { mount: 'a', isBare: true }]

  test.each(Object.keys(requests) as Scope[])(
    '%s can do that, and nothing else, in every form and on the bare mount',
    async (own) => {
      const { key } = await issue('--scope', own)
      const other = await issue()
      await command('accounts', 'set', account, '--quotes', '100', '--create', '100', '--read', '100')
      for (const way of ways) {
        for (const [scope, request] of Object.entries(requests)) {
          if (scope === 'native' && (way.mount !== 'a' || way.isBare)) continue
          const before = alpha.journal.length
          const response = await request(key, way)
          if (scope === own) {
            expect(scope === 'native' ? [404] : [200, 201], `${scope} ${JSON.stringify(way)} ${response.text}`).toContain(
              response.status,
            )
          } else {
            expect([response.status, response.headers['x-swap-reason']], `${scope} ${JSON.stringify(way)}`).toEqual([
              401,
              'key_scope',
            ])
            expect(response.text).toContain(scope)
            expect(alpha.journal.length).toBe(before)
          }
        }
      }
      expect((await requests.read(other.key)).status).toBe(200)
    },
  )

  test('needs that of a quote for every question, and that of a create for every action and repeat', async () => {
    const whole = await issue()
    const { key: reader } = await issue('--scope', 'read')
    const { key: quoter } = await issue('--scope', 'quote')
    await command('accounts', 'set', account, '--quotes', '100', '--create', '100', '--read', '100')
    const repeated = (key: string) =>
      sendRequest(gateway.url, {
        ...{ method: 'POST', path: '/a/api/v2/transactions', body: JSON.stringify({ ...order.a, ...terms }) },
        headers: { ...credentials.a(key), 'content-type': 'application/json', 'idempotency-key': 'order-1' },
      })
    const created = await repeated(whole.key)
    expect(created.status, created.text).toBe(201)
    const { id } = created.json as { readonly id: string }
    const rate = `coinFrom=BTC&coinTo=ETH&amount=0.1`
    const before = alpha.journal.length
    const refused = [
      ...(['refund', 'continue', 'refund-address'] as const).flatMap((action) =>
        [reader, quoter].flatMap((key) =>
          (['a', 'b'] as const).map((mount) => send(key, `/transactions/${id}/${action}`, { mount, body: {} })),
        ),
      ),
      repeated(reader),
      repeated(quoter),
      send(reader, '/pairs/BTC/ETH'),
      send(reader, '/currencies'),
      send(reader, '/currencies/networks', { mount: 'exolix' }),
      send(reader, '/currencies/BTC/networks', { mount: 'exolix' }),
      send(reader, '/addresses/check', { body: { coin: 'ETH', address: terms.withdrawalAddress } }),
      send(reader, `/rate?${rate}&rateType=fixed&quoteId=true`),
      send(quoter, `/transactions/${id}`),
      send(quoter, `/transactions?search=${id}`, { mount: 'exolix' }),
    ]
    for (const { status, headers, text } of await Promise.all(refused))
      expect([status, headers['x-swap-reason']], text).toEqual([401, 'key_scope'])
    const head = await fetch(`${gateway.url}/a/api/v2/transactions/${id}`, { method: 'HEAD', headers: credentials.a(quoter) })
    expect([head.status, head.headers.get('x-swap-reason')]).toEqual([401, 'key_scope'])
    expect(alpha.journal.length).toBe(before)
  })

  test('is charged to the limit of its account for what it may not do', async () => {
    const { key } = await issue('--scope', 'quote')
    const whole = await issue()
    for (let count = 0; count < 5; count++) expect((await requests.read(key)).status).toBe(401)
    expect((await requests.read(key)).status).toBe(429)
    expect((await requests.read(whole.key)).status).toBe(429)
    expect((await requests.quote(whole.key)).status).toBe(200)
  })

  test('keeps it when it is rotated, unless another is named', async () => {
    const { id } = await issue('--scope', 'read', '--allow', '192.0.2.0/24')
    const next = (await command('keys', 'rotate', id)) as Created
    const last = (await command('keys', 'rotate', next.id, '--scope', 'create,read')) as Created
    expect(await keys()).toMatchObject([
      { id, scope: ['read'], networks: ['192.0.2.0/24'] },
      { id: next.id, scope: ['read'], networks: ['192.0.2.0/24'] },
      { id: last.id, scope: ['read', 'create'], networks: ['192.0.2.0/24'], hint: last.key.slice(-4) },
    ])
    expect((await requests.create(next.key)).status).toBe(401)
    expect((await requests.create(last.key)).status).toBe(201)
  })

  test.each(['', 'reed', 'read,', 'read create', 'READ'])('that is none is wrong usage: %j', async (scope) => {
    const { exitCode } = await runCommand(['keys', 'create', '--name', account, '--scope', scope, '--config', file])
    expect(exitCode).toBe(2)
  })
})

describe('a key with networks', () => {
  test.each([
    ['203.0.113.0/24', '203.0.113.9', '203.0.114.1'],
    ['203.0.113.0/24', '::ffff:203.0.113.9', '::ffff:203.0.114.9'],
    ['2001:db8::/32', '2001:db8:9::1', '2001:db9::1'],
    ['::ffff:203.0.113.0/120', '203.0.113.9', '203.0.114.9'],
    ['192.0.2.1,2001:db8::1', '2001:db8::1', '2001:db8::2'],
    ['0.0.0.0/0', '198.51.100.1', '2001:db8::1'],
    ['::/0', '2001:db8::1', '198.51.100.1'],
  ])('%s is valid from %s and unknown from %s', async (networks, inside, outside) => {
    const { key } = await issue('--allow', networks)
    expect((await requests.read(key, { from: inside })).status).toBe(200)
    const response = await requests.read(key, { from: outside })
    expect([response.status, response.headers['x-swap-reason']]).toEqual([401, 'key_invalid'])
    expect((await requests.native(key, { from: outside })).status).toBe(401)
    expect((await requests.create(key, { from: outside })).status).toBe(401)
  })

  test('is ignored on quotes from elsewhere: they count for the address', async () => {
    const { key } = await issue('--allow', '203.0.113.0/24')
    for (let count = 0; count < 5; count++) expect((await requests.quote(key, { from: '198.51.100.2' })).status).toBe(200)
    expect((await requests.quote(key, { from: '198.51.100.2' })).status).toBe(429)
    expect((await requests.quote(key, { from: '203.0.113.1' })).status).toBe(200)
  })

  test('counts elsewhere as an unverified key of that address', async () => {
    const { key } = await issue('--allow', '203.0.113.0/24')
    const statuses: number[] = []
    for (let count = 0; count < 21; count++) statuses.push((await requests.read(key, { from: '198.51.100.3' })).status)
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 401), 429])
    expect((await requests.read(key, { from: '203.0.113.1' })).status).toBe(200)
  })

  test('without trusted proxies is a warning, of check too', async () => {
    const direct = configured('direct', 'direct', { port: 0 })
    const warning = expect.stringContaining('server.trustProxy is 0, and keys are valid from some networks only')
    const check = async () => (await runCommand(['check', '--config', direct])).out
    expect(await check()).not.toContainEqual(warning)
    const { err } = await runCommand(['keys', 'create', '--name', account, '--allow', '203.0.113.0/24', '--config', direct])
    expect(err).toContainEqual(warning)
    expect(await check()).toContainEqual(warning)
  })

  test.each([
    '203.0.113.1/24',
    '203.0.113.0/33',
    '2001:db8::1/32',
    '203.0.113',
    '203.0.113.0/024',
    'fe80::1%eth0',
    '',
    '10.0.0.0/8,',
  ])('that is none is wrong usage: %j', async (networks) => {
    const { exitCode } = await runCommand(['keys', 'create', '--name', account, '--allow', networks, '--config', file])
    expect(exitCode).toBe(2)
  })
})

describe('a key that ends while the body of a request comes', () => {
  const paths = ['/a/api/v2/transactions', '/native/alpha/estimates']

  test('lets nothing be created, and nothing go up', { timeout: 20_000 }, async () => {
    const { id, key } = await issue()
    const body = JSON.stringify({ ...order.a, ...terms })
    const headers = { ...credentials.a(key), 'x-forwarded-for': '192.0.2.7', 'content-type': 'application/json' }
    const sending = paths.map((path) => {
      const request = open(gateway.url + path, { method: 'POST', headers: { ...headers, 'content-length': body.length } })
      request.write(body.slice(0, 10))
      return { request, responded: once(request, 'response') }
    })
    const isKnown = async () => (await keys()).some((each) => 'lastUsedAt' in each && each.lastUsedAt !== null)
    await expect.poll(isKnown, { timeout: 10_000 }).toBe(true)
    expect((await runCommand(['keys', 'revoke', id, '--config', file])).exitCode).toBe(0)
    await expect.poll(async () => (await requests.read(key)).status, { timeout: 5_000 }).toBe(401)
    for (const { request } of sending) request.end(body.slice(10))
    const responses = await Promise.all(sending.map(async ({ responded }) => (await responded)[0] as IncomingMessage))
    for (const response of responses) response.resume()
    expect(responses.map(({ statusCode, headers }) => [statusCode, headers['x-swap-reason']])).toEqual([
      [401, 'key_invalid'],
      [401, 'key_invalid'],
    ])
  })
})

describe('a key is found', () => {
  test('by itself, with its account and state, also when it is revoked; nothing of it is printed', async () => {
    const { id, key } = await issue()
    await runCommand(['keys', 'revoke', id, '--config', file])
    const found = await runCommand(['keys', 'find', '--config', file, '--json'], [key])
    expect(found).toMatchObject({ exitCode: 0 })
    expect(JSON.parse(found.out.join(''))).toMatchObject({ id, name: account, state: 'revoked' })
    expect(found.out.join('')).not.toContain(key)
  })

  test.each(['', 'sg_live_nothing', 'sg_live_0000000000000000000000000000000000'])(
    'unless it is none of this ledger: %j',
    async (text) => {
      expect(await runCommand(['keys', 'find', '--config', file], [text])).toEqual({
        ...{ exitCode: 1, out: [] },
        err: ['swapgate: this is no key of this ledger'],
      })
    },
  )

  test('in the list, with when it was last used, to the hour', async () => {
    const { id, key } = await issue()
    const unused = await issue()
    await using another = await InProcessGateway.start(configured('another', 'gateway'))
    await sendRequest(another.url, { path: '/a/api/v2/transactions', headers: credentials.a(key) })
    await another.stop()
    const hour = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000).toISOString()
    expect(await keys()).toMatchObject([
      { id, lastUsedAt: hour },
      { id: unused.id, lastUsedAt: null },
    ])
  })
})

describe('an account with limits of its own', () => {
  const statusesOf = async (request: () => Promise<{ readonly status: number }>, times: number): Promise<readonly number[]> => {
    const statuses: number[] = []
    for (let count = 0; count < times; count++) statuses.push((await request()).status)
    return statuses
  }
  const isLimited = (statuses: readonly number[]): number => statuses.filter((status) => status === 429).length

  test('has them in place of the configured ones, and they are told', async () => {
    const { key } = await issue()
    expect(await command('accounts', 'set', account, '--quotes', '7', '--create', '2', '--streams', '50')).toMatchObject({
      ...{ name: account, keys: 1, validKeys: 1 },
      limits: { quotes: 7, create: 2, read: null, streams: 50 },
    })
    expect(isLimited(await statusesOf(() => requests.quote(key), 8))).toBe(1)
    expect(isLimited(await statusesOf(() => requests.create(key), 3))).toBe(1)
    expect(isLimited(await statusesOf(() => requests.read(key), 6))).toBe(1)
    expect((await requests.read(key)).headers['ratelimit-policy']).toContain('q=5')
    const { key: other } = (await command('keys', 'create', '--name', `${account}-other`)) as Created
    expect(isLimited(await statusesOf(() => requests.create(other), 5))).toBe(0)
  })

  test('gets a change within 5 s, and what was admitted in the window counts on', async () => {
    const { key } = await issue()
    expect(isLimited(await statusesOf(() => requests.read(key), 4))).toBe(0)
    await command('accounts', 'set', account, '--read', '2')
    await expect.poll(async () => (await requests.read(key)).status).toBe(429)
    await command('accounts', 'reset', account)
    await expect.poll(async () => (await requests.quote(key)).status).toBe(200)
    expect(await command('accounts', 'show', account)).toMatchObject({
      limits: { quotes: null, create: null, read: null, streams: null },
    })
  })

  test('that is raised gets the rest at once, however often it was refused', async () => {
    const { key } = await issue()
    expect(isLimited(await statusesOf(() => requests.read(key), 30))).toBe(25)
    await command('accounts', 'set', account, '--read', '8')
    await expect.poll(async () => (await requests.read(key)).status).toBe(200)
    expect(isLimited(await statusesOf(() => requests.read(key), 10))).toBe(8)
  })

  test('keeps the limits that a change does not name', async () => {
    await command('accounts', 'set', account, '--create', '2', '--streams', '3')
    expect(await command('accounts', 'set', account, '--quotes', '7')).toMatchObject({
      limits: { quotes: 7, create: 2, read: null, streams: 3 },
    })
  })

  test('is made by its limits, listed by name, and each change is audited with before and after', async () => {
    const [beta, zeta] = [`${account}-beta`, `${account}-zeta`]
    await command('accounts', 'set', zeta, '--read', '9')
    await command('accounts', 'set', beta, '--read', '8')
    await command('accounts', 'set', beta, '--read', '6', '--quotes', '1')
    await command('accounts', 'reset', beta)
    const listed = (await command('accounts', 'list')) as readonly { readonly name: string }[]
    expect(listed.filter(({ name }) => name.startsWith(account))).toMatchObject([
      { name: beta },
      { name: zeta, keys: 0, limits: { read: 9 } },
    ])
    const changes = ((await command('audit')) as readonly { action: string; subject: string }[]).filter(
      ({ action, subject }) => action === 'account.limits' && subject === beta,
    )
    expect(changes).toMatchObject([
      { before: { read: 6, quotes: 1 }, after: {} },
      { before: { read: 8 }, after: { read: 6, quotes: 1 } },
      { before: {}, after: { read: 8 } },
    ])
  })

  test.each([
    ['--read', '0'],
    ['--read', '-1'],
    ['--read', '1.5'],
    ['--create', 'many'],
    ['--quotes', '1000001'],
    ['--sockets', '5'],
    [],
  ])('that are none is wrong usage: %s %s', async (...limits) => {
    expect((await runCommand(['accounts', 'set', account, ...limits, '--config', file])).exitCode).toBe(2)
    expect(await command('accounts', 'list')).not.toContainEqual(expect.objectContaining({ name: account }))
  })

  test.each(['show', 'reset'])('%s of an unknown one ends with 1', async (action) => {
    expect((await runCommand(['accounts', action, 'nobody', '--config', file])).exitCode).toBe(1)
  })
})

// Runs alone: it measures processor time, which is more beside other work.
/**
 * However many rows a request finds, no turn of the event loop takes long, 50 ms of the processor for 30,000 rows: it reads and writes
 * some rows at a time, and others have their turns in between (docs/faults.md, overload). Left out
 * are the first requests, which compile what they run, the commands, which are processes of their own, and lists of providers, which
 * `test/forms/long-lists.test.ts` has.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Gateways, type StartedGateway } from '../process/gateways.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { openEvents } from '../support/event-source.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { slowness } from '../support/slowness.ts'
import { longestTurnMs, withProbe } from './probe.ts'
import { accounts, addRows, rowsEach } from './rows.ts'

const maxTurnMs = 50 * slowness()
/** A collection of garbage, or what the process does by itself, may come into one of them, but not into each. */
const rounds = 5

const tokens = { money: 'operator-token-of-alice-0123456789', read: 'operator-token-of-rita-0123456789' }
let gateways: Gateways
let gateway: StartedGateway
let key: string
let webhook: string

beforeAll(async () => {
  const admin = { port: 0, tokens: { alice: tokens.money, rita: { token: tokens.read, roles: ['read'] } } }
  const webhooks = { key: Buffer.alloc(32, 7).toString('base64') }
  gateways = await Gateways.prepare({ admin, webhooks }, { native: ['GET /exchange/{}'] })
  const before = await gateways.start()
  const acme = await gateways.customer(accounts.open, 'A')
  key = acme.key
  const added = { account: accounts.open, url: 'https://receiver.invalid/hook', form: 'A' }
  webhook = ((await operator('POST', '/api/webhooks', { body: added, to: before })).json as { id: string }).id
  await acme.create(before.url, gateways.order(), { idempotencyKey: 'key-1' })
  // Each of these is written after the response.
  const areWritten = async (): Promise<void> => {
    const { json } = await operator('GET', `/api/webhooks/${webhook}/deliveries`, { to: before })
    expect(json).toHaveLength(1)
    const { text } = await operator('GET', '/api/transactions/alpha~tx-1/timeline', { to: before })
    expect(text).toContain('"outcome":"done"')
  }
  await vi.waitFor(areWritten, { timeout: eventTimeoutMs })
  before.process.child.kill('SIGTERM')
  await before.process.ended
  addRows(join(gateways.directory, 'ledger.db'))
  gateway = await gateways.start({ NODE_OPTIONS: withProbe })
}, 180_000)
afterAll(() => gateways[Symbol.asyncDispose]())

interface Sent {
  readonly body?: object
  readonly role?: keyof typeof tokens
  readonly to?: StartedGateway
}

function operator(method: string, path: string, { body, role = 'money', to = gateway }: Sent = {}): Promise<ReceivedResponse> {
  const headers = { authorization: `Bearer ${tokens[role]}`, ...(body && { 'content-type': 'application/json' }) }
  return sendRequest(to.adminUrl, { method, path, headers, ...(body && { body: JSON.stringify(body) }) })
}

function client(path: string): Promise<ReceivedResponse> {
  return sendRequest(gateway.url, { method: 'GET', path, headers: credentialFor(path) })
}

function credentialFor(path: string): Record<string, string> {
  return path.startsWith('/b/') ? { 'x-api-key': key } : { authorization: `Bearer ${key}` }
}

/** The longest turn of the best round, after a first one. */
async function expectShortTurns(work: () => Promise<unknown>): Promise<void> {
  await work()
  await longestTurnMs(gateway.process)
  const longest: number[] = []
  while (longest.length < rounds && !(Math.min(...longest) < maxTurnMs)) {
    await work()
    longest.push(await longestTurnMs(gateway.process))
  }
  expect(Math.min(...longest), `milliseconds; each round: ${longest}`).toBeLessThan(maxTurnMs)
}

/** By their routes; `:webhook` is that of the first account. */
const operatorPaths: Readonly<Record<string, readonly string[]>> = {
  '/api/accounts': [''],
  '/api/accounts/{name}': [`/${accounts.open}`],
  '/api/audit': ['', '?since=400d'],
  '/api/configuration': [''],
  '/api/find': [accounts.open, accounts.unknown, '0xWithdraw1', 'open-77', 'nothing'].map((text) => `?size=100&text=${text}`),
  '/api/found': ['', '?assigned=true', '?dismissed=true'],
  '/api/first-steps': [''],
  '/api/health': [''],
  '/api/keys': [''],
  '/api/openapi.json': [''],
  '/api/providers': [''],
  '/api/providers/{name}': ['/alpha'],
  '/api/routing': [''],
  '/api/token': [''],
  '/api/transactions': ['', '?page=300&size=100', '?status=success&size=100', `?account=${accounts.open}&page=300&size=100`],
  '/api/transactions/{id}': ['/alpha~tx-1'],
  '/api/transactions/{id}/timeline': ['/alpha~tx-1/timeline'],
  '/api/unresolved': ['', '?after=99999999999999~x'],
  '/api/usage': ['', `?account=${accounts.open}`],
  '/api/webhooks': [''],
  '/api/webhooks/{id}': ['/:webhook'],
  '/api/webhooks/{id}/deliveries': ['/:webhook/deliveries', '/:webhook/deliveries?failed=true'],
}

test('the paths of the operator’s API are all of its GETs', async () => {
  const { paths } = (await operator('GET', '/api/openapi.json')).json as { paths: Record<string, object> }
  const gets = Object.keys(paths).filter((path) => 'get' in (paths[path] ?? {}))
  expect([...Object.keys(operatorPaths), '/api/events'].toSorted()).toEqual(gets.toSorted())
})

/** They have less for a token without `money`, which is work. */
const shortened = ['/api/find', '/api/found', '/api/unresolved', '/api/webhooks', '/api/webhooks/{id}/deliveries']

const operatorRequests = Object.entries(operatorPaths).flatMap(([route, ends]) =>
  ends.flatMap((end) => {
    const roles = shortened.includes(route) ? (['money', 'read'] as const) : (['money'] as const)
    return roles.map((role) => [role, route.replace(/\/\{.*/, '') + end] as const)
  }),
)

test.each(operatorRequests)('with the role %s: %s', { timeout: 300_000 }, async (role, path) => {
  await expectShortTurns(async () => {
    expect((await operator('GET', path.replace(':webhook', webhook), { role })).status).toBe(200)
  })
})

test.each(['none', 'accept', 'success'])('a preview of a settlement of many: %s', { timeout: 120_000 }, async (outcome) => {
  await expectShortTurns(async () => {
    const body = { provider: 'alpha', outcome, note: 'as the provider says' }
    expect((await operator('POST', '/api/settlements', { body })).status).toBe(200)
  })
})

test('a step of such a settlement', { timeout: 120_000 }, async () => {
  const body = { provider: 'alpha', outcome: 'refunded', note: 'as the provider says' }
  const { confirm } = (await operator('POST', '/api/settlements', { body })).json as { confirm: string }
  await expectShortTurns(async () => {
    expect((await operator('POST', `/api/settlements/${confirm}`)).status).toBe(200)
  })
})

test.each(['/livez', '/readyz', '/metrics'])('%s', { timeout: 120_000 }, async (path) => {
  await expectShortTurns(async () => {
    const response = await fetch(gateway.adminUrl + path)
    await response.text()
    expect(response.status).toBe(200)
  })
})

const lists = [
  '',
  '?size=100',
  '?page=150&size=100',
  '?page=300&size=100',
  '?status=wait&size=100',
  '?status=success&size=100',
  '?updatedSince=2020-01-01&size=100',
  '?updatedSince=2020-01-01&status=wait&page=200&size=100',
]
const clientPaths = ['a', 'b'].flatMap((form) =>
  [...lists.map((query) => `/transactions${query}`), '/transactions/alpha~tx-1'].map((path) => `/${form}/api/v2${path}`),
)

test.each(clientPaths)('a client: %s', { timeout: 120_000 }, async (path) => {
  await expectShortTurns(async () => expect((await client(path)).status).toBe(200))
})

test('a call of the native lane that names as many swaps as are looked up', { timeout: 120_000 }, async () => {
  const ids = Array.from({ length: 49 }, (_, at) => `id=open-${1_000 + at}`).join('&')
  await expectShortTurns(async () => {
    const path = `/native/alpha/exchange/open-7?${ids}`
    const response = await fetch(gateway.url + path, { headers: credentialFor(path) })
    // The provider's: it has no such path.
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('No such path')])
  })
})

const streams = ['/a/api/v2/events', '/b/api/v2/events', '/a/api/v2/transactions/alpha~tx-1/events']

test.each(streams)('a stream that begins with missed rows: %s', { timeout: 120_000 }, async (path) => {
  await expectShortTurns(async () => {
    const missed = { ...credentialFor(path), 'last-event-id': String(rowsEach - 1_000) }
    const stream = await openEvents(gateway.url + path, missed)
    await stream.received(1_000)
    stream.close()
  })
})

test('as many streams as an account may have', { timeout: 120_000 }, async () => {
  await expectShortTurns(async () => {
    const open = await Promise.all(
      streams.flatMap((path) =>
        Array.from({ length: 6 }, () => openEvents(gateway.url + path, { ...credentialFor(path), 'last-event-id': '20' })),
      ),
    )
    for (const stream of open) await stream.received(50)
    for (const stream of open) stream.close()
  })
})

test('the events of the operator’s API', { timeout: 120_000 }, async () => {
  await expectShortTurns(async () => {
    const stream = await openEvents(`${gateway.adminUrl}/api/events`, { authorization: `Bearer ${tokens.money}` })
    await stream.received(3)
    stream.close()
  })
})

test('what the process does by itself', { timeout: 120_000 }, async () => {
  // Its jobs come each second or two.
  await expectShortTurns(() => delay(4_000))
})

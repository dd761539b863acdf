/** docs/operating.md: swaps that their provider does not report, as an operator sees them: on the admin port, on the command line, at another replica. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Provider, startProvider } from '../checker/provider.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { runCommand } from '../support/command.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'

const token = 'operator-token-of-alice-0123456789'
const readersToken = 'operator-token-of-carol-0123456789'
const operatorsToken = 'operator-token-of-oscar-0123456789'
const order = { coinFrom: 'XRP', coinTo: 'USDTERC20', amount: 1, withdrawalAddress: '0xWithdraw123456789', rateType: 'float' }
const open = new AsyncDisposableStack()
let alpha: Provider
let gateway: InProcessGateway
let other: InProcessGateway
let key: string

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-unread-'))
  open.defer(async () => rmSync(directory, { recursive: true }))
  alpha = open.use(await startProvider({ form: 'A', name: 'alpha', keys: ['own-key-of-alpha'], journal: join(directory, 'alpha') }))
  const settings = {
    directory,
    mode: 'managed',
    admin: {
      tokens: {
        alice: token,
        carol: { token: readersToken, roles: ['read'] },
        oscar: { token: operatorsToken, roles: ['operate'] },
      },
    },
    providers: { alpha: { form: 'A', url: alpha.url, key: 'own-key-of-alpha', timeout: 1 } },
    sections: { ledger: { url: `sqlite:${join(directory, 'ledger.db')}`, refreshAfter: 0 } },
  } as const
  gateway = open.use(await InProcessGateway.start(settings))
  other = open.use(await InProcessGateway.start(settings))
  key = await gateway.createKey('acme')
}, 30_000)
afterEach(() => alpha.heal())
afterAll(() => open.disposeAsync())

interface Failing {
  readonly since: string
  readonly lastAt: string
  readonly tries: number
  readonly outcome: string
  readonly cause: string | null
  readonly owner: string
}

interface Reads {
  readonly readAt: string | null
  readonly ageSeconds: number
  readonly failing: Failing | null
}

const call = (path: string, at = gateway): Promise<ReceivedResponse> =>
  sendRequest(at.adminUrl, { path: `/api${path}`, headers: { authorization: `Bearer ${token}` } })
/** With plain numbers. */
async function read<Body>(path: string, at = gateway): Promise<Body> {
  return JSON.parse((await call(path, at)).text) as Body
}

const headers = () => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' })
const get = (id: string): Promise<ReceivedResponse> =>
  sendRequest(gateway.url, { path: `/a/api/v2/transactions/${id}`, headers: headers() })

async function create(): Promise<string> {
  const made = await sendRequest(gateway.url, {
    method: 'POST',
    path: '/a/api/v2/transactions',
    headers: headers(),
    body: JSON.stringify(order),
  })
  return (made.json as { readonly id: string }).id
}

async function readsOf(id: string, at = gateway): Promise<Reads> {
  const { reads } = await read<{ readonly reads: Reads }>(`/transactions/${encodeURIComponent(id)}/timeline`, at)
  return reads
}

/** A provider that was silent is waited for only a moment: one get may not be enough. */
async function readsAfterGet(id: string): Promise<Reads | undefined> {
  await get(id)
  return await readsOf(id)
}

/** Once a failed read is written. */
async function failingOf(id: string, at = gateway): Promise<Failing> {
  let failing: Failing | null = null
  await expect
    .poll(async () => (failing = (await readsOf(id, at))?.failing ?? null), { timeout: 20_000, interval: 100 })
    .not.toBeNull()
  return failing as unknown as Failing
}

const silence = { operation: 'get', before: 'hang', times: 1_000 } as const

test('an open swap says when a get read it and how old it is; one that fails says since when, how often, why, and what its owner sees', async () => {
  const id = await create()
  expect((await get(id)).status).toBe(200)
  const before = Date.now()
  expect(await readsOf(id)).toMatchObject({ readAt: expect.any(String), ageSeconds: expect.any(Number), failing: null })
  await alpha.fault(silence)
  const stale = await get(id)
  expect(stale.headers['x-swap-stale']).toBeDefined()
  const failing = await failingOf(id)
  expect(failing).toMatchObject({ tries: 1, outcome: 'timed_out', cause: null, owner: 'last_known' })
  expect(Date.parse(failing.since)).toBeGreaterThanOrEqual(before)
  expect(Date.parse(failing.lastAt)).toBeGreaterThanOrEqual(Date.parse(failing.since))
  const whole = await read<{ readonly reads: Reads }>(`/transactions/${id}`)
  expect(whole.reads.failing).toEqual(failing)
})

test('the command line and another replica say it too', async () => {
  const id = await create()
  await alpha.fault(silence)
  await get(id)
  expect((await failingOf(id, other)).outcome).toBe('timed_out')
  const { out } = await runCommand(['ledger', 'show', id, '--config', gateway.file])
  const text = out.join('\n')
  expect(text).toMatch(/last read +never; what is known is \d+ s old/)
  expect(text).toMatch(/reads +timed_out, 1 try since \d{4}-.*Z; the last at \d{4}-.*Z/)
  expect(text).toMatch(/owner sees +wait, with X-Swap-Stale: \d+/)
  expect(text).toMatch(/reads_failed +timed_out, 1 try since/)
})

test('a swap that is read again is not failing any more, and a later failure begins anew', async () => {
  const id = await create()
  await get(id)
  await alpha.fault({ operation: 'get', before: 500, times: 2 })
  await get(id)
  const first = await failingOf(id)
  expect(first.outcome).toBe('failed')
  await alpha.heal()
  await expect.poll(async () => (await readsAfterGet(id))?.failing, { timeout: 20_000 }).toBeNull()
  await alpha.fault({ operation: 'get', before: 500, times: 2 })
  await get(id)
  const second = await failingOf(id)
  expect(Date.parse(second.since)).toBeGreaterThan(Date.parse(first.lastAt))
  const { timeline } = await read<{ readonly timeline: readonly { event: string }[] }>(`/transactions/${id}/timeline`)
  expect(timeline.filter(({ event }) => event === 'reads_failed')).toHaveLength(1)
})

test('an answer that is about another swap is no read of this one', async () => {
  const id = await create()
  const { readAt } = await readsOf(id)
  await alpha.fault({ operation: 'get', swap: 'withdrawalAddress', times: 1_000 })
  expect((await get(id)).headers['x-swap-stale']).toBeDefined()
  expect(await failingOf(id)).toMatchObject({ tries: 1, outcome: 'contradicted', owner: 'last_known' })
  expect((await readsOf(id)).readAt).toBe(readAt)
  expect((await askedOf(id)).asked).toEqual({ outcome: 'contradicted' })
  await alpha.heal()
  expect((await askedOf(id)).reads.failing).toBeNull()
})

test('a swap that has ended has nothing of it', async () => {
  const id = await create()
  await alpha.change(id.slice(id.indexOf('~') + 1), { status: 'success' })
  await expect.poll(() => readsAfterGet(id), { timeout: 20_000 }).toBeUndefined()
})

const ask = (id: string, at = gateway, by = token): Promise<ReceivedResponse> =>
  sendRequest(at.adminUrl, {
    method: 'POST',
    path: `/api/transactions/${encodeURIComponent(id)}/read`,
    headers: { authorization: `Bearer ${by}` },
  })

interface Asked {
  readonly asked: { readonly outcome: string; readonly cause?: string }
  readonly swap: { readonly status: string; readonly withdrawalAddress: string }
  readonly reads: Reads
}

const askedOf = async (...by: Parameters<typeof ask>): Promise<Asked> => JSON.parse((await ask(...by)).text) as Asked
const audited = async (id: string): Promise<readonly object[]> =>
  (await read<readonly { subject: string; action: string }[]>('/audit')).filter(({ subject }) => subject === id)

test('one request asks the provider about a swap, once, and has its state; it is one record of the audit log', async () => {
  const id = await create()
  await get(id)
  await alpha.fault({ operation: 'get', before: 500, times: 2 })
  await get(id)
  await failingOf(id, other)
  await alpha.change(id.slice(id.indexOf('~') + 1), { status: 'exchanging' })
  const answered = await askedOf(id, other)
  expect(answered).toMatchObject({ asked: { outcome: 'done' }, swap: { id, status: 'exchanging' }, reads: { failing: null } })
  const records = (await audited(id)).filter((record) => 'action' in record && record.action !== 'transaction.read')
  expect(records).toMatchObject([{ actor: 'alice', action: 'transaction.ask', after: { outcome: 'done' } }])
})

test('a swap that has not changed is not failing any more either once its provider has answered', async () => {
  const id = await create()
  await get(id)
  await alpha.fault({ operation: 'get', before: 500, times: 2 })
  await get(id)
  await failingOf(id)
  expect((await askedOf(id, other)).reads.failing).toBeNull()
})

test('why there is no answer is said, and the ledger keeps what it had', async () => {
  const id = await create()
  await alpha.fault(silence)
  expect(await askedOf(id)).toMatchObject({ asked: { outcome: 'timed_out' }, swap: { status: 'wait' } })
  expect(await audited(id)).toMatchObject([{ action: 'transaction.ask', after: { outcome: 'timed_out' } }])
})

test('who operates may ask, without whole addresses; who only reads may not, and what is not there is 404', async () => {
  const id = await create()
  expect((await askedOf(id, gateway, operatorsToken)).swap.withdrawalAddress).toBe('0xWith…6789')
  expect((await askedOf(id)).swap.withdrawalAddress).toBe(order.withdrawalAddress)
  expect((await ask(id, gateway, readersToken)).status).toBe(403)
  for (const missing of ['alpha~none', 'none']) expect((await ask(missing)).status).toBe(404)
})

test('a provider that is off is not asked', async () => {
  const id = await create()
  const state = (wanted: string): Promise<ReceivedResponse> =>
    sendRequest(gateway.adminUrl, {
      method: 'PATCH',
      path: '/api/providers/alpha',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ state: wanted, force: true }),
    })
  expect((await state('off')).status).toBe(200)
  const refused = await ask(id)
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('is off')])
  expect((await state('active')).status).toBe(200)
})

test('the command asks by itself, and is exit 1 without an answer', async () => {
  const id = await create()
  await alpha.change(id.slice(id.indexOf('~') + 1), { status: 'sending' })
  const answered = await runCommand(['transactions', 'read', id, '--config', gateway.file])
  expect([answered.exitCode, answered.err]).toEqual([0, []])
  expect(answered.out.join('\n')).toMatch(/^The provider has answered\.\n[\s\S]*state +sending/)
  await alpha.fault(silence)
  const silent = await runCommand(['transactions', 'read', id, '--config', gateway.file])
  expect([silent.exitCode, silent.out[0]]).toEqual([1, 'The provider has not answered: timed_out.'])
  const none = await runCommand(['transactions', 'read', 'alpha~none', '--config', gateway.file])
  expect([none.exitCode, none.err]).toEqual([1, ['swapgate: the ledger has no transaction alpha~none']])
})

test('of a silent provider with thirty open swaps the list says within half a minute which ones, since when and why', {
  timeout: 60_000,
}, async () => {
  const ids = await Promise.all(Array.from({ length: 30 }, create))
  const silentAt = Date.now()
  await alpha.fault(silence)
  const clients = ids.map(get)
  const failing = async (): Promise<ReadonlyMap<string, Failing>> => {
    type Row = { readonly id: string; readonly reads: Reads | null }
    const { data } = await read<{ readonly data: readonly Row[] }>('/transactions?provider=alpha&size=100', other)
    return new Map(data.flatMap(({ id, reads }) => (reads?.failing && ids.includes(id) ? [[id, reads.failing] as const] : [])))
  }
  await expect.poll(async () => (await failing()).size, { timeout: 30_000, interval: 250 }).toBe(30)
  for (const one of (await failing()).values()) {
    expect(Date.parse(one.since)).toBeGreaterThanOrEqual(silentAt)
    expect(['timed_out', 'held_back']).toContain(one.outcome)
  }
  await Promise.all(clients)
  const [first = ''] = ids
  expect(['timed_out', 'held_back']).toContain((await askedOf(first)).asked.outcome)
})

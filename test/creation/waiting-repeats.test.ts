/** docs/contract.md §10.1: a repeat with `Prefer: wait` gets the swap as soon as a look has found it, in whichever process. */
import { afterEach, expect, test, vi } from 'vitest'
import type { Ledger, UnresolvedCreate } from '../../src/core/ports/ledger.ts'
import type { Transaction } from '../../src/domain/swap.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import type { Digits } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, loseResponses, requestsOf } from '../support/outcomes.ts'
import { credential, type FormName, formNames } from '../support/pair.ts'
import type { Swap } from '../support/swaps.ts'

let managed: Managed
let key: string
afterEach(() => managed.close())

/** How often the ledger was asked for a key. */
let finds: number
const counted = (ledger: Ledger): Ledger => ({
  ...ledger,
  findIdempotencyKey(...of) {
    finds++
    return ledger.findIdempotencyKey(...of)
  },
})

/** A create that its provider has broken off, and repeats of it. `isMade`: whether the provider has made the swap. */
async function start({ isMade = true } = {}) {
  finds = 0
  managed = await startManaged({ providers: { alpha: { timeout: 600 } }, ledgerLayer: counted })
  key = await managed.issue()
  if (isMade) loseResponses(managed.alpha)
  else managed.alpha.reply('create', { reset: true })
  const create = (prefer: string | undefined, form: FormName = 'A') => {
    const headers = { 'idempotency-key': 'order', ...(prefer !== undefined && { prefer }) }
    return managed.client(form).post('/transactions', orderIn(form), { key, headers })
  }
  expectRefusal(await create('wait=5'), 'A', 504)
  return create
}

/** A look at what the provider lists by now, which ends with `end`. */
async function beginLook(): Promise<{ readonly end: () => Promise<void> }> {
  const listed = Promise.withResolvers<void>()
  const { alpha, gateway } = managed
  const data = alpha.holdings.swaps.map(transactionA)
  alpha.reply('list', { after: listed.promise, json: { data, pagination: { page: 1, size: 50, total: data.length } } })
  const looking = lookNow(gateway)
  await vi.waitUntil(() => alpha.received('list').length > 0, { timeout: eventTimeoutMs })
  return {
    async end() {
      listed.resolve()
      await looking
    },
  }
}

/** A request waits: it has asked the ledger again. */
const waits = async (): Promise<void> => {
  const before = finds
  await vi.waitUntil(() => finds >= before + 2, { timeout: eventTimeoutMs })
}

const lostCreate = async (): Promise<UnresolvedCreate> => {
  const [lost] = await managed.gateway.ledger.dueCreates(Date.now() + 60_000, 1, undefined)
  if (!lost) throw new Error('No create is open.')
  return lost
}

test.each(formNames)('client %s: a repeat waits for the look that is under way, and gets the swap', async (form) => {
  const create = await start()
  const look = await beginLook()
  const repeat = create('respond-async, wait=20', form)
  await waits()
  await look.end()
  const found = await repeat
  expect(found.status, found.text).toBe(form === 'A' ? 201 : 200)
  expect(found.json).toMatchObject({ id: 'alpha~lost-1' })
  expect(found.headers).toMatchObject({ 'idempotent-replayed': 'true', 'preference-applied': 'wait=20' })
  expect(managed.alpha.received('create')).toHaveLength(1)
})

test('a swap that another process finds ends the wait, too', async () => {
  const create = await start()
  const { ledger } = managed.gateway
  const lost = await lostCreate()
  await ledger.beginCheck(lost, Date.now() + 15_000)
  const repeat = create('wait="20"')
  await waits()
  const [made] = managed.alpha.holdings.swaps
  const { id, depositAddress, amountOut, createdAt } = made as Swap
  const transaction = { ...lost.requested, id, status: 'wait', depositAddress, amountOut: (amountOut as Digits).rawJSON, createdAt }
  const record = { transaction: transaction as unknown as Transaction, derived: [], reportedAt: Date.now() }
  expect(await ledger.bindFound(lost.intent, record)).toBe(true)
  const found = await repeat
  expect([found.status, found.headers['preference-applied']]).toEqual([201, 'wait=20'])
  expect(found.json).toMatchObject({ id: 'alpha~lost-1', depositAddress })
})

test.each<[string, Parameters<Managed['reconfigure']>[0]]>([
  ['drains', { routing: ['alpha', 'beta'], providers: { alpha: { timeout: 600, state: 'draining' } } }],
  ['takes only creates that choose it', { routing: ['beta'], sections: { routing: { providers: ['beta'], pick: ['alpha'] } } }],
])('a repeat waits also where its provider, by now, %s', async (_, next) => {
  const create = await start()
  managed.reconfigure({ providers: { alpha: { timeout: 600 } }, ...next })
  const look = await beginLook()
  const repeat = create('wait=20')
  await waits()
  await look.end()
  const found = await repeat
  expect([found.status, found.headers['preference-applied']]).toEqual([201, 'wait=20'])
})

test('a client that goes away ends its wait', async () => {
  await start()
  const look = await beginLook()
  const ended = requestsOf(managed.gateway).length
  const headers = { ...credential('A', key), 'content-type': 'application/json', 'idempotency-key': 'order', prefer: 'wait=600' }
  const client = new AbortController()
  const url = `${managed.gateway.url}/a/api/v2/transactions`
  const repeat = fetch(url, { method: 'POST', headers, body: JSON.stringify(orderIn('A')), signal: client.signal })
  await waits()
  client.abort()
  await expect(repeat).rejects.toThrow('aborted')
  await vi.waitUntil(() => requestsOf(managed.gateway).length > ended, { timeout: eventTimeoutMs })
  await look.end()
})

test('a look that does not end in time leaves the 409, after the time that the client would wait', async () => {
  const create = await start()
  const look = await beginLook()
  const startedAt = performance.now()
  const late = await create('wait=1')
  expect(performance.now() - startedAt).toBeGreaterThan(900)
  expectRefusal(late, 'A', 409, 'in_progress')
  expect(late.headers).toMatchObject({ 'retry-after': '2', 'preference-applied': 'wait=1' })
  await look.end()
})

test('a create that is refused meanwhile ends the wait, and its key is free', async () => {
  const create = await start({ isMade: false })
  const { ledger } = managed.gateway
  const lost = await lostCreate()
  await ledger.beginCheck(lost, Date.now() + 15_000)
  const repeat = create('wait=20')
  await waits()
  await ledger.drop(lost.intent)
  expectRefusal(await repeat, 'A', 409, 'in_progress')
  managed.alpha.reply('create', () => undefined)
  expect((await create(undefined)).status).toBe(201)
})

test.each<[string, string, number | undefined]>([
  ['only a person can end it', 'wait=20', undefined],
  ['the next look comes later', 'wait=1', 30_000],
  ['its preference is none', 'wait=soon, xwait=20', 0],
])('a repeat does not wait if %s', async (_, prefer, nextLookMs) => {
  const create = await start()
  const { ledger } = managed.gateway
  const checked = await ledger.beginCheck(await lostCreate(), Date.now() + 15_000)
  await ledger.scheduleNextCheck(checked as UnresolvedCreate, nextLookMs === undefined ? undefined : Date.now() + nextLookMs)
  finds = 0
  const refused = await create(prefer)
  expectRefusal(refused, 'A', 409)
  expect(refused.headers).not.toHaveProperty('preference-applied')
  expect(finds).toBe(1)
})

/** docs/contract-operators.md §12: creates leave a provider whose quotes have just failed over. */
import { afterEach, describe, expect, test } from 'vitest'
import { createBreaker } from '../../src/core/resilience/breaker.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { rateQuery } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'

let managed: Managed
afterEach(() => managed.close())

const cache = { currencies: 600, rate: 0, staleFor: 0 }

async function start(routing: object = {}, more: object = {}): Promise<readonly [acme: string, globex: string, initech: string]> {
  const sections = { routing: { providers: ['alpha', 'beta'], ...routing }, cache }
  managed = await startManaged({ sections, steadyClock: () => performance.now(), ...more })
  return [await managed.issue(), await managed.issue(), await managed.issue()]
}

const rate = (key: string | null, amount = '0.10', headers = {}): Promise<ReceivedResponse> =>
  managed.client('A').get(rateQuery('A', { from: assets.btc, to: assets.usdtTrx, amount }), { key, headers })
let orders = 0
const create = (key: string, facts: object = {}, name = `order-${++orders}`, headers = {}): Promise<ReceivedResponse> =>
  managed.client('A').post('/transactions', orderIn('A', facts), { key, headers: { 'idempotency-key': name, ...headers } })
const providerOf = ({ headers }: ReceivedResponse): unknown => headers['x-swap-provider']
const created = (): readonly number[] => [managed.alpha.received('create').length, managed.beta.received('create').length]
const fail = (): void => {
  managed.alpha.reply('rate', { status: 503, json: { error: 'x', message: 'y', code: 503 } })
  managed.alpha.reply('create', { status: 503, json: { error: 'x', message: 'y', code: 503 } })
}
/** Its quotes and creates are as usual again. */
const heal = (): void => {
  managed.alpha.reply('rate', () => undefined)
  managed.alpha.reply('create', () => undefined)
}

describe.each([
  ['priority', {}],
  ['weighted', { strategy: 'weighted', weights: { alpha: 1_000, beta: 1 } }],
])('%s', (_, routing) => {
  test('once the quotes of two accounts have failed over, the creates of all go to the next provider', async () => {
    const [acme, globex, initech] = await start(routing)
    fail()
    for (const key of [acme, globex]) expect(providerOf(await rate(key))).toBe('beta')
    for (const key of [acme, globex, initech]) expect(providerOf(await create(key))).toBe('beta')
    expect(created()).toEqual([0, 3])
    expect(await managed.gateway.ledgerAdmin.unresolved()).toEqual([])
  })

  test('one quote that it answers brings them back', async () => {
    const [acme, globex, initech] = await start(routing)
    fail()
    for (const key of [acme, globex]) await rate(key)
    heal()
    expect(providerOf(await rate(initech))).toBe('alpha')
    expect(providerOf(await create(initech, { amount: 0.2 }))).toBe('alpha')
  })
})

test('the quotes of one account move its own creates, and nobody else’s', async () => {
  const [acme, globex] = await start()
  fail()
  for (let at = 0; at < 4; at++) expect(providerOf(await rate(acme, `0.1${at}`))).toBe('beta')
  managed.alpha.reply('create', () => undefined)
  expect(providerOf(await create(acme))).toBe('beta')
  expect(providerOf(await create(globex))).toBe('alpha')
})

test('without a key a failed quote moves the create of the same request, and no other one', async () => {
  const [acme] = await start()
  fail()
  expect(providerOf(await rate(null))).toBe('beta')
  managed.alpha.reply('create', () => undefined)
  expect(providerOf(await create(acme))).toBe('beta')
  expect(providerOf(await create(acme, { amount: 0.2 }))).toBe('alpha')
})

test('what a provider refuses, or takes for extreme, moves nothing', async () => {
  const [acme, globex] = await start()
  managed.alpha.reply('rate', { status: 400, json: { error: 'Bad Request', message: 'no', code: 400 } })
  for (const key of [acme, globex]) await rate(key)
  managed.alpha.reply('rate', { status: 500, json: { error: 'x', message: 'y', code: 500 } })
  for (const key of [acme, globex]) await rate(key, '0.1000000000000000000000000001')
  heal()
  expect(providerOf(await create(acme))).toBe('alpha')
})

test('its breaker of quotes is for all: five failures in a row, and a read of the gateway’s own that fails', async () => {
  const [acme] = await start({}, { breaker: createBreaker })
  fail()
  managed.alpha.reply('currencies', { status: 503, text: '{}' })
  for (let at = 0; at < 5; at++) await rate(null, `0.${at + 1}`)
  const isOpen = { what: 'breaker', provider: 'alpha', operation: 'getRate', state: 'open' }
  await expect.poll(() => managed.gateway.observations).toContainEqual(isOpen)
  await rate(null, '0.9')
  expect(providerOf(await create(acme))).toBe('beta')
  expect(created()).toEqual([0, 1])
})

test('a provider that the client has chosen stays', async () => {
  const [acme, globex] = await start({ pick: ['alpha', 'beta'] })
  fail()
  for (const key of [acme, globex]) await rate(key)
  managed.alpha.reply('create', () => undefined)
  expect(providerOf(await create(acme, {}, 'picked', { 'x-swap-provider': 'alpha' }))).toBe('alpha')
})

test('where no other one takes it, the create is sent as before', async () => {
  const [acme, globex] = await start()
  fail()
  for (const key of [acme, globex]) await rate(key)
  managed.alpha.reply('create', () => undefined)
  managed.beta.reply('create', { status: 429, headers: { 'retry-after': '7' }, json: { message: 'y', code: 429 } })
  await create(globex, { amount: 0.2 })
  expect(providerOf(await create(acme))).toBe('alpha')
})

test('what has been sent stays: a create under way is not sent twice, and its key waits', async () => {
  const [acme, globex] = await start()
  let answer = (): void => {}
  const after = new Promise<void>((resolve) => {
    answer = resolve
  })
  managed.alpha.reply('create', { after, status: 503, json: { error: 'x', message: 'y', code: 503 } })
  const underWay = create(acme, {}, 'under-way')
  await expect.poll(() => managed.alpha.received('create').length).toBe(1)
  managed.alpha.reply('rate', { status: 503, json: { error: 'x', message: 'y', code: 503 } })
  for (const key of [acme, globex]) expect(providerOf(await rate(key))).toBe('beta')
  expect((await create(acme, {}, 'under-way')).status).toBe(409)
  expect(providerOf(await create(globex))).toBe('beta')
  answer()
  expect((await underWay).status).toBe(504)
  expect((await create(acme, {}, 'under-way')).status).toBe(409)
  expect(created()).toEqual([1, 1])
})

test('best: the create of a winner whose quotes have failed since goes to the best of the others', async () => {
  const [acme, globex] = await start({ strategy: 'best' })
  managed.beta.reply('rate', { status: 503, text: '{}' })
  expect(providerOf(await rate(acme))).toBe('alpha')
  managed.beta.reply('rate', () => undefined)
  fail()
  for (const key of [globex, acme]) await rate(key, '0.3')
  expect(providerOf(await create(acme))).toBe('beta')
  expect(created()).toEqual([0, 1])
})

/** docs/contract-operators.md §8: the right to list is not the validity of the key. */
import { expect, it } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { clientKey } from '../support/gateway.ts'
import { lookNow, outcomesOf } from '../support/outcomes.ts'
import type { Reply } from '../support/stand-in.ts'
import { createdStatus, type Rig, startRig } from './rig.ts'

const noList: Reply = { status: 403, json: { error: 'invalid_api_key', message: 'Use private key for this endpoint' } }
const firewall: Reply = { status: 403, text: '<html>Request blocked</html>' }

function refuseLists({ exchange }: Rig): void {
  exchange.tamper = (operation) => (operation === 'list' ? noList : undefined)
}

function loggedFor({ gateway }: Rig, what: string): readonly unknown[] {
  return gateway.observations.filter((observation) => observation.what === what)
}

it('U30: a key that may not list loses no quote and no create, and the operation is named', async () => {
  await using rig = await startRig('changenow', { steadyClock: () => 1_000_000 })
  refuseLists(rig)
  expect((await rig.quote('A')).status).toBe(200)
  rig.exchange.losesNextCreate = true
  expectRefusal(await rig.create('A', { idempotencyKey: 'order-1' }), 'A', 504)
  for (let look = 0; look < 3; look++) {
    await lookNow(rig.gateway)
    expect((await rig.quote('A')).status).toBe(200)
  }
  expect((await rig.create('A')).status).toBe(createdStatus.A)
  expect(loggedFor(rig, 'operationRefused')).toEqual([
    { what: 'operationRefused', provider: 'alpha', operation: 'listTransactions' },
  ])
  expect(loggedFor(rig, 'cooldown')).toEqual([])
  // It counts as a provider without a list: nothing more is looked for there.
  expect(outcomesOf(rig.gateway)).toEqual(['unknown', 'lookupFailed'])
  expect(rig.exchange.received('list')).toHaveLength(1)
})

it('U30: the page of a firewall on one create stops nothing, whether the key may list or not', async () => {
  for (const mayList of [true, false]) {
    await using rig = await startRig('changenow')
    expect((await rig.quote('A')).status).toBe(200)
    rig.exchange.tamper = (operation) => {
      if (operation === 'create') return firewall
      return operation === 'list' && !mayList ? noList : undefined
    }
    expectRefusal(await rig.create('A'), 'A', 502)
    await expect.poll(() => rig.exchange.received('list').length).toBe(1)
    rig.exchange.tamper = () => undefined
    for (let again = 0; again < 5; again++) {
      expect((await rig.quote('A')).status).toBe(200)
      expect((await rig.create('A')).status).toBe(createdStatus.A)
    }
    expect(loggedFor(rig, 'cooldown')).toEqual([])
  }
})

it('U30: the page of a firewall on the very first call stops nothing', async () => {
  await using rig = await startRig('changenow')
  rig.exchange.tamper = (operation) => (operation === 'create' ? firewall : operation === 'list' ? noList : undefined)
  expectRefusal(await rig.create('A'), 'A', 502)
  await expect.poll(() => rig.exchange.received('get').length).toBe(1)
  rig.exchange.tamper = () => undefined
  expect((await rig.quote('A')).status).toBe(200)
  expect((await rig.create('A')).status).toBe(createdStatus.A)
  expect(loggedFor(rig, 'cooldown')).toEqual([])
})

it('U30: a key that is refused for creates and lists, and for quotes, is refused', async () => {
  await using rig = await startRig('changenow')
  expect((await rig.quote('A')).status).toBe(200)
  rig.exchange.key = 'another-key'
  expectRefusal(await rig.create('A'), 'A', 502)
  await expect.poll(() => loggedFor(rig, 'cooldown')).toEqual([{ what: 'cooldown', provider: 'alpha', reason: 'keyRefused' }])
})

it('lists are read with the key for lists, and nothing else is', async () => {
  await using rig = await startRig('changenow', { provider: { listKey: 'key-for-lists' } })
  rig.exchange.otherKeys.add('key-for-lists')
  rig.exchange.losesNextCreate = true
  expectRefusal(await rig.create('A', { idempotencyKey: 'order-1' }), 'A', 504)
  await lookNow(rig.gateway)
  expect(outcomesOf(rig.gateway).at(-1)).toBe('found')
  const keysOf = (operation: 'create' | 'get' | 'list'): ReadonlySet<unknown> =>
    new Set(rig.exchange.received(operation).map(({ headers }) => headers['x-changenow-api-key']))
  expect([keysOf('create'), keysOf('get'), keysOf('list')]).toEqual([
    new Set([rig.exchange.key]),
    new Set([rig.exchange.key]),
    new Set(['key-for-lists']),
  ])
})

it("U13: in passthrough mode a client's 403 for its list stays the client's, whatever listKey is", async () => {
  await using rig = await startRig('changenow', { mode: 'passthrough', provider: { listKey: 'key-for-lists' } })
  refuseLists(rig)
  expectRefusal(await rig.get('A', '/transactions?page=1&size=10'), 'A', 401)
  expect((await rig.create('A')).status).toBe(createdStatus.A)
  expect(rig.exchange.received('list').map(({ headers }) => headers['x-changenow-api-key'])).toEqual([clientKey])
})

it("U13: in passthrough mode a fixed create is not the client's 401 if the quote's key, which is the operator's, is refused", async () => {
  await using rig = await startRig('changenow', { mode: 'passthrough' })
  rig.exchange.key = 'another-key'
  expectRefusal(await rig.create('A', { rateType: 'fixed' }), 'A', 502)
  expect((await rig.create('A')).status).toBe(createdStatus.A)
})

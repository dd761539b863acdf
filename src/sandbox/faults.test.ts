import { expect, test } from 'vitest'
import { faultInjector } from './faults.ts'
import { sandboxInMemory } from './fixture.ts'

const key = 'sandbox-key-1'

async function during(outage: object) {
  const sandbox = await sandboxInMemory()
  const set = await sandbox.send('POST', '/sandbox/faults', { body: outage })
  const count = async () => (await sandbox.send('GET', '/b/api/v2/transactions', { key })).json.count
  const body = { coinFrom: 'BTC', coinTo: 'USDTTRC20', amount: 0.1, withdrawalAddress: 'T' }
  const create = () => sandbox.send('POST', '/a/api/v2/transactions', { key, body })
  return { ...sandbox, set, count, create }
}

test('an error status comes in the form, instead of the effect', async () => {
  const { create, count } = await during({ operation: 'createTransaction', status: 503 })
  const message = 'This outage is being rehearsed.'
  expect(await create()).toMatchObject({ status: 503, json: { error: 'Service Unavailable', message, code: 503 } })
  expect(await count()).toBe(0)
})

test('a reset before the effect leaves no transaction, one after it does', async () => {
  const before = await during({ operation: 'createTransaction', reset: 'before' })
  expect(await before.create()).toMatchObject({ damage: 'reset' })
  expect(await before.count()).toBe(0)
  const after = await during({ operation: 'createTransaction', reset: 'after' })
  expect(await after.create()).toMatchObject({ damage: 'reset' })
  expect(await after.count()).toBe(1)
})

test('a truncated response and one that never comes have their effect', async () => {
  for (const damage of ['truncation', 'silence']) {
    const { create, count } = await during({ operation: 'createTransaction', [damage]: true })
    expect(await create()).toMatchObject({ damage, status: 201 })
    expect(await count()).toBe(1)
  }
})

test("a word outside the form stands where a transaction's status stood", async () => {
  const { create } = await during({ word: 'on "hold"' })
  expect((await create()).json).toMatchObject({ status: 'on "hold"', coinFrom: 'BTC' })
})

test('latency delays the response and changes nothing else', async () => {
  const { create, time } = await during({ operation: 'createTransaction', latency: 700 })
  expect((await create()).status).toBe(201)
  expect(time.paused).toBe(700)
})

test('an outage of one operation leaves the others alone, in both forms', async () => {
  const { send } = await during({ operation: 'getRate', status: 500 })
  expect((await send('GET', '/a/api/v2/rate?coinFrom=BTC&coinTo=XRP&amount=0.1')).status).toBe(500)
  expect((await send('GET', '/b/api/v2/rate?coinFrom=BTC&coinTo=XRP&amount=0.1')).status).toBe(500)
  expect((await send('GET', '/a/api/v2/currencies')).status).toBe(200)
})

test('outages are shown, replaced by operation, and cleared', async () => {
  const { send, set } = await during({ status: 503 })
  expect(set.json).toEqual({ faults: [{ operation: 'all', share: 1, status: 503 }] })
  await send('POST', '/sandbox/faults', { body: { latency: 20, share: 0.5 } })
  expect((await send('GET', '/sandbox/faults')).json).toEqual({ faults: [{ operation: 'all', share: 0.5, latency: 20 }] })
  expect((await send('DELETE', '/sandbox/faults')).json).toEqual({ faults: [] })
  expect((await send('GET', '/sandbox/faults')).json).toEqual({ faults: [] })
})

test('an invalid outage is rejected by name', async () => {
  const { send } = await sandboxInMemory()
  const message = async (body: object) => (await send('POST', '/sandbox/faults', { body })).json.message
  expect(await message({ share: 2, status: 503 })).toBe('Invalid share: it must be a number from 0 to 1.')
  expect(await message({ status: 200 })).toBe('Invalid status: it must be a number from 400 to 599.')
  expect(await message({ status: 503.5 })).toBe('Invalid status: it must be an integer.')
  expect(await message({ operation: 'rate', status: 503 })).toMatch(/^Invalid operation: it must be all or one of listCurrencies, /)
  expect(await message({ reset: true })).toBe('Invalid reset: it must be before or after.')
  expect(await message({ delay: 3 })).toBe('Invalid delay: it is not a parameter here.')
  expect(await message({})).toMatch(/^Invalid request: it must say latency or one of /)
  expect(await message({ status: 503, silence: true })).toMatch(/^Invalid request: it must say only one of /)
})

test('a share of requests is struck, and an operation goes by its own outage first', () => {
  const numbers = [0.2, 0.3, 0.9, 0.29]
  const drawn = faultInjector(() => numbers.shift() ?? 0)
  drawn.set({ operation: 'getRate', share: 0.3, latency: 5 })
  expect([1, 2, 3, 4].map(() => drawn.draw('getRate') !== undefined)).toEqual([true, false, false, true])
  drawn.set({ operation: 'all', share: 1, status: 500 })
  expect(drawn.draw('listCurrencies')?.status).toBe(500)
  expect(drawn.draw('getRate')?.latency).toBe(5)
})

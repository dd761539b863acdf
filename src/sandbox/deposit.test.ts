import { expect, test } from 'vitest'
import { sandboxInMemory } from './fixture.ts'

const key = 'sandbox-key-1'

async function created(special: Parameters<typeof sandboxInMemory>[0] = {}) {
  const sandbox = await sandboxInMemory(special)
  const { id, depositAddress, amountTo } = await sandbox.create()
  const readInB = async () => (await sandbox.send('GET', `/b/api/v2/transactions/${id}`, { key })).json
  const readInA = async () => (await sandbox.send('GET', `/a/api/v2/transactions/${id}`, { key })).json
  const pay = (body: object = {}) => sandbox.send('POST', '/sandbox/deposits', { body: { depositAddress, ...body } })
  return { ...sandbox, id, depositAddress, amountTo, pay, readInA, readInB }
}

test('after its deposit a swap goes from status to status at the set speed', async () => {
  const { time, pay, readInA } = await created()
  time.seconds = 10
  expect((await pay()).status).toBe(200)
  const statuses: unknown[] = []
  for (time.seconds = 10; time.seconds <= 20; time.seconds += 2) statuses.push((await readInA()).status)
  expect(statuses).toEqual(['confirmation', 'confirmed', 'exchanging', 'sending', 'success', 'success'])
})

test('updatedAt is the moment of the last transition', async () => {
  const { time, pay, readInA } = await created()
  time.seconds = 10
  await pay()
  time.seconds = 13
  expect(await readInA()).toMatchObject({ status: 'confirmed', updatedAt: '2030-01-01T00:00:12.000Z' })
  time.seconds = 1000
  expect(await readInA()).toMatchObject({ status: 'success', updatedAt: '2030-01-01T00:00:18.000Z' })
})

test('the hashes appear with the deposit and with the payout, and stay the same', async () => {
  const { time, pay, readInB } = await created()
  await pay()
  const paid = await readInB()
  expect(paid).toMatchObject({ tx_hash_in: expect.stringMatching(/^[0-9a-f]{64}$/), tx_hash_out: null })
  time.seconds = 6
  const sent = await readInB()
  expect(sent).toMatchObject({ tx_hash_in: paid.tx_hash_in, tx_hash_out: expect.stringMatching(/^[0-9a-f]{64}$/) })
})

test('the receipt has the requested amount, or the received one', async () => {
  const swap = await created()
  const { json } = await swap.pay()
  expect(json).toEqual({ id: swap.id, depositAddress: swap.depositAddress, amount: 0.1 })
  const other = await created()
  expect((await other.pay({ amount: 0.2 })).json).toMatchObject({ amount: 0.2 })
})

test('another amount within the limits is swapped as it came', async () => {
  const { time, amountTo, pay, readInA } = await created()
  await pay({ amount: 0.2 })
  time.seconds = 100
  const { status, amount, amountTo: received } = await readInA()
  expect([status, amount]).toEqual(['success', 0.2])
  expect(Number(received)).toBeGreaterThan(2 * Number(amountTo))
})

test('a deposit outside the limits is refunded once it is confirmed', async () => {
  const { time, amountTo, pay, readInA, readInB } = await created()
  await pay({ amount: 0.00000001 })
  expect(await readInA()).toMatchObject({ statusReason: 'amount_out_of_range' })
  const statuses: unknown[] = []
  for (time.seconds = 0; time.seconds <= 6; time.seconds += 2) statuses.push((await readInA()).status)
  expect(statuses).toEqual(['confirmation', 'confirmed', 'refunded', 'refunded'])
  const reason = 'amount_out_of_range'
  const refund = { refundHash: expect.stringMatching(/^[0-9a-f]{64}$/), refundAmount: 1e-8 }
  expect(await readInA()).toMatchObject({ amount: 1e-8, amountTo, statusReason: reason, ...refund })
  const inB = await readInB()
  expect(inB).toMatchObject({ refund_hash: refund.refundHash, refund_amount: 1e-8, status_reason: reason, tx_hash_out: null })
  expect(inB).not.toHaveProperty('amount_out')
  expect(inB.refund_hash).not.toBe(inB.tx_hash_in)
})

test('an absurd deposit is refunded like any other', async () => {
  const { send, depositAddress, time, readInA } = await created()
  const body = `{"depositAddress":"${depositAddress}","amount":${'9'.repeat(61)}e40}`
  expect((await send('POST', '/sandbox/deposits', { body })).status).toBe(200)
  time.seconds = 4
  expect(await readInA()).toMatchObject({ status: 'refunded' })
})

test('without a deposit a swap is overdue after its expiry, and a late deposit revives it', async () => {
  const { time, pay, readInA } = await created({ expiry: 60 })
  expect(await readInA()).toMatchObject({ validUntil: '2030-01-01T00:01:00.000Z' })
  time.seconds = 59
  expect(await readInA()).toMatchObject({ status: 'wait', updatedAt: '2030-01-01T00:00:00.000Z' })
  time.seconds = 60
  expect(await readInA()).toMatchObject({ status: 'overdue', updatedAt: '2030-01-01T00:01:00.000Z' })
  time.seconds = 100
  await pay()
  expect(await readInA()).toMatchObject({ status: 'confirmation' })
})

test('with autoDeposit a swap is paid by itself', async () => {
  const { time, pay, readInA } = await created({ autoDeposit: 5 })
  time.seconds = 4
  expect(await readInA()).toMatchObject({ status: 'wait' })
  time.seconds = 5
  expect(await readInA()).toMatchObject({ status: 'confirmation' })
  time.seconds = 13
  expect(await readInA()).toMatchObject({ status: 'success', updatedAt: '2030-01-01T00:00:13.000Z' })
  expect((await pay()).status).toBe(400)
})

test('at speed 0 a paid swap is done at once', async () => {
  const { pay, readInA } = await created({ speed: 0 })
  await pay()
  expect(await readInA()).toMatchObject({ status: 'success' })
})

test('a deposit that cannot be made is refused as JSON, by name', async () => {
  const { send, pay } = await created()
  expect(await send('POST', '/sandbox/deposits', { body: { depositAddress: 'nowhere' } })).toMatchObject({
    status: 404,
    json: { code: 404 },
  })
  expect(await send('POST', '/sandbox/deposits', { body: {} })).toMatchObject({
    status: 400,
    json: { message: 'Invalid depositAddress: it must be a text.' },
  })
  expect(await pay({ amount: 0 })).toMatchObject({ status: 400, json: { message: 'Invalid amount: it must be a number above 0.' } })
  expect(await pay({ amount: '1' })).toMatchObject({ status: 400 })
  expect(await pay({ amuont: 1 })).toMatchObject({ status: 400, json: { message: 'Invalid amuont: it is not a parameter here.' } })
  expect(await send('GET', '/sandbox/deposits')).toMatchObject({ status: 405, headers: { allow: 'POST' } })
  expect((await send('POST', '/sandbox/deposits', { body: {}, type: 'text/plain' })).status).toBe(415)
  expect((await pay()).status).toBe(200)
  expect(await pay()).toMatchObject({ status: 400, json: { message: 'This transaction has its deposit already.' } })
})

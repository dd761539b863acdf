/**
 * A whole swap: `node examples/typescript/swap.ts`, with the gateway running (`npm start`).
 * SWAPGATE_URL and SANDBOX_URL name other places, SWAPGATE_KEY another key.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { ClientA } from './client-a.ts'
import { SwapError } from './swap-http.ts'

const {
  SWAPGATE_URL = 'http://127.0.0.1:8080',
  SANDBOX_URL = 'http://127.0.0.1:9101',
  SWAPGATE_KEY = 'sandbox-key-1',
} = process.env
const client = new ClientA({ baseUrl: `${SWAPGATE_URL}/a`, key: SWAPGATE_KEY })
const pair = { coinFrom: 'BTC', coinTo: 'USDTTRC20', amount: '0.1' }

const { amountTo, minAmount, maxAmount } = await client.rate(pair)
console.log(`0.1 BTC is about ${amountTo} USDT; from ${minAmount} to ${maxAmount} BTC can be swapped`)

// Keep the key with your order before you send it: after a crash you ask again with the same one.
const idempotencyKey = randomUUID()
const order = { ...pair, withdrawalAddress: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE' }
const created = await client.create(order, idempotencyKey)
console.log(`created ${created.id}: please pay ${created.amount} BTC to ${created.depositAddress}`)

const again = await client.create(order, idempotencyKey)
console.log(`asked again with the same Idempotency-Key: ${again.id === created.id ? 'the same swap' : 'ANOTHER SWAP'}`)

// With a real provider you send coins; the sandbox is told that they came.
await fetch(`${SANDBOX_URL}/sandbox/deposits`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ depositAddress: created.depositAddress }),
})

const ends = ['success', 'overdue', 'refunded']
let { status } = await client.swap(created.id)
for (let printed = ''; ; { status } = await client.swap(created.id)) {
  if (status !== printed) console.log(`status: ${status}`)
  printed = status
  if (ends.includes(status)) break
  await wait(1000)
}

const { data, pagination } = await client.swaps({ size: 5 })
console.log(`swaps with this key: ${pagination.total}; this one is among them: ${data.some(({ id }) => id === created.id)}`)

try {
  await client.rate({ ...pair, coinTo: 'NOBODY' })
} catch (error) {
  if (!(error instanceof SwapError) || error.reason !== 'unknown_asset') throw error
  console.log(`an error: ${error.status} ${error.reason}: ${error.message}`)
}

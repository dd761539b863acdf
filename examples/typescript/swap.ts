/**
 * A whole swap: `node examples/typescript/swap.ts`, with the gateway running (`npm start`).
 * SWAPGATE_URL and SANDBOX_URL name other places, SWAPGATE_KEY another key.
 */
import { AssetRefused, SwapClient } from '../../clients/typescript/swapgate.ts'

const {
  SWAPGATE_URL = 'http://127.0.0.1:8080',
  SANDBOX_URL = 'http://127.0.0.1:9101',
  SWAPGATE_KEY = 'sandbox-key-1',
} = process.env
const client = new SwapClient({ url: SWAPGATE_URL, key: SWAPGATE_KEY })
const pair = { coinFrom: 'BTC', coinTo: 'USDTTRC20', amount: '0.1' }

const { amountTo, minAmount, maxAmount } = await client.rate(pair)
console.log(`0.1 BTC is about ${amountTo} USDT; from ${minAmount} to ${maxAmount} BTC can be swapped`)

// Keep the key with your order before you send it: after a crash you ask again with the same one.
const idempotencyKey = crypto.randomUUID()
const order = { ...pair, withdrawalAddress: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE' }
const { swap } = await client.create(order, { idempotencyKey })
console.log(`created ${swap.id}: please pay ${swap.amount} BTC to ${swap.depositAddress}`)

const again = await client.create(order, { idempotencyKey })
console.log(`asked again with the same Idempotency-Key: ${again.swap.id === swap.id ? 'the same swap' : 'ANOTHER SWAP'}`)

// With a real provider you send coins; the sandbox is told that they came.
const paid = await fetch(`${SANDBOX_URL}/sandbox/deposits`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ depositAddress: swap.depositAddress }),
})
if (!paid.ok) throw new Error(`The sandbox has not taken the deposit: ${await paid.text()}`)

await client.waitFor(swap.id, { onChange: ({ swap: { status } }) => console.log(`status: ${status}`) })

const { data, pagination } = await client.list({ size: 5 })
console.log(`swaps with this key: ${pagination.total}; this one is among them: ${data.some(({ id }) => id === swap.id)}`)

try {
  await client.rate({ ...pair, coinTo: 'NOBODY' })
} catch (error) {
  if (!(error instanceof AssetRefused)) throw error
  console.log(`an error: ${error.status} ${error.reason}: ${error.message}`)
}

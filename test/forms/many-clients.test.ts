// Takes long: thousands of requests at once.
/** Many callers at once: each gets its own response, and one that disconnects affects no other. */
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { expectAlive } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { detailedB } from '../support/form-b.ts'
import { startGateway } from '../support/gateway.ts'
import { digits, readJson } from '../support/json.ts'
import { client, pairs, pairWords, rateQuery, startPair } from '../support/pair.ts'
import { providerAssets } from '../support/provider-assets.ts'
import { rawResponse, startRawProvider } from '../support/raw.ts'
import { assets, swap } from '../support/swaps.ts'

const { btc, usdtTrx } = assets
const each = Array.from({ length: 60 }, (_, at) => at)

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  test('of many orders at once each response has its own facts', async () => {
    const pair = await startPair(form, provider)
    await Promise.all(
      each.map(async (at) => {
        const order = {
          ...pairWords(form, btc, usdtTrx),
          amount: digits(`${at}.50`),
          withdrawalAddress: `w-${at}`,
          rateType: at % 2 ? 'fixed' : 'float',
        }
        const { json } = await pair.client.post('/transactions', order, { headers: { 'x-request-id': `r-${at}` } })
        const [amount, address] = form === 'A' ? ['amount', 'withdrawalAddress'] : ['amount_in', 'withdrawal_address']
        expect(json).toMatchObject({ [amount as string]: digits(`${at}.50`), [address as string]: `w-${at}` })
      }),
    )
    await pair.close()
    const sent = pair.provider.received('create').map(({ body, headers }) => [headers['x-request-id'], readJson(body)] as const)
    expect(sent).toHaveLength(60)
    for (const [id, body] of sent) expect(body).toMatchObject({ withdrawalAddress: `w-${id?.slice(2)}` })
  })

  test('of many keys at once each gets what is its own', async () => {
    const pair = await startPair(form, provider)
    pair.provider.reply('get', ({ headers, path }) => {
      const key = (headers.authorization ?? headers['x-api-key'] ?? '').replace('Bearer ', '')
      const facts = swap({ id: path.slice('/transactions/'.length), depositAddress: `of-${key.slice(-12)}` })
      return { delay: Math.random() * 20, json: provider === 'A' ? transactionA(facts) : detailedB(facts) }
    })
    await Promise.all(
      each.map(async (at) => {
        const key = await pair.gateway.freshKey()
        const { json } = await pair.client.get(`/transactions/alpha~tx-${at}`, { key })
        const name = form === 'A' ? 'depositAddress' : 'deposit_address'
        expect(json).toMatchObject({ id: `alpha~tx-${at}`, [name]: `of-${key.slice(-12)}` })
      }),
    )
    await pair.close()
  })

  test('of many amounts at once each is quoted by itself', async () => {
    const pair = await startPair(form, provider)
    await Promise.all(
      each.map(async (at) => {
        const { json } = await pair.client.get(rateQuery(form, { from: btc, to: usdtTrx, amount: `${at + 1}.0` }))
        expect(json).toHaveProperty(form === 'A' ? 'amount' : 'fromAmount', digits(`${at + 1}.0`))
      }),
    )
    await pair.close()
  })
})

const body = JSON.stringify({ ...pairWords('A', btc, usdtTrx), amount: 1, withdrawalAddress: 'w' })
const head = [
  'POST /a/api/v2/transactions HTTP/1.1',
  'Host: g',
  'Authorization: Bearer canary-client-key-1',
  'Content-Type: application/json',
]

test('a client that disconnects does not cut off its order', async () => {
  const cut: boolean[] = []
  const provider = await startRawProvider((socket, request) => {
    if (!request.startsWith('POST'))
      return void socket.write(rawResponse('{"data":[],"pagination":{"page":1,"size":100,"total":0}}'))
    caller.destroy()
    setTimeout(() => cut.push(socket.destroyed), 100)
  })
  const gateway = await startGateway({ provider: { form: 'A', url: provider.url, timeout: 1, assets: providerAssets } })
  const caller = connect(gateway.port, '127.0.0.1')
  caller.write(`${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  await expect.poll(() => cut, { interval: 10 }).toEqual([false])
  await expectAlive(client('A', gateway.url))
  await gateway.close()
  await provider.close()
})

test('a client that disconnects in the middle of its order orders nothing', async () => {
  const pair = await startPair('A', 'A')
  const caller = connect(pair.gateway.port, '127.0.0.1')
  caller.write(`${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -5)}`)
  await wait(30)
  caller.destroy()
  await expectAlive(pair.client)
  await wait(30)
  await pair.close()
  expect(pair.provider.received('create')).toEqual([])
})

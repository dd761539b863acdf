/** Exact amounts for clients whose JSON numbers would lose digits (docs/contract.md §3). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { orderIn } from '../support/managed.ts'
import { credential, type Pair, pairs, rateQuery, startPair } from '../support/pair.ts'
import { assets, swap } from '../support/swaps.ts'

const { btc, usdtTrx } = assets
const long = '0.100000000000000000000000000000000001'
const amountNames = /amount|rate$|fee|Amount|_in$|_out/

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider: side }) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair(form, side)
  })
  beforeEach(async () => {
    pair.provider.reset()
    await pair.gateway.forget()
    pair.provider.holdings.swaps = [swap()]
  })
  afterAll(() => pair.close())

  /** Without the check of the description: there amounts are numbers. */
  const get = async (path: string, prefer: string | undefined) => {
    const headers = { ...credential(form, await pair.gateway.freshKey()), ...(prefer !== undefined && { prefer }) }
    const response = await sendRequest(pair.gateway.url, { path: `/${form.toLowerCase()}/api/v2${path}`, headers })
    expect(response.status, response.text).toBe(200)
    return response
  }
  const paths = () => [
    rateQuery(form, { from: btc, to: usdtTrx, amount: long }),
    '/transactions',
    '/transactions/alpha~tx-1',
    '/currencies',
  ]

  test('amounts of a response are texts with the same digits where the client prefers that', async () => {
    for (const path of paths()) {
      const plain = await get(path, undefined)
      expect(plain.headers).not.toHaveProperty('preference-applied')
      for (const prefer of ['amounts=text', 'respond-async, Amounts="text"']) {
        const texts = await get(path, prefer)
        expect([texts.headers['preference-applied'], texts.headers.vary]).toEqual(['amounts=text', 'Prefer'])
        const counts = /"(page|size|total|count|code)":/
        const asTexts = plain.text.replace(/"([A-Za-z_]+)":(-?[0-9][0-9.eE+-]*)/g, (member, name, number) =>
          counts.test(member) ? member : `"${name}":"${number}"`,
        )
        expect(texts.text).toBe(asTexts)
      }
      expect((await get(path, 'amounts=float')).text).toBe(plain.text)
    }
    expect(amountNames.test('amountTo')).toBe(true)
  })

  test('an amount of a create may be a text, and reaches the provider as a number', async () => {
    const send = (amount: unknown) => pair.client.post('/transactions', orderIn(form, { amount }))
    const created = await send(long)
    expect(created.status, created.text).toBe(form === 'A' ? 201 : 200)
    expect(pair.provider.received('create').at(-1)?.body).toContain(`"amount":${long}`)
    expect((await send('1e-3')).status).toBe(created.status)
    for (const wrong of ['', ' 1', '1 ', '+1', '01', '.1', '1.', '0', '-1', '1e41', 'NaN', 'Infinity', '0x1', '1,5', true, [long]])
      expectRefusal(await send(wrong), form, 400, 'parameter_invalid')
  })

  test('the same request with a number and with a text is one request', async () => {
    const headers = { 'idempotency-key': 'order-1' }
    const key = await pair.gateway.freshKey()
    const first = await pair.client.post('/transactions', orderIn(form, { amount: digits('0.10') }), { key, headers })
    const again = await pair.client.post('/transactions', orderIn(form, { amount: '0.10' }), { key, headers })
    expect(again.text).toBe(first.text)
    expect(pair.provider.received('create').length).toBe(1)
  })

  test('limits of a refused amount are texts too', async () => {
    const refusal = { error: 'Bad Request', message: 'too little', code: 400, minAmount: digits('0.50'), maxAmount: digits('1e1') }
    pair.provider.reply('rate', { status: 400, json: refusal })
    const path = rateQuery(form, { from: btc, to: usdtTrx, amount: '0.1' })
    const response = await pair.client.get(path, { headers: { prefer: 'amounts=text' } }).catch((reason: Error) => reason)
    expect(String(response)).toContain('not as described') // a text, where the description has a number
    const plain = await pair.client.get(path)
    expect(plain.json).toMatchObject({ minAmount: digits('0.50'), maxAmount: digits('1e1') })
  })
})

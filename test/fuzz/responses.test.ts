// Takes long: `SWAPGATE_FUZZ` sets the seconds.
/** For any bytes of a provider, the client gets a response in its form; an error has its reason, and none is 500. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anyCharacter } from '../support/any-character.ts'
import { type StartedGateway, startGateway } from '../support/gateway.ts'
import { client, type FormName, formNames, pairWords } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'
import { mutated, mutatedJson } from './bytes.ts'
import { type Series, seriesOf } from './series.ts'
import { fuzz, timeout } from './watch.ts'

const documents = {
  A: {
    rate: {
      coinFrom: 'BTC',
      coinTo: 'USDTTRC20',
      amount: 1,
      amountTo: 2,
      rate: 2,
      minAmount: 1,
      maxAmount: 3,
      fee: 0,
      rateType: 'float',
    },
    currency: { code: 'BTC', name: 'Bitcoin', icon: 'https://icons.test/btc.svg', network: 'BTC', depositMin: 1, depositMax: 2 },
    transaction: {
      id: 'tx-1',
      status: 'wait',
      coinFrom: 'BTC',
      coinTo: 'USDTTRC20',
      amount: 1,
      amountTo: 2,
      depositAddress: 'bc1q-deposit',
      withdrawalAddress: 'w-1',
      createdAt: '2026-01-01T00:00:00Z',
      rate: 2,
      rateType: 'float',
    },
    page: (row: string) => `{"data":[${row}],"pagination":{"page":1,"size":100,"total":1}}`,
  },
  B: {
    rate: { fromAmount: 1, toAmount: 2, rate: 2, minAmount: 1, maxAmount: 3, message: null },
    currency: { code: 'BTC', name: 'Bitcoin', icon: 'https://icons.test/btc.svg', notes: '' },
    transaction: {
      id: 'tx-1',
      status: 'wait',
      coin_from: 'BTC',
      coin_to: 'USDT',
      network_from: 'BTC',
      network_to: 'TRX',
      amount_in: 1,
      amount_out: 2,
      amount_out_expected: 2,
      rate: 2,
      rate_type: 'float',
      deposit_address: 'bc1q-deposit',
      withdrawal_address: 'w-1',
      refund_address: null,
      tx_hash_in: null,
      tx_hash_out: null,
      created_at: '2026-01-01T00:00:00Z',
    },
    page: (row: string) => `{"data":[${row}],"count":1}`,
  },
} as const

/** Responds to everything with the same bytes, and closes. */
let bytes = ''
let server: Server
const gateways = new Map<FormName, { readonly gateway: StartedGateway; readonly series: Series }>()
beforeAll(async () => {
  server = createServer((socket: Socket) => {
    socket.on('error', () => socket.destroy())
    socket.once('data', () => socket.end(Buffer.from(bytes, 'utf8')))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v2`
  for (const form of formNames) {
    const gateway = await startGateway({ provider: { form, url, timeout: 1 } })
    gateways.set(form, { gateway, series: seriesOf(gateway) })
  }
})
afterAll(async () => {
  for (const { gateway } of gateways.values()) await gateway.close()
  server.close()
})

const response = (body: string, status: string): string =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`

const providerResponse = fc.constantFrom(...formNames).chain((form) => {
  const { rate, currency, transaction, page } = documents[form]
  const row = fc.constantFrom(currency, transaction).chain(mutatedJson).map(page)
  const refusal = mutatedJson({ message: 'Amount is below 1', code: 400, minAmount: 1, maxAmount: 2 })
  const body = fc.oneof(
    mutatedJson(rate),
    mutatedJson(transaction),
    row,
    refusal,
    fc.string({ unit: anyCharacter, maxLength: 100 }),
  )
  const status = fc.constantFrom(
    '200 OK',
    '201 Created',
    '400 Bad Request',
    '404 Not Found',
    '422 No',
    '429 Slow',
    '500 No',
    '302 Found',
  )
  const whole = fc.tuple(body, status).map(([text, line]) => response(text, line))
  return fc.oneof({ arbitrary: whole, weight: 4 }, { arbitrary: whole.chain(mutated), weight: 1 }).map((text) => ({ form, text }))
})

/** More than all combinations of the labels' closed lists that these responses reach. */
const maxSeries = 4_000
const allowed = [200, 201, 400, 401, 404, 429, 502, 503, 504]

test('V27: responses of providers', { timeout }, async () => {
  await fuzz(providerResponse, async ({ form, text }) => {
    const { gateway, series } = gateways.get(form) as { gateway: StartedGateway; series: Series }
    bytes = text
    for (const name of formNames) {
      const caller = client(name, gateway.url)
      const order = { ...pairWords(name, assets.btc, assets.usdtTrx), amount: 1, withdrawalAddress: 'w-1' }
      const query = new URLSearchParams({ ...pairWords(name, assets.btc, assets.usdtTrx), amount: '1' })
      const responses = await Promise.all([
        caller.get(`/rate?${query}`),
        caller.get('/currencies'),
        caller.get('/transactions'),
        caller.get('/transactions/alpha~tx-1'),
        caller.post('/transactions', order),
      ])
      for (const { status, text: responseText } of responses) expect(allowed, `${responseText} after ${text}`).toContain(status)
    }
    series.count()
    await gateway.forget()
  })
  for (const { series } of gateways.values()) expect(await series.number()).toBeLessThan(maxSeries)
})

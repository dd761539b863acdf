/** The parts of a request's duration: the provider's, the client's, and what the gateway added. */
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { RequestEnd } from '../../src/domain/observation.ts'
import { type Pair, rateQuery, startPair } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'

let pair: Pair
afterEach(() => pair.close())

const quoteOf = (amount: string): string => rateQuery('A', { from: assets.btc, to: assets.eth, amount })

const ends = (): readonly RequestEnd[] => pair.gateway.observations.filter((observation) => observation.what === 'request')

test("the time of a slow provider is the provider's, also for requests that wait for a shared call", async () => {
  pair = await startPair('A', 'A')
  await pair.client.get(quoteOf('1'))
  const { code: coinFrom } = assets.btc
  const { code: coinTo } = assets.eth
  const json = { coinFrom, coinTo, amount: 2, amountTo: 3, rate: 1.5, minAmount: 1, maxAmount: 9, fee: 0, rateType: 'float' }
  pair.provider.reply('rate', { json, delay: 400 })
  const before = ends().length
  await Promise.all([1, 2, 3].map(() => pair.client.get(quoteOf('2'))))
  const slow = ends().slice(before)
  expect(slow).toHaveLength(3)
  for (const { seconds, providerSeconds, addedSeconds } of slow) {
    expect(providerSeconds).toBeGreaterThan(0.35)
    expect(addedSeconds).toBeLessThan(0.2)
    expect(Math.abs(seconds - providerSeconds - addedSeconds)).toBeLessThan(0.001)
  }
})

test('the time in which a client sends its body is its own', async () => {
  pair = await startPair('A', 'A')
  const key = await pair.gateway.freshKey()
  const socket = connect(pair.gateway.port, '127.0.0.1').resume()
  socket.write(
    `POST /a/api/v2/transactions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{`,
  )
  setTimeout(() => socket.write('}'), 400)
  await expect.poll(() => ends().length).toBe(1)
  socket.destroy()
  const [end] = ends()
  expect(end).toMatchObject({ status: 400, errorType: 'caller_invalid', providerSeconds: 0 })
  expect(end?.seconds).toBeGreaterThan(0.35)
  expect(end?.addedSeconds).toBeLessThan(0.2)
})

test('a client that disconnects before its request has sent nothing', async () => {
  pair = await startPair('A', 'A')
  await pair.client.get('/nowhere')
  const before = ends().length
  const socket = connect(pair.gateway.port, '127.0.0.1')
  await new Promise((resolve) => socket.write('GET /a/api/v2/rate HTTP/1.1\r\nHost', resolve))
  await new Promise((resolve) => socket.once('close', resolve).resetAndDestroy())
  await pair.client.get('/nowhere')
  expect(ends().length - before).toBe(1)
})

/** The parts of a request's duration: the provider's, the client's, and what the gateway added. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { RequestEnd } from '../../src/domain/observation.ts'
import { type Pair, rateQuery, startPair } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'

let pair: Pair
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => {
  vi.useRealTimers()
  return pair.close()
})

const quoteOf = (amount: string): string => rateQuery('A', { from: assets.btc, to: assets.eth, amount })

const ends = (): readonly RequestEnd[] => pair.gateway.observations.filter((observation) => observation.what === 'request')

test("the time of a slow provider is the provider's, also for requests that wait for a shared call", async () => {
  pair = await startPair('A', 'A')
  await pair.client.get(quoteOf('1'))
  const { code: coinFrom } = assets.btc
  const { code: coinTo } = assets.eth
  const json = { coinFrom, coinTo, amount: 2, amountTo: 3, rate: 1.5, minAmount: 1, maxAmount: 9, fee: 0, rateType: 'float' }
  const passed = Promise.withResolvers<void>()
  pair.provider.reply('rate', { json, after: passed.promise })
  const before = ends().length
  const all = Promise.all([1, 2, 3].map(() => pair.client.get(quoteOf('2'))))
  const shared = () => pair.gateway.observations.filter((seen) => seen.what === 'cache' && seen.outcome === 'shared')
  while (shared().length < 2 || pair.provider.received('rate').length < 2) await setImmediate()
  vi.advanceTimersByTime(400)
  passed.resolve()
  await all
  const slow = ends().slice(before)
  expect(slow).toHaveLength(3)
  for (const { seconds, providerSeconds, addedSeconds } of slow) {
    expect([seconds, providerSeconds, addedSeconds]).toEqual([0.4, 0.4, 0].map((value) => expect.closeTo(value, 6)))
  }
})

test('the time in which a client sends its body is its own', async () => {
  pair = await startPair('A', 'A')
  const key = await pair.gateway.freshKey()
  const socket = connect(pair.gateway.port, '127.0.0.1')
  socket.write(
    `POST /a/api/v2/transactions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{`,
  )
  expect(String(await once(socket, 'data'))).toContain('100 Continue')
  socket.resume()
  vi.advanceTimersByTime(400)
  socket.write('}')
  while (ends().length < 1) await setImmediate()
  socket.destroy()
  const [end] = ends()
  expect(end).toMatchObject({ status: 400, errorType: 'caller_invalid', providerSeconds: 0 })
  expect([end?.seconds, end?.addedSeconds]).toEqual([expect.closeTo(0.4, 6), expect.closeTo(0, 6)])
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

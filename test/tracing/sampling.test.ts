/** Which traces are kept: a share of them, and all that end in a failure. */
import { afterEach, expect, test } from 'vitest'
import { orderIn } from '../support/managed.ts'
import { loseResponses } from '../support/outcomes.ts'
import { rateQuery } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'
import { Caller } from './collector.ts'
import { type Rig, startRig } from './rig.ts'

const quote = rateQuery('A', { from: assets.btc, to: assets.usdtTrx, amount: '0.10' })
const failing = { status: 500, json: { error: 'Internal Server Error', message: 'no', code: 500 } }

let rig: Rig
afterEach(() => rig[Symbol.asyncDispose]())

/** The header that each quote was sent with, without its version. */
function wentUp(): readonly (readonly [traceId: string, spanId: string, flags: string])[] {
  return rig.alpha
    .received('rate')
    .map(({ headers }) => (headers.traceparent ?? '').split('-').slice(1) as [string, string, string])
}

test('with a ratio of 0, only failures are kept, whatever the caller requests', async () => {
  rig = await startRig({ telemetry: { ratio: 0 } })
  await rig.warm()
  for (let n = 0; n < 20; n++) {
    const wanted = { traceparent: new Caller().headers.traceparent.replace(/00$/, '01') }
    expect((await rig.client('A').get(quote, { key: null, headers: wanted })).status).toBe(200)
  }
  expect((await rig.client('A').get('/rate?coinFrom=BTC', { key: null })).status).toBe(400)
  for (const provider of [rig.alpha, rig.beta]) provider.reply('rate', failing)
  const caller = new Caller()
  expect((await rig.client('A').get(quote, { key: null, headers: caller.headers })).status).toBe(502)
  const trace = await rig.collector.traceFrom(caller)
  expect(rig.collector.traces).toHaveLength(1)
  expect(trace.root).toMatchObject({
    status: 'error',
    attributes: { 'error.type': '502', 'swapgate.error_type': 'provider_failed' },
  })
  expect(trace.clients.every(({ status }) => status === 'error')).toBe(true)
  expect(trace.clients.length).toBeGreaterThanOrEqual(2)
  expect(wentUp().map(([, , flags]) => flags)).not.toContain('01')
  const [first] = trace.clients
  expect(wentUp()).toContainEqual([trace.root.traceId, first?.spanId, '00'])
})

test('a create of unknown outcome is kept', async () => {
  rig = await startRig({ telemetry: { ratio: 0 } })
  await rig.warm()
  loseResponses(rig.alpha)
  const caller = new Caller()
  const { status } = await rig.client('A').post('/transactions', orderIn('A'), { key: rig.key, headers: caller.headers })
  expect(status).toBe(504)
  const trace = await rig.collector.traceFrom(caller)
  expect(trace.root.attributes).toMatchObject({ 'error.type': '504', 'swapgate.error_type': 'provider_unknown_outcome' })
  expect(trace.named('intent')).toMatchObject({ status: 'error', attributes: { 'swapgate.outcome': 'unknown' } })
})

test('of a share of 0.1, about a tenth is kept: those with the sampled flag at the provider', async () => {
  const bounds = { limits: { quotes: 1_000_000, create: 1, read: 1 } }
  rig = await startRig({ telemetry: { ratio: 0.1 }, sections: bounds })
  await rig.warm()
  const count = 1_000
  // Each another one: equal requests at the same time are one call.
  const sendRequest = (n: number) => rig.client('A').get(quote.replace('0.10', `${n + 1}`), { key: null })
  for (let n = 0; n < count; n += 20) await Promise.all(Array.from({ length: 20 }, (_, more) => sendRequest(n + more)))
  const sampled = wentUp().filter(([, , flags]) => flags === '01')
  expect(sampled.length).toBeGreaterThan(0.05 * count)
  expect(sampled.length).toBeLessThan(0.16 * count)
  const kept = () => rig.collector.traces.filter(({ root }) => root.name.endsWith('/rate'))
  await expect.poll(() => kept().length).toBe(sampled.length)
  const sent = kept().map(({ root, clients }) => [root.traceId, clients[0]?.spanId, '01'])
  expect(sent.toSorted()).toEqual(sampled.toSorted())
})
